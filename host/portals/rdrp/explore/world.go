package explore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/host/portals"
	"github.com/nicloop/nicloop/host/portals/rdrp"
	"github.com/nicloop/nicloop/host/portals/rportals"
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

// Memory of a rank: a buffer per operation, then the overflow buffers.
const (
	opBytes     = 14 // the longest message
	opStride    = 16
	bounceBase  = 16 * opStride
	memoryBytes = bounceBase + 16*opStride
	overwritten = 0xEE // in a send buffer after its send is done
)

type rank struct {
	ni       *portals.NI
	memory   portals.Flat
	layer    *rportals.Layer // nil without recovery
	endpoint *rdrp.Endpoint
	model    model
	next     int  // operation of the program
	isDirty  bool // something happened since the last progress
}

// A packet in the network: of a put the operation, of a get and its reply the match bits.
type packet struct {
	portals.Packet
	op   int
	bits uint64
}

// progress of an operation.
type progress struct {
	id                rdrp.ID
	isStarted, isDone bool
	isCancelled       bool
	pair              int // of a receive: the send that MPI pairs it with, or -1
	isPaired          bool
}

// World is some ranks with real endpoints in one state.
type World struct {
	o     *Options
	ranks []rank
	lines [][]packet // by pair
	ops   []progress
	print func(format string, args ...any)
}

// NewWorld opens the endpoints of all ranks.
func NewWorld(o *Options) (*World, error) {
	w := &World{o: o, lines: make([][]packet, o.Ranks*o.Ranks), ops: make([]progress, len(o.Ops))}
	w.print = func(string, ...any) {}
	for i := range w.ops {
		w.ops[i].pair = -1
	}
	for i := range o.Ranks {
		r := rank{memory: make(portals.Flat, memoryBytes)}
		limits := portals.DefaultLimits()
		limits.MaxTriggeredOps, limits.MaxPTs = o.Triggers, 3
		var err error
		if r.ni, err = portals.NewNI(0, portals.Rank(uint32(i)), 0, limits, r.memory); err != nil {
			return nil, err
		}
		if r.layer, err = openLayer(o, r.ni); err != nil {
			return nil, err
		}
		r.endpoint, err = rdrp.New(r.ni, r.memory, rdrp.Config{
			Messages: messagePT, Gets: getPT, FirstChunk: uint64(o.First), Chunk: uint64(o.Chunk), InFlight: o.InFlight,
			Nonces: o.Nonces, Requests: len(o.Ops), Bounces: o.Bounces, BounceBase: bounceBase, MemoryLength: memoryBytes,
			Layer: r.layer,
		})
		if err != nil {
			return nil, err
		}
		r.endpoint.Plant(o.Mistake)
		for k := range o.Ops {
			if op := &o.Ops[k]; op.Rank == i && op.Name == "send" {
				fill(r.memory, k, op.Bytes)
			}
		}
		w.ranks = append(w.ranks, r)
	}
	return w, nil
}

// Portal table entries.
const (
	messagePT = 0
	getPT     = 1
	controlPT = 2
)

func openLayer(o *Options, ni *portals.NI) (*rportals.Layer, error) {
	if !o.Recovers {
		return nil, nil
	}
	c := rportals.Config{
		Control: controlPT, Protected: []uint8{messagePT}, OriginEvents: 2 * len(o.Ops), MemoryLength: memoryBytes,
	}
	for i := range o.Ranks {
		c.Peers = append(c.Peers, portals.Rank(uint32(i)))
	}
	return rportals.New(ni, c)
}

// sendOf finds the operation of a put. The layer may repeat a put at any time, so worlds with
// recovery have messages of different sizes.
func (w *World) sendOf(rank int, p *portals.Packet) int {
	return slices.IndexFunc(w.o.Ops, func(op Op) bool {
		return op.Name == "send" && op.Rank == rank && op.Peer == p.Target.NID && op.Bytes == p.HdrData
	})
}

// data is byte j of the message of an operation; it is never 0.
func data(op, j int) byte { return byte(op*opStride + j + 1) }

func fill(m portals.Flat, op int, n uint64) {
	for j := range int(n) {
		m[op*opStride+j] = data(op, j)
	}
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
		op := w.nextOp(i)
		if op >= 0 && (w.o.Ops[op].Name != "wait" || w.ops[w.o.Ops[op].Number].isDone) {
			list = append(list, event{act: "do", from: i})
		}
		if w.ranks[i].isDirty {
			list = append(list, event{act: "progress", from: i})
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
func (w *World) Apply(e event) (err error) {
	switch e.act {
	case "do":
		err = w.do(e.from)
	case "progress":
		err = w.progress(e.from)
	case "deliver":
		err = w.deliver(e.from, e.to)
	}
	if err != nil && !errors.Is(err, ErrUnsafe) {
		return violation("%v: %v", e, err)
	}
	return err
}

func (w *World) do(at int) (err error) {
	r, number := &w.ranks[at], w.nextOp(at)
	op, state := &w.o.Ops[number], &w.ops[number]
	r.next, r.isDirty = number+1, true
	m := rdrp.Message{Peer: op.Peer, Tag: op.Tag, Start: uint64(number * opStride), Length: op.Bytes}
	state.isStarted = true
	switch op.Name {
	case "send":
		state.id, err = r.endpoint.Send(m)
	case "recv":
		state.id, err = r.endpoint.Receive(m)
		if send := r.model.receive(w.o, number); send >= 0 {
			w.pair(number, send)
		}
	case "cancel":
		state.isDone = true
		return w.cancel(r, op.Number)
	case "wait":
		state.isDone = true
	}
	if err != nil {
		return err
	}
	return w.collect(at, number, 0)
}

func (w *World) pair(receive, send int) {
	w.ops[receive].pair, w.ops[send].isPaired = send, true
}

func (w *World) cancel(r *rank, number int) error {
	if w.ops[number].isDone {
		return nil // the status was taken: the request no longer exists
	}
	got, err := r.endpoint.Cancel(w.ops[number].id)
	w.print("cancel of operation %d: %v", number, got)
	w.ops[number].isCancelled = got
	if want := r.model.cancel(number); err == nil && got != want {
		return violation("operation %d: cancelled=%v, expected %v", number, got, want)
	}
	return err
}

// progress lets an endpoint make progress and takes what is done.
func (w *World) progress(at int) error {
	r := &w.ranks[at]
	r.isDirty = false
	if err := r.endpoint.Progress(); err != nil {
		return err
	}
	for i := range w.ops {
		op, state := &w.o.Ops[i], &w.ops[i]
		if op.Rank != at || !state.isStarted || state.isDone || op.Name != "send" && op.Name != "recv" {
			continue
		}
		s, isDone := r.endpoint.Take(state.id)
		if !isDone {
			continue
		}
		state.isDone = true
		w.print("operation %d is done: %s", i, describe(op, &s))
		if s.Fail != portals.FailNone {
			return violation("operation %d fails with %v", i, s.Fail)
		}
		if op.Name == "send" {
			for j := range op.Bytes {
				r.memory[uint64(i*opStride)+j] = overwritten
			}
		} else if err := w.received(i, &s); err != nil {
			return err
		}
	}
	return w.collect(at, -1, 0)
}

func describe(op *Op, s *rdrp.Status) string {
	switch {
	case op.Name == "send":
		return "sent"
	case s.IsCancelled:
		return "cancelled"
	}
	return fmt.Sprintf("source=%d tag=%d length=%d truncated=%v", s.Source, s.Tag, s.Length, s.IsTruncated)
}

// received compares a receive with the send that MPI pairs it with.
func (w *World) received(number int, s *rdrp.Status) error {
	op, state := &w.o.Ops[number], &w.ops[number]
	switch {
	case s.IsCancelled != state.isCancelled:
		return violation("receive %d ends with cancelled=%v", number, s.IsCancelled)
	case s.IsCancelled:
		return nil
	case state.pair < 0:
		return violation("receive %d ends, MPI pairs it with no send", number)
	}
	send := &w.o.Ops[state.pair]
	n := int(min(op.Bytes, send.Bytes))
	for j, b := range w.ranks[op.Rank].memory[number*opStride : (number+1)*opStride] {
		switch {
		case j < n && b != data(state.pair, j):
			return violation("receive %d: byte %d is %#x, not %#x of send %d", number, j, b, data(state.pair, j), state.pair)
		case j >= n && b != 0:
			return violation("receive %d: byte %d behind the message is %#x", number, j, b)
		}
	}
	if int(s.Source) != send.Rank || s.Tag != send.Tag || s.Length != send.Bytes || s.IsTruncated != (send.Bytes > op.Bytes) {
		return violation("receive %d ends with %s, not those of send %d", number, describe(op, s), state.pair)
	}
	return nil
}

// collect moves new packets to their lines. Puts belong to operation op, an acknowledgement to the
// put of op that was delivered, replies to the get with the given bits.
func (w *World) collect(at, op int, bits uint64) error {
	r := &w.ranks[at]
	for p := (packet{}); r.ni.Next(&p.Packet); {
		p.op, p.bits = op, bits
		switch {
		case p.Kind == portals.KindGet:
			p.bits = p.Bits
		case p.Kind == portals.KindPut && p.PT == controlPT:
			p.op = -1
		case p.Kind == portals.KindPut && w.o.Recovers:
			p.op = w.sendOf(at, &p.Packet)
		case p.Kind == portals.KindAck && p.Fail == portals.FailNone:
			if receive := r.model.arrive(w.o, op); receive >= 0 {
				w.pair(receive, op)
			}
		}
		p.Payload = slices.Clone(p.Payload)
		line := at*w.o.Ranks + int(p.Target.NID)
		w.lines[line] = append(slices.Clone(w.lines[line]), p)
		w.print("%d>%d %v%s", at, p.Target.NID, p.Kind, fields(&p))
		if p.Kind == portals.KindPut { // the line has a copy of the data
			if err := r.ni.Sent(p.ID); err != nil {
				return err
			}
		}
		if n := w.outstanding(at, int(p.Target.NID), p.bits); p.Kind == portals.KindGet && n > w.o.InFlight {
			return violation("rank %d has %d gets of a message in flight, %d are allowed", at, n, w.o.InFlight)
		}
	}
	return nil
}

func fields(p *packet) string {
	switch p.Kind {
	case portals.KindPut:
		if p.PT == controlPT {
			return " " + rportals.DescribeControl(p.HdrData)
		}
		return fmt.Sprintf(" tag=%d nonce=%d size=%d data=%v", uint32(p.Bits), uint16(p.Bits>>32), p.HdrData, p.Payload)
	case portals.KindGet:
		return fmt.Sprintf(" tag=%d nonce=%d offset=%d length=%d", uint32(p.Bits), uint16(p.Bits>>32), p.Offset, p.Length)
	case portals.KindReply:
		return fmt.Sprintf(" data=%v fail=%v", p.Payload, p.Fail)
	}
	return fmt.Sprintf(" fail=%v", p.Fail)
}

// outstanding counts the gets of a message: on their way to the sender, or replies on their way
// back.
func (w *World) outstanding(receiver, sender int, bits uint64) (n int) {
	count := func(line []packet, kind portals.Kind) {
		for i := range line {
			if line[i].Kind == kind && line[i].bits == bits {
				n++
			}
		}
	}
	count(w.lines[receiver*w.o.Ranks+sender], portals.KindGet)
	count(w.lines[sender*w.o.Ranks+receiver], portals.KindReply)
	return n
}

func (w *World) deliver(from, to int) error {
	at, r := from*w.o.Ranks+to, &w.ranks[to]
	p := w.lines[at][0]
	w.lines[at] = slices.Clone(w.lines[at][1:])
	r.isDirty = true
	if err := r.ni.Deliver(&p.Packet); err != nil {
		return err
	}
	return w.collect(to, p.op, p.bits)
}

// Finished checks an end.
func (w *World) Finished() error {
	for i := range w.ops {
		op, state := &w.o.Ops[i], &w.ops[i]
		want := true // cancel and wait
		switch op.Name {
		case "send":
			want = state.isPaired || op.Bytes <= uint64(w.o.First)
		case "recv":
			want = state.pair >= 0 || state.isCancelled
		}
		if state.isDone != want {
			return violation("operation %d ends with done=%v, expected %v", i, state.isDone, want)
		}
	}
	return nil
}

// CloneFor implements modelcheck.World.
func (w *World) CloneFor(event) *World {
	c := *w
	c.print = func(string, ...any) {}
	c.ranks, c.lines, c.ops = slices.Clone(w.ranks), slices.Clone(w.lines), slices.Clone(w.ops)
	for i := range c.ranks {
		r := &c.ranks[i]
		r.memory = slices.Clone(r.memory)
		r.ni = r.ni.Clone(r.memory)
		if r.layer != nil {
			r.layer = r.layer.Clone(r.ni)
		}
		r.endpoint = r.endpoint.Clone(r.ni, r.memory, r.layer)
		r.model = r.model.clone()
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
		b = r.endpoint.AppendState(r.ni.AppendState(b))
		if r.layer != nil {
			b = r.layer.AppendState(b)
		}
		b = append(b, r.memory...)
		number(r.next, flag(r.isDirty), len(r.model.posted))
		number(r.model.posted...)
		number(len(r.model.unexpected))
		number(r.model.unexpected...)
	}
	for _, line := range w.lines {
		number(len(line))
		for i := range line {
			b = line[i].AppendTo(b)
			number(line[i].op, int(line[i].bits))
		}
	}
	for i := range w.ops {
		s := &w.ops[i]
		number(int(s.id), flag(s.isStarted)|flag(s.isDone)<<1|flag(s.isCancelled)<<2|flag(s.isPaired)<<3, s.pair)
	}
	return b
}
