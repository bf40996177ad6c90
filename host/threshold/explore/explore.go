package explore

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
)

// Result is the outcome of an exploration; doc.go lists the invariants.
type Result = modelcheck.Result

// The verdicts.
const (
	Proved    = modelcheck.Proved
	Refuted   = modelcheck.Refuted
	Undecided = modelcheck.Undecided
)

// An event is a possible step.
type event struct {
	act      string
	from, to int // or the number of a message, a loss, a receive or a gate
	k        int
}

func (e event) String() string {
	switch {
	case e.k > 0:
		return fmt.Sprintf("%s %d>%d %d", e.act, e.from, e.to, e.k)
	case e.act == "deliver" || e.act == "land" || e.act == "miss":
		return fmt.Sprintf("%s %d>%d", e.act, e.from, e.to)
	}
	return fmt.Sprintf("%s %d", e.act, e.from)
}

// Enabled lists the possible events.
func (w *World) Enabled() (list []event) {
	n := w.o.Ranks
	for i := range n {
		if w.nextSend(i) >= 0 {
			list = append(list, event{act: "send", from: i})
		}
		if w.ticks[i] < w.o.Ticks {
			list = append(list, event{act: "tick", from: i})
		}
	}
	for i, done := range w.lost {
		if !done {
			list = append(list, event{act: "lose", from: i})
		}
	}
	for from := range n {
		for to := range n {
			pair := w.pair(from, to)
			for k, p := range w.lines[pair] {
				if !(p.waits && w.shut[pair]) && !slices.ContainsFunc(w.lines[pair][:k], func(q packet) bool { return !q.ordered || p.ordered }) {
					list = append(list, event{"deliver", from, to, k})
				}
			}
			if len(w.puts[pair]) > 0 {
				list = append(list, event{"land", from, to, 0})
			}
		}
	}
	for i := range w.state {
		if w.mayRead(i) {
			list = append(list, event{act: "read", from: i})
		}
	}
	return list
}

func (w *World) Apply(e event) error {
	switch e.act {
	case "send":
		return w.send(e.from)
	case "tick":
		return w.tick(e.from)
	case "lose":
		return w.lose(e.from)
	case "deliver":
		return w.deliver(e.from, e.to, e.k)
	case "land":
		return w.land(e.from, e.to)
	default:
		return w.read(e.from)
	}
}

// AppendState encodes the complete state.
func (w *World) AppendState(b []byte) []byte {
	number := func(v int) { b = binary.AppendVarint(b, int64(v)) }
	bit := func(set bool) {
		if set {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	for i, c := range w.cores {
		b = c.AppendState(b)
		number(w.sent[i])
		number(w.ticks[i])
	}
	for pair := range w.lines {
		bit(w.shut[pair])
		number(len(w.lines[pair]))
		for _, p := range w.lines[pair] {
			var wire [32]byte
			p.control.Put(wire[:])
			b = append(b, wire[:]...)
			number(p.message)
			bit(p.ordered)
			bit(p.waits)
		}
		number(len(w.puts[pair]))
		for _, p := range w.puts[pair] {
			number(p.message)
		}
	}
	for i, s := range w.state {
		for _, set := range []bool{s.sent, s.came, s.landed, s.read} {
			bit(set)
		}
		number(int(w.at[i]))
	}
	for _, done := range w.lost {
		bit(done)
	}
	return b
}

const defaultMaxStates = 2_000_000

// A world is a state under one of the handshakes.
type world interface {
	modelcheck.World[world, event]
	print(*strings.Builder)
	tellTo(func(format string, args ...any))
}

// newWorld creates the initial state for the handshake of o.
func newWorld(o *Options) (world, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Handshake == threshold.NotReady {
		return newStreams(o), nil
	}
	return NewWorld(o)
}

// Run explores every interleaving that o allows, shortest first, so a counterexample has minimum
// length. It returns an error for impossible options or if ctx ends; a violated invariant is a
// Result.
func Run(ctx context.Context, o Options) (r Result, err error) {
	began := time.Now()
	defer func() { r.Duration = time.Since(began) }()
	w, err := newWorld(&o)
	if err != nil {
		return r, err
	}
	limit := o.MaxStates
	if limit == 0 {
		limit = defaultMaxStates
	}
	x, err := modelcheck.RunWorld(ctx, modelcheck.WorldOptions{
		Options: modelcheck.Options{MaxStates: limit, Liveness: modelcheck.EndReachable},
	}, w)
	out := x.Outcome
	r = Result{Verdict: out.Verdict, States: x.Len(), Transitions: x.Transitions, Depth: out.Depth, Ends: out.Ends}
	if bad := out.Violation; bad != nil {
		if bad.Event != nil {
			r.Transitions++ // the event that violates an invariant counts
		}
		r.Violation = strings.TrimPrefix(bad.Err.Error(), ErrUnsafe.Error()+": ")
		r.Script = script(&o, x.Counterexample())
	}
	return r, err
}
