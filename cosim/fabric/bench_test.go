package fabric

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// saturate offers a new packet at every node whenever the previous one has entered, and takes all
// ejected flits immediately: the network is the bottleneck.
type saturate struct {
	f    *Part
	rng  uint64
	left []int32 // remaining flits of the entering packet, per node
	dst  []int32
	n    int
	vc   []uint8
}

func newSaturate(b testing.TB, cfg Config, flits int) *saturate {
	f, err := whole(cfg)
	require.NoError(b, err)
	n := cfg.Topology.Nodes()
	return &saturate{f: f, rng: 1, n: flits, left: make([]int32, n), dst: make([]int32, n), vc: make([]uint8, n)}
}

func (s *saturate) random() uint64 {
	s.rng ^= s.rng << 13
	s.rng ^= s.rng >> 7
	s.rng ^= s.rng << 17
	return s.rng
}

func (s *saturate) cycle() {
	for _, e := range s.f.Ejected() {
		s.f.ReleaseRun(int(e.Node), e.VC, s.f.Now(), int(e.Run))
	}
	for node := range s.left {
		if s.left[node] == 0 {
			s.left[node] = int32(s.n)
			s.dst[node] = int32(s.random() >> 32 * uint64(len(s.left)) >> 32)
		}
		if s.f.CanInject(node, 0) {
			n := min(int(s.left[node]), max(s.f.cfg.Run, 1))
			flit := packetFlit(uint32(node), int(s.dst[node]), s.n-int(s.left[node]), s.n)
			if n == int(s.left[node]) {
				flit |= Tail
			}
			s.left[node] -= int32(s.f.InjectRun(node, 0, flit, n))
		}
	}
	s.f.Step()
}

// cpuSeconds is the CPU time of this process, which does not depend on the load of the machine.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkSaturated is uniform random traffic of VELO packets of 9 flits at saturation. A flit-hop
// is one flit through one router.
func BenchmarkSaturated(b *testing.B) {
	for _, c := range []struct {
		name string
		topo Topology
		run  int
	}{{"mesh4x4x4", Mesh(4, 4, 4), 1}, {"torus4x4x4", Torus(4, 4, 4), 1}, {"mesh16x16", Mesh(16, 16), 1}, {"mesh8x8", Mesh(8, 8), 1}, {"mesh8x8/runs", Mesh(8, 8), 9}} {
		b.Run(c.name, func(b *testing.B) {
			s := newSaturate(b, Config{Topology: c.topo, Run: c.run}, 9)
			for range 2000 {
				s.cycle()
			}
			before, start := s.f.Hops(), cpuSeconds()
			b.ReportAllocs()
			for b.Loop() {
				s.cycle()
			}
			hops := float64(s.f.Hops() - before)
			b.ReportMetric(hops/(cpuSeconds()-start)/1e6, "Mflit-hops/cpu-s")
			b.ReportMetric(hops/float64(b.N)/float64(c.topo.Nodes()), "hops/node-cycle")
		})
	}
}

// BenchmarkIdle sends one packet at a time across an otherwise empty network.
func BenchmarkIdle(b *testing.B) {
	for _, nodes := range []int{4, 16} {
		b.Run(fmt.Sprintf("mesh%dx%d", nodes, nodes), func(b *testing.B) {
			s := newSaturate(b, Config{Topology: Mesh(nodes, nodes)}, 9)
			last := nodes*nodes - 1
			b.ReportAllocs()
			for b.Loop() {
				for i := range 9 {
					s.f.Inject(0, 0, packetFlit(0, last, i, 9))
					s.f.Step()
				}
				for s.f.Inside() > 0 || len(s.f.Ejected()) > 0 {
					for _, e := range s.f.Ejected() {
						s.f.Release(int(e.Node), e.VC)
					}
					s.f.Step()
				}
			}
		})
	}
}
