package fabric

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// traffic simulates random NICs: packets of random lengths to random nodes on all classes,
// interleaved flit by flit, and buffers that are emptied irregularly.
type traffic struct {
	rng      *rand.Rand
	nodes    int
	classes  int
	load     float64 // probability per node and cycle of a new packet
	eager    float64 // probability per cycle that a NIC takes a flit
	longest  int
	next     uint32       // packet number
	out      [][]([]Flit) // by node and class: waiting flits
	held     [][]int      // by node and class: flits in the NIC's buffer
	injected int
	last     map[[3]int]uint32 // by source, destination and class: the last packet received
	open     map[[2]int]uint32 // by node and class: the packet whose tail is missing, + 1
	source   []int             // by packet
	departed int
}

func newTraffic(rng *rand.Rand, nodes, classes int) *traffic {
	w := &traffic{
		rng: rng, nodes: nodes, classes: classes, load: 0.02 + 0.2*rng.Float64(), eager: 0.2 + 0.8*rng.Float64(), longest: 1 + rng.IntN(12),
		last: map[[3]int]uint32{}, open: map[[2]int]uint32{}, out: make([][][]Flit, nodes), held: make([][]int, nodes),
	}
	for n := range nodes {
		w.out[n], w.held[n] = make([][]Flit, classes), make([]int, classes)
	}
	return w
}

func (w *traffic) offer(node int) {
	class, n, dst := w.rng.IntN(w.classes), 1+w.rng.IntN(w.longest), w.rng.IntN(w.nodes)
	for i := range n {
		w.out[node][class] = append(w.out[node][class], packetFlit(w.next, dst, i, n))
	}
	w.next++
	w.source = append(w.source, node)
}

// sends returns the flit that node injects in this cycle, if any.
func (w *traffic) sends(f *cut, node int) (vc uint8, flit Flit, ok bool) {
	first := w.rng.IntN(w.classes)
	for i := range w.classes {
		class := (first + i) % w.classes
		if q := w.out[node][class]; len(q) > 0 && f.CanInject(node, uint8(class)) {
			w.out[node][class] = q[1:]
			w.injected++
			return uint8(class), q[0], true
		}
	}
	return 0, 0, false
}

// arrived checks that packets arrive complete, at the right node, and in order. Checks per flit do
// not use require, which costs more than the flit.
func (w *traffic) arrived(t *testing.T, e Ejection) {
	class, packet := int(e.VC), e.Flit.Packet()
	at := [2]int{int(e.Node), class}
	if e.Flit.Head() {
		flow := [3]int{w.source[packet], int(e.Node), class}
		before, any := w.last[flow]
		if w.open[at] != 0 || any && before >= packet {
			t.Fatalf("node %d: packet %d begins within packet %d, or after %d", e.Node, packet, w.open[at], before)
		}
		w.last[flow] = packet
		w.open[at] = packet + 1
	}
	if w.open[at] != packet+1 || int(e.Node) != e.Flit.Dst() {
		t.Fatalf("node %d: a flit of packet %d for node %d, expected one of packet %d", e.Node, packet, e.Flit.Dst(), w.open[at]-1)
	}
	if e.Flit.Tail() {
		delete(w.open, at)
	}
	w.held[e.Node][class]++
	w.departed++
}

// compare runs the same traffic on both networks and compares every cycle.
func compare(t *testing.T, cfg Config, rng *rand.Rand, cycles int, routes [][3]int) {
	t.Helper()
	compareExposed(t, cfg, rng, cycles, routes, nil)
}

// compareExposed exposes links in some cycles.
func compareExposed(t *testing.T, cfg Config, rng *rand.Rand, cycles int, routes [][3]int, expose map[uint64][]socket) {
	t.Helper()
	f, err := newCut(cfg)
	require.NoError(t, err)
	f.expose = expose
	ref := newReference(cfg)
	classes := cfg.Topology.VCs()
	switch g := cfg.Topology.(type) {
	case Grid:
		classes = g.Classes
	case *Routed:
		classes = nicClasses
	}
	for _, r := range routes {
		f.SetRoute(r[0], r[1], r[2])
		ref.routes[[2]int{r[0], r[1]}] = r[2]
	}
	w := newTraffic(rng, cfg.Topology.Nodes(), classes)
	for idle := 0; idle < 100; {
		same(t, f, ref.ejected, f.Ejected())
		same(t, f, byRouter(ref.dropped), byRouter(f.Dropped()))
		for _, e := range f.Ejected() {
			w.arrived(t, e)
		}
		w.departed += len(f.Dropped())
		for node := range w.nodes {
			if w.rng.Float64() < w.load && f.Now() < uint64(cycles) {
				w.offer(node)
			}
			if vc, flit, ok := w.sends(f, node); ok {
				f.Inject(node, vc, flit)
				ref.Inject(node, int(vc), flit)
			}
			for class, held := range w.held[node] {
				if held > f.cfg.VCDepth {
					t.Fatalf("cycle %d: node %d holds %d flits of VC %d, expected %d at most", f.Now(), node, held, class, f.cfg.VCDepth)
				}
				if held > 0 && w.rng.Float64() < w.eager {
					w.held[node][class]--
					f.Release(node, uint8(class))
					ref.Release(node, class)
				}
			}
		}
		f.Step()
		ref.Step()
		for node := range w.nodes {
			for v := range classes {
				if want, got := ref.Credits(node, v), f.Credits(node, uint8(v)); want != got {
					t.Fatalf("cycle %d: node %d has %d credits on VC %d, expected %d", f.Now(), node, got, v, want)
				}
			}
		}
		if idle++; f.Busy() || f.Now() < uint64(cycles) || f.Inside() > 0 {
			idle = 0
		}
		if f.Now() > uint64(100*cycles) {
			t.Fatalf("traffic does not come to an end: %d flits inside", f.Inside())
		}
	}
	checkEmpty(t, f, w)
	for id, r := range ref.routers {
		for port := range r.outputs {
			require.Equal(t, r.outputs[port].stats, f.PortStats(id, port), "router %d port %d", id, port)
		}
	}
}

func same(t *testing.T, f *cut, want, got []Ejection) {
	if !slices.Equal(want, got) {
		t.Fatalf("cycle %d: %v came out, expected %v", f.Now(), got, want)
	}
}

// checkEmpty: all packets have left, and every credit has returned.
func checkEmpty(t *testing.T, f *cut, w *traffic) {
	t.Helper()
	require.Equal(t, w.injected, w.departed)
	require.Zero(t, f.Inside())
	full := func(list []outputVC) {
		for v := range list {
			if l := &list[v]; l.to != nil {
				require.Equal(t, f.cfg.VCDepth, l.credits(Forever))
			}
		}
	}
	full(f.outputVCs)
	for _, w := range f.where {
		full(w.wire)
	}
	free, inputs := 0, 0
	for i := range f.parts {
		for c := f.parts[i].freeRuns; c != nil; c = c.next {
			free++
		}
	}
	for i := range f.inputVCs {
		if f.inputVCs[i].sender != nil {
			inputs++
		}
	}
	require.Equal(t, inputs*f.cfg.VCDepth, free, "runs lost")
}

func byRouter(list []Ejection) []Ejection {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Ejection) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.VC, b.VC), cmp.Compare(a.Flit, b.Flit))
	})
	return list
}

func TestAgainstReference(t *testing.T) {
	topologies := []Topology{
		Mesh(1), Mesh(2), Mesh(5), Mesh(3, 2), Mesh(4, 4), Mesh(2, 3, 2), Torus(3), Torus(4), Torus(2, 5), Torus(4, 3), Torus(3, 3, 3),
		routed(t, "dragonfly:1"), routed(t, "dragonfly:2,3,1"), routed(t, "fattree:2,3"),
		Grid{Dims: [3]int{3, 2, 1}, Classes: 1}, Grid{Dims: [3]int{4, 1, 1}, Wrap: true, Classes: 1}, Grid{Dims: [3]int{3, 2, 1}, Classes: 5},
	}
	for i, topo := range topologies {
		for _, depth := range []int{1, 2, 3, 16} {
			seed := uint64(100*i + depth)
			t.Run(fmt.Sprintf("%v/depth%d/seed%d", topo, depth, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 1))
				cfg := Config{Topology: topo, VCDepth: depth}
				if rng.IntN(2) == 0 {
					cfg.RouterCycles, cfg.LinkCycles, cfg.InjectCycles = 2+rng.IntN(3), 1+rng.IntN(5), 1+rng.IntN(3)
					cfg.CreditCycles, cfg.LocalCreditCycles = 1+rng.IntN(9), 1+rng.IntN(3)
				}
				compare(t, cfg, rng, short(300, 150), nil)
			})
		}
	}
}

// short selects the smaller number for short tests.
func short(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// TestBrokenRoutes: with invalid routes set by software, packets are discarded, and others are not
// blocked.
func TestBrokenRoutes(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			g := Mesh(3, 3)
			var routes [][3]int
			for range 6 {
				// A packet that turns back, leaves the mesh or finds no port.
				routes = append(routes, [3]int{rng.IntN(9), rng.IntN(9), []int{NoPort, 6, 200}[rng.IntN(3)]})
			}
			for r := range 9 {
				if port := g.Port(r, (r+3)%9); port == 3 {
					routes = append(routes, [3]int{(r + 3) % 9, (r + 6) % 9, 4})
				}
			}
			compare(t, Config{Topology: g, VCDepth: 4}, rng, 300, routes)
		})
	}
}
