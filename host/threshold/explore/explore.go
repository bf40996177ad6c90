package explore

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nicloop/nicloop/host/threshold"
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

// A world is what can be explored.
type world interface {
	enabled() []event
	apply(event) error
	clone() world
	key() key
	finished() error // nothing can happen any more
	print(*strings.Builder)
	tellTo(func(format string, args ...any))
}

// newWorld starts all ranks under the handshake that o has.
func newWorld(o *Options) (world, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Handshake == threshold.NotReady {
		return newStreams(o), nil
	}
	return NewWorld(o)
}

// Run explores every interleaving that o allows, in the order of their length, so that a counterexample is a shortest one. It
// returns an error for impossible options or if ctx ends; a violated property is a Result.
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
	known, steps := map[key]int{w.key(): 0}, []seen{{parent: -1}}
	var into []edge
	var ends []int
	type waiting struct {
		world world
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
				ends = append(ends, here.id)
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
				k := w.key()
				id, found := known[k]
				if !found {
					id = len(steps)
					known[k] = id
					next = append(next, waiting{w, id})
					steps = append(steps, seen{here.id, e})
				}
				into = append(into, edge{here.id, id})
			}
		}
		level = next
		if r.States = len(steps); r.States > limit {
			r.Verdict = Undecided
			return r, nil
		}
	}
	if id := endless(len(steps), into, ends); id >= 0 {
		return refuted(id, nil, violation("whatever happens from here on, it is never over"))
	}
	return r, nil
}

// An edge leads from one state to another.
type edge struct{ from, to int }

// endless is a state from which no end can be reached, or -1.
func endless(states int, edges []edge, ends []int) int {
	before := make([][]int, states)
	for _, e := range edges {
		before[e.to] = append(before[e.to], e.from)
	}
	good := make([]bool, states)
	for _, id := range ends {
		good[id] = true
	}
	for list := ends; len(list) > 0; {
		id := list[len(list)-1]
		list = list[:len(list)-1]
		for _, b := range before[id] {
			if !good[b] {
				good[b] = true
				list = append(list, b)
			}
		}
	}
	return slices.Index(good, false)
}
