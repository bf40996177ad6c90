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
		_, err := r.postTried()
		return notAgain(err)
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
	if posted, err = r.postTried(); err != nil {
		return posted, notAgain(err)
	}
	n := r.bulk.lanes
	for i := range n.tries {
		t := &n.tries[i]
		if t.posted {
			continue
		}
		scratch, err := r.scratchAt()
		if err == nil {
			t.get, err = r.bulk.Port.Get(r.bulk.Peers[t.key.lane.Peer], scratch, rma.NLA(t.address), 1, rma.Completer)
		}
		if err != nil {
			return posted, notAgain(err)
		}
		t.posted, posted = true, true
	}
	return posted, nil
}

// postTried posts the puts alone, as a call does that only begins messages: the gets behind them would take the room of the next message's put,
// and nobody looks at their answers before there is progress.
func (r *Rank) postTried() (posted bool, err error) {
	n, b := r.bulk.lanes, r.bulk
	for i := range n.tries {
		t := &n.tries[i]
		if t.probe || t.putting {
			continue
		}
		s := n.sends[t.key]
		if t.put, err = b.Port.PutAhead(b.Peers[t.key.lane.Peer], s.region.NLA(s.at), rma.NLA(t.address), len(s.q.buf)); err != nil {
			return posted, err
		}
		t.putting, posted = true, true
	}
	return posted, nil
}

// notAgain leaves out that there is no room now.
func notAgain(err error) error {
	if errors.Is(err, rma.ErrTryAgain) {
		return nil
	}
	return err
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
