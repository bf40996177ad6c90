package search

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// A Key stands for a state: half of a SHA-256.
type Key [16]byte

// Sum is the key of a state that is all in these bytes.
func Sum(b []byte) Key {
	s := sha256.Sum256(b)
	return Key(s[:16])
}

// A World is in a state. E is what can happen.
type World[W, E any] interface {
	Enabled() []E
	Apply(E) error
	Clone() W
	Key() Key
	Finished() error // nothing can happen any more: what is wrong with that
}

// A Result is what a search has found.
type Result[E any] struct {
	States, Transitions int
	Depth               int
	Ends                int   // states in which nothing can happen any more
	Violation           error // nil: none
	Path                []E   // to it
	Limited             bool  // more states than were allowed, no violation so far
}

// ErrEndless is the violation of a state from which nothing leads to an end.
var ErrEndless = errors.New("whatever happens from here on, it is never over")

// visit is how a state was reached first.
type visit[E any] struct {
	from  int
	event E
}

// An edge leads from one state to another.
type edge struct{ from, to int }

// Run searches from w on, until there are more than limit states. Its error is that of ctx.
func Run[W World[W, E], E any](ctx context.Context, w W, limit int) (r Result[E], err error) {
	type waiting struct {
		world W
		id    int
	}
	known, visits := map[Key]int{w.Key(): 0}, []visit[E]{{from: -1}}
	var edges []edge
	var ends []int
	violated := func(id int, err error, last ...E) (Result[E], error) {
		r.Violation, r.States, r.Path = err, len(visits), last
		for ; visits[id].from >= 0; id = visits[id].from {
			r.Path = append(r.Path, visits[id].event)
		}
		slices.Reverse(r.Path)
		return r, nil
	}
	for level := []waiting{{w, 0}}; len(level) > 0; r.Depth++ {
		var next []waiting
		for _, here := range level {
			if err := ctx.Err(); err != nil {
				return r, fmt.Errorf("stopped after %d states: %w", len(visits), err)
			}
			events := here.world.Enabled()
			if len(events) == 0 {
				r.Ends++
				ends = append(ends, here.id)
				if err := here.world.Finished(); err != nil {
					return violated(here.id, err)
				}
			}
			for _, e := range events {
				w := here.world.Clone()
				r.Transitions++
				if err := w.Apply(e); err != nil {
					return violated(here.id, err, e)
				}
				k := w.Key()
				id, found := known[k]
				if !found {
					id = len(visits)
					known[k] = id
					next = append(next, waiting{w, id})
					visits = append(visits, visit[E]{here.id, e})
				}
				edges = append(edges, edge{here.id, id})
			}
		}
		level = next
		if r.States = len(visits); r.States > limit {
			r.Limited = true
			return r, nil
		}
	}
	if id := endless(len(visits), edges, ends); id >= 0 {
		return violated(id, ErrEndless)
	}
	return r, nil
}

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
