package fabric

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// sockets returns the ports of a network that lead to other routers, once per link.
func sockets(t Topology) (list []socket) {
	for r := range t.Routers() {
		for port := range t.Ports(r) {
			if peer, back, ok := t.Link(r, port); ok && (peer > r || peer == r && back > port) {
				list = append(list, socket{r, port})
			}
		}
	}
	return list
}

// TestExposedWithoutFaults: a link that is stepped word by word equals the delay in every cycle,
// whether exposed at the start or during traffic, with one part or several.
func TestExposedWithoutFaults(t *testing.T) {
	for i, topo := range []Topology{Mesh(2), Mesh(5), Mesh(3, 3), Torus(5), Torus(4, 3)} {
		for _, depth := range []int{1, 3, 16} {
			for _, latency := range []int{0, 1, 7} {
				for parts := 1; parts <= 3 && parts <= topo.Routers(); parts++ {
					if testing.Short() && (i+depth+latency+parts)%3 != 0 {
						continue // each topology, depth and latency with one number of parts
					}
					seed := uint64(1000*i + 100*depth + 10*latency + parts)
					t.Run(fmt.Sprintf("%v/depth%d/latency%d/parts%d", topo, depth, latency, parts), func(t *testing.T) {
						t.Parallel()
						rng := rand.New(rand.NewPCG(seed, 7))
						cfg := Config{Topology: topo, VCDepth: depth, LinkCycles: DefaultLinkCycles + latency, CreditCycles: DefaultCreditCycles + latency, Parts: parts}
						expose := map[uint64][]socket{}
						for _, s := range sockets(topo) {
							at := uint64(0)
							if rng.IntN(2) == 0 {
								at = 100 + rng.Uint64N(100)
							}
							expose[at] = append(expose[at], s)
						}
						compareExposed(t, cfg, rng, 300, nil, expose)
					})
				}
			}
		}
	}
}

// TestExposedInRuns: the same while flits move in runs, which end at the exposure.
func TestExposedInRuns(t *testing.T) {
	for seed := range uint64(short(12, 5)) {
		rng := rand.New(rand.NewPCG(seed, 15))
		topo := []Topology{Mesh(2), Mesh(5), Mesh(3, 3)}[rng.IntN(3)]
		latency := rng.IntN(4)
		cfg := Config{Topology: topo, VCDepth: []int{3, 16}[rng.IntN(2)], Run: 9, LinkCycles: DefaultLinkCycles + latency, CreditCycles: DefaultCreditCycles + latency, Parts: 1 + rng.IntN(2)}
		expose := map[uint64][]socket{}
		for _, s := range sockets(topo) {
			at := 200 + rng.Uint64N(600)
			expose[at] = append(expose[at], s)
		}
		compareRunsExposed(t, cfg, rng, 1500, 0, nil, expose)
	}
}
