package imb

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// A bar goes by what this tells, so it may be off by a factor of two, not of thirty.
func TestIterationPackets(t *testing.T) {
	for _, name := range Names() {
		const ranks, iterations, size = 16, 20, 2048
		c := onIdeal(ranks, 1, name)
		c.Procs, c.Sizes, c.Iterations, c.Warmup, c.Sync = []int{ranks}, []int{size}, iterations, 0, false
		c.Run.Velo = velo.Config{Flow: velo.Static, Slots: 64, CreditSlots: 2}
		if name == "PingPong" || name == "PingPing" {
			c.Procs = []int{2}
		}
		rep, err := Run(context.Background(), c)
		require.NoError(t, err, name)
		each := float64(rep.Tables[0].Flow.DataPackets) / iterations
		ratio := each / float64(IterationPackets(name, c.Procs[0], size))
		require.InDelta(t, 1.25, ratio, 0.75, "%s: %.0f packets in an iteration", name, each)
	}
}
