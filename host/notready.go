package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// Messages to a receiver that may not be ready: package threshold has the protocol (type Lanes). The sender puts into a gate of
// the receiver, behind which a receive's buffer is from its post, or from the match of its message, until that is there. A put that is
// refused is the protocol's way of asking, and no fault.

// laneRetry is after how long what was refused is tried again, and what the hardware is forgetting looked at.
const laneRetry = 4 * drivers.Microsecond

const pageBytes = 4096

// laning is what a rank keeps of its lanes.
type laning struct {
	core     *threshold.Lanes
	gates    map[laneKey]*laneGate // by the first number that has it
	sends    map[laneKey]*laneSend
	arrived  map[laneKey]*laneArrival
	tries    []laneTry // under way, and those that the NIC has no room for yet
	opening  []laneKey // receives that found no memory to stand in for theirs
	shutting []laneKey
	spent    drivers.Time
}

// A laneGate is where a peer puts some of the messages of a lane.
type laneGate struct {
	*rma.Gate
	bytes   int      // of a message at most
	offered *Request // the receive that was readied last before its message was known
	next    uint64   // how the buffer of the last receive lies in its page: that of the next one will, or something stands in for it
}

// A laneKey names a message of a lane.
type laneKey struct {
	lane   threshold.Lane
	number uint16
}

// gate is that of a message.
func (n *laning) gate(key laneKey) *laneGate {
	key.number %= uint16(n.core.Gates())
	return n.gates[key]
}

// A laneSend is a message that goes through a lane.
type laneSend struct {
	q      *Request
	region *rma.Region
	at     uint64
	bounce uint64
}

// A laneArrival is a message that has its receive.
type laneArrival struct {
	m      *message
	from   int
	at     uint64 // where its bytes come, if not in the buffer of the receive
	bounce uint64 // bytes of the heap there; 0: they do
	heap   uint64
}

// A laneTry is a put and the get of a byte behind it, whose answer comes when the put's fate is known; of a probe, the get alone.
type laneTry struct {
	key      laneKey
	address  uint64
	probe    bool
	putting  bool // the put is posted
	posted   bool // so is the get
	put, get rma.Handle
	refused  bool
}

// useLanes begins with what c.Eager says, under the handshake NotReady.
func (r *Rank) useLanes(c *RMA, b *bulk) error {
	switch {
	case c.Eager.Threshold != 0:
		return fmt.Errorf("%w: a fixed eager threshold for receivers that are not ready: they have no buffers", drivers.ErrConfig)
	case c.Reuse.On() || c.Protocol == Spec:
		return fmt.Errorf("%w: receivers that are not ready beside buffers that are used again, or spec: each says by itself where a receive's message goes", drivers.ErrConfig)
	}
	b.lanes = &laning{
		core:  threshold.NewLanes(threshold.Config{Self: r.id, Ranks: r.size, Least: EagerMax, Policy: c.Eager.Policy, Retry: int64(laneRetry)}),
		gates: map[laneKey]*laneGate{}, sends: map[laneKey]*laneSend{}, arrived: map[laneKey]*laneArrival{},
	}
	return nil
}

func (r *Rank) lanes() *laning {
	if r.bulk == nil {
		return nil
	}
	return r.bulk.lanes
}

func laneOf(peer int, tag int32, comm uint16) threshold.Lane {
	return threshold.Lane{Peer: peer, Tag: tag, Comm: comm}
}

// drainLanes does all that the core asks for.
func (r *Rank) drainLanes() error {
	for {
		a, more := r.bulk.lanes.core.Next()
		if !more {
			return nil
		}
		if err := r.doLane(a); err != nil {
			return err
		}
	}
}

func (r *Rank) doLane(a threshold.LaneAction) error {
	n := r.bulk.lanes
	key := laneKey{a.Lane, a.Number}
	switch a.Do {
	case threshold.TellLane:
		return r.tellLane(a)
	case threshold.ReserveLane:
		return r.reserveLane(a.Lane, a.Message.Bytes)
	case threshold.TryLane:
		n.tries = append(n.tries, laneTry{key: key, address: a.Address, probe: a.Probe})
		_, err := r.postTries()
		return err
	case threshold.SentLane:
		s := n.sends[key]
		delete(n.sends, key)
		r.clean(eagerPut{region: s.region, at: s.at, bounce: s.bounce})
		r.end(s.q)
	case threshold.OpenLane:
		return r.openLane(key)
	case threshold.ShutLane:
		r.proc.Sync()
		n.shutting = append(n.shutting, key)
		return n.gate(key).Shut()
	case threshold.FilledLane:
		r.filledLane(key)
	case threshold.FreeLane:
		q := n.gate(key).offered
		if !r.match.Cancel(q.env, func(other *Request) bool { return other == q }) {
			return fmt.Errorf("host: a receive of tag %d is given back that is not posted", q.env.Tag)
		}
		q.err = ErrCancelled
		r.end(q)
	}
	return nil
}

func (r *Rank) tellLane(a threshold.LaneAction) error {
	q := r.newControl(kindThreshold)
	a.Message.Put(q.buf)
	if a.InOrder {
		return r.enqueue(a.Lane.Peer, q)
	}
	return r.hurry(a.Lane.Peer, q)
}

// reserveLane finds addresses for a lane. Tables that are full, or lent, have none.
func (r *Rank) reserveLane(l threshold.Lane, bytes int) error {
	n := r.bulk.lanes
	var addresses []uint64
	for i := range n.core.Gates() {
		r.proc.Spend(r.cost.Register)
		g, err := r.bulk.Port.Gate(bytes)
		switch {
		case errors.Is(err, rma.ErrTablesFull) || errors.Is(err, drivers.ErrNotSupported):
			n.core.Reserved(l, nil)
			return nil
		case err != nil:
			return err
		}
		n.gates[laneKey{l, uint16(i)}] = &laneGate{Gate: g, bytes: bytes}
		addresses = append(addresses, uint64(g.NLA(0)))
	}
	n.core.Reserved(l, addresses)
	return nil
}

// ---- sending ----

// sendLaned gives a message its number, if it is of a lane, and begins it if it goes through that; false: it goes as ever.
func (r *Rank) sendLaned(dst int, q *Request) (bool, error) {
	n := r.lanes()
	if n == nil {
		return false, nil
	}
	q.posted = r.proc.Now()
	n.core.Tick(int64(q.posted))
	l, bytes := laneOf(dst, q.env.Tag, q.env.Comm), len(q.buf)
	s := &laneSend{q: q}
	if q.synchronous || !n.core.Fits(l, bytes) {
		bytes = math.MaxInt
	} else if ok, err := r.prepare(s); err != nil {
		return false, err
	} else if !ok {
		bytes = math.MaxInt
	}
	number, inside, ok := n.core.Send(l, bytes)
	q.numbered = ok
	if !inside {
		return false, nil
	}
	n.sends[laneKey{l, number}] = s
	m := r.newControl(kindNotReady)
	m.env = q.env
	binary.LittleEndian.PutUint64(m.buf[0:], uint64(number))
	binary.LittleEndian.PutUint64(m.buf[8:], uint64(len(q.buf)))
	r.bulk.core.Sent(dst, told(q))
	if err := r.enqueue(dst, m); err != nil {
		return false, err
	}
	return true, r.drainLanes()
}

// prepare finds where the bytes of a message lie for the hardware; false: there is no room.
func (r *Rank) prepare(s *laneSend) (bool, error) {
	b, bytes := r.bulk, uint64(len(s.q.buf))
	var inside bool
	if s.at, inside = locate(b.Memory, s.q.buf); !inside {
		var ok bool
		if s.at, ok = b.standIn(rendezvous.Early, bytes); !ok {
			return false, nil
		}
		s.bounce = bytes
	}
	var err error
	if s.region, err = r.register(s.at, bytes, rma.ReadOnly); err != nil {
		r.clean(eagerPut{at: s.at, bounce: s.bounce})
		if errors.Is(err, rendezvous.ErrAgain) {
			err = nil
		}
		return false, err
	}
	if !inside {
		r.proc.Spend(r.cost.CopyByte * drivers.Time(bytes))
		copy(b.Memory[s.at:], s.q.buf)
	}
	return true, nil
}

// postTries gives the NIC what is to be tried, as far as it has room, and tells whether it took any.
func (r *Rank) postTries() (posted bool, err error) {
	n, b := r.bulk.lanes, r.bulk
	for i := range n.tries {
		t := &n.tries[i]
		if t.posted {
			continue
		}
		peer := b.Peers[t.key.lane.Peer]
		if s := n.sends[t.key]; !t.probe && !t.putting {
			if t.put, err = b.Port.PutAhead(peer, s.region.NLA(s.at), rma.NLA(t.address), len(s.q.buf)); err == nil {
				t.putting, posted = true, true
			}
		}
		var scratch rma.NLA
		if err == nil {
			scratch, err = r.scratchAt()
		}
		if err == nil {
			t.get, err = b.Port.Get(peer, scratch, rma.NLA(t.address), 1, rma.Completer)
		}
		if errors.Is(err, rma.ErrTryAgain) {
			return posted, nil
		}
		if err != nil {
			return posted, err
		}
		t.posted, posted = true, true
	}
	return posted, nil
}

// laneEvent takes a notification that is about something tried; false: it is not.
func (r *Rank) laneEvent(ev *rma.Event) (bool, error) {
	n := r.lanes()
	if n == nil || ev.Handle == 0 {
		return false, nil
	}
	i := slices.IndexFunc(n.tries, func(t laneTry) bool {
		return t.putting && t.put == ev.Handle || t.posted && t.get == ev.Handle
	})
	if i < 0 {
		return false, nil
	}
	t := &n.tries[i]
	if ev.Err != nil {
		if !notReady(ev.Err) {
			return true, eagerFault(ev)
		}
		t.refused = true
	}
	if !t.posted || t.get != ev.Handle || !ev.Last {
		return true, nil
	}
	done := *t
	n.tries = slices.Delete(n.tries, i, i+1)
	n.core.Tick(int64(r.proc.Now()))
	n.core.Tried(done.key.lane, !done.refused)
	return true, r.drainLanes()
}

// notReady: there was no memory behind the peer's gate.
func notReady(err error) bool {
	var f *rma.FaultError
	return errors.As(err, &f) && f.Code == regs.RMAErrorTranslation && (f.Unit == rma.UnitCompleter || f.Unit == rma.UnitResponder)
}

// ---- receiving ----

// laneCame numbers a message that has come, if it is of a lane.
func (r *Rank) laneCame(from int, h header, m *message) {
	n := r.lanes()
	if n == nil {
		return
	}
	if number, ok := n.core.Came(laneOf(from, h.tag, h.comm)); ok {
		if m.more == nil {
			m.more = &extra{}
		}
		m.more.number, m.more.laned = number, true
	}
}

// laneMatched tells that a message has its receive, which so is not offered any more.
func (r *Rank) laneMatched(from int, m *message, inside bool) error {
	if m.more == nil || !m.more.laned {
		return nil
	}
	n, l := r.bulk.lanes, laneOf(from, m.tag, m.comm)
	n.core.Matched(l, m.more.number, inside)
	return r.drainLanes()
}

// fileNotReady handles a message whose bytes are put as soon as its receive is ready.
func (r *Rank) fileNotReady(from int, h header, b []byte) error {
	n := r.lanes()
	if n == nil || len(b) != threshold.MessageBytes {
		return fmt.Errorf("%w: rank %d puts before rank %d is ready, which does not know that: all ranks need the same handshake", drivers.ErrConfig, from, r.id)
	}
	h.length = uint32(binary.LittleEndian.Uint64(b[8:]))
	r.came(from, h)
	r.proc.Spend(r.cost.Match)
	m := r.messages.get()
	*m = message{header: h, more: &extra{}}
	r.laneCame(from, h, m)
	if want := binary.LittleEndian.Uint64(b[0:]); !m.more.laned || uint64(m.more.number) != want {
		return fmt.Errorf("host: message %d of a lane from rank %d, expected %d (%t): lost, doubled or out of order", want, from, m.more.number, m.more.laned)
	}
	q, ok := r.match.Arrive(h.envelope(from), m)
	if !ok {
		r.stats.Unexpected++
		return nil
	}
	return r.bindNotReady(q, from, m)
}

// bindNotReady gives a message to the receive that it matches.
func (r *Rank) bindNotReady(q *Request, from int, m *message) error {
	m.req = q
	n := r.bulk.lanes
	n.arrived[laneKey{laneOf(from, m.tag, m.comm), m.more.number}] = &laneArrival{m: m, from: from}
	return r.laneMatched(from, m, true)
}

// offerLane readies a receive before its message is known, if none in front of it can get that, and if its buffer lies as the sender will put.
func (r *Rank) offerLane(q *Request) error {
	n, from := r.lanes(), int(q.env.Source)
	if q.offered = false; n == nil || from == AnySource || q.env.Tag == AnyTag || from == r.id || r.isLocal(from) {
		return nil
	}
	l := laneOf(from, q.env.Tag, q.env.Comm)
	number, address, ok := n.core.Offerable(l, r.match.Fitting(q.env)-1, len(q.buf))
	at, inside := locate(r.bulk.Memory, q.buf)
	if !ok || !inside || at%pageBytes != address%pageBytes {
		return nil
	}
	q.offered, q.number = true, number
	n.gate(laneKey{l, number}).offered = q
	n.core.Offer(l, number)
	return r.drainLanes()
}

// openLane puts the buffer of a receive behind a gate. Where that lies otherwise than the sender puts, or is too short, something stands in for it.
func (r *Rank) openLane(key laneKey) error {
	n, b := r.bulk.lanes, r.bulk
	r.proc.Spend(r.cost.Register)
	r.proc.Sync() // a gate is memory: what the hardware did before it opens it must have done
	a := n.arrived[key]
	if a == nil {
		g := n.gate(key)
		at, _ := locate(b.Memory, g.offered.buf)
		return g.Open(at, uint64(g.bytes), rma.ReadWrite)
	}
	buf, bytes := a.m.req.buf, uint64(a.m.length)
	address := n.core.Address(key.lane, key.number)
	at, inside := locate(b.Memory, buf)
	if !inside || uint64(len(buf)) < bytes || at%pageBytes != address%pageBytes {
		var ok bool
		if a.heap, ok = b.standIn(rendezvous.Received, bytes+pageBytes); !ok {
			n.opening = append(n.opening, key)
			return nil
		}
		a.bounce = bytes + pageBytes
		at = a.heap + (address-a.heap)%pageBytes
		a.at = at
	}
	return n.gate(key).Open(at, bytes, rma.ReadWrite)
}

// filledLane ends a receive whose message is there.
func (r *Rank) filledLane(key laneKey) {
	n, b := r.bulk.lanes, r.bulk
	a := n.arrived[key]
	delete(n.arrived, key)
	if a.bounce > 0 {
		bytes := min(uint64(a.m.length), uint64(len(a.m.req.buf)))
		r.proc.Spend(r.cost.CopyByte * drivers.Time(bytes))
		copy(a.m.req.buf, b.Memory[a.at:a.at+bytes])
		b.putBack(rendezvous.Received, a.heap, a.bounce)
	}
	if at, inside := locate(b.Memory, a.m.req.buf); inside {
		n.gate(key).next = at % pageBytes
	}
	r.complete(a.m, a.from)
}

// progressLanes posts what waited for room or for memory, tries again what was refused, and looks whether the hardware has forgotten
// what was taken away.
func (r *Rank) progressLanes() (bool, error) {
	n := r.lanes()
	if n == nil {
		return false, nil
	}
	now := r.proc.Now()
	if n.core.Deadline() <= int64(now) {
		n.core.Tick(int64(now))
		if err := r.drainLanes(); err != nil {
			return false, err
		}
	}
	moved, err := r.postTries()
	if err != nil {
		return moved, err
	}
	opening := n.opening
	n.opening = nil
	for _, key := range opening {
		if err := r.openLane(key); err != nil {
			return moved, err
		}
	}
	for i := 0; i < len(n.shutting); {
		key := n.shutting[i]
		g := n.gate(key)
		clear, err := g.Clear()
		if err != nil {
			return moved, err
		}
		if !clear {
			i++
			continue
		}
		n.shutting = slices.Delete(n.shutting, i, i+1)
		n.core.Shut(key.lane, key.number, uint64(g.NLA(g.next)))
		moved = true
		if err := r.drainLanes(); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// lanesWake is when there is something to do for lanes that nothing announces.
func (r *Rank) lanesWake() drivers.Time {
	n := r.lanes()
	if n == nil {
		return drivers.Never
	}
	at := drivers.Time(n.core.Deadline())
	if len(n.shutting)+len(n.opening) > 0 {
		at = min(at, r.proc.Now()+laneRetry/8)
	}
	return at
}

// revokeLane wants a receive back that was readied, to cancel it.
func (r *Rank) revokeLane(q *Request) error {
	n, l := r.bulk.lanes, laneOf(int(q.env.Source), q.env.Tag, q.env.Comm)
	n.core.Revoke(l, q.number)
	return r.drainLanes()
}
