package topology

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
)

// A Topology is used when a network is built, and by routing.
type Topology interface {
	fmt.Stringer
	Nodes() int
	Routers() int
	Ports(router int) int
	// Node returns the node at a port, if there is one.
	Node(router, port int) (node int, ok bool)
	// Wire returns a port's wire, if it has one.
	Wire(router, port int) (w Wire, ok bool)
	// At returns the router and the port of a node.
	At(node int) (router, port int)
	Parts() int
	Part(router int) int
}

// checkWire refuses latencies that are not positive, or for which arithmetic on cycles would
// overflow.
func checkWire(cycles int) error {
	if cycles < 1 || cycles > limits.WireCycles {
		return refuse("wires of %d cycles: expected 1 to %d", cycles, limits.WireCycles)
	}
	return nil
}

// checkNodes refuses a network whose number of nodes, a product, exceeds the limit.
func checkNodes(name string, factors ...int) error {
	if _, ok := limits.Product(limits.Nodes, factors...); !ok {
		return refuse("%s: more than %d nodes", name, limits.Nodes)
	}
	return nil
}

// A Wire is a wire as seen from a port: its other end, and its latency in cycles.
type Wire struct{ Router, Port, Cycles int }

// Distances returns the number of wires from a router to each other one, by breadth-first search;
// -1: unreachable.
func Distances(t Topology, from int) []int {
	far := make([]int, t.Routers())
	for i := range far {
		far[i] = -1
	}
	far[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for port := range t.Ports(at) {
			if w, ok := t.Wire(at, port); ok && far[w.Router] < 0 {
				far[w.Router] = far[at] + 1
				queue = append(queue, w.Router)
			}
		}
	}
	return far
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{drivers.ErrConfig}, args...)...)
}
