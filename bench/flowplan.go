package bench

import (
	"fmt"
	"slices"

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

// A flow is what one node sends: every process p of it sends to process p of the other.
type flow struct {
	from, to int
	class    string
}

// hop is a link: the node it leaves, and its direction.
type hop struct{ node, link int }

// meshPath is the way of dimension-order routing.
func meshPath(dims [3]int, from, to int) (path []hop) {
	stride := 1
	for d, size := range dims {
		for at := from / stride % size; at != to/stride%size; {
			link, step := 2*d+1, 1
			if to/stride%size < at {
				link, step = link+1, -1
			}
			path = append(path, hop{from, link})
			from, at = from+step*stride, at+step
		}
		stride *= size
	}
	return path
}

// planFlows gives every fast node a flow. The ones farthest from a slow node send
// to it. Each of the others sends to the fast node on whose way it shares most
// links with the hot flows, and no two of them to the same, so that they meet
// the hot flows and not each other at their ends.
func planFlows(dims [3]int, slow []int, hot int) ([]flow, error) {
	nodes := dims[0] * dims[1] * dims[2]
	sends := make([]bool, nodes)
	for _, s := range slow {
		sends[s] = true // slow nodes only receive
	}
	var flows []flow
	taken := map[hop]bool{}
	for _, s := range slow {
		for range hot {
			from := farthest(dims, sends, s)
			if from < 0 {
				return nil, fmt.Errorf("%w: %d hot senders for each of %d slow nodes: expected at most %d nodes to send", drivers.ErrConfig, hot, len(slow), nodes-len(slow))
			}
			sends[from] = true
			flows = append(flows, flow{from, s, HotFlow})
			for _, h := range meshPath(dims, from, s) {
				taken[h] = true
			}
		}
	}
	receives := make([]bool, nodes)
	for _, s := range slow {
		receives[s] = true
	}
	for from := range nodes {
		if !sends[from] {
			flows = append(flows, sharing(dims, from, receives, taken))
		}
	}
	return withVictims(flows)
}

func withVictims(flows []flow) ([]flow, error) {
	if !slices.ContainsFunc(flows, func(f flow) bool { return f.class == VictimFlow }) {
		return nil, fmt.Errorf("%w: no flow can share a link with the hot ones: use a larger mesh, fewer slow nodes or fewer hot senders", drivers.ErrConfig)
	}
	return slices.DeleteFunc(flows, func(f flow) bool { return f.class == "" }), nil
}

// farthest is the node with most hops to s among those that do not send yet, or -1.
func farthest(dims [3]int, sends []bool, s int) int {
	best, most := -1, 0
	for n := range sends {
		if d := len(meshPath(dims, n, s)); !sends[n] && d > most {
			best, most = n, d
		}
	}
	return best
}

// sharing picks the destination of a victim and marks that it receives.
func sharing(dims [3]int, from int, receives []bool, taken map[hop]bool) flow {
	best, most, length := flow{from: from, class: ""}, -1, 0
	for to := range receives {
		if to == from || receives[to] {
			continue
		}
		path, shared := meshPath(dims, from, to), 0
		for _, h := range path {
			if taken[h] {
				shared++
			}
		}
		if shared > most || shared == most && len(path) < length {
			best, most, length = flow{from, to, VictimFlow}, shared, len(path)
		}
	}
	if most == 0 {
		best.class = ClearFlow
	}
	if most >= 0 {
		receives[best.to] = true
	}
	return best
}
