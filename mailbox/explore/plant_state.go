package explore

import (
	"encoding/binary"
	"slices"
)

// numbers is the state of a flow control, one number after the other. They are 32 bits wide, and a
// mistake may have made one negative.
func (p *planted) numbers() []int64 {
	var all []int64
	for b := p.AppendState(nil); len(b) > 0; {
		all = append(all, int64(number(&b)))
	}
	return all
}

func encode(numbers []int64) (b []byte) {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// dynamicNumbers is how many numbers there are of a peer, besides its thresholds.
const dynamicNumbers = 6

// dynamicState is the state of a dynamic flow control as its AppendState writes it.
type dynamicState struct {
	peers  []dynamicPeer
	levels []int64 // low, medium, high: the peers' numbers from 1, each list ended by 0
}

type dynamicPeer struct {
	head                       int64
	blocked, request, response bool
	thresholds                 []int64 // from the current one on

	intended, retrieved, piggybacked, current, credits int64
}

func (p *planted) state() (s dynamicState) {
	n := p.numbers()
	take := func() int64 {
		first := n[0]
		n = n[1:]
		return first
	}
	for range p.c.Procs - 1 {
		flags := take()
		q := dynamicPeer{head: flags >> 3, blocked: flags&1 != 0, request: flags&2 != 0, response: flags&4 != 0}
		for range p.c.CreditSlots + 1 {
			q.thresholds = append(q.thresholds, take())
		}
		q.intended, q.retrieved, q.piggybacked, q.current, q.credits = take(), take(), take(), take(), take()
		s.peers = append(s.peers, q)
	}
	s.levels = n
	return s
}

func (s *dynamicState) encode() []byte {
	var n []int64
	for i := range s.peers {
		q := &s.peers[i]
		n = append(n, q.head<<3|int64(bit(q.blocked)|bit(q.request)<<1|bit(q.response)<<2))
		n = append(n, q.thresholds...)
		n = append(n, q.intended, q.retrieved, q.piggybacked, q.current, q.credits)
	}
	return encode(append(n, s.levels...))
}

// listed tells whether a peer is in one of the lists that are written: who is not is null.
func (s *dynamicState) listed(i int) bool { return slices.Contains(s.levels, int64(i)+1) }
