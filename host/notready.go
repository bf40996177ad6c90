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

// Messages to a receiver that may not be ready: package threshold has the protocol (type Streams). The sender puts into a gate of
// the receiver, behind which a receive's buffer is from its post, or from the match of its message, until that is there. A put that is
// refused is the protocol's way of asking, and no fault.

// streamRetry is after how long what was refused is tried again, and what the hardware is forgetting looked at.
const streamRetry = 4 * drivers.Microsecond

const pageBytes = 4096

// streaming is what a rank keeps of its streams.
type streaming struct {
	core     *threshold.Streams
	gates    map[streamKey]*streamGate // by the first number that has it
	sends    map[streamKey]*streamSend
	arrived  map[streamKey]*streamArrival
	tries    []streamTry // under way, and those that the NIC has no room for yet
	opening  []streamKey // receives that found no memory to stand in for theirs
	shutting []streamKey
	spent    drivers.Time
}

// A streamGate is where a peer puts some of the messages of a stream.
type streamGate struct {
	*rma.Gate
	bytes   int      // of a message at most
	offered *Request // the receive that was readied last before its message was known
	next    uint64   // how the buffer of the last receive lies in its page: that of the next one will, or something stands in for it
}

// A streamKey names a message of a stream.
type streamKey struct {
	stream threshold.Stream
	number uint16
}

// gate is that of a message.
func (n *streaming) gate(key streamKey) *streamGate {
	key.number %= uint16(n.core.Gates())
	return n.gates[key]
}

// A streamSend is a message that goes through a stream.
type streamSend struct {
	q      *Request
	region *rma.Region
	at     uint64
	bounce uint64
}

// A streamArrival is a message that has its receive.
type streamArrival struct {
	m      *message
	from   int
	at     uint64 // where its bytes come, if not in the buffer of the receive
	bounce uint64 // bytes of the heap there; 0: they do
	heap   uint64
}

// A streamTry is a put and the get of a byte behind it, whose answer comes when the put's fate is known; of a probe, the get alone.
type streamTry struct {
	key      streamKey
	address  uint64
	probe    bool
	putting  bool // the put is posted
	posted   bool // so is the get
	put, get rma.Handle
	refused  bool
}

// useStreams begins with what c.Eager says, under the handshake NotReady.
func (r *Rank) useStreams(c *RMA, b *bulk) error {
	switch {
	case c.Eager.Threshold != 0:
		return fmt.Errorf("%w: a fixed eager threshold for receivers that are not ready: they have no buffers", drivers.ErrConfig)
	case c.Reuse.On() || c.Protocol == Spec:
		return fmt.Errorf("%w: receivers that are not ready beside buffers that are used again, or spec: each says by itself where a receive's message goes", drivers.ErrConfig)
	}
	b.streams = &streaming{
		core:  threshold.NewStreams(threshold.Config{Self: r.id, Ranks: r.size, Least: EagerMax, Policy: c.Eager.Policy, Retry: int64(streamRetry)}),
		gates: map[streamKey]*streamGate{}, sends: map[streamKey]*streamSend{}, arrived: map[streamKey]*streamArrival{},
	}
	return nil
}

func (r *Rank) streams() *streaming {
	if r.bulk == nil {
		return nil
	}
	return r.bulk.streams
}

func streamOf(peer int, tag int32, comm uint16) threshold.Stream {
	return threshold.Stream{Peer: peer, Tag: tag, Comm: comm}
}

// drainStreams does all that the core asks for.
func (r *Rank) drainStreams() error {
	for {
		a, more := r.bulk.streams.core.Next()
		if !more {
			return nil
		}
		if err := r.doStream(a); err != nil {
			return err
		}
	}
}

func (r *Rank) doStream(a threshold.StreamAction) error {
	n := r.bulk.streams
	key := streamKey{a.Stream, a.Number}
	switch a.Do {
	case threshold.TellStream:
		return r.tellStream(a)
	case threshold.ReserveStream:
		return r.reserveStream(a.Stream, a.Message.Bytes)
	case threshold.TryStream:
		n.tries = append(n.tries, streamTry{key: key, address: a.Address, probe: a.Probe})
		_, err := r.postTried()
		return notAgain(err)
	case threshold.SentStream:
		s := n.sends[key]
		delete(n.sends, key)
		r.clean(eagerPut{region: s.region, at: s.at, bounce: s.bounce})
		r.end(s.q)
	case threshold.OpenStream:
		return r.openStream(key)
	case threshold.ShutStream:
		r.proc.Sync()
		n.shutting = append(n.shutting, key)
		return n.gate(key).Shut()
	case threshold.FilledStream:
		if slices.Contains(n.opening, key) {
			return drivers.BadField(a.Stream.Peer, "message number of a LANDED message", a.Number, "a message whose buffer was ready")
		}
		r.filledStream(key)
	case threshold.FreeStream:
		q := n.gate(key).offered
		if !r.match.Cancel(q.env, func(other *Request) bool { return other == q }) {
			return fmt.Errorf("host: a receive of tag %d is given back that is not posted", q.env.Tag)
		}
		q.err = ErrCancelled
		r.end(q)
	}
	return nil
}

func (r *Rank) tellStream(a threshold.StreamAction) error {
	q := r.newControl(kindThreshold)
	a.Message.Put(q.buf)
	if a.InOrder {
		return r.enqueue(a.Stream.Peer, q)
	}
	return r.hurry(a.Stream.Peer, q)
}

// reserveStream finds addresses for a stream. Tables that are full, or lent, have none.
func (r *Rank) reserveStream(l threshold.Stream, bytes int) error {
	n := r.bulk.streams
	var addresses []uint64
	if bytes > len(r.bulk.Memory) { // no such message can be received without a rendezvous
		n.core.Reserved(l, nil)
		return nil
	}
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
		n.gates[streamKey{l, uint16(i)}] = &streamGate{Gate: g, bytes: bytes}
		addresses = append(addresses, uint64(g.NLA(0)))
	}
	n.core.Reserved(l, addresses)
	return nil
}

// ---- sending ----

// sendStreamd gives a message its number, if it is of a stream, and begins it if it goes through that; false: it goes as ever.
func (r *Rank) sendStreamd(dst int, q *Request) (bool, error) {
	n := r.streams()
	if n == nil {
		return false, nil
	}
	q.posted = r.proc.Now()
	n.core.Tick(int64(q.posted))
	l, bytes := streamOf(dst, q.env.Tag, q.env.Comm), len(q.buf)
	s := &streamSend{q: q}
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
	n.sends[streamKey{l, number}] = s
	m := r.newControl(kindNotReady)
	m.env = q.env
	binary.LittleEndian.PutUint64(m.buf[0:], uint64(number))
	binary.LittleEndian.PutUint64(m.buf[8:], uint64(len(q.buf)))
	r.bulk.core.Sent(dst, told(q))
	if err := r.enqueue(dst, m); err != nil {
		return false, err
	}
	return true, r.drainStreams()
}

// prepare finds where the bytes of a message lie for the hardware; false: there is no room.
func (r *Rank) prepare(s *streamSend) (bool, error) {
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
	n := r.bulk.streams
	for i := range n.tries {
		t := &n.tries[i]
		if t.posted {
			continue
		}
		scratch, err := r.scratchAt()
		if err == nil {
			t.get, err = r.bulk.Port.Get(r.bulk.Peers[t.key.stream.Peer], scratch, rma.NLA(t.address), 1, rma.Completer)
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
	n, b := r.bulk.streams, r.bulk
	for i := range n.tries {
		t := &n.tries[i]
		if t.probe || t.putting {
			continue
		}
		s := n.sends[t.key]
		if t.put, err = b.Port.PutUnsignaled(b.Peers[t.key.stream.Peer], s.region.NLA(s.at), rma.NLA(t.address), len(s.q.buf)); err != nil {
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

// streamEvent takes a notification that is about something tried; false: it is not.
func (r *Rank) streamEvent(ev *rma.Event) (bool, error) {
	n := r.streams()
	if n == nil || ev.Handle == 0 {
		return false, nil
	}
	i := slices.IndexFunc(n.tries, func(t streamTry) bool {
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
	n.core.Tried(done.key.stream, !done.refused)
	return true, r.drainStreams()
}

// notReady: there was no memory behind the peer's gate.
func notReady(err error) bool {
	var f *rma.FaultError
	return errors.As(err, &f) && f.Code == regs.RMAErrorTranslation && (f.Unit == rma.UnitCompleter || f.Unit == rma.UnitResponder)
}

// progressStreams posts what waited for room or for memory, tries again what was refused, and looks whether the hardware has forgotten
// what was taken away.
func (r *Rank) progressStreams() (bool, error) {
	n := r.streams()
	if n == nil {
		return false, nil
	}
	now := r.proc.Now()
	if n.core.Deadline() <= int64(now) {
		n.core.Tick(int64(now))
		if err := r.drainStreams(); err != nil {
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
		if err := r.openStream(key); err != nil {
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
		n.core.Shut(key.stream, key.number, uint64(g.NLA(g.next)))
		moved = true
		if err := r.drainStreams(); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// streamsWake is when there is something to do for streams that nothing announces.
func (r *Rank) streamsWake() drivers.Time {
	n := r.streams()
	if n == nil {
		return drivers.Never
	}
	at := drivers.Time(n.core.Deadline())
	if len(n.shutting)+len(n.opening) > 0 {
		at = min(at, r.proc.Now()+streamRetry/8)
	}
	return at
}
