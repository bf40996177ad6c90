package fabric

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExposedLate: a link that is exposed during traffic, just before its first fault, behaves like
// one exposed from the start.
func TestExposedLate(t *testing.T) {
	const cycles = 600
	for i, topo := range []Topology{Mesh(2), Mesh(4), Mesh(3, 3), Torus(5)} {
		for _, latency := range []int{0, 1, 7, 30} {
			for _, parts := range []int{1, 2} {
				for k := range uint64(2) {
					seed := uint64(1000*i+10*latency+parts) + 100_000*k
					t.Run(fmt.Sprintf("%v/latency%d/parts%d/%d", topo, latency, parts, k), func(t *testing.T) {
						t.Parallel()
						rng := rand.New(rand.NewPCG(seed, 14))
						cfg := Config{Topology: topo, VCDepth: []int{1, 3, 16, 48}[rng.IntN(4)], LinkCycles: DefaultLinkCycles + latency, CreditCycles: DefaultCreditCycles + latency}
						one, err := newCut(cfg)
						require.NoError(t, err)
						cfg.Parts = parts
						late, err := newCut(cfg)
						require.NoError(t, err)
						late.Remember()
						at := 100 + rng.Uint64N(300)
						one.expose = map[uint64][]socket{0: sockets(topo)}
						late.expose = map[uint64][]socket{at: sockets(topo)}
						orders := map[uint64][]ordered{}
						all := breakages(topo, rng, cycles, 4)
						for _, cycle := range slices.Sorted(maps.Keys(all)) { // none before, some at once
							orders[max(cycle, at+1)] = append(orders[max(cycle, at+1)], all[cycle]...)
						}
						w := newTraffic(rng, topo.Nodes(), topo.(Grid).Classes)
						w.load = 0.03 / float64(1+latency) // links are occasionally idle
						late.exposed = func() {
							for _, s := range sockets(topo) {
								p, q := one.Part(0), late.Part(int(late.routers[s.router].part))
								a, b := p.joints[p.routers[s.router].outs[s.port]], q.joints[q.routers[s.router].outs[s.port]]
								a.run([2]uint64{p.now - 1, p.now - 1})
								for i := range 2 {
									require.Equal(t, relative(&a.link, i), relative(&b.link, i), "cycle %d router %d port %d end %d", at, s.router, s.port, i)
								}
							}
						}
						runBoth(t, one, late, w, orders, cycles)
						checkCredits(t, one)
						checkCredits(t, late)
					})
				}
			}
		}
	}
}

// relative is an end's state without numbers that depend on its age.
func relative(l *link, i int) string {
	e, o := &l.ends[i], &l.ends[1-i]
	s := fmt.Sprintf("next %d high %d last %d expected %d; out %v; peer %v; measuring %v round trip %d; timer %d tries %d; due %v nack %v dirty %v anchor %v; parts %d",
		e.next-e.base, e.high-e.base, e.last-e.base, e.expected-o.base, e.out.valid, e.peer.valid, e.measuring && e.roundTrip == linkTimeoutMax, e.roundTrip, e.timer, e.tries,
		e.statusPending, e.nackPending, e.freedUnsent, e.anchorInFlight, e.parts)
	if e.anchorInFlight {
		s += fmt.Sprintf(" at %d", e.anchor-e.base)
	}
	for v := range e.vcs {
		c := e.channels[v]
		s += fmt.Sprintf("; held %d open %v owed %d %d", c.held, c.open, e.freedLocal[v]-o.freedByPeer[v], e.freedByPeer[v]-e.creditsGiven[v])
	}
	return s + fmt.Sprint("; flying ", l.wires[i].flight.n)
}
