package routing

import (
	"math"
	"math/bits"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
)

// table holds, for each router, the output towards each node on a shortest path found by search. It
// uses no knowledge of the topology's structure, and thus applies to any.
//
// If several outputs are equally short, destinations are distributed over them. If that could cause
// a cyclic dependency, all packets use the lowest port, which on a mesh is dimension order. If that
// has cycles, too, a packet changes to the next VC at every router.
type table struct {
	topology.Topology
	depth  []int
	ports  []uint8 // [router * nodes + node]
	byHops int     // VCs; 0: one suffices
}

func newTable(t topology.Topology) (*table, error) {
	x := &table{Topology: t, depth: depths(t)}
	for _, spread := range []bool{true, false} {
		longest, err := x.fill(spread)
		if err != nil {
			return nil, err
		}
		if x.byHops = 0; x.acyclic() {
			return x, nil
		}
		x.byHops = longest
	}
	_, err := x.fill(true)
	return x, err
}

// fill computes the table, and the number of wires of its longest path.
func (x *table) fill(spread bool) (longest int, err error) {
	n := x.Nodes()
	x.ports = make([]uint8, x.Routers()*n)
	known := map[int][]int{}
	for node := range n {
		to, port := x.At(node)
		if known[to] == nil {
			known[to] = topology.Distances(x.Topology, to)
		}
		far := known[to]
		for from, d := range far {
			if d < 0 {
				return 0, refuse("%s: no way from router %d to %d", x.Topology, from, to)
			}
			longest = max(longest, d)
			x.ports[from*n+node] = uint8(port)
			if d > 0 {
				x.ports[from*n+node] = x.toward(from, far, node, spread)
			}
		}
	}
	return longest, nil
}

// toward is the output of a router towards a node, given the distances; with spread, one of several
// shortest ones.
func (x *table) toward(from int, far []int, node int, spread bool) uint8 {
	outputs := x.closer(from, far)
	if spread {
		for range share(node, bits.OnesCount64(outputs), x.depth[from]) {
			outputs &= outputs - 1
		}
	}
	return uint8(bits.TrailingZeros64(outputs))
}

// share selects among equal outputs for a node's packets, at a router with the given distance from
// all nodes: another digit of its number at each level of a tree, so that packets that shared the
// previous path separate there.
func share(node, outputs, depth int) int {
	for range depth {
		node /= outputs
	}
	return node % outputs
}

// depths returns the number of wires from each router to the nearest one with nodes.
func depths(t topology.Topology) []int {
	list := make([]int, t.Routers())
	for i := range list {
		list[i] = math.MaxInt
	}
	for node := range t.Nodes() {
		if at, _ := t.At(node); list[at] > 0 {
			for r, d := range topology.Distances(t, at) {
				list[r] = min(list[r], d)
			}
		}
	}
	return list
}

// closer is a mask of the outputs that lead to a router closer to the destination.
func (x *table) closer(router int, far []int) (ports uint64) {
	for p := range x.Ports(router) {
		if w, ok := x.Wire(router, p); ok && far[w.Router] < far[router] {
			ports |= 1 << p
		}
	}
	return ports
}

// acyclic reports whether the dependency graph of wires has no cycle: wires on which nothing
// depends are removed until none are left.
func (x *table) acyclic() bool {
	n := x.Nodes()
	after := make([]uint64, x.Routers()*64) // by wire: outputs of the router behind it
	for node := range n {
		to, _ := x.At(node)
		for from := range x.Routers() {
			if from == to {
				continue
			}
			p := int(x.ports[from*n+node])
			if w, _ := x.Wire(from, p); w.Router != to {
				after[from*64+p] |= 1 << x.ports[w.Router*n+node]
			}
		}
	}
	each := func(wire int, do func(next int)) {
		if after[wire] == 0 {
			return
		}
		w, _ := x.Wire(wire/64, wire%64)
		for m := after[wire]; m != 0; m &= m - 1 {
			do(w.Router*64 + bits.TrailingZeros64(m))
		}
	}
	waited := make([]int, len(after))
	left := 0
	for wire := range after {
		each(wire, func(next int) { waited[next]++ })
	}
	var free []int
	for wire, n := range waited {
		if n > 0 {
			left++
		} else if after[wire] != 0 {
			free = append(free, wire)
		}
	}
	for ; len(free) > 0; free = free[1:] {
		each(free[0], func(next int) {
			if waited[next]--; waited[next] == 0 {
				left--
				free = append(free, next)
			}
		})
	}
	return left == 0
}

// VCs implements Algorithm.
func (x *table) VCs() int { return max(1, x.byHops) }

// Route implements Algorithm.
func (x *table) Route(router, _ int, h *Header, _ *Sight) (port, vc int) {
	if to, port := x.At(int(h.Dst)); to == router {
		return port, 0
	}
	if x.byHops > 0 {
		vc = int(h.Stage)
		h.Stage++
	}
	return int(x.ports[router*x.Nodes()+int(h.Dst)]), vc
}
