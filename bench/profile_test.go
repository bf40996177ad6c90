package bench

import (
	"math"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// senderBusy is how long a late sender's core is taken by one message: what its longest computation
// does not hide.
func senderBusy(t *testing.T, c Config, p host.Rendezvous) drivers.Time {
	x := measureOverlapOf(t, c, p).find(t, string(p), c.Sizes[0], SendSide, LateSender)
	last := x.Samples[len(x.Samples)-1]
	return last.Latency - last.Computation
}

// TestProfileOfSender tells what a late sender's core does for a message that an RTR has come for.
// Each cost of the host model is made a fifth dearer, by itself: by what the message then takes
// more, it is charged so often. What it all comes to is why such a sender overlaps less of a short
// message than one whose receiver gets it.
func TestProfileOfSender(t *testing.T) {
	if testing.Short() {
		t.Skip("20 measurements")
	}
	costs := []struct {
		name       string
		of         func(*host.Cost) *drivers.Time
		rget, spec float64
	}{
		{"entering the call", func(c *host.Cost) *drivers.Time { return &c.Start }, 1, 1},
		{"registering", func(c *host.Cost) *drivers.Time { return &c.Register }, 1, 1},
		{"looking for an RTR", func(c *host.Cost) *drivers.Time { return &c.Poll }, 0, 1},
		{"finding it", func(c *host.Cost) *drivers.Time { return &c.Match }, 0, 1},
		{"lines", func(c *host.Cost) *drivers.Time { return &c.PIOWrite }, 1, 4},     // RTS; claim, put, fence, FIN
		{"packets taken", func(c *host.Cost) *drivers.Time { return &c.Take }, 1, 2}, // FIN; RTR, the fence's notification
		{"bytes of control messages", func(c *host.Cost) *drivers.Time { return &c.CopyByte }, 80, 120},
		{"credits", func(c *host.Cost) *drivers.Time { return &c.Dynamic }, 2, 3},
		{"waking up", func(c *host.Cost) *drivers.Time { return &c.Wake }, 0, 0},
	}
	for _, p := range []host.Rendezvous{host.RGET, host.Spec} {
		c := overlapOn("overlap", 4<<10)
		c.AlwaysSpeculate, c.Iterations = true, 20
		base := senderBusy(t, c, p)
		sum := 0.
		for _, x := range costs {
			dearer := c
			v := x.of(&dearer.Cost)
			was := *v
			*v += was / 5
			times := float64(senderBusy(t, dearer, p)-base) / float64(was/5)
			want := x.rget
			if p == host.Spec {
				want = x.spec
			}
			require.InDelta(t, want, times, 0.16, "%s: %s", p, x.name) // now and then a credit packet, too
			sum += math.Round(times) * float64(was)
		}
		require.InDelta(t, float64(base), sum, float64(35*drivers.Nanosecond), "%s: what is not in the list is a read pointer now and then", p)
	}
}
