package bench

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// TestSlotTime: memory that takes so long for a slot is what two nodes wait for that send all the
// time, on every backend with a limiter.
func TestSlotTime(t *testing.T) {
	const slot = 150 * drivers.Nanosecond
	for _, device := range []string{"model:", "ideal:"} {
		c := Default("multi-pingpong")
		c.Device, c.Nodes, c.Procs, c.Iterations, c.Warmup, c.Sizes = device, 2, 8, 4, 0, []int{2048}
		c.Velo = velo.Config{Flow: velo.None, Slots: 1000}
		fast, err := Run(context.Background(), c)
		require.NoError(t, err)
		c.SlotTime = slot
		slow, err := Run(context.Background(), c)
		require.NoError(t, err)
		packets := drivers.Time(slow.Rows[0].Flow.DataPackets) / 2 // of each node
		require.Less(t, fast.Rows[0].Elapsed, packets*slot, device)
		require.Greater(t, slow.Rows[0].Elapsed, packets*slot*9/10, device)
	}
}

func TestSlotTimeRefused(t *testing.T) {
	c := onIdeal("pingpong")
	for _, x := range []struct {
		device string
		time   drivers.Time
		want   error
		text   string
	}{
		{"ideal:", -1, drivers.ErrConfig, "slot time of -1 ps: expected 0 to"},
		{"ideal:", MaxSlotTime + 1, drivers.ErrConfig, "expected 0 to"},
		{"ideal:", 20 * drivers.Nanosecond, drivers.ErrConfig, "expected at least 51.2 ns"},
		{"ideal:?clock=wall", 100 * drivers.Nanosecond, drivers.ErrNotSupported, "simulated time"},
	} {
		c.Device, c.SlotTime = x.device, x.time
		_, err := Run(context.Background(), c)
		require.ErrorIs(t, err, x.want)
		require.ErrorContains(t, err, x.text)
	}
}
