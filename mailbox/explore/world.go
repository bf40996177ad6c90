package explore

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/mailbox"
)

// packet is a VELO packet of the model. Data packets carry their number instead of a payload.
type packet struct {
	from      int
	kind      mailbox.Kind
	piggyback bool
	credits   uint16
	number    int // of a data packet, per ordered pair, from 1
}

// World is some processes with the real flow control, connected by a network that keeps the
// packets of an ordered pair in order, and a mailbox for each that holds them as they arrive.
type World struct {
	procs    int
	config   mailbox.Config // of any process, but for Self
	flows    []mailbox.Flow
	network  [][]packet // [pair]: under way, not yet in the mailbox
	mailbox  [][]packet // [process]: in order of arrival
	sent     []int      // [pair]: data packets sent
	received []int      // [pair]: data packets retrieved
	watch    func(what string, from, to int, p packet)
}

// ErrUnsafe is the cause of every violation of a promise of package mailbox.
var ErrUnsafe = errors.New("flow control violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// NewWorld starts all processes of a configuration; c.Self is ignored.
func NewWorld(c mailbox.Config, start func(mailbox.Config) (mailbox.Flow, error)) (*World, error) {
	w := &World{procs: c.Procs, config: c}
	for c.Self = range c.Procs {
		f, err := start(c)
		if err != nil {
			return nil, err
		}
		w.flows = append(w.flows, f)
	}
	pairs := c.Procs * c.Procs
	w.mailbox = make([][]packet, c.Procs)
	w.network = make([][]packet, pairs)
	w.sent = make([]int, pairs)
	w.received = make([]int, pairs)
	return w, nil
}

func (w *World) pair(from, to int) int { return from*w.procs + to }

// Flow is the flow control of one process.
func (w *World) Flow(rank int) mailbox.Flow { return w.flows[rank] }

// Send lets a process try to send one data packet. It reports whether the packet left.
func (w *World) Send(from, to int, room bool) bool {
	g := w.flows[from].Send(to, room)
	if !g.OK {
		return false
	}
	pair := w.pair(from, to)
	w.sent[pair]++
	w.inject(to, packet{from: from, kind: mailbox.Data, piggyback: g.Piggyback, credits: g.Credits, number: w.sent[pair]})
	w.drain(from, to, 0)
	return true
}

// returns is how many credit packets a retrieved packet may cause. The reduction counts on it.
func returns(k mailbox.Kind) int {
	if k == mailbox.CreditResponse {
		return 2 // when it is counted, and when its sender is no longer blocked
	}
	return 1 // of a credit packet none, which is not needed to be known
}

// drain injects what a process has to say. Credit packets are for the peer whose packet it was that
// it retrieved, and only so many.
func (w *World) drain(from, peer, credits int) {
	for c, ok := w.flows[from].Next(); ok; c, ok = w.flows[from].Next() {
		if c.Kind == mailbox.Credit {
			if credits--; credits < 0 || c.To != peer {
				panic(fmt.Sprintf("process %d returns credits to process %d that no packet called for", from, c.To))
			}
		}
		w.inject(c.To, packet{from: from, kind: c.Kind, credits: c.Credits})
	}
}

func (w *World) inject(to int, p packet) {
	if w.watch != nil {
		w.watch("sent", p.from, to, p)
	}
	pair := w.pair(p.from, to)
	w.network[pair] = append(w.network[pair], p)
}

// Deliver moves the oldest packet of a pair from the network into the mailbox.
func (w *World) Deliver(from, to int) bool {
	pair := w.pair(from, to)
	if len(w.network[pair]) == 0 {
		return false
	}
	w.mailbox[to] = append(w.mailbox[to], w.network[pair][0])
	w.network[pair] = pop(w.network[pair])
	return true
}

// Retrieve takes the oldest packet off a mailbox.
func (w *World) Retrieve(at int) (p packet, ok bool) {
	if len(w.mailbox[at]) == 0 {
		return packet{}, false
	}
	p = w.mailbox[at][0]
	w.mailbox[at] = pop(w.mailbox[at])
	if w.watch != nil {
		w.watch("retrieved", p.from, at, p)
	}
	if p.kind == mailbox.Data {
		pair := w.pair(p.from, at)
		if w.received[pair]++; p.number != w.received[pair] {
			panic(fmt.Sprintf("process %d got data packet %d of process %d, expected %d", at, p.number, p.from, w.received[pair]))
		}
	}
	r := mailbox.Retrieved{From: p.from, Kind: p.kind, Piggyback: p.piggyback, Credits: p.credits}
	if err := w.flows[at].Retrieve(r); err != nil {
		panic(err) // a violation, as apply reports it: here all peers follow the protocol
	}
	w.drain(at, p.from, returns(p.kind))
	return p, true
}

// Settle retrieves everywhere until nothing is under way.
func (w *World) Settle() {
	for !w.Quiet() {
		for at := range w.procs {
			for from := range w.procs {
				for w.Deliver(from, at) {
				}
			}
			for _, ok := w.Retrieve(at); ok; _, ok = w.Retrieve(at) {
			}
		}
	}
}

// pop keeps the array: a world in an exploration lives long and its queues stay short.
func pop[T any](q []T) []T { return q[:copy(q, q[1:])] }

// Check tests everything that must hold in every state: the flow controls' own invariants, and what
// they promise to the outside.
func (w *World) Check() error {
	for at := range w.procs {
		if err := w.checkFlow(at); err != nil {
			return err
		}
	}
	return w.checkPromises()
}

// checkFlow tests what is one flow control's own affair.
func (w *World) checkFlow(at int) error {
	if err := w.flows[at].Check(); err != nil {
		return violation("%v", err)
	}
	return w.checkGrants(at)
}

// checkGrants tests that a process has not granted more credits than it has slots.
func (w *World) checkGrants(at int) error {
	granted := 0
	for from := range w.procs {
		if from != at {
			granted += w.flows[at].Granted(from)
		}
	}
	if region := w.config.DataRegion(); granted > region {
		return violation("process %d granted %d credits for %d slots", at, granted, region)
	}
	return nil
}

// checkPromises tests only what can be seen without knowing how the flow controls work.
func (w *World) checkPromises() error {
	for at := range w.procs {
		if err := w.checkRegions(at); err != nil {
			return err
		}
	}
	return nil
}

// checkRegions tests the regions of one mailbox, and that no credit towards it was lost or made.
// Packets in the network count as if they had arrived: some order of events delivers them all
// before the next retrieval.
func (w *World) checkRegions(at int) error {
	data := 0
	for from := range w.procs {
		if from == at {
			continue
		}
		t := w.underWay(from, at)
		data += t.slots
		if t.credits > w.config.CreditSlots {
			return violation("the credit region of process %d overflows: %d credit packets of process %d in %d credit slots", at, t.credits, from, w.config.CreditSlots)
		}
		back := w.underWay(at, from)
		if err := w.checkConserved(from, at, t, back); err != nil {
			return err
		}
		if err := w.checkExchange(from, at, t, back); err != nil {
			return err
		}
	}
	if region := w.config.DataRegion(); data > region {
		return violation("the data region of process %d overflows: %d packets in %d slots", at, data, region)
	}
	return nil
}

// checkConserved tests that a receiver's view of what it has granted a sender is what the sender
// holds plus what is under way between them.
func (w *World) checkConserved(sender, receiver int, out, back traffic) error {
	held := w.flows[sender].Credits(receiver)
	total := held + out.slots + out.returned + back.granted
	if granted := w.flows[receiver].Granted(sender); granted != total {
		return violation("process %d granted %d credits to process %d, but %d exist: %d held, %d packets and %d credits under way",
			receiver, granted, sender, total, held, out.slots, out.returned+back.granted)
	}
	return nil
}

// checkExchange tests that a blocked sender stays so exactly while a request or response is on its
// way or waits for a credit: lost, it would be blocked for ever.
func (w *World) checkExchange(sender, receiver int, out, back traffic) error {
	asked, answering := w.flows[receiver].Exchange(sender), w.flows[sender].Exchange(receiver)
	pending := out.responses + back.requests + bit(asked.Request) + bit(answering.Response)
	if pending != bit(asked.Blocked) {
		return violation("process %d has process %d blocked: %v, but %d requests and responses are under way or wait",
			receiver, sender, asked.Blocked, pending)
	}
	return nil
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// traffic is what is under way of one ordered pair.
type traffic struct {
	slots     int // packets that take data slots
	credits   int // credit packets, which take credit slots
	granted   int // credits for the receiver, in credit packets and piggybacks
	requests  int // compulsory requests
	responses int // compulsory responses
	returned  int // credits that responses give back
}

func (t *traffic) add(p packet) {
	t.slots++
	switch p.kind {
	case mailbox.Credit:
		t.slots--
		t.credits++
		t.granted += int(p.credits)
	case mailbox.Data:
		t.granted += int(p.credits)
	case mailbox.CreditRequest:
		t.requests++
	case mailbox.CreditResponse:
		t.responses++
		t.returned += int(p.credits)
	}
}

func (w *World) underWay(from, to int) (t traffic) {
	for _, p := range w.mailbox[to] {
		if p.from == from {
			t.add(p)
		}
	}
	for _, p := range w.network[w.pair(from, to)] {
		t.add(p)
	}
	return t
}

// Quiet reports whether no packet is under way.
func (w *World) Quiet() bool {
	for _, q := range w.network {
		if len(q) > 0 {
			return false
		}
	}
	for _, q := range w.mailbox {
		if len(q) > 0 {
			return false
		}
	}
	return true
}
