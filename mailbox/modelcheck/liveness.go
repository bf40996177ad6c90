package modelcheck

import (
	"errors"
	"slices"
)

// Liveness selects what is checked once all states are known.
type Liveness uint8

const (
	SafetyOnly   Liveness = iota
	NoCycles              // the marked transitions have no cycle
	EndReachable          // from every state an end can be reached; all transitions are marked
)

// ErrLivelock is the violation of a liveness check.
var ErrLivelock = errors.New("livelock: no end can be reached from this state")

// edges are the marked transitions out of each state, in the order of the states.
type edges struct {
	starts []int
	to     []uint32
}

func (e *edges) begin()        { e.starts = append(e.starts, len(e.to)) }
func (e *edges) add(to uint32) { e.to = append(e.to, to) }

func (e *edges) of(id int) []uint32 {
	if id+1 < len(e.starts) {
		return e.to[e.starts[id]:e.starts[id+1]]
	}
	return e.to[e.starts[id]:]
}

// cycle returns a state that is on a cycle or behind one, or -1: it removes states without
// predecessors until none is left.
func (e *edges) cycle(states int) int {
	degree := make([]uint32, states)
	for _, to := range e.to {
		degree[to]++
	}
	var free []int
	for id, d := range degree {
		if d == 0 {
			free = append(free, id)
		}
	}
	for len(free) > 0 {
		id := free[len(free)-1]
		free = free[:len(free)-1]
		for _, to := range e.of(id) {
			if degree[to]--; degree[to] == 0 {
				free = append(free, int(to))
			}
		}
	}
	return slices.IndexFunc(degree, func(d uint32) bool { return d > 0 })
}

// stranded returns a state from which none of ends can be reached, or -1.
func (e *edges) stranded(states int, ends []uint32) int {
	back := e.reversed(states)
	reaches := make([]bool, states)
	for _, id := range ends {
		reaches[id] = true
	}
	for list := slices.Clone(ends); len(list) > 0; {
		id := list[len(list)-1]
		list = list[:len(list)-1]
		for _, from := range back.of(int(id)) {
			if !reaches[from] {
				reaches[from] = true
				list = append(list, from)
			}
		}
	}
	return slices.Index(reaches, false)
}

// reversed lists the predecessors of each state.
func (e *edges) reversed(states int) *edges {
	r := &edges{starts: make([]int, states), to: make([]uint32, len(e.to))}
	fill := make([]int, states+1)
	for _, to := range e.to {
		fill[to+1]++
	}
	for id := range states {
		fill[id+1] += fill[id]
		r.starts[id] = fill[id]
	}
	for from := range states {
		for _, to := range e.of(from) {
			r.to[fill[to]] = uint32(from)
			fill[to]++
		}
	}
	return r
}
