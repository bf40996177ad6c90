package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
)

// ErrUnsafe is wrapped by every violation.
var ErrUnsafe = errors.New("property violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// An event is one thing that can happen.
type event struct {
	act      string
	from, to int
}

func (e event) String() string {
	if e.act == "deliver" {
		return fmt.Sprintf("deliver %d>%d", e.from, e.to)
	}
	return fmt.Sprintf("%s %d", e.act, e.from)
}

// A message is what is known of an operation that sends one.
type message struct {
	id            uint32
	requests      int // packets that carried it
	sends, acks   int
	taken, failed bool // by the target, as the model has it
	acked         portals.Fail
	received      bool
}

// hooks are where tests plant mistakes.
type hooks struct {
	deliver func(w *World, from, to int) // changes the line before its first packet is delivered
	append  func(m *portals.MatchEntry)
}

type rank struct {
	ni     *portals.NI
	memory portals.Flat
	eq     portals.EQ // of operations
	pteq   portals.EQ // of portal table entry 0
	ct     portals.CT
	md     portals.MD
	model  model
	next   int // operation of the program
	unsent []uint32
	acks   int // that were counted
}

// World is some ranks with real interfaces in one state.
type World struct {
	o     *Options
	hooks hooks
	ranks []rank
	lines [][]portals.Packet // by pair
	msgs  []message          // by operation
	print func(format string, args ...any)
}

const (
	memoryBytes = 256
	landing     = 128 // where entries lie
)

// NewWorld opens the interfaces of all ranks.
func NewWorld(o *Options) (*World, error) {
	w := &World{o: o, lines: make([][]portals.Packet, o.Ranks*o.Ranks), msgs: make([]message, len(o.Ops))}
	w.print = func(string, ...any) {}
	for i := range o.Ranks {
		r := rank{memory: make(portals.Flat, memoryBytes), model: model{enabled: true}}
		limits := portals.DefaultLimits()
		limits.MaxUnexpectedHeaders, limits.MaxPTs = o.Headers, 1
		var err error
		if r.ni, err = portals.NewNI(0, portals.Rank(uint32(i)), 0, limits, r.memory); err != nil {
			return nil, err
		}
		if err = r.open(o); err != nil {
			return nil, err
		}
		w.ranks = append(w.ranks, r)
	}
	return w, nil
}

func (r *rank) open(o *Options) (err error) {
	options := portals.PTOptions(0)
	if o.Flow {
		options = portals.PTFlowControl
	}
	var errs [6]error
	r.eq, errs[0] = r.ni.EQAlloc(16)
	r.pteq, errs[1] = r.ni.EQAlloc(o.Events)
	r.ct, errs[2] = r.ni.CTAlloc()
	r.md, errs[3] = r.ni.MDBind(portals.MemoryDescriptor{
		Length: landing, EQ: r.eq, CT: r.ct, Options: portals.MDEventCTAck,
	})
	_, errs[4] = r.ni.PTAlloc(options, r.pteq, 0)
	if o.Overflow {
		m := entry(anyTag, -1)
		m.Options &^= portals.MEUseOnce
		_, errs[5] = r.ni.MEAppend(0, &m, portals.OverflowList)
	}
	return errors.Join(errs[:]...)
}

// entry is the list entry of a receive; operation -1 is the overflow entry.
func entry(tag, op int) portals.MatchEntry {
	m := portals.MatchEntry{
		Start: landing, Length: 8, UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny), MatchBits: uint64(tag),
		UserPtr: uint64(op + 1),
		Options: portals.MEOpPut | portals.MEUseOnce | portals.MEEventLinkDisable | portals.MEEventUnlinkDisable,
	}
	if tag == anyTag {
		m.MatchBits, m.IgnoreBits = 0, ^uint64(0)
	}
	return m
}

// nextOp is the number of the next operation of a rank, or -1.
func (w *World) nextOp(r int) int {
	for i := w.ranks[r].next; i < len(w.o.Ops); i++ {
		if w.o.Ops[i].Rank == r {
			return i
		}
	}
	return -1
}

// Enabled lists what can happen.
func (w *World) Enabled() (list []event) {
	for i := range w.ranks {
		r := &w.ranks[i]
		if op := w.nextOp(i); op >= 0 && (w.o.Ops[op].Name != "recv" || !w.o.Flow || len(r.model.expected) < w.o.Events) {
			// An append with a full event queue would lose the event of a header that it finds.
			list = append(list, event{act: "do", from: i})
		}
		if len(r.unsent) > 0 {
			list = append(list, event{act: "sent", from: i})
		}
		if len(r.model.expected) > 0 {
			list = append(list, event{act: "read", from: i})
		} else if !r.model.enabled {
			list = append(list, event{act: "enable", from: i})
		}
	}
	for at, line := range w.lines {
		if len(line) > 0 {
			list = append(list, event{"deliver", at / w.o.Ranks, at % w.o.Ranks})
		}
	}
	return list
}

// Apply makes an event happen.
func (w *World) Apply(e event) error {
	var err error
	switch e.act {
	case "do":
		err = w.do(e.from)
	case "sent":
		r := &w.ranks[e.from]
		id := r.unsent[0]
		r.unsent = slices.Clone(r.unsent[1:])
		err = r.ni.Sent(id)
	case "read":
		return w.read(e.from)
	case "enable":
		w.ranks[e.from].model.enabled = true
		err = w.ranks[e.from].ni.PTEnable(0)
	case "deliver":
		err = w.deliver(e.from, e.to)
	}
	if err != nil {
		if errors.Is(err, ErrUnsafe) {
			return err
		}
		return violation("%v: %v", e, err)
	}
	for i := range w.ranks {
		if err := w.collect(i); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) do(at int) error {
	r, number := &w.ranks[at], w.nextOp(at)
	op := &w.o.Ops[number]
	r.next = number + 1
	if op.Name == "recv" {
		m := entry(op.Tag, number)
		if w.hooks.append != nil {
			w.hooks.append(&m)
		}
		_, err := r.ni.MEAppend(0, &m, portals.PriorityList)
		r.model.receive(op.Tag, number)
		return err
	}
	q := portals.Request{
		MD: r.md, LocalOffset: uint64(number), Length: 1, Ack: portals.FullAckReq, Target: portals.Rank(uint32(op.Target)),
		MatchBits: uint64(op.Tag), UserPtr: uint64(number), HdrData: uint64(number),
	}
	if op.Name == "trig" {
		return r.ni.TriggeredPut(&q, r.ct, uint64(op.After))
	}
	_, err := r.ni.Put(&q)
	return err
}

// collect moves new packets to their lines and reads the events of operations.
func (w *World) collect(at int) error {
	r := &w.ranks[at]
	for p := (portals.Packet{}); r.ni.Next(&p); {
		if p.Kind == portals.KindPut {
			m := &w.msgs[p.HdrData]
			m.id = p.ID
			if m.requests++; m.requests > 1 {
				return violation("message %d is sent twice", p.HdrData)
			}
			if op := &w.o.Ops[p.HdrData]; op.Name == "trig" && r.acks < op.After {
				return violation("message %d is sent after %d acknowledgements, not %d", p.HdrData, r.acks, op.After)
			}
			if w.o.Late {
				r.unsent = append(slices.Clone(r.unsent), p.ID)
			}
		}
		p.Payload = slices.Clone(p.Payload)
		line := at*w.o.Ranks + int(p.Target.NID)
		w.lines[line] = append(slices.Clone(w.lines[line]), p)
		if p.Kind == portals.KindPut && !w.o.Late { // the line has a copy of the data
			if err := r.ni.Sent(p.ID); err != nil {
				return violation("rank %d: %v", at, err)
			}
		}
		w.print("%d>%d %v bits=%d id=%d fail=%v", at, p.Target.NID, p.Kind, p.Bits, p.ID&0xff, p.Fail)
	}
	for e := (portals.Event{}); ; {
		if err := r.ni.EQGet(r.eq, &e); err == portals.EQEmpty {
			return nil
		} else if err != nil {
			return violation("rank %d: %v", at, err)
		}
		m := &w.msgs[e.UserPtr]
		w.print("rank %d: %v of message %d: %v", at, e.Kind, e.UserPtr, e.Fail)
		switch e.Kind {
		case portals.EventSend:
			m.sends++
		case portals.EventAck:
			m.acks++
			m.acked = e.Fail
			if m.taken != (e.Fail == portals.FailNone) {
				return violation("message %d is acknowledged with %v, taken is %v", e.UserPtr, e.Fail, m.taken)
			}
		}
		if m.sends > 1 || m.acks > 1 {
			return violation("message %d raises %v twice", e.UserPtr, e.Kind)
		}
	}
}

func (w *World) deliver(from, to int) error {
	at, r := from*w.o.Ranks+to, &w.ranks[to]
	if w.hooks.deliver != nil {
		w.hooks.deliver(w, from, to)
	}
	p := w.lines[at][0]
	w.lines[at] = slices.Clone(w.lines[at][1:])
	if p.Kind == portals.KindPut {
		m := &w.msgs[p.HdrData]
		m.taken = r.model.arrive(w.o, int(p.Bits), int(p.HdrData)) == portals.FailNone
		m.failed = !m.taken
	} else {
		r.acks++
	}
	if err := r.ni.Deliver(&p); err != nil {
		return err
	}
	if got := r.ni.PTEnabled(0); got != r.model.enabled {
		return violation("rank %d: portal table entry enabled %v, expected %v", to, got, r.model.enabled)
	}
	return nil
}

// read reads one event of portal table entry 0 and compares it with the model.
func (w *World) read(at int) error {
	r := &w.ranks[at]
	var e portals.Event
	if err := r.ni.EQGet(r.pteq, &e); err != nil {
		return violation("rank %d: %v", at, err)
	}
	// PT_DISABLED that found no room is read after all others.
	k := 0
	if e.Kind == portals.EventPTDisabled {
		k = slices.IndexFunc(r.model.expected, func(x expected) bool { return x.kind == e.Kind })
	} else if r.model.expected[0].kind == portals.EventPTDisabled && len(r.model.expected) > 1 {
		k = 1
	}
	if k < 0 {
		return violation("rank %d: %v, not expected", at, e.Kind)
	}
	want := r.model.expected[k]
	r.model.expected = slices.Delete(slices.Clone(r.model.expected), k, k+1)
	w.print("rank %d: reads %v of message %d for receive %d", at, e.Kind, e.HdrData, int(e.UserPtr)-1)
	if e.Kind == portals.EventPTDisabled {
		return nil
	}
	if e.Kind != want.kind || int(e.HdrData) != want.op || int(e.UserPtr)-1 != want.recv {
		return violation("rank %d: %v of message %d for receive %d, expected %v of message %d for receive %d",
			at, e.Kind, e.HdrData, int(e.UserPtr)-1, want.kind, want.op, want.recv)
	}
	if want.recv < 0 {
		return nil
	}
	return w.received(want.op)
}

// received checks that no earlier message of the pair with the tag is still to be received.
func (w *World) received(number int) error {
	op := &w.o.Ops[number]
	if w.msgs[number].received {
		return violation("message %d is received twice", number)
	}
	w.msgs[number].received = true
	for i := range number {
		p, m := &w.o.Ops[i], &w.msgs[i]
		sameStream := p.Name == "put" && op.Name == "put" && p.Rank == op.Rank && p.Target == op.Target && p.Tag == op.Tag
		if sameStream && !m.received && !m.failed {
			return violation("message %d overtakes message %d", number, i)
		}
	}
	return nil
}

// Finished checks an end.
func (w *World) Finished() error {
	for i := range w.o.Ops {
		op, m := &w.o.Ops[i], &w.msgs[i]
		started := op.Name == "put" || op.Name == "trig" && w.ranks[op.Rank].acks >= op.After
		if started != (m.requests == 1) {
			return violation("message %d: sent %d times, expected %v", i, m.requests, started)
		}
		if started && (m.sends != 1 || m.acks != 1) {
			return violation("message %d ends with %d SEND and %d ACK", i, m.sends, m.acks)
		}
	}
	return nil
}

// CloneFor implements modelcheck.World.
func (w *World) CloneFor(event) *World {
	c := *w
	c.print = func(string, ...any) {}
	c.ranks, c.lines, c.msgs = slices.Clone(w.ranks), slices.Clone(w.lines), slices.Clone(w.msgs)
	for i := range c.ranks {
		r := &c.ranks[i]
		r.memory = slices.Clone(r.memory)
		r.ni, r.model = r.ni.Clone(r.memory), r.model.clone()
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
	flag := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	for i := range w.ranks {
		r := &w.ranks[i]
		b = r.ni.AppendState(b)
		number(r.next, r.acks, len(r.unsent), flag(r.model.enabled), len(r.model.posted), len(r.model.headers),
			len(r.model.expected))
		for _, id := range r.unsent {
			number(int(id))
		}
		for _, x := range append(slices.Clone(r.model.posted), r.model.headers...) {
			number(x.tag, x.op)
		}
		for _, x := range r.model.expected {
			number(int(x.kind), x.op, x.recv)
		}
	}
	for _, line := range w.lines {
		number(len(line))
		for i := range line {
			b = line[i].AppendTo(b)
		}
	}
	for i := range w.msgs {
		m := &w.msgs[i]
		number(m.requests, m.sends, m.acks, int(m.acked), flag(m.taken), flag(m.failed), flag(m.received))
	}
	return b
}
