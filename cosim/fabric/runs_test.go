package fabric

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// runTraffic sends packets of VC 0 in runs, and the same flits one by one to the reference.
type runTraffic struct {
	t     *testing.T
	f     *cut
	ref   *reference
	rng   *rand.Rand
	load  float64
	eager float64
	left  []int               // remaining flits of a node's packet
	size  []int               // of that packet
	dst   []int               // its destination
	next  []uint32            // its number
	in    map[uint64][]func() // calls of the reference in future cycles
	out   map[uint64][]Ejection
	held  [][]held
	until []uint64 // when the node may take the next flit
}

// held is a run in a NIC's buffer.
type held struct {
	at uint64
	n  int
}

// compareRuns runs the same traffic on both networks and compares every cycle. From cycle mix on
// other VCs are used, too.
func compareRuns(t *testing.T, cfg Config, rng *rand.Rand, cycles, mix int, routes [][3]int) {
	t.Helper()
	compareRunsExposed(t, cfg, rng, cycles, mix, routes, nil)
}

// compareRunsExposed exposes links in some cycles.
func compareRunsExposed(t *testing.T, cfg Config, rng *rand.Rand, cycles, mix int, routes [][3]int, expose map[uint64][]socket) {
	t.Helper()
	f, err := newCut(cfg)
	require.NoError(t, err)
	f.expose = expose
	n := cfg.Topology.Nodes()
	w := &runTraffic{
		t: t, f: f, ref: newReference(cfg), rng: rng, load: 0.02 + 0.2*rng.Float64(), eager: 0.1 + 0.9*rng.Float64(),
		left: make([]int, n), size: make([]int, n), dst: make([]int, n), next: make([]uint32, n),
		in: map[uint64][]func(){}, out: map[uint64][]Ejection{}, held: make([][]held, n), until: make([]uint64, n),
	}
	for _, r := range routes {
		f.SetRoute(r[0], r[1], r[2])
		w.ref.routes[[2]int{r[0], r[1]}] = r[2]
	}
	mixed := mix + cfg.Run
	if cfg.Parts > 1 {
		mixed += 2 * int(f.window)
	}
	for cycle := range uint64(cycles) {
		if cycle == uint64(mix) {
			f.Mix()
		}
		w.eject(cycle)
		same(t, f, byRouter(w.ref.dropped), byRouter(f.Dropped()))
		for node := range n {
			w.send(node, cycle)
			w.take(node, cycle)
		}
		if mix > 0 && cycle > uint64(mixed) { // single flits on the other VC
			if node := rng.IntN(n); w.left[node] == 0 && f.CanInject(node, 1) {
				flit := packetFlit(1<<31+uint32(cycle), rng.IntN(n), 0, 1)
				f.Inject(node, 1, flit)
				w.ref.Inject(node, 1, flit)
			}
		}
		for _, do := range w.in[cycle] {
			do()
		}
		delete(w.in, cycle)
		f.Step()
		w.ref.Step()
		for node := range n {
			for v := range cfg.Topology.VCs() {
				require.Equal(t, w.ref.Credits(node, v), f.Credits(node, uint8(v)), "cycle %d node %d VC %d", cycle, node, v)
			}
		}
		if cycle%16 == 0 {
			for id, r := range w.ref.routers {
				for port := range r.outputs {
					require.Equal(t, r.outputs[port].stats, f.PortStats(id, port), "cycle %d router %d port %d", cycle, id, port)
				}
			}
		}
	}
}

// eject compares ejected flits one by one.
func (w *runTraffic) eject(cycle uint64) {
	for _, e := range w.f.Ejected() {
		for i := range e.Run {
			one := e
			one.Run = 1
			if i > 0 {
				one.Flit &^= Head
			}
			if i < e.Run-1 {
				one.Flit &^= Tail
			}
			w.out[cycle+uint64(i)] = append(w.out[cycle+uint64(i)], one)
		}
		if e.VC == 0 {
			w.held[e.Node] = append(w.held[e.Node], held{cycle, int(e.Run)})
		} else {
			w.f.Release(int(e.Node), e.VC)
			w.ref.Release(int(e.Node), int(e.VC))
		}
	}
	same(w.t, w.f, byRouter(w.ref.ejected), byRouter(w.out[cycle]))
	delete(w.out, cycle)
}

func (w *runTraffic) send(node int, cycle uint64) {
	if w.left[node] == 0 {
		if w.rng.Float64() > w.load {
			return
		}
		w.size[node] = 1 + w.rng.IntN(12)
		w.left[node], w.dst[node] = w.size[node], w.rng.IntN(len(w.left))
		w.next[node]++
	}
	if !w.f.CanInject(node, 0) {
		return
	}
	number, at, size := uint32(node)<<20|w.next[node], w.size[node]-w.left[node], w.size[node]
	n := 1 + w.rng.IntN(w.left[node])
	flit := packetFlit(number, w.dst[node], at, size)
	if at+n == size {
		flit |= Tail
	}
	sent := w.f.InjectRun(node, flit, n)
	w.left[node] -= sent
	for i := range sent {
		flit := packetFlit(number, w.dst[node], at+i, size)
		w.in[cycle+uint64(i)] = append(w.in[cycle+uint64(i)], func() { w.ref.Inject(node, 0, flit) })
	}
}

// take makes a NIC take a run, or a part of it.
func (w *runTraffic) take(node int, cycle uint64) {
	list := w.held[node]
	if len(list) == 0 || list[0].at > cycle || w.until[node] > cycle || w.rng.Float64() > w.eager {
		return
	}
	n := 1 + w.rng.IntN(list[0].n)
	w.f.ReleaseRun(node, cycle, n)
	w.until[node] = cycle + uint64(n)
	for i := range n {
		w.in[cycle+uint64(i)] = append(w.in[cycle+uint64(i)], func() { w.ref.Release(node, 0) })
	}
	if list[0].n -= n; list[0].n == 0 {
		w.held[node] = list[1:]
	} else {
		list[0].at = cycle + uint64(n)
	}
}

// TestRunsAgainstReference: runs change no cycle of any flit, credit or counter.
func TestRunsAgainstReference(t *testing.T) {
	for i, topo := range []Topology{Mesh(1), Mesh(2), Mesh(5), Mesh(4, 4), Mesh(2, 3, 2), routed(t, "fattree:3,2")} {
		for _, depth := range []int{1, 3, 16, 40} {
			seed := uint64(100*i + depth)
			t.Run(fmt.Sprintf("%v/depth%d/seed%d", topo, depth, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 3))
				cfg := Config{Topology: topo, VCDepth: depth, Run: 2 + rng.IntN(12)}
				if rng.IntN(2) == 0 {
					cfg.RouterCycles, cfg.LinkCycles, cfg.InjectCycles = 2+rng.IntN(3), 1+rng.IntN(5), 1+rng.IntN(3)
					cfg.CreditCycles, cfg.LocalCreditCycles = 1+rng.IntN(9), 1+rng.IntN(3)
				}
				compareRuns(t, cfg, rng, short(1500, 700), 0, nil)
			})
		}
	}
}

// TestRunsEndWithMix: after the announcement, other VCs may be interleaved.
func TestRunsEndWithMix(t *testing.T) {
	for seed := range uint64(6) {
		compareRuns(t, Config{Topology: Mesh(3, 3), Run: 9}, rand.New(rand.NewPCG(seed, 4)), 1500, 700, nil)
	}
	f, err := whole(Config{Topology: Mesh(2), Run: 9})
	require.NoError(t, err)
	require.Panics(t, func() { f.Inject(0, 1, NewFlit(0, 1, Head|Tail)) })
}

// TestRunsOnBrokenRoutes: flits are discarded one by one.
func TestRunsOnBrokenRoutes(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var routes [][3]int
		for range 6 {
			routes = append(routes, [3]int{rng.IntN(9), rng.IntN(9), NoPort})
		}
		compareRuns(t, Config{Topology: Mesh(3, 3), VCDepth: 4, Run: 9, CreditCycles: 1 + rng.IntN(6)}, rng, 1000, 0, routes)
	}
}
