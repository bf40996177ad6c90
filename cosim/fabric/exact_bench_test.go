package fabric

import "testing"

// BenchmarkExposed is BenchmarkSaturated with links that are stepped word by word.
func BenchmarkExposed(b *testing.B) {
	s := newSaturate(b, Config{Topology: Mesh(4, 4)}, 9)
	for _, at := range sockets(Mesh(4, 4)) {
		if err := s.f.Expose(at.router, at.port, [2]LinkSettings{}); err != nil {
			b.Fatal(err)
		}
	}
	for range 2000 {
		s.cycle()
	}
	before, start := s.f.Hops(), cpuSeconds()
	b.ReportAllocs()
	for b.Loop() {
		s.cycle()
	}
	b.ReportMetric(float64(s.f.Hops()-before)/(cpuSeconds()-start)/1e6, "Mflit-hops/cpu-s")
}
