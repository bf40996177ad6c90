package topology

import (
	"fmt"
	"strings"
)

// A Grid is a mesh or, with Wrap, a torus, with one node per router. Port 0 is the node's, followed
// by up and down in each dimension. A ring of two has no wrap-around wire.
type Grid struct {
	Dims   []int
	Wrap   bool
	Cycles int // of a wire
}

// NewGrid validates the parameters.
func NewGrid(dims []int, wrap bool, cycles int) (Grid, error) {
	g := Grid{Dims: dims, Wrap: wrap, Cycles: cycles}
	for _, n := range dims {
		if n < 1 {
			return g, refuse("mesh of %v: expected sizes of at least 1", dims)
		}
	}
	if len(dims) < 1 || len(dims) > 4 {
		return g, refuse("mesh of %d dimensions: expected 1 to 4", len(dims))
	}
	if err := checkWire(cycles); err != nil {
		return g, err
	}
	return g, checkNodes(fmt.Sprintf("mesh of %v", dims), dims...)
}

func (g Grid) String() string {
	kind := "mesh of "
	if g.Wrap {
		kind = "torus of "
	}
	return kind + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Dims), " ", " x "), "[]")
}

// Nodes implements Topology.
func (g Grid) Nodes() int { return g.Stride(len(g.Dims)) }

// Routers implements Topology.
func (g Grid) Routers() int { return g.Nodes() }

// Ports implements Topology.
func (g Grid) Ports(int) int { return 1 + 2*len(g.Dims) }

// Node implements Topology.
func (g Grid) Node(router, port int) (int, bool) { return router, port == 0 }

// At implements Topology.
func (g Grid) At(node int) (router, port int) { return node, 0 }

// Parts implements Topology: the rows (planes) along the last dimension.
func (g Grid) Parts() int { return g.Dims[len(g.Dims)-1] }

// Part implements Topology.
func (g Grid) Part(router int) int { return router / g.Stride(len(g.Dims)-1) }

// Stride is the difference between the numbers of neighbouring routers in a dimension.
func (g Grid) Stride(dim int) int {
	s := 1
	for _, n := range g.Dims[:dim] {
		s *= n
	}
	return s
}

// Coordinate is a router's position in a dimension.
func (g Grid) Coordinate(router, dim int) int { return router / g.Stride(dim) % g.Dims[dim] }

// Ring reports whether a dimension wraps around.
func (g Grid) Ring(dim int) bool { return g.Wrap && g.Dims[dim] > 2 }

// Wire implements Topology.
func (g Grid) Wire(router, port int) (Wire, bool) {
	if port == 0 {
		return Wire{}, false
	}
	dim, up := (port-1)/2, port%2 == 1
	at, size := g.Coordinate(router, dim), g.Dims[dim]
	to, back := at-1, port-1
	if up {
		to, back = at+1, port+1
	}
	if g.Ring(dim) {
		to = (to + size) % size
	}
	if to < 0 || to >= size {
		return Wire{}, false
	}
	return Wire{router + (to-at)*g.Stride(dim), back, g.Cycles}, true
}

// Closes reports whether the wire at a port is a wrap-around wire.
func (g Grid) Closes(router, port int) bool {
	dim := (port - 1) / 2
	last := 0
	if port%2 == 1 {
		last = g.Dims[dim] - 1
	}
	return port > 0 && g.Ring(dim) && g.Coordinate(router, dim) == last
}
