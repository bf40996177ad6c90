package imb

import (
	"math/bits"

	"github.com/nicloop/nicloop/host"
)

// Messages is roughly how many messages a benchmark sends in one iteration among p processes: what its run costs.
func Messages(benchmark string, p int) int {
	switch benchmark {
	case "PingPong", "PingPing":
		return 2
	case "Alltoall", "Alltoallv", "Allgather", "Allgatherv":
		return p * (p - 1)
	case "Allreduce", "Barrier":
		return p * bits.Len(uint(p-1))
	case "Exchange":
		return 2 * p
	}
	return p
}

// Tables is how many a run makes, each in a world of its own.
func Tables(c Config) (n int, err error) {
	list, err := c.validate()
	for _, b := range list {
		n += len(c.procs(b))
	}
	return n, err
}

// Packets is roughly how many data packets a run sends.
func Packets(c Config) float64 {
	list, err := c.validate()
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, b := range list {
		for _, p := range c.procs(b) {
			for _, n := range c.sizes(b) {
				sum += float64(len(c.groups(p))*Messages(b.name, p)*(c.Warmup+c.Iterations)) * float64(host.Packets(n))
			}
		}
	}
	return sum
}
