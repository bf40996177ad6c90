package routing

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

type network struct {
	topology.Topology
	Algorithm
	kind Kind
}

func (n network) String() string { return fmt.Sprintf("%s, %s", n.Topology, n.kind) }

func networks(t *testing.T) (list []network) {
	t.Helper()
	dragonfly, err := topology.NewDragonfly(1, 4, 2, 2, 10)
	require.NoError(t, err)
	mesh, err := topology.NewGrid([]int{4, 3}, false, 1)
	require.NoError(t, err)
	torus, err := topology.NewGrid([]int{5, 4}, true, 1)
	require.NoError(t, err)
	tree, err := topology.NewFatTree(3, 3, 1)
	require.NoError(t, err)
	for _, x := range []topology.Topology{dragonfly, mesh, torus, tree} {
		for _, k := range Kinds() {
			if a, err := New(k, x, DefaultBias); err == nil {
				list = append(list, network{x, a, k})
			}
		}
	}
	require.Len(t, list, 17)
	return list
}

// A channel is a wire, identified by its output, and a VC.
type channel struct{ router, port, vc int }

// A state is a packet that has arrived at a router.
type state struct {
	router, in int
	vc         int // of the wire on which it arrived
	h          Header
}

// one is a source that always returns the same number.
type one uint64

func (o one) Uint64() uint64 { return uint64(o) }

// nth makes Intn(n) return i.
func nth(i, n int) one { return one((^uint64(0)/uint64(n))*uint64(i) + 1<<20) }

// choices enumerates all possible results of Route: each output in turn is full or empty, for all
// random numbers.
func (n network) choices(s state, do func(port, vc int, h Header)) {
	ports := n.Ports(s.router)
	dice := max(n.Parts(), ports)
	if g, ok := n.Topology.(topology.Grid); ok {
		dice = g.Routers()
	}
	most := ports
	switch n.kind {
	case Minimal, Table:
		most, dice = 0, 1
	case Valiant:
		most = 0
	}
	for full := -1; full < most; full++ {
		used := make([]int32, ports)
		if full >= 0 {
			used[full] = 1 << 20
		}
		for i := range dice {
			h := s.h
			port, vc := n.Route(s.router, s.in, &h, &Sight{used, nth(i, dice)})
			h.Hops = min(h.Hops+1, 1)
			do(port, vc, h)
		}
	}
}

// walk visits every possible state of a packet, and calls hold for each channel that it requests
// while it holds another.
func (n network) walk(t *testing.T, hold func(has, wants channel)) {
	seen := map[state]bool{}
	var left []state
	add := func(s state) {
		if !seen[s] {
			seen[s] = true
			left = append(left, s)
		}
	}
	for src := range n.Nodes() {
		router, port := n.At(src)
		for dst := range n.Nodes() {
			add(state{router, port, -1, To(dst)})
		}
	}
	for len(left) > 0 {
		s := left[len(left)-1]
		left = left[:len(left)-1]
		n.choices(s, func(port, vc int, h Header) {
			if node, ok := n.Node(s.router, port); ok {
				if int(s.h.Dst) != node {
					require.EqualValues(t, s.h.Dst, node)
				}
				return
			}
			w, ok := n.Wire(s.router, port)
			if !ok || vc >= n.VCs() { // require costs more than the walk
				require.FailNow(t, "no way on", "%v: port %d of router %d, VC %d: wire %v, %d VCs", n, port, s.router, vc, ok, n.VCs())
			}
			if s.vc >= 0 {
				back, _ := n.Wire(s.router, s.in)
				hold(channel{back.Router, back.Port, s.vc}, channel{s.router, port, vc})
			}
			add(state{w.Router, w.Port, vc, h})
		})
	}
}

// cyclic returns a cycle of the graph, if there is one.
func cyclic(graph map[channel]map[channel]bool) []channel {
	const open, done = 1, 2
	mark := map[channel]int{}
	var path []channel
	var visit func(c channel) bool
	visit = func(c channel) bool {
		mark[c] = open
		path = append(path, c)
		for next := range graph[c] {
			if mark[next] == open || mark[next] == 0 && visit(next) {
				return true
			}
		}
		path = path[:len(path)-1]
		mark[c] = done
		return false
	}
	for c := range graph {
		if mark[c] == 0 && visit(c) {
			return path
		}
	}
	return nil
}

func (n network) dependencies(t *testing.T) map[channel]map[channel]bool {
	graph := map[channel]map[channel]bool{}
	n.walk(t, func(has, wants channel) {
		if graph[has] == nil {
			graph[has] = map[channel]bool{}
		}
		graph[has][wants] = true
	})
	return graph
}

// TestNoCycle: there is no cyclic dependency between packets, for all choices.
func TestNoCycle(t *testing.T) {
	for _, n := range networks(t) {
		t.Run(n.String(), func(t *testing.T) {
			require.Empty(t, cyclic(n.dependencies(t)))
		})
	}
}

// oneVC is an algorithm without its VCs.
type oneVC struct{ Algorithm }

func (o oneVC) Route(router, in int, h *Header, s *Sight) (int, int) {
	port, _ := o.Algorithm.Route(router, in, h, s)
	return port, 0
}

// TestCycleIsFound: without the VCs, the test above finds cycles.
func TestCycleIsFound(t *testing.T) {
	found := map[string]bool{}
	for _, n := range networks(t) {
		n.Algorithm = oneVC{n.Algorithm}
		found[n.String()] = cyclic(n.dependencies(t)) != nil
	}
	require.Equal(t, map[string]bool{
		"dragonfly of 9 groups of 4 routers with 1 nodes and 2 global wires each, minimal": true,
		"dragonfly of 9 groups of 4 routers with 1 nodes and 2 global wires each, valiant": true,
		"dragonfly of 9 groups of 4 routers with 1 nodes and 2 global wires each, ugal":    true,
		"dragonfly of 9 groups of 4 routers with 1 nodes and 2 global wires each, par":     true,
		"mesh of 4 x 3, minimal": false, "mesh of 4 x 3, valiant": true, "mesh of 4 x 3, ugal": true,
		"torus of 5 x 4, minimal": true, "torus of 5 x 4, valiant": true, "torus of 5 x 4, ugal": true,
		"fat tree of 3 levels, arity 3, minimal": false, "fat tree of 3 levels, arity 3, valiant": false,
		"fat tree of 3 levels, arity 3, ugal":                                            false,
		"dragonfly of 9 groups of 4 routers with 1 nodes and 2 global wires each, table": true,
		"mesh of 4 x 3, table":                                                           false, "torus of 5 x 4, table": true, "fat tree of 3 levels, arity 3, table": false,
	}, found)
}

// way counts the wires of a packet's route.
func (n network) way(t *testing.T, src, dst int, used func(router int) []int32, dice rand.Source) int {
	at, in := n.At(src)
	h := To(dst)
	for hops := 0; ; hops++ {
		require.Less(t, hops, 20, "%v: %d to %d goes round", n, src, dst)
		port, _ := n.Route(at, in, &h, &Sight{used(at), dice})
		h.Hops++
		if node, ok := n.Node(at, port); ok {
			require.Equal(t, dst, node)
			return hops
		}
		w, _ := n.Wire(at, port)
		at, in = w.Router, w.Port
	}
}

// TestPaths: in an empty network all algorithms except Valiant take a shortest path. Valiant, and
// adaptive ones whose minimal output is full, take others that are not much longer.
func TestPaths(t *testing.T) {
	dice := rand.NewPCG(1, 2)
	empty := func(int) []int32 { return make([]int32, 64) }
	random := func(int) []int32 {
		used := empty(0)
		for i := range used {
			used[i] = int32(dice.Uint64() % 200)
		}
		return used
	}
	for _, n := range networks(t) {
		longer := 0
		for src := range n.Nodes() {
			from, _ := n.At(src)
			distance := topology.Distances(n, from)
			for dst := range n.Nodes() {
				to, _ := n.At(dst)
				if _, ok := n.Topology.(topology.Dragonfly); ok {
					require.LessOrEqual(t, n.way(t, src, dst, random, dice), 6, "two global wires, and local ones between")
					if n.kind != Valiant { // two global wires may be shorter, but one is minimal
						require.LessOrEqual(t, n.way(t, src, dst, empty, dice), 3)
					}
				} else if n.kind != Valiant {
					require.Equal(t, distance[to], n.way(t, src, dst, empty, dice), "%v: %d to %d", n, src, dst)
				}
				if n.way(t, src, dst, random, dice) > max(distance[to], 3) {
					longer++
				}
			}
		}
		_, tree := n.Topology.(topology.FatTree)
		require.Equal(t, n.kind != Minimal && n.kind != Table && !tree, longer > 0, n.String())
	}
}

// TestTable: a table needs no additional VCs on meshes and trees, one per wire elsewhere, and
// balances the load of a tree's roots.
func TestTable(t *testing.T) {
	for text, want := range map[string]struct{ vcs, roots int }{"mesh:4x3": {1, 0}, "torus:5x4": {4, 0}, "dragonfly:1,4,2": {3, 0}, "fattree:3,3": {1, 9}} {
		net, err := topology.Parse(text, 1, 1)
		require.NoError(t, err)
		x, err := newTable(net)
		require.NoError(t, err)
		require.Equal(t, want.vcs, x.VCs(), text)
		used := map[int]bool{}
		for at := range net.Routers() {
			for to := range net.Nodes() {
				w, ok := net.Wire(at, int(x.ports[at*net.Nodes()+to]))
				if tree, is := net.(topology.FatTree); is && ok && tree.Level(w.Router) == 2 {
					used[w.Router] = true
				}
			}
		}
		require.Len(t, used, want.roots, text)
	}
}

func TestUnknown(t *testing.T) {
	mesh, err := topology.NewGrid([]int{4}, false, 1)
	require.NoError(t, err)
	_, err = New(PAR, mesh, DefaultBias)
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = New("minimall", mesh, DefaultBias)
	require.ErrorContains(t, err, "minimal")
}
