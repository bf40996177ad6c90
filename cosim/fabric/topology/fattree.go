package topology

import (
	"fmt"
	"slices"
)

// A FatTree is a K-ary tree of Levels levels: K^Levels nodes, and on each level K^(Levels-1)
// routers with K ports down (0 to K-1) and, except at the top, K up.
//
// Router w of level l is connected to the routers of level l+1 whose number differs from w at most
// in digit l (in base K, the lowest is digit 0): up port j sets it to j. The nodes below a router
// of level l are therefore those whose leaf has the same digits l and up.
type FatTree struct{ K, Levels, Cycles int }

// NewFatTree validates the parameters.
func NewFatTree(k, levels, cycles int) (FatTree, error) {
	f := FatTree{K: k, Levels: levels, Cycles: cycles}
	switch {
	case k < 2 || levels < 2:
		return f, refuse("fat tree of %d levels, arity %d: expected at least 2", levels, k)
	case levels > 64: // 2 to this power overflows already
		return f, refuse("fat tree of %d levels: expected at most 64", levels)
	}
	if err := checkWire(cycles); err != nil {
		return f, err
	}
	return f, checkNodes(fmt.Sprintf("fat tree of %d levels, arity %d", levels, k), slices.Repeat([]int{k}, levels)...)
}

func (f FatTree) String() string {
	return fmt.Sprintf("fat tree of %d levels, arity %d", f.Levels, f.K)
}

// Power is K to the n.
func (f FatTree) Power(n int) int {
	p := 1
	for range n {
		p *= f.K
	}
	return p
}

// Nodes implements Topology.
func (f FatTree) Nodes() int { return f.Power(f.Levels) }

// Row is the number of routers per level.
func (f FatTree) Row() int { return f.Power(f.Levels - 1) }

// Routers implements Topology.
func (f FatTree) Routers() int { return f.Levels * f.Row() }

// Ports implements Topology.
func (f FatTree) Ports(router int) int {
	if f.Level(router) == f.Levels-1 {
		return f.K
	}
	return 2 * f.K
}

// Level is 0 for the routers that have nodes.
func (f FatTree) Level(router int) int { return router / f.Row() }

// Digit is digit i of a router's number within its level.
func (f FatTree) Digit(router, i int) int { return router % f.Row() / f.Power(i) % f.K }

// Node implements Topology.
func (f FatTree) Node(router, port int) (int, bool) {
	return router*f.K + port, f.Level(router) == 0 && port < f.K
}

// At implements Topology.
func (f FatTree) At(node int) (router, port int) { return node / f.K, node % f.K }

// Parts implements Topology: routers with the same highest digit, which only wires to the top
// change.
func (f FatTree) Parts() int { return f.K }

// Part implements Topology.
func (f FatTree) Part(router int) int { return f.Digit(router, f.Levels-2) }

// Wire implements Topology.
func (f FatTree) Wire(router, port int) (Wire, bool) {
	level := f.Level(router)
	if port >= f.K { // up
		at, to := f.Digit(router, level), port-f.K
		return Wire{router + f.Row() + (to-at)*f.Power(level), at, f.Cycles}, true
	}
	if level == 0 {
		return Wire{}, false
	}
	at := f.Digit(router, level-1)
	return Wire{router - f.Row() + (port-at)*f.Power(level-1), f.K + at, f.Cycles}, true
}
