package topology

import (
	"math"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

func all(t *testing.T) []Topology {
	t.Helper()
	var list []Topology
	add := func(x Topology, err error) {
		require.NoError(t, err)
		list = append(list, x)
	}
	for _, d := range [][3]int{{1, 2, 1}, {2, 4, 2}, {3, 6, 3}, {1, 5, 3}, {6, 12, 6}} {
		add(NewDragonfly(d[0], d[1], d[2], 2, 10))
	}
	for _, dims := range [][]int{{5}, {4, 3}, {2, 3, 4}, {1, 2, 2, 3}} {
		add(NewGrid(dims, false, 1))
		add(NewGrid(dims, true, 1))
	}
	for _, f := range [][2]int{{2, 2}, {4, 3}, {3, 4}} {
		add(NewFatTree(f[0], f[1], 1))
	}
	return list
}

// TestWired: wires are the same from both ends, every node is at one port, and all routers are
// connected.
func TestWired(t *testing.T) {
	for _, x := range all(t) {
		t.Run(x.String(), func(t *testing.T) {
			seen := make([]int, x.Nodes())
			for r := range x.Routers() {
				require.Less(t, x.Part(r), x.Parts())
				for p := range x.Ports(r) {
					w, wired := x.Wire(r, p)
					node, ok := x.Node(r, p)
					require.False(t, wired && ok, "port %d of router %d is a node's and a wire's", p, r)
					if ok {
						seen[node]++
						router, port := x.At(node)
						require.Equal(t, [2]int{r, p}, [2]int{router, port})
					}
					if wired {
						back, ok := x.Wire(w.Router, w.Port)
						require.True(t, ok)
						require.Equal(t, Wire{r, p, w.Cycles}, back)
					}
				}
			}
			for _, n := range seen {
				require.Equal(t, 1, n)
			}
			require.NotContains(t, Distances(x, 0), -1)
		})
	}
}

func TestSizes(t *testing.T) {
	d, err := NewDragonfly(6, 12, 6, 2, 10)
	require.NoError(t, err)
	require.Equal(t, []int{5256, 73, 4}, []int{d.Nodes(), d.Groups(), diameter(d)})
	f, err := NewFatTree(4, 3, 1)
	require.NoError(t, err)
	require.Equal(t, []int{64, 48, 5}, []int{f.Nodes(), f.Routers(), diameter(f)})
	g, err := NewGrid([]int{8, 8}, true, 1)
	require.NoError(t, err)
	require.Equal(t, []int{64, 9}, []int{g.Nodes(), diameter(g)})
}

func TestRefused(t *testing.T) {
	_, dragonfly := NewDragonfly(1, 1, 1, 1, 1)
	_, wire := NewDragonfly(1, 2, 1, 0, 1)
	_, mesh := NewGrid([]int{4, 0}, false, 1)
	_, dims := NewGrid([]int{1, 1, 1, 1, 1}, false, 1)
	_, tree := NewFatTree(1, 2, 1)
	for _, err := range []error{dragonfly, wire, mesh, dims, tree} {
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Topology{
		"dragonfly:6":     Dragonfly{6, 12, 6, 2, 10},
		"dragonfly:2,4,3": Dragonfly{2, 4, 3, 2, 10},
		"mesh:8x8":        Grid{[]int{8, 8}, false, 2},
		"torus:5":         Grid{[]int{5}, true, 2},
		"fattree:4,3":     FatTree{4, 3, 2},
	} {
		got, err := Parse(text, 2, 10)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "mesh", "mesh:", "mesh:4,4", "mesh:4x-1", "ring:5", "dragonfly:2,4", "fattree:4", "mesh:9999999", "torus:1x1x1x1x1"} {
		_, err := Parse(text, 2, 10)
		require.ErrorIs(t, err, drivers.ErrConfig, text)
	}
}

// A network with too many nodes, or whose number of nodes overflows, is refused by name.
func TestTooLarge(t *testing.T) {
	for _, text := range []string{"dragonfly:100", "dragonfly:4096,4096,4096", "fattree:2,64", "fattree:4096,2", "fattree:2,4096", "mesh:2000x2000", "torus:4096x4096x4096x4096", "mesh:4096x4096x4096x4096x4096x4096"} {
		_, err := Parse(text, 2, 10)
		require.ErrorIs(t, err, drivers.ErrConfig, text)
	}
	for _, wires := range [][2]int{{math.MaxInt, 10}, {2, math.MaxInt}, {0, 10}} {
		_, err := Parse("dragonfly:2", wires[0], wires[1])
		require.ErrorContains(t, err, "cycles: expected 1 to", "%v", wires)
	}
}

// diameter returns the largest number of routers on a shortest path.
func diameter(t Topology) int {
	most := 0
	for from := range t.Routers() {
		for _, d := range Distances(t, from) {
			most = max(most, d+1)
		}
	}
	return most
}
