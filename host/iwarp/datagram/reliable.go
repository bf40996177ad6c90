package datagram

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/term"
)

const (
	reliableBytes = 24
	// Window is the largest number of messages in flight to one peer. A receiver can acknowledge
	// as many selectively.
	Window = 32

	// reorderLimit is the number of acknowledgements of later messages that show a loss.
	reorderLimit = 3
	maxBackoff   = 6 // doublings of the timeout

	kindData = 0xd1
	kindAck  = 0xa1
)

// ReliableConfig describes one end of the reliable transport.
type ReliableConfig struct {
	// Epoch identifies an incarnation of an endpoint. It must increase whenever an endpoint
	// with the same address starts again; a start time in seconds will do.
	Epoch    uint32
	Peers    int           // most peers; datagrams of further ones are dropped
	Stored   int           // messages that may wait for an earlier one, of all peers together
	Timeout  time.Duration // shortest time after which a message is repeated
	Attempts int           // transmissions without an answer after which a peer is unreachable
	AckDelay time.Duration // longest delay of an acknowledgement, which data of this end may carry
	AckEvery int           // messages after which an acknowledgement is sent at once
	// Deliver passes on the next message of a peer. It returns false if it has no buffer: the
	// message is not acknowledged then, and its sender repeats it.
	Deliver func(from netip.AddrPort, segment []byte) bool
}

// Counters count datagrams that were not delivered, and repetitions.
type Counters struct {
	Corrupt, Duplicate, NotReady, NoStore, Stale, Retransmitted, Refused uint64
}

// Errors of Send and of completions.
var (
	ErrWindowFull  = errors.New("datagram: window full")
	ErrUnreachable = errors.New("datagram: peer does not acknowledge")
	ErrTooManyPeer = errors.New("datagram: too many peers")
)

// A Done is the completion of a message.
type Done struct {
	ID  uint64
	To  netip.AddrPort
	Err error // nil: the peer has acknowledged the message
}

// Reliable delivers messages exactly once and, per peer, in order. The state per peer is constant;
// messages in flight stay in the memory of the sender until they complete.
type Reliable struct {
	config   ReliableConfig
	peers    map[netip.AddrPort]*peer
	order    []*peer // for a fair choice, in the order of first contact
	turn     int
	spare    [][]byte
	done     []Done
	header   [reliableBytes]byte
	last     attempt
	Counters Counters
}

type peer struct {
	address netip.AddrPort

	// Sender. Sequence numbers begin with 0 in every epoch and wrap around.
	first  uint32 // oldest message in flight
	n      uint32 // messages in flight
	flight [Window]outgoing
	rtt    time.Duration // smoothed round-trip time, 0 before the first sample
	failed bool

	pacing

	// Receiver
	epoch    uint32
	known    bool // epoch is valid
	expected uint32
	early    [Window][]byte // messages expected+1+i, by sequence number modulo Window
}

// pacing is the part of a peer that a transmission to it changes, besides the message.
type pacing struct {
	silent  int    // timeouts since the last datagram of the peer
	backoff uint   // doublings of the timeout
	sent    uint32 // transmissions, repetitions included

	ackDue  bool
	ackNow  bool
	ackAt   time.Duration
	unacked int
}

type outgoing struct {
	id       uint64
	parts    [][]byte
	sentAt   time.Duration
	sent     int    // transmissions
	order    uint32 // of the last transmission among all to the peer
	acked    bool
	overtook int // later messages that were acknowledged since the last transmission
}

// inFlight returns message i of those in flight, the oldest one first.
func (p *peer) inFlight(i uint32) *outgoing { return &p.flight[(p.first+i)%Window] }

// isUnsentOrLost reports whether the message is due at once, without a timeout.
func (o *outgoing) isUnsentOrLost() bool { return o.sent == 0 || o.overtook >= reorderLimit }

// NewReliable returns an endpoint without peers.
func NewReliable(c ReliableConfig) *Reliable {
	r := &Reliable{config: c, peers: make(map[netip.AddrPort]*peer)}
	for range c.Stored {
		r.spare = append(r.spare, nil)
	}
	return r
}

func (r *Reliable) peer(address netip.AddrPort) *peer {
	if p := r.peers[address]; p != nil {
		return p
	}
	if len(r.order) >= r.config.Peers {
		return nil
	}
	p := &peer{address: address}
	r.peers[address], r.order = p, append(r.order, p)
	return p
}

// Send queues a message: its segment in parts, header first, which stay unchanged until the message
// completes.
func (r *Reliable) Send(to netip.AddrPort, id uint64, parts [][]byte) error {
	p := r.peer(to)
	switch {
	case p == nil:
		return ErrTooManyPeer
	case p.failed:
		return ErrUnreachable
	case p.n == Window:
		return ErrWindowFull
	}
	*p.inFlight(p.n) = outgoing{id: id, parts: parts}
	p.n++
	return nil
}

// Poll returns the next completion. Messages to one peer complete in order.
func (r *Reliable) Poll() (d Done, ok bool) {
	if len(r.done) == 0 {
		return d, false
	}
	d = r.done[0]
	r.done = r.done[:copy(r.done, r.done[1:])]
	return d, true
}

// Next returns the next datagram to send, without its CRC: RD header and parts of the segment. The
// header is valid until the next call. Peers take turns.
func (r *Reliable) Next(now time.Duration) (to netip.AddrPort, header []byte, parts [][]byte, ok bool) {
	for range r.order {
		p := r.order[r.turn%len(r.order)]
		r.turn = (r.turn + 1) % len(r.order)
		r.last = attempt{peer: p, pacing: p.pacing}
		if o, seq := r.due(p, now); o != nil {
			r.last.message, r.last.outgoing = o, *o
			if o.sent > 0 {
				r.Counters.Retransmitted++
			}
			o.sent++
			o.sentAt, o.order, o.overtook = now, p.sent, 0
			p.sent++
			return p.address, r.encode(p, kindData, seq), o.parts, true
		}
		if p.ackDue && (p.ackNow || now >= p.ackAt) {
			return p.address, r.encode(p, kindAck, 0), nil, true
		}
	}
	return to, nil, nil, false
}

// due returns the message to a peer that must be sent or repeated now.
func (r *Reliable) due(p *peer, now time.Duration) (*outgoing, uint32) {
	for i := range p.n {
		o := p.inFlight(i)
		switch {
		case o.acked:
		case o.isUnsentOrLost():
			return o, p.first + i
		case now >= o.sentAt+r.timeout(p):
			if i == 0 && !r.timedOut(p) {
				return nil, 0
			}
			return o, p.first + i
		}
	}
	return nil, 0
}

// timedOut counts a timeout of the oldest message. It returns false if the peer has been silent for
// too long. A peer that answers but has no buffer is not silent.
func (r *Reliable) timedOut(p *peer) bool {
	p.silent++
	if p.silent >= r.config.Attempts {
		r.giveUp(p)
		return false
	}
	p.backoff = min(p.backoff+1, maxBackoff)
	return true
}

// timeout is twice the round-trip time plus the delay of acknowledgements, but at least the
// configured one. It doubles until messages are acknowledged again.
func (r *Reliable) timeout(p *peer) time.Duration {
	return max(r.config.Timeout, 2*p.rtt+r.config.AckDelay) << p.backoff
}

// giveUp completes everything in flight with an error.
func (r *Reliable) giveUp(p *peer) {
	for p.n > 0 {
		r.completeOldest(p, ErrUnreachable)
	}
	p.failed = true
}

// completeOldest removes the oldest message in flight.
func (r *Reliable) completeOldest(p *peer, err error) {
	o := p.inFlight(0)
	r.done = append(r.done, Done{o.id, p.address, err})
	*o = outgoing{}
	p.first++
	p.n--
}

// Deadline returns the earliest time at which Next has something to send without further calls.
func (r *Reliable) Deadline() (at time.Duration, ok bool) {
	earliest := func(t time.Duration) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	for _, p := range r.order {
		if p.ackDue {
			earliest(p.ackAt)
		}
		for i := range p.n {
			if o := p.inFlight(i); !o.acked {
				if o.isUnsentOrLost() {
					earliest(0)
				} else {
					earliest(o.sentAt + r.timeout(p))
				}
			}
		}
	}
	return at, ok
}

// encode writes the header of a datagram. Every datagram carries the acknowledgement:
//
//	kind 1 | flags 1 | distance 1 | reserved 1 | epoch 4 | sequence 4 |
//	peer's epoch 4 | expected 4 | stored 4
//
// The distance is that of the message from the oldest one in flight.
func (r *Reliable) encode(p *peer, kind byte, seq uint32) []byte {
	b := r.header[:]
	clear(b)
	b[0] = kind
	if kind == kindData {
		b[2] = byte(seq - p.first)
	}
	binary.BigEndian.PutUint32(b[4:], r.config.Epoch)
	binary.BigEndian.PutUint32(b[8:], seq)
	if p.known {
		b[1] = 1 // the three words that follow are valid
		binary.BigEndian.PutUint32(b[12:], p.epoch)
		binary.BigEndian.PutUint32(b[16:], p.expected)
		binary.BigEndian.PutUint32(b[20:], p.storedBits())
	}
	p.ackDue, p.ackNow, p.unacked = false, false, 0
	return b
}

func (p *peer) storedBits() (bits uint32) {
	for i := range uint32(Window - 1) {
		if p.early[(p.expected+1+i)%Window] != nil {
			bits |= 1 << i
		}
	}
	return bits
}

// Receive processes a datagram whose CRC was checked and removed.
func (r *Reliable) Receive(from netip.AddrPort, b []byte, now time.Duration) error {
	if len(b) < reliableBytes || b[0] != kindData && b[0] != kindAck {
		r.Counters.Corrupt++
		return term.MarkerMismatch
	}
	p := r.peer(from)
	if p == nil {
		r.Counters.Refused++
		return ErrTooManyPeer
	}
	p.silent = 0
	if b[1]&1 != 0 && binary.BigEndian.Uint32(b[12:]) == r.config.Epoch {
		r.acknowledge(p, binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:]), now)
	}
	if b[0] == kindAck {
		return nil
	}
	epoch := binary.BigEndian.Uint32(b[4:])
	if p.known && int32(epoch-p.epoch) < 0 {
		r.Counters.Stale++ // from before the peer has started again
		return nil
	}
	seq := binary.BigEndian.Uint32(b[8:])
	oldest := seq - uint32(b[2])
	// All messages before the oldest one were acknowledged. If this end still expects one of them,
	// its former incarnation acknowledged it, and the peer will not repeat it.
	if !p.known || epoch != p.epoch || int32(oldest-p.expected) > 0 {
		r.restart(p, epoch, oldest)
	}
	r.accept(p, seq, b[reliableBytes:], now)
	return nil
}

// restart begins to receive with a sequence number, and drops the stored messages.
func (r *Reliable) restart(p *peer, epoch, expected uint32) {
	for i, b := range p.early {
		if b != nil {
			r.release(p, i)
		}
	}
	p.known, p.epoch, p.expected = true, epoch, expected
}

func (r *Reliable) release(p *peer, i int) {
	r.spare = append(r.spare, p.early[i][:0])
	p.early[i] = nil
}

func (r *Reliable) accept(p *peer, seq uint32, segment []byte, now time.Duration) {
	if !p.ackDue {
		p.ackDue, p.ackAt = true, now+r.config.AckDelay
	}
	distance := int32(seq - p.expected)
	slot := int(seq % Window)
	switch {
	case distance < 0, distance > 0 && distance < Window && p.early[slot] != nil:
		r.Counters.Duplicate++
		p.ackNow = true // the acknowledgement was lost
	case distance >= Window:
		r.Counters.Stale++ // a correct sender does not exceed its window
	case distance > 0:
		p.ackNow = true // a gap: the sender learns of it at once
		r.store(p, slot, segment)
	case r.deliver(p, segment):
		r.drain(p)
	}
	if p.unacked >= r.config.AckEvery {
		p.ackNow = true
	}
}

func (r *Reliable) store(p *peer, slot int, segment []byte) {
	n := len(r.spare)
	if n == 0 {
		r.Counters.NoStore++
		return
	}
	p.early[slot] = append(r.spare[n-1][:0], segment...)
	if p.early[slot] == nil {
		p.early[slot] = []byte{}
	}
	r.spare = r.spare[:n-1]
}

// deliver passes on the expected message. It returns false if there is no buffer for it.
func (r *Reliable) deliver(p *peer, segment []byte) bool {
	if !r.config.Deliver(p.address, segment) {
		r.Counters.NotReady++
		return false
	}
	p.expected++
	p.unacked++
	return true
}

// drain delivers stored messages that have become the next ones. One without a buffer is dropped
// and repeated by its sender: nothing else would deliver it later.
func (r *Reliable) drain(p *peer) {
	for delivered := true; delivered; {
		slot := int(p.expected % Window)
		if p.early[slot] == nil {
			return
		}
		delivered = r.deliver(p, p.early[slot])
		r.release(p, slot)
	}
}

// acknowledge processes the acknowledgement of a datagram.
func (r *Reliable) acknowledge(p *peer, expected, stored uint32, now time.Duration) {
	if count := expected - p.first; count > p.n {
		return // from before the window, or a fault of the peer
	}
	var newest *outgoing // latest transmission among the newly acknowledged messages
	for i := range p.n {
		o, seq := p.inFlight(i), p.first+i
		bit := seq - expected - 1
		isAcked := int32(seq-expected) < 0 || bit < Window && stored&(1<<bit) != 0
		if isAcked && !o.acked && o.sent > 0 {
			if newest == nil || int32(o.order-newest.order) > 0 {
				newest = o
			}
			if o.sent == 1 { // repeated messages give no sample (Karn)
				p.sample(now - o.sentAt)
			}
		}
		// A receiver without a buffer drops what it had stored and acknowledged selectively.
		o.acked = isAcked && o.sent > 0
	}
	for i := uint32(0); newest != nil && i < p.n; i++ {
		o := p.inFlight(i)
		if !o.acked && o.sent > 0 && int32(o.order-newest.order) < 0 {
			o.overtook++
		}
	}
	if newest != nil {
		p.backoff = 0
	}
	for p.n > 0 && int32(p.first-expected) < 0 {
		r.completeOldest(p, nil)
	}
}

func (p *peer) sample(rtt time.Duration) {
	if p.rtt == 0 {
		p.rtt = rtt
		return
	}
	p.rtt += (rtt - p.rtt) / 8
}
