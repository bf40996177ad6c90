package explore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Verdict is the outcome of an exploration.
type Verdict uint8

// The verdicts.
const (
	Proved    Verdict = iota // all states visited, all properties hold
	Refuted                  // a counterexample was found
	Undecided                // MaxStates was reached; no counterexample so far
)

func (v Verdict) String() string { return [...]string{"proved", "refuted", "undecided"}[v] }

// Result is what an exploration found; doc.go lists the properties.
type Result struct {
	Verdict     Verdict
	States      int
	Transitions int
	Depth       int
	Ends        int // states in which nothing can happen any more
	Duration    time.Duration
	Violation   string // if refuted
	Script      string // a shortest counterexample as a scenario with its output
}

// An event is one thing that can happen.
type event struct {
	act      string
	from, to int // or the number of a message or of a loss
	k        int
}

func (e event) String() string {
	switch {
	case e.act == "deliver" && e.k > 0:
		return fmt.Sprintf("deliver %d>%d %d", e.from, e.to, e.k)
	case e.act == "deliver" || e.act == "land":
		return fmt.Sprintf("%s %d>%d", e.act, e.from, e.to)
	}
	return fmt.Sprintf("%s %d", e.act, e.from)
}

// enabled lists what can happen.
func (w *World) enabled() (list []event) {
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

func (w *World) apply(e event) error {
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

// key stands for a state: half of a SHA-256.
type key [16]byte

func (w *World) key() key {
	var b []byte
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
			p.said.Put(wire[:])
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
	s := sha256.Sum256(b)
	return key(s[:16])
}

// seen is how a state was reached first.
type seen struct {
	parent int
	event  event
}

const defaultMaxStates = 2_000_000

// Run explores every interleaving that o allows, in the order of their length, so that a counterexample is a shortest one. It
// returns an error for impossible options or if ctx ends; a violated property is a Result.
func Run(ctx context.Context, o Options) (r Result, err error) {
	began := time.Now()
	defer func() { r.Duration = time.Since(began) }()
	w, err := NewWorld(&o)
	if err != nil {
		return r, err
	}
	limit := o.MaxStates
	if limit == 0 {
		limit = defaultMaxStates
	}
	known, steps := map[key]bool{w.key(): true}, []seen{{parent: -1}}
	type waiting struct {
		world *World
		id    int
	}
	refuted := func(id int, last *event, err error) (Result, error) {
		var path []event
		if last != nil {
			path = append(path, *last)
		}
		for ; steps[id].parent >= 0; id = steps[id].parent {
			path = append(path, steps[id].event)
		}
		slices.Reverse(path)
		r.Verdict, r.Violation, r.States = Refuted, strings.TrimPrefix(err.Error(), ErrUnsafe.Error()+": "), len(steps)
		r.Script = script(&o, path)
		return r, nil
	}
	for level := []waiting{{w, 0}}; len(level) > 0; r.Depth++ {
		var next []waiting
		for _, here := range level {
			if err := ctx.Err(); err != nil {
				return r, fmt.Errorf("explore: stopped after %d states: %w", len(steps), err)
			}
			events := here.world.enabled()
			if len(events) == 0 {
				r.Ends++
				if err := here.world.finished(); err != nil {
					return refuted(here.id, nil, err)
				}
			}
			for _, e := range events {
				w := here.world.clone()
				r.Transitions++
				if err := w.apply(e); err != nil {
					return refuted(here.id, &e, err)
				}
				if k := w.key(); !known[k] {
					known[k] = true
					next = append(next, waiting{w, len(steps)})
					steps = append(steps, seen{here.id, e})
				}
			}
		}
		level = next
		if r.States = len(steps); r.States > limit {
			r.Verdict = Undecided
			return r, nil
		}
	}
	return r, nil
}
