package bench

import (
	"cmp"
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
// to it. The others send past it: again and again, of all pairs of nodes that do
// not send and do not receive yet, the one whose way has most links in common with
// the hot flows becomes a flow. So no two of them meet at their ends.
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
	past := flowsPast(dims, sends, receives, taken)
	if len(past) == 0 || past[0].class != VictimFlow {
		return nil, fmt.Errorf("%w: no flow can share a link with the hot ones: use a larger mesh, fewer slow nodes or fewer hot senders", drivers.ErrConfig)
	}
	return append(flows, past...), nil
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

// flowsPast pairs the nodes that are left; victims come first.
func flowsPast(dims [3]int, sends, receives []bool, taken map[hop]bool) (flows []flow) {
	type pair struct{ from, to, shared, length int }
	var pairs []pair
	for from := range sends {
		for to := range receives {
			if sends[from] || receives[to] || from == to {
				continue
			}
			p := pair{from: from, to: to}
			for _, h := range meshPath(dims, from, to) {
				p.length++
				if taken[h] {
					p.shared++
				}
			}
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(a.length, b.length))
	})
	for _, p := range pairs {
		if sends[p.from] || receives[p.to] {
			continue
		}
		sends[p.from], receives[p.to] = true, true
		f := flow{p.from, p.to, VictimFlow}
		if p.shared == 0 {
			f.class = ClearFlow
		}
		flows = append(flows, f)
	}
	return flows
}
