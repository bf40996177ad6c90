package offload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/host/portals"
)

// An Execution is a scheme for some sends of process 0 and receives of process 1. Send i appends an
// entry for the get of its data and puts a ready-to-send message (RTS); receive j posts an entry
// for an RTS and a get that the RTS triggers. The receiver makes no other call: it is a full
// offload.
type Execution struct {
	Sends, Receives []Tag
	Entries         []Entry  // of the sends
	Codes           []uint64 // of the gets
	IsUseOnce       bool
}

func (x Execution) String() string {
	return fmt.Sprintf("sends=%v receives=%v use-once=%v", x.Sends, x.Receives, x.IsUseOnce)
}

// Executions are the seven cases of the table with a solution of the search.
func Executions(pair [2]Entry, s Semantics) (list []Execution) {
	for _, c := range Table(false) {
		list = append(list, Execution{
			Sends: []Tag{1, 2}, Receives: c.Receives[:], Entries: pair[:], IsUseOnce: s >= UseOnce,
			Codes: []uint64{c.Get(0).Code(), c.Get(1).Code()},
		})
	}
	return list
}

// HistoryExecutions are all cases of a scheme with a bit per history.
func HistoryExecutions(sends, receives int) (list []Execution) {
	scheme := Scheme{Receives: receives}
	eachSequence(2, sends, func(sent []Tag) bool {
		if len(sent) < sends {
			return true
		}
		eachSequence(3, receives, func(history []Tag) bool {
			if len(history) < receives {
				return true
			}
			x := Execution{Sends: slices.Clone(sent), Receives: slices.Clone(history)}
			for i := range sent {
				x.Entries = append(x.Entries, scheme.Entry(sent[:i+1]))
			}
			for j := range history {
				x.Codes = append(x.Codes, scheme.Code(history[:j+1]))
			}
			list = append(list, x)
			return true
		})
		return true
	})
	return list
}

// SequenceNumbers is the protocol that the RDRP paper refutes (its reference 15): send i and
// receive i use the number i as match bits. A receive of t2 before one of t1 takes the wrong data.
func SequenceNumbers() Execution {
	return Execution{
		Sends: []Tag{1, 2}, Receives: []Tag{2, 1}, Entries: []Entry{{Match: 0}, {Match: 1}}, Codes: []uint64{0, 1},
		IsUseOnce: true,
	}
}

var errWrong = errors.New("wrong data")

// World is an execution in one state.
type World struct {
	x     *Execution
	ni    [2]*portals.NI
	data  [2]portals.Flat
	eq    portals.EQ // of the gets
	md    [2]portals.MD
	calls [2]int // sends and receives that were made
	done  []bool // by receive
	lines [2][]portals.Packet
	print func(format string, args ...any)
}

// Portal table entries: of RTS at the receiver, of gets at the sender.
const (
	rtsPT = 0
	getPT = 1
)

const dataBytes = 16

// NewWorld opens both interfaces. Byte i of the sender is i+1, and send i has that byte.
func NewWorld(x *Execution) (*World, error) {
	w := &World{x: x, done: make([]bool, len(x.Receives)), print: func(string, ...any) {}}
	for i := range w.ni {
		w.data[i] = make(portals.Flat, dataBytes)
		var err error
		if w.ni[i], err = portals.NewNI(0, portals.Rank(uint32(i)), 0, portals.DefaultLimits(), w.data[i]); err != nil {
			return nil, err
		}
	}
	for i := range x.Sends {
		w.data[0][i] = byte(i + 1)
	}
	var errs [6]error
	_, errs[0] = w.ni[0].PTAlloc(0, 0, getPT)
	_, errs[1] = w.ni[1].PTAlloc(0, 0, rtsPT)
	w.eq, errs[2] = w.ni[1].EQAlloc(dataBytes)
	w.md[0], errs[3] = w.ni[0].MDBind(portals.MemoryDescriptor{Length: dataBytes})
	w.md[1], errs[4] = w.ni[1].MDBind(portals.MemoryDescriptor{Length: dataBytes, EQ: w.eq})
	// RTS that arrive before their receive: the overflow list keeps their headers.
	_, errs[5] = w.ni[1].MEAppend(rtsPT, &portals.MatchEntry{
		UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny), IgnoreBits: ^uint64(0), Options: portals.MEOpPut,
	}, portals.OverflowList)
	return w, errors.Join(errs[:]...)
}

// Enabled lists what can happen: the next call of a process, the oldest packet to a process.
func (w *World) Enabled() (list []string) {
	if w.calls[0] < len(w.x.Sends) {
		list = append(list, "send")
	}
	if w.calls[1] < len(w.x.Receives) {
		list = append(list, "receive")
	}
	for to, line := range w.lines {
		if len(line) > 0 {
			list = append(list, []string{"deliver 1>0", "deliver 0>1"}[to])
		}
	}
	return list
}

// Apply makes an event happen.
func (w *World) Apply(event string) error {
	var err error
	switch event {
	case "send":
		err = w.send(w.calls[0])
		w.calls[0]++
	case "receive":
		err = w.receive(w.calls[1])
		w.calls[1]++
	default:
		to := int(event[len(event)-1] - '0')
		p := w.lines[to][0]
		w.lines[to] = slices.Clone(w.lines[to][1:])
		err = w.ni[to].Deliver(&p)
	}
	for i := range w.ni {
		for p := (portals.Packet{}); w.ni[i].Next(&p); {
			p.Payload = slices.Clone(p.Payload)
			w.lines[1-i] = append(slices.Clone(w.lines[1-i]), p)
			w.print("%d>%d %v bits=%b data=%v fail=%v", i, 1-i, p.Kind, p.Bits, p.Payload, p.Fail)
			if p.Kind == portals.KindPut {
				err = errors.Join(err, w.ni[i].Sent(p.ID))
			}
		}
	}
	return errors.Join(err, w.replies())
}

func (w *World) send(i int) error {
	m := portals.MatchEntry{
		Start: uint64(i), Length: 1, UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny),
		MatchBits: w.x.Entries[i].Match, IgnoreBits: w.x.Entries[i].Ignore, Options: portals.MEOpGet,
	}
	if w.x.IsUseOnce {
		m.Options |= portals.MEUseOnce
	}
	if _, err := w.ni[0].MEAppend(getPT, &m, portals.PriorityList); err != nil {
		return err
	}
	_, err := w.ni[0].Put(&portals.Request{
		MD: w.md[0], Target: portals.Rank(1), PT: rtsPT, MatchBits: uint64(w.x.Sends[i]),
	})
	return err
}

func (w *World) receive(j int) error {
	n := w.ni[1]
	ct, err := n.CTAlloc()
	if err != nil {
		return err
	}
	get := portals.Request{
		MD: w.md[1], LocalOffset: uint64(j), Length: 1, Target: portals.Rank(0), PT: getPT, MatchBits: w.x.Codes[j],
		UserPtr: uint64(j),
	}
	if err := n.TriggeredGet(&get, ct, 1); err != nil {
		return err
	}
	m := portals.MatchEntry{
		UID: portals.UIDAny, MatchID: portals.Rank(portals.RankAny), MatchBits: uint64(w.x.Receives[j]), CT: ct,
		Options: portals.MEOpPut | portals.MEUseOnce | portals.MEEventCTComm | portals.MEEventCTOverflow,
	}
	if w.x.Receives[j] == AnyTag {
		m.IgnoreBits = ^uint64(0)
	}
	_, err = n.MEAppend(rtsPT, &m, portals.PriorityList)
	return err
}

// replies checks the data of the gets that are complete.
func (w *World) replies() error {
	want := Match(w.x.Sends, w.x.Receives)
	for e := (portals.Event{}); w.ni[1].EQGet(w.eq, &e) == nil; {
		j := int(e.UserPtr)
		w.done[j] = true
		got := int(w.data[1][j])
		w.print("receive %d has the data of send %d", j+1, got)
		if e.Fail != portals.FailNone || got != want[j] {
			return fmt.Errorf("%w: receive %d of %v got the data of send %d (%v), MPI requires send %d",
				errWrong, j+1, w.x.Receives[j], got, e.Fail, want[j])
		}
	}
	return nil
}

// Finished checks that all receives that MPI pairs with a send are complete.
func (w *World) Finished() error {
	for j, want := range Match(w.x.Sends, w.x.Receives) {
		if w.done[j] != (want > 0) {
			return fmt.Errorf("%w: receive %d ends with complete=%v, MPI pairs it with send %d", errWrong, j+1, w.done[j], want)
		}
	}
	return nil
}

// CloneFor implements modelcheck.World.
func (w *World) CloneFor(string) *World {
	c := *w
	c.print = func(string, ...any) {}
	c.done = slices.Clone(w.done)
	for i := range c.ni {
		c.data[i] = slices.Clone(w.data[i])
		c.ni[i] = w.ni[i].Clone(c.data[i])
	}
	return &c
}

// AppendState encodes all that can matter later.
func (w *World) AppendState(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(w.calls[0]))
	b = binary.AppendUvarint(b, uint64(w.calls[1]))
	for _, done := range w.done {
		flag := byte(0)
		if done {
			flag = 1
		}
		b = append(b, flag)
	}
	for i, n := range w.ni {
		b = n.AppendState(b)
		b = append(b, w.data[i]...)
		b = binary.AppendUvarint(b, uint64(len(w.lines[i])))
		for k := range w.lines[i] {
			b = w.lines[i][k].AppendTo(b)
		}
	}
	return b
}

// transcript runs the events of a counterexample.
func transcript(x *Execution, events []string) string {
	var b strings.Builder
	w, err := NewWorld(x)
	if err != nil {
		return err.Error()
	}
	w.print = func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, e := range events {
		fmt.Fprintf(&b, "%s\n----\n", e)
		if err := w.Apply(e); err != nil {
			fmt.Fprintf(&b, "violation: %v\n", err)
		}
		b.WriteString("\n")
	}
	return b.String()
}
