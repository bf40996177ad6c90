package routing

import (
	"math"
	"math/bits"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
)

// table has, for each router, the output towards each node, on a shortest way that a search found.
// It knows nothing of the topology's form, and so serves any.
//
// Where several outputs are as short, destinations share them. If packets could then wait for each
// other in a circle, all take the way by the lowest port, which on a mesh is dimension order; and
// if that has circles too, a packet changes to the next VC at every router.
type table struct {
	topology.Topology
	depth  []int
	ports  []uint8 // [router * nodes + node]
	byHops int     // VCs; 0: one does
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

// fill writes the table, and counts the wires of its longest way.
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

// toward is the output of a router from which a node is so far, the n-th of those that lead nearer
// if they are shared.
func (x *table) toward(from int, far []int, node int, spread bool) uint8 {
	outputs := x.closer(from, far)
	if spread {
		for range share(node, bits.OnesCount64(outputs), x.depth[from]) {
			outputs &= outputs - 1
		}
	}
	return uint8(bits.TrailingZeros64(outputs))
}

// share is which of some outputs a node's packets take at a router so many wires from all nodes:
// another digit of its number at each step up a tree, so that those which went the same way before
// part there.
func share(node, outputs, depth int) int {
	for range depth {
		node /= outputs
	}
	return node % outputs
}

// depths counts the wires from each router to the nearest one with nodes.
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

// closer is a mask of the outputs that lead to a router which is nearer.
func (x *table) closer(router int, far []int) (ports uint64) {
	for p := range x.Ports(router) {
		if w, ok := x.Wire(router, p); ok && far[w.Router] < far[router] {
			ports |= 1 << p
		}
	}
	return ports
}

// acyclic tells whether no wires, each held by a packet that waits for the next one, can form a
// circle: of what nobody waits for is taken away until nothing is left.
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
