package mailbox

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers/peererror"
)

// static is the flow control of FC paper, section 5. Its state takes 4n+2 bytes for n processes
// (Eq. 7): two counters per peer, two thresholds and the index that separates their ranges.
type static struct {
	peers []counters

	excess    uint16    // peers below this index have one more slot (Division GrantExcess)
	threshold [2]uint16 // for peers from excess on, and for those below it

	cfg   Config
	stats Stats
	pending
}

type counters struct {
	credits   uint16 // credit counter towards the peer as a receiver
	retrieved uint16 // retrieved packets counter of the peer as a sender
}

// NewStatic returns a Flow that gives every peer a fixed share of the data region.
func NewStatic(c Config) (Flow, error) { return NewStaticFormula(c, Eq1) }

// NewStaticFormula is NewStatic with another threshold formula, for experiments that show its
// failure.
func NewStaticFormula(c Config, f Formula) (Flow, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	base, excess := c.share()
	if most := min(base+excess, base+1); most > MaxCredits {
		return nil, fmt.Errorf("mailbox: a static quota of %d slots per peer, expected at most %d: a packet carries credits in two bytes", most, MaxCredits)
	}
	s := &static{
		peers:  make([]counters, c.Procs-1),
		excess: uint16(excess),
		cfg:    c,
	}
	for i := range s.threshold {
		s.threshold[i] = uint16(f.Threshold(base+i, c.CreditSlots))
	}
	for i := range s.peers {
		s.peers[i].credits = uint16(c.Quota(c.rank(i), c.Self))
	}
	return s, nil
}

func (s *static) Send(peer int, room bool) Grant {
	s.mustBeEmpty()
	i := s.cfg.index(peer)
	if s.peers[i].credits == 0 {
		s.stats.Delayed++
		return Grant{}
	}
	s.peers[i].credits--
	s.stats.Sent++
	g := Grant{OK: true}
	// Section 5.4: a data packet with room carries pending credits, even below the threshold.
	if n := s.peers[i].retrieved; n > 0 && room && s.cfg.Piggyback {
		g.Piggyback, g.Credits = true, n
		s.peers[i].retrieved = 0
		s.stats.PiggybackedPackets++
		s.stats.PiggybackedCredits += uint64(n)
	}
	return g
}

func (s *static) Retrieve(r Retrieved) error {
	s.mustBeEmpty()
	i := s.cfg.index(r.From)
	carries := r.Kind == Credit || r.Kind == Data && r.Piggyback
	most := s.cfg.Quota(r.From, s.cfg.Self) - int(s.peers[i].credits)
	switch {
	case r.Kind != Data && r.Kind != Credit:
		return s.illegal(r, "kind", r.Kind, "%v or %v under static flow control", Data, Credit)
	case r.Kind == Credit && r.Piggyback:
		return s.illegal(r, "piggyback mark of a CREDIT packet", true, "piggybacked credits on data packets only")
	case carries && (r.Credits == 0 || int(r.Credits) > most):
		return s.illegal(r, creditsOf(r), r.Credits, "1..%d", most)
	}
	// Section 5.2: only data packets count; the threshold already accounts for credit packets.
	if r.Kind == Data {
		s.free(i)
	}
	if carries {
		s.peers[i].credits += r.Credits
	}
	return nil
}

// free counts a freed data slot and returns credits when the threshold is reached.
func (s *static) free(i int) {
	s.peers[i].retrieved++
	if s.peers[i].retrieved < s.thresholdOf(i) {
		return
	}
	n := s.peers[i].retrieved
	s.peers[i].retrieved = 0
	s.stats.CreditPackets++
	s.stats.CreditsReturned += uint64(n)
	s.push(Control{To: s.cfg.rank(i), Kind: Credit, Credits: n})
}

func (s *static) thresholdOf(i int) uint16 {
	if i < int(s.excess) {
		return s.threshold[1]
	}
	return s.threshold[0]
}

func (s *static) illegal(r Retrieved, field string, value any, expected string, args ...any) error {
	err := peererror.BadField(r.From, field, value, expected, args...)
	err.State = s.Describe(r.From)
	return err
}

func (s *static) Credits(peer int) int { return int(s.peers[s.cfg.index(peer)].credits) }

func (s *static) Granted(peer int) int {
	return s.cfg.Quota(s.cfg.Self, peer) - int(s.peers[s.cfg.index(peer)].retrieved)
}

func (s *static) Exchange(int) Exchange { return Exchange{} }

func (s *static) Stats() Stats { return s.stats }

func (s *static) Check() error {
	for i := range s.peers {
		peer := s.cfg.rank(i)
		if quota := s.cfg.Quota(peer, s.cfg.Self); int(s.peers[i].credits) > quota {
			return fmt.Errorf("mailbox: %d credits of a quota of %d; %s", s.peers[i].credits, quota, s.Describe(peer))
		}
		if s.peers[i].retrieved >= s.thresholdOf(i) {
			return fmt.Errorf("mailbox: threshold reached and no credits returned; %s", s.Describe(peer))
		}
	}
	return nil
}

func (s *static) Describe(peer int) string {
	i := s.cfg.index(peer)
	return fmt.Sprintf("rank %d peer %d: credits=%d retrieved=%d threshold=%d",
		s.cfg.Self, peer, s.peers[i].credits, s.peers[i].retrieved, s.thresholdOf(i))
}

func (s *static) AppendState(b []byte) []byte {
	for i := range s.peers {
		b = binary.AppendUvarint(b, uint64(s.peers[i].credits))
		b = binary.AppendUvarint(b, uint64(s.peers[i].retrieved))
	}
	return b
}

func (s *static) LoadState(b []byte) []byte {
	for i := range s.peers {
		s.peers[i].credits = uint16(load(&b))
		s.peers[i].retrieved = uint16(load(&b))
	}
	return b
}

// load removes one number from an encoded state. AppendState wrote it, so a fault is a bug.
func load(b *[]byte) uint64 {
	if len(*b) > 0 && (*b)[0] < 0x80 { // nearly all of them
		v := (*b)[0]
		*b = (*b)[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(*b)
	if n <= 0 {
		panic("mailbox: LoadState of bytes that AppendState did not write")
	}
	*b = (*b)[n:]
	return v
}
