package explore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/datagram"
)

// ErrUnsafe is wrapped by every violation.
var ErrUnsafe = errors.New("property violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// An event is one thing that can happen. The actor is an end, or for datagrams their sender.
type event struct {
	act       string
	end       int
	datagrams int // index in the network
}

func (e event) String() string {
	switch e.act {
	case "deliver", "lose", "duplicate":
		return fmt.Sprintf("%s %d>%d #%d", e.act, e.end, 1-e.end, e.datagrams)
	}
	return fmt.Sprintf("%s %d", e.act, e.end)
}

// end is an endpoint and its program.
type end struct {
	transport   *datagram.Reliable
	clock       time.Duration
	incarnation int
	sent        int // messages that the program has sent
	completed   int
	posted      int // receives, in all
	free        int // receives that no message has used

	// last is the newest message of the peer that this incarnation has received.
	lastIncarnation, last int
}

// World is two endpoints and the datagrams between them.
type World struct {
	o        *Options
	ends     [2]end
	network  [2][][]byte // by sender, in the order of their bytes: the network may reorder
	restarts int
	// delivered is, for the current incarnation of each sender, the newest message that any
	// incarnation of the receiver has received; -1: none.
	delivered [2]int
	failure   error // found in Deliver
	print     func(format string, args ...any)
}

const (
	jump         = time.Hour // beyond all deadlines
	firstEpoch   = 1
	neverGivesUp = 1 << 30
)

func address(end int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(end + 1)}), 4791)
}

// NewWorld returns the first state.
func NewWorld(o *Options) *World {
	w := &World{o: o, delivered: [2]int{-1, -1}, print: func(string, ...any) {}}
	for i := range w.ends {
		w.start(i, 0)
	}
	return w
}

// start begins an incarnation of an end.
func (w *World) start(i, incarnation int) {
	epoch := uint32(firstEpoch + incarnation)
	if w.o.Plant == sameEpoch {
		epoch = firstEpoch
	}
	w.ends[i] = end{incarnation: incarnation, posted: w.o.Buffers, free: w.o.Buffers, last: -1}
	w.ends[i].transport = datagram.NewReliable(datagram.ReliableConfig{
		Epoch: epoch, Peers: 1, Stored: w.o.Stored, Timeout: time.Millisecond, Attempts: neverGivesUp,
		AckDelay: time.Millisecond, AckEvery: w.o.AckEvery, Deliver: w.receiver(i),
	})
	w.delivered[i] = -1
}

// receiver returns the function that takes the messages of an end.
func (w *World) receiver(i int) func(netip.AddrPort, []byte) bool {
	return func(_ netip.AddrPort, segment []byte) bool { return w.receive(i, segment) }
}

// receive checks the order of messages: incarnation of the sender, then number.
func (w *World) receive(i int, segment []byte) bool {
	e, peer := &w.ends[i], &w.ends[1-i]
	if e.free == 0 {
		return false
	}
	e.free--
	incarnation, number := int(segment[0]), int(segment[1])
	w.print("end %d receives message %d of incarnation %d", i, number, incarnation)
	next := 0
	if incarnation == e.lastIncarnation {
		next = e.last + 1
	}
	switch {
	case incarnation < e.lastIncarnation:
		w.failure = violation("end %d receives a message of a former incarnation of its peer", i)
	case number < next:
		w.failure = violation("end %d receives message %d after message %d", i, number, e.last)
	case number > next && w.o.Restarts == 0:
		w.failure = violation("end %d receives message %d, message %d is missing", i, number, next)
	}
	e.lastIncarnation, e.last = incarnation, number
	if incarnation == peer.incarnation {
		w.delivered[1-i] = max(w.delivered[1-i], number)
	}
	return true
}

// Enabled lists what can happen.
func (w *World) Enabled() (list []event) {
	for i := range w.ends {
		e := &w.ends[i]
		if e.sent < w.o.Messages[i] {
			list = append(list, event{act: "send", end: i})
		}
		if e.posted < w.buffersOf(i) {
			list = append(list, event{act: "post", end: i})
		}
		if _, pending := e.transport.Deadline(); pending {
			list = append(list, event{act: "timeout", end: i})
		}
		if w.restarts < w.o.Restarts && !w.isDone() {
			list = append(list, event{act: "restart", end: i})
		}
	}
	for from, line := range w.network {
		for k := range line {
			if k > 0 && bytes.Equal(line[k], line[k-1]) {
				continue
			}
			list = append(list, event{"deliver", from, k}, event{"lose", from, k})
			if len(line) < w.o.Capacity {
				list = append(list, event{"duplicate", from, k})
			}
		}
	}
	return list
}

// buffersOf is the number of receives that an end posts in all. A restart may double the messages.
func (w *World) buffersOf(i int) int { return w.o.Messages[1-i] * (1 + w.o.Restarts) }

// isDone reports whether all messages have completed.
func (w *World) isDone() bool {
	for i := range w.ends {
		if w.ends[i].completed < w.o.Messages[i] {
			return false
		}
	}
	return true
}

// Apply makes an event happen.
func (w *World) Apply(v event) error {
	e := &w.ends[v.end]
	switch v.act {
	case "send":
		segment := []byte{byte(e.incarnation), byte(e.sent)}
		if err := e.transport.Send(address(1-v.end), uint64(e.sent), [][]byte{segment}); err != nil {
			return violation("end %d cannot send message %d: %v", v.end, e.sent, err)
		}
		e.sent++
	case "post":
		e.posted++
		e.free++
	case "timeout":
		e.clock += jump
	case "restart":
		w.restarts++
		w.start(v.end, e.incarnation+1)
	case "deliver":
		b := w.take(v.end, v.datagrams)
		// Receive fails for malformed datagrams only.
		if err := w.ends[1-v.end].transport.Receive(address(v.end), b, w.ends[1-v.end].clock); err != nil {
			return violation("end %d: %v", 1-v.end, err)
		}
	case "lose":
		w.take(v.end, v.datagrams)
	case "duplicate":
		w.insert(v.end, w.network[v.end][v.datagrams])
	}
	if w.failure != nil {
		return w.failure
	}
	for i := range w.ends {
		w.transmit(i)
	}
	return w.complete()
}

// take removes a datagram from the network.
func (w *World) take(from, k int) []byte {
	b := w.network[from][k]
	w.network[from] = slices.Delete(slices.Clone(w.network[from]), k, k+1)
	return b
}

// insert adds a datagram to the network, which drops it if it is full.
func (w *World) insert(from int, b []byte) {
	if len(w.network[from]) >= w.o.Capacity {
		return
	}
	at, _ := slices.BinarySearchFunc(w.network[from], b, bytes.Compare)
	w.network[from] = slices.Insert(slices.Clone(w.network[from]), at, b)
}

// transmit sends everything that an end has to send.
func (w *World) transmit(i int) {
	e := &w.ends[i]
	for {
		_, header, parts, ok := e.transport.Next(e.clock)
		if !ok {
			return
		}
		b := slices.Concat(append([][]byte{header}, parts...)...)
		if plant := plants[w.o.Plant]; plant != nil {
			plant(b)
		}
		w.print("end %d sends % x", i, b)
		w.insert(i, b)
	}
}

// complete checks the completions of both ends.
func (w *World) complete() error {
	for i := range w.ends {
		e := &w.ends[i]
		for {
			d, ok := e.transport.Poll()
			if !ok {
				break
			}
			w.print("message %d of end %d completes", d.ID, i)
			switch number := int(d.ID); {
			case d.Err != nil:
				return violation("message %d of end %d: %v", number, i, d.Err)
			case number != e.completed:
				return violation("message %d of end %d completes, expected message %d", number, i, e.completed)
			case number > w.delivered[i]:
				return violation("message %d of end %d completes before it was delivered", number, i)
			}
			e.completed++
		}
	}
	return nil
}

// Finished checks an end.
func (w *World) Finished() error {
	if !w.isDone() {
		return violation("nothing can happen any more, but messages have not completed")
	}
	return nil
}

// CloneFor implements modelcheck.World.
func (w *World) CloneFor(event) *World {
	c := *w
	c.print = func(string, ...any) {}
	for i := range c.ends {
		c.ends[i].transport = w.ends[i].transport.Clone(c.receiver(i))
	}
	return &c
}

// AppendState encodes all that can matter later.
func (w *World) AppendState(b []byte) []byte {
	number := func(list ...int) {
		for _, v := range list {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	number(w.restarts)
	for i := range w.ends {
		e := &w.ends[i]
		b = e.transport.AppendState(b)
		number(e.incarnation, e.sent, e.completed, e.posted, e.free, e.lastIncarnation, e.last, w.delivered[i])
		number(len(w.network[i]))
		for _, d := range w.network[i] {
			number(len(d))
			b = append(b, d...)
		}
	}
	return b
}
