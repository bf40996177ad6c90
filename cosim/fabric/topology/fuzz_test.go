package topology

import "testing"

// Any text is a topology with a number of nodes, or an error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"mesh:4x4", "torus:2x3x4", "dragonfly:4", "dragonfly:2,4,2", "fattree:4,3", "mesh:", "torus:4096x4096x4096x4096"} {
		f.Add(text, 2, 10)
	}
	f.Fuzz(func(t *testing.T, text string, local, global int) {
		topo, err := Parse(text, local, global)
		if err == nil && (topo.Nodes() < 1 || topo.Routers() < 1 || topo.String() == "") {
			t.Fatalf("%q: %d nodes, %d routers", text, topo.Nodes(), topo.Routers())
		}
	})
}
