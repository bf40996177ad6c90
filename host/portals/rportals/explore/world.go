package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rportals"
)

// ErrUnsafe is wrapped by every violation.
var ErrUnsafe = errors.New("property violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsafe, fmt.Sprintf(format, args...))
}

// An event is one step of the world. With deliver, at is the target of the packet.
type event struct {
	act      string
	rank, at int
}

func (e event) String() string {
	switch e.act {
	case "deliver":
		return fmt.Sprintf("deliver %d>%d", e.rank, e.at)
	case "read", "post":
		return fmt.Sprintf("%s %d.%d", e.act, e.rank, e.at)
	}
	return fmt.Sprintf("%s %d", e.act, e.rank)
}

// touches is the process whose state an event changes.
func (e event) touches() int {
	if e.act == "deliver" {
		return e.at
	}
	return e.rank
}

// A message is what the world has observed of an operation.
type message struct {
	started            bool
	attempts           int
	accepted, received bool
	sends, answers     int
}

type process struct {
	ni      *portals.NI
	layer   *rportals.Layer
	next    int   // operation of the program
	posted  []int // buffers of each entry
	events  []int // events of each entry that were not read
	origin  int   // events of operations that were not read
	control int   // control messages that were not read
	unsent  []uint32
}

// World is some processes with real layers in one state.
type World struct {
	o         *Options
	processes []process
	lines     [][]portals.Packet // by pair
	messages  []message          // by operation
	print     func(format string, args ...any)
}

const memoryBytes = 16

// NewWorld opens the layers of all processes.
func NewWorld(o *Options) (*World, error) {
	w := &World{o: o, lines: make([][]portals.Packet, o.Ranks*o.Ranks), messages: make([]message, len(o.Ops))}
	w.print = func(string, ...any) {}
	config := rportals.Config{Control: o.PTs, OriginEvents: o.Origin, MemoryLength: memoryBytes}
	for i := range o.Ranks {
		config.Peers = append(config.Peers, portals.Rank(uint32(i)))
	}
	for i := range o.PTs {
		config.Protected = append(config.Protected, uint8(i))
	}
	for i := range o.Ranks {
		p, err := open(o, i, config)
		if err != nil {
			return nil, err
		}
		w.processes = append(w.processes, p)
	}
	return w, nil
}

func open(o *Options, rank int, config rportals.Config) (p process, err error) {
	limits := portals.DefaultLimits()
	limits.MaxPTs = o.PTs + 1
	if p.ni, err = portals.NewNI(0, portals.Rank(uint32(rank)), 0, limits, make(portals.Flat, memoryBytes)); err != nil {
		return p, err
	}
	if p.layer, err = rportals.New(p.ni, config); err != nil {
		return p, err
	}
	p.layer.Plant(o.Mistake)
	p.posted, p.events = make([]int, o.PTs), make([]int, o.PTs)
	for pt := range o.PTs {
		if err := p.layer.PTAlloc(uint8(pt), o.Events); err != nil {
			return p, err
		}
		for range max(o.Buffers, 1) {
			if err := p.post(o, pt); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// post appends an entry for messages without data.
func (p *process) post(o *Options, pt int) error {
	m := portals.MatchEntry{
		Length: memoryBytes, UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny), IgnoreBits: ^uint64(0),
		Options: portals.MEOpPut | portals.MEOpGet | portals.MEEventLinkDisable | portals.MEEventUnlinkDisable,
	}
	if o.Buffers > 0 {
		m.Options |= portals.MEUseOnce
	}
	if _, err := p.ni.MEAppend(uint8(pt), &m, portals.PriorityList); err != nil {
		return err
	}
	p.posted[pt]++
	return p.layer.SetShort(uint8(pt), false)
}

// nextOp is the number of the next operation of a process, or -1.
func (w *World) nextOp(rank int) int {
	for i := w.processes[rank].next; i < len(w.o.Ops); i++ {
		if w.o.Ops[i].Rank == rank {
			return i
		}
	}
	return -1
}

// Enabled lists what can happen. Reading is possible at any time, but a read that finds nothing
// changes something only while an entry is disabled.
func (w *World) Enabled() (list []event) {
	for i := range w.processes {
		p := &w.processes[i]
		if w.nextOp(i) >= 0 {
			list = append(list, event{act: "do", rank: i})
		}
		if len(p.unsent) > 0 {
			list = append(list, event{act: "sent", rank: i})
		}
		if p.origin > 0 {
			list = append(list, event{act: "origin", rank: i})
		}
		if p.control > 0 {
			list = append(list, event{act: "control", rank: i})
		}
		for pt := range w.o.PTs {
			if p.events[pt] > 0 || !p.ni.PTEnabled(uint8(pt)) {
				list = append(list, event{"read", i, pt})
			}
			if p.posted[pt] < w.o.Buffers {
				list = append(list, event{"post", i, pt})
			}
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
	p := &w.processes[e.rank]
	var err error
	switch e.act {
	case "do":
		err = w.do(e.rank)
	case "sent":
		id := p.unsent[0]
		p.unsent = slices.Clone(p.unsent[1:])
		p.origin++
		err = p.ni.Sent(id)
	case "origin":
		p.origin--
		_, err = p.layer.PollOrigin()
	case "control":
		p.control--
		_, err = p.layer.PollControl()
	case "read":
		err = w.read(e.rank, e.at)
	case "post":
		err = p.post(w.o, e.at)
	case "deliver":
		err = w.deliver(e.rank, e.at)
	}
	touched := e.touches()
	if err == nil {
		err = w.collect(touched)
	}
	for err == nil && w.o.Prompt {
		more := false
		if more, err = w.handleOne(touched); err != nil || !more {
			break
		}
		err = w.collect(touched)
	}
	if err != nil && !errors.Is(err, ErrUnsafe) {
		return violation("%v: %v", e, err)
	}
	return err
}

// handleOne handles a control message or an event of an operation, if there is one.
func (w *World) handleOne(rank int) (bool, error) {
	p := &w.processes[rank]
	switch {
	case p.control > 0:
		p.control--
		return p.layer.PollControl()
	case p.origin > 0:
		p.origin--
		return p.layer.PollOrigin()
	}
	return false, nil
}

func (w *World) do(rank int) error {
	p, number := &w.processes[rank], w.nextOp(rank)
	op := &w.o.Ops[number]
	p.next = number + 1
	w.messages[number].started = true
	r := portals.Request{
		Ack: portals.FullAckReq, Target: portals.Rank(uint32(op.Target)), PT: uint8(op.PT),
		MatchBits: uint64(number), UserPtr: uint64(number), HdrData: uint64(number),
	}
	if op.IsGet {
		return p.layer.Get(&r)
	}
	if op.NoAck {
		r.Ack = portals.NoAckReq
	}
	return p.layer.Put(&r)
}

// collect moves new packets to their lines and reads the events that the layer has for the program.
func (w *World) collect(rank int) error {
	p := &w.processes[rank]
	for packet := (portals.Packet{}); p.ni.Next(&packet); {
		isControl := int(packet.PT) == w.o.PTs
		isPut := packet.Kind == portals.KindPut
		line := rank*w.o.Ranks + int(packet.Target.NID)
		w.lines[line] = append(slices.Clone(w.lines[line]), packet)
		switch {
		case isPut && isControl:
			w.print("%d>%d control %#x", rank, packet.Target.NID, packet.HdrData)
			if err := p.ni.Sent(packet.ID); err != nil {
				return err
			}
			continue
		case isPut && w.o.Late:
			p.unsent = append(slices.Clone(p.unsent), packet.ID)
		case isPut:
			if err := p.ni.Sent(packet.ID); err != nil {
				return err
			}
			p.origin++
		}
		if isPut || packet.Kind == portals.KindGet {
			w.messages[packet.Bits].attempts++
		}
		w.print("%d>%d %v message=%d fail=%v", rank, packet.Target.NID, packet.Kind, packet.Bits, packet.Fail)
	}
	return w.programEvents(rank)
}

// programEvents takes the events that the layer passes on.
func (w *World) programEvents(rank int) error {
	p := &w.processes[rank]
	for e := (portals.Event{}); p.layer.TakeEvent(&e); {
		m, op := &w.messages[e.UserPtr], &w.o.Ops[e.UserPtr]
		w.print("process %d: %v of message %d: %v", rank, e.Kind, e.UserPtr, e.Fail)
		if e.Fail != portals.FailNone || !m.accepted {
			return violation("message %d: %v with %v, accepted is %v", e.UserPtr, e.Kind, e.Fail, m.accepted)
		}
		switch e.Kind {
		case portals.EventSend:
			m.sends++
		case portals.EventAck, portals.EventReply:
			m.answers++
		}
		if m.sends > 1 || m.answers > 1 || op.NoAck && m.answers > 0 {
			return violation("message %d: %v must not be raised again", e.UserPtr, e.Kind)
		}
	}
	return nil
}

func (w *World) deliver(from, to int) error {
	at, p := from*w.o.Ranks+to, &w.processes[to]
	packet := w.lines[at][0]
	w.lines[at] = slices.Clone(w.lines[at][1:])
	if packet.Kind != portals.KindPut && packet.Kind != portals.KindGet {
		p.origin++
		return p.ni.Deliver(&packet)
	}
	if int(packet.PT) == w.o.PTs {
		p.control++
		return p.ni.Deliver(&packet)
	}
	pt, wasEnabled := int(packet.PT), p.ni.PTEnabled(packet.PT)
	if err := p.ni.Deliver(&packet); err != nil {
		return err
	}
	if isEnabled := p.ni.PTEnabled(packet.PT); !isEnabled {
		if wasEnabled {
			p.events[pt]++ // PT_DISABLED
			return p.layer.SetShort(packet.PT, p.posted[pt] == 0)
		}
		return nil
	}
	p.events[pt]++
	m := &w.messages[packet.Bits]
	if m.accepted {
		return violation("message %d is accepted twice", packet.Bits)
	}
	m.accepted = true
	if w.o.Buffers > 0 {
		p.posted[pt]--
	}
	return nil
}

// read reads an event of a portal table entry and checks the order of its sender.
func (w *World) read(rank, pt int) error {
	p := &w.processes[rank]
	var e portals.Event
	err := p.layer.EQGet(uint8(pt), &e)
	if err == portals.EQEmpty {
		p.events[pt] = 0 // also PT_DISABLED, which the layer keeps to itself
		return nil
	}
	if err != nil {
		return err
	}
	p.events[pt]--
	number := int(e.MatchBits)
	w.print("process %d: reads %v of message %d", rank, e.Kind, number)
	m, op := &w.messages[number], &w.o.Ops[number]
	if m.received {
		return violation("message %d is received twice", number)
	}
	m.received = true
	for i := range number {
		o := &w.o.Ops[i]
		if o.Rank == op.Rank && o.Target == op.Target && o.PT == op.PT && !w.messages[i].received {
			return violation("message %d overtakes message %d", number, i)
		}
	}
	return nil
}

// Finished checks an end.
func (w *World) Finished() error {
	for i := range w.messages {
		m, op := &w.messages[i], &w.o.Ops[i]
		sends, answers := 1, 1
		if op.IsGet {
			sends = 0
		}
		if op.NoAck {
			answers = 0
		}
		if !m.received || m.sends != sends || m.answers != answers {
			return violation("message %d ends with received=%v, %d SEND and %d ACK or REPLY, expected %d and %d",
				i, m.received, m.sends, m.answers, sends, answers)
		}
	}
	for i := range w.processes {
		if !w.processes[i].layer.Idle() {
			return violation("the layer of process %d is not idle", i)
		}
	}
	return nil
}

// CloneFor implements modelcheck.World.
func (w *World) CloneFor(e event) *World {
	c := *w
	c.print = func(string, ...any) {}
	c.processes, c.lines, c.messages = slices.Clone(w.processes), slices.Clone(w.lines), slices.Clone(w.messages)
	p := &c.processes[e.touches()]
	p.ni = p.ni.Clone(make(portals.Flat, memoryBytes))
	p.layer = p.layer.Clone(p.ni)
	p.posted, p.events = slices.Clone(p.posted), slices.Clone(p.events)
	return &c
}

// AppendState encodes all that can matter later.
func (w *World) AppendState(b []byte) []byte {
	number := func(list ...int) {
		for _, v := range list {
			b = binary.AppendVarint(b, int64(v))
		}
	}
	for i := range w.processes {
		p := &w.processes[i]
		b = p.layer.AppendState(p.ni.AppendState(b))
		number(p.next, p.origin, p.control, len(p.unsent))
		number(p.posted...)
		number(p.events...)
		for _, id := range p.unsent {
			number(int(id))
		}
	}
	for _, line := range w.lines {
		number(len(line))
		for i := range line {
			b = line[i].AppendTo(b)
		}
	}
	for i := range w.messages {
		m := &w.messages[i]
		flags := 0
		for at, on := range []bool{m.started, m.accepted, m.received} {
			if on {
				flags |= 1 << at
			}
		}
		number(flags, m.sends, m.answers)
	}
	return b
}
