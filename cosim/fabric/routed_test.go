package fabric

import (
	"slices"
	"testing"

	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/stretchr/testify/require"
)

// routed parses a Dragonfly or a fat tree.
func routed(t *testing.T, text string) *Routed {
	t.Helper()
	of, err := topology.Parse(text, 1, 1)
	require.NoError(t, err)
	x, err := NewRouted(of)
	require.NoError(t, err)
	return x
}

// TestRoutedRoutes: each packet takes the route of package routing, on its VCs, for every class.
func TestRoutedRoutes(t *testing.T) {
	for _, text := range []string{"dragonfly:2", "dragonfly:1,5,3", "fattree:3,3"} {
		x := routed(t, text)
		for src := range x.Nodes() {
			for dst := range x.Nodes() {
				for class := range uint8(nicClasses) {
					h := routing.To(dst)
					at, in := x.At(src)
					for vc := class; ; {
						port, theirs := x.routes.Route(at, in, &h, nil)
						out := x.Port(at, dst)
						vc = x.VC(at, in, vc, out)
						require.Equal(t, [2]int{port, int(class) + nicClasses*theirs}, [2]int{out, int(vc)}, "%s: %d to %d at router %d", text, src, dst, at)
						if node, ok := x.Node(at, out); ok {
							require.Equal(t, dst, node)
							break
						}
						at, in, _ = x.Link(at, out)
					}
				}
			}
		}
	}
}

// TestRoutedParts: the nodes of a part are those of its routers.
func TestRoutedParts(t *testing.T) {
	for _, text := range []string{"dragonfly:2", "dragonfly:3,5,2", "fattree:5,3"} {
		x := routed(t, text)
		for parts := 1; parts <= 4; parts++ {
			cuts, of := x.Cuts(parts), x.PartOf(parts)
			require.True(t, slices.IsSorted(cuts))
			for node := range x.Nodes() {
				router, _ := x.At(node)
				p := of(router)
				require.True(t, cuts[p] <= node && node < cuts[p+1], "%s in %d parts: node %d, part %d, cuts %v", text, parts, node, p, cuts)
			}
		}
	}
}
