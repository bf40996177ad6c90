package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
)

// The classes of flows in a hotspot with slow memory.
const (
	// HotFlow ends at a node with slow memory.
	HotFlow = "hot"
	// VictimFlow ends at a fast node and shares a link with a hot flow.
	VictimFlow = "victim"
	// ClearFlow shares no link with any hot flow.
	ClearFlow = "clear"
)

// A flow is the traffic of one node: every process p of it sends to process p of the destination.
type flow struct {
	from, to int
	class    string
}

// A hop is a wire: the router that drives it, and the port. On a mesh the router is the node's, and
// ports are 1 +X, 2 -X, 3 +Y, …
type hop struct{ router, port int }

// routes computes routes of a network.
type routes struct {
	fabric.Topology
	nodes  int   // number of nodes; they come first
	stands []int // router of each node
}

// routesOf returns the default routes of a device.
func routesOf(info drivers.Info) (*routes, error) {
	var t fabric.Topology
	switch {
	case info.Topology != "":
		of, err := topology.Parse(info.Topology, 1, 1)
		if err != nil {
			return nil, err
		}
		if t, err = fabric.NewRouted(of); err != nil {
			return nil, err
		}
	case info.Torus:
		t = fabric.Torus(info.Dims[:]...)
	default:
		t = fabric.Mesh(info.Dims[:]...)
	}
	w := newRoutes(t)
	if info.Nodes > 0 {
		w.nodes = info.Nodes
	}
	return w, nil
}

func newRoutes(t fabric.Topology) *routes {
	w := &routes{t, t.Nodes(), make([]int, t.Nodes())}
	for r := range t.Routers() {
		for port := range t.Ports(r) {
			if node, ok := t.Node(r, port); ok {
				w.stands[node] = r
			}
		}
	}
	return w
}

// path appends the wires between two nodes to a list.
func (w *routes) path(list []hop, from, to int) []hop {
	for at := w.stands[from]; at != w.stands[to]; {
		port := w.Port(at, to)
		list = append(list, hop{at, port})
		at, _, _ = w.Link(at, port)
	}
	return list
}

// planFlows gives every fast node a flow. The ones farthest from a slow node send to it. The others
// send past it: repeatedly, among all pairs of nodes that do not send and do not receive yet, the
// pair whose route shares most links with the hot flows becomes a flow. So no two flows share an
// end.
func planFlows(w *routes, slow []int, hot int) ([]flow, error) {
	nodes := w.nodes
	sends := make([]bool, nodes)
	for _, s := range slow {
		sends[s] = true // slow nodes do not send
	}
	var flows []flow
	taken := map[hop]bool{}
	for _, s := range slow {
		for range hot {
			from := farthest(w, sends, s)
			if from < 0 {
				return nil, fmt.Errorf("%w: %d hot senders for each of %d slow nodes: expected at most %d nodes to send", drivers.ErrConfig, hot, len(slow), nodes-len(slow))
			}
			sends[from] = true
			flows = append(flows, flow{from, s, HotFlow})
			for _, h := range w.path(nil, from, s) {
				taken[h] = true
			}
		}
	}
	receives := make([]bool, nodes)
	for _, s := range slow {
		receives[s] = true
	}
	past := flowsPast(w, sends, receives, taken)
	if len(past) == 0 || past[0].class != VictimFlow {
		return nil, fmt.Errorf("%w: no flow can share a link with the hot ones: use a larger network, fewer slow nodes or fewer hot senders", drivers.ErrConfig)
	}
	return append(flows, past...), nil
}

// farthest returns the node with most hops to s among those without a flow, or -1.
func farthest(w *routes, sends []bool, s int) int {
	best, most := -1, 0
	var path []hop
	for n := range sends {
		if sends[n] {
			continue
		}
		if path = w.path(path[:0], n, s); len(path) > most {
			best, most = n, len(path)
		}
	}
	return best
}

// A candidate is a pair of nodes that may become a flow; 4,096 nodes have 16 million pairs.
type candidate struct {
	from, to       uint16
	shared, length uint16 // number of wires shared with hot flows, and of all
}

// flowsPast pairs the remaining nodes, victims first.
func flowsPast(w *routes, sends, receives []bool, taken map[hop]bool) (flows []flow) {
	pairs := pairsPast(w, sends, receives, taken)
	slices.SortStableFunc(pairs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(a.length, b.length))
	})
	for _, p := range pairs {
		if sends[p.from] || receives[p.to] {
			continue
		}
		sends[p.from], receives[p.to] = true, true
		f := flow{int(p.from), int(p.to), VictimFlow}
		if p.shared == 0 {
			f.class = ClearFlow
		}
		flows = append(flows, f)
	}
	return flows
}

func pairsPast(w *routes, sends, receives []bool, taken map[hop]bool) (pairs []candidate) {
	var path []hop
	for from := range sends {
		for to := range receives {
			if sends[from] || receives[to] || from == to {
				continue
			}
			p := candidate{from: uint16(from), to: uint16(to)}
			path = w.path(path[:0], from, to)
			p.length = uint16(len(path))
			for _, h := range path {
				if taken[h] {
					p.shared++
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}
