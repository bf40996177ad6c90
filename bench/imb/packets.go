package imb

import (
	"math/bits"

	"github.com/nicloop/nicloop/host"
)

// IterationPackets estimates the data packets of one iteration of n bytes among p processes, and so
// its cost.
func IterationPackets(benchmark string, p, n int) int {
	switch benchmark {
	case "PingPong", "PingPing":
		return 2 * host.Packets(n)
	case "Alltoall", "Alltoallv", "Allgather", "Allgatherv":
		return p * (p - 1) * host.Packets(n)
	case "Reduce_scatter": // each process sends its share to all others
		return p * (p - 1) * host.Packets((n+p-1)/p)
	case "Allreduce":
		return p * bits.Len(uint(p-1)) * host.Packets(n)
	case "Barrier":
		return p * bits.Len(uint(p-1)) * host.Packets(0)
	case "Exchange":
		return 2 * p * host.Packets(n)
	}
	return p * host.Packets(n)
}

// Tables returns the number of tables of a run, each with a world of its own.
func Tables(c Config) (n int, err error) {
	list, err := c.validate()
	for _, b := range list {
		n += len(c.procs(b))
	}
	return n, err
}

// Packets estimates the number of data packets of a run.
func Packets(c Config) float64 {
	list, err := c.validate()
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, b := range list {
		for _, p := range c.procs(b) {
			for _, n := range c.sizes(b) {
				sum += float64(len(c.groups(p))*(c.Warmup+c.Iterations)) * float64(IterationPackets(b.name, p, n))
			}
		}
	}
	return sum
}
