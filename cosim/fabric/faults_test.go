package fabric

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// An ordered is a register write to a wire in a given cycle.
type ordered struct {
	socket
	to WireRegister
	v  uint64
}

// breakages returns writes by cycle: fault probabilities, wires without carrier, and wires that
// lose everything, temporarily. At the end all wires are intact.
func breakages(topo Topology, rng *rand.Rand, cycles uint64, often int) map[uint64][]ordered {
	list := map[uint64][]ordered{}
	var ports []socket
	for _, s := range sockets(topo) {
		peer, back, _ := topo.Link(s.router, s.port)
		ports = append(ports, s, socket{peer, back})
	}
	add := func(at uint64, s socket, to WireRegister, v uint64) { list[at] = append(list[at], ordered{s, to, v}) }
	for _, s := range ports {
		add(1, s, WireSeed, rng.Uint64())
		add(1, s, LinkPatience, []uint64{0, 1, 40, 200}[rng.IntN(4)])
		for range often {
			at := 1 + rng.Uint64N(cycles)
			ends := at + rng.Uint64N(cycles/3)
			switch rng.IntN(6) {
			case 0:
				add(at, s, WireErrors, uint64(rng.Uint32()>>2))
				add(ends, s, WireErrors, 0)
			case 1:
				add(at, s, WireLosses, uint64(rng.Uint32()>>2))
				add(ends, s, WireLosses, 0)
			case 2:
				add(at, s, WireLosses, 1<<32-1)
				add(ends, s, WireLosses, 0)
			case 3:
				add(at, s, LinkCtrl, LinkDrain)
			case 4:
				add(at, s, LinkCtrl, LinkReset|uint64(rng.IntN(2)))
			default:
				add(at, s, WireCtrl, 1)
				add(ends, s, WireCtrl, 0)
			}
		}
		for _, to := range []WireRegister{WireErrors, WireLosses, WireCtrl} {
			add(2*cycles, s, to, 0)
		}
	}
	return list
}

// owners tracks the owners of packets: a packet has as many owners as it has tails, and the last
// one releases it.
type owners struct {
	t     *testing.T
	tails map[uint32]int
}

func (o *owners) change(packet uint32, by int) {
	if n, known := o.tails[packet]; !known {
		o.tails[packet] = 1
	} else if n == 0 {
		o.t.Fatalf("packet %d was forgotten, and comes again", packet)
	}
	o.tails[packet] += by
}

// follow processes the packets that ended in a cycle.
func (o *owners) follow(f *cut) {
	for _, list := range [][]Ejection{f.Ejected(), f.Dropped()} {
		for _, e := range list {
			if e.Flit.Tail() {
				o.change(e.Flit.Packet(), -1)
			}
		}
	}
}

func (o *owners) ended(p *Part) {
	for _, e := range p.Ended() {
		if e.Cut {
			o.change(e.Packet, 1)
		} else {
			o.change(e.Packet, -1)
		}
	}
}

func (c *cut) order(o ordered) {
	c.Part(int(c.routers[o.router].part)).Order(o.router, o.port, o.to, o.v, c.Now()+2)
}

// TestFaultsInParts: with any faults, several parts behave like one.
func TestFaultsInParts(t *testing.T) {
	const cycles = 1200
	for i, topo := range []Topology{Mesh(2), Mesh(5), Mesh(3, 3), Torus(5), Torus(4, 3)} {
		for _, latency := range []int{0, 1, 7} {
			for parts := 2; parts <= 3 && parts <= topo.Routers(); parts++ {
				seed := uint64(100*i + 10*latency + parts)
				t.Run(fmt.Sprintf("%v/latency%d/parts%d", topo, latency, parts), func(t *testing.T) {
					t.Parallel()
					rng := rand.New(rand.NewPCG(seed, 9))
					cfg := Config{Topology: topo, VCDepth: []int{1, 3, 16}[rng.IntN(3)], LinkCycles: DefaultLinkCycles + latency, CreditCycles: DefaultCreditCycles + latency, Parts: 1}
					one, err := newCut(cfg)
					require.NoError(t, err)
					cfg.Parts = parts
					many, err := newCut(cfg)
					require.NoError(t, err)
					one.expose = map[uint64][]socket{0: sockets(topo)}
					many.expose = one.expose
					orders := breakages(topo, rng, cycles, 3)
					w := newTraffic(rng, topo.Nodes(), topo.(Grid).Classes)
					counts := runBoth(t, one, many, w, orders, cycles)
					if latency == 0 {
						require.NotZero(t, counts.CRCErrors+counts.Retransmissions)
						require.NotZero(t, counts.Resets+counts.Drained)
					}
					checkCredits(t, one)
					checkCredits(t, many)
				})
			}
		}
	}
}

// runBoth runs the same traffic on both networks to its end, and returns the sum of all counters.
func runBoth(t *testing.T, one, many *cut, w *traffic, orders map[uint64][]ordered, cycles uint64) (sum LinkState) {
	whose := [2]owners{{t, map[uint32]int{}}, {t, map[uint32]int{}}}
	many.ended = whose[1].ended
	for idle := 0; idle < 100; {
		whose[0].follow(one)
		whose[1].follow(many)
		same(t, many, undirected(one.Ejected()), undirected(many.Ejected()))
		same(t, many, byRouter(one.Dropped()), byRouter(many.Dropped()))
		for _, e := range one.Ejected() {
			w.held[e.Node][e.VC]++
		}
		for node := range w.nodes {
			if w.rng.Float64() < w.load && one.Now() < cycles {
				w.offer(node)
			}
			if vc, flit, ok := w.sends(one, node); ok {
				one.Inject(node, vc, flit)
				many.Inject(node, vc, flit)
			}
			for class, held := range w.held[node] {
				if held > 0 && w.rng.Float64() < w.eager {
					w.held[node][class]--
					one.Release(node, uint8(class))
					many.Release(node, uint8(class))
				}
			}
		}
		for _, o := range orders[one.Now()] {
			one.order(o)
			many.order(o)
		}
		many.Step()
		one.Step()
		whose[0].ended(one.Part(0))
		if idle++; one.Busy() || one.Now() < 3*cycles || one.Inside() > 0 {
			idle = 0
		}
		if one.Now() > 200*cycles {
			t.Fatalf("traffic does not come to an end: %d flits inside", one.Inside())
		}
	}
	for i := range whose {
		require.Len(t, whose[i].tails, int(w.next))
		for packet, n := range whose[i].tails {
			require.Zero(t, n, "packet %d is still somebody's", packet)
		}
	}
	for many.Now()%many.window != 0 || many.Part(0).taken != many.Part(0).round {
		one.Step()
		for i := range many.parts {
			many.Part(i).Step()
		}
		for i := range many.parts {
			many.Part(i).Exchange(0)
		}
	}
	for r := range one.routers {
		for port := 1; port < len(one.routers[r].outs); port++ {
			if one.Wires(r, port) != nil {
				continue
			}
			p, q := one.Part(0), many.Part(int(many.routers[r].part))
			require.Equal(t, p.LinkState(r, port), q.LinkState(r, port), "router %d port %d", r, port)
			require.Equal(t, p.WireState(r, port), q.WireState(r, port), "router %d port %d", r, port)
			s := p.LinkState(r, port)
			sum.CRCErrors += s.CRCErrors
			sum.Retransmissions += s.Retransmissions
			sum.Cut += s.Cut
			sum.Failures += s.Failures
			sum.Resets += s.Resets
			sum.Drained += s.Drained
			sum.Lost += s.Lost
		}
	}
	return sum
}

// undirected removes the destinations, which tails generated by a link do not have.
func undirected(list []Ejection) []Ejection {
	list = slices.Clone(list)
	for i := range list {
		list[i].Flit &^= 0xffff << dstShift
	}
	return list
}

// checkCredits: every entry is free, and its sender knows it.
func checkCredits(t *testing.T, f *cut) {
	require.NoError(t, f.CheckCredits())
	for i := range f.outputVCs {
		if l := &f.outputVCs[i]; l.to != nil {
			require.Equal(t, f.cfg.VCDepth, l.credits(Forever))
		}
	}
}
