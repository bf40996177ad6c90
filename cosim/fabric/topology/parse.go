package topology

import (
	"strconv"
	"strings"
)

// Forms are the topologies that Parse accepts.
const Forms = "dragonfly:P[,A,H], mesh:X[xYxZ], torus:X[xYxZ], fattree:K,LEVELS"

// Parse parses a topology; dragonfly:6 is the balanced one with 6 nodes per router. Wires between
// neighbours have a latency of local cycles, those between groups of a Dragonfly global cycles.
func Parse(text string, local, global int) (Topology, error) {
	kind, sizes, _ := strings.Cut(text, ":")
	separator := ","
	if kind == "mesh" || kind == "torus" {
		separator = "x"
	}
	var n []int
	for _, s := range strings.Split(sizes, separator) {
		v, err := strconv.Atoi(s)
		if err != nil || v < 1 || v > 1<<12 {
			return nil, refuse("topology %q: %q is no size; expected one of %s", text, s, Forms)
		}
		n = append(n, v)
	}
	switch {
	case kind == "dragonfly" && len(n) == 1:
		return NewDragonfly(n[0], 2*n[0], n[0], local, global)
	case kind == "dragonfly" && len(n) == 3:
		return NewDragonfly(n[0], n[1], n[2], local, global)
	case kind == "mesh", kind == "torus":
		return NewGrid(n, kind == "torus", local)
	case kind == "fattree" && len(n) == 2:
		return NewFatTree(n[0], n[1], local)
	}
	return nil, refuse("topology %q: expected one of %s", text, Forms)
}
