package bench

import "github.com/nicloop/nicloop/host"

// Packets estimates the number of data packets of a run, and so its cost. It includes warm-up, but
// not a reference without flow control.
func Packets(c Config) float64 {
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return 0
	}
	wl.complete(&c)
	sum := 0.0
	for _, n := range c.Sizes {
		for _, l := range wl.sends(&c, n) {
			sum += float64(l.messages) * float64(c.Warmup+c.Iterations) * float64(host.Packets(l.bytes))
		}
	}
	return sum
}
