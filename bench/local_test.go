package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// TestLocalMessagesTakeNoCredits: FC paper, section 7.2: what passes through
// shared memory leaves the mailboxes to the others.
func TestLocalMessagesTakeNoCredits(t *testing.T) {
	for _, wl := range Workloads() {
		if wl.Name == "barrier" || testing.Short() && ofAnApplication(wl) { // a barrier has no bytes
			continue
		}
		var packets [2]uint64
		for i, local := range []bool{false, true} {
			c := onIdeal(wl.Name)
			c.Local, c.Velo = local, velo.Config{Flow: velo.Dynamic, Slots: 6, CreditSlots: 2, Piggyback: true}
			c.Sizes = []int{2048, 50000}
			fitApp(&c)
			if testing.Short() {
				c.Sizes[1] = 10000
			}
			res, err := Run(context.Background(), c)
			require.NoError(t, err, wl.Name)
			packets[i] = res.Rows[0].Flow.DataPackets
		}
		if wl.Name == "alltoall" {
			require.Less(t, packets[1], packets[0])
		}
	}
}

// TestLocalKeepsTime: a message is not seen before it was sent, also when the
// receiver looks all the time.
func TestLocalKeepsTime(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs, c.Local = 1, 3, true
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		buf := make([]byte, 8)
		if r.ID() == 0 {
			for range 2 {
				if _, err := r.Recv(host.AnySource, 1, buf); err != nil {
					return err
				}
				if now := r.Now(); now < drivers.Time(buf[0])*drivers.Microsecond {
					return fmt.Errorf("received at %v what was sent at %d µs", now, buf[0])
				}
			}
			return nil
		}
		at := byte(10 * (3 - r.ID())) // rank 1 sends later than rank 2
		r.Compute(drivers.Time(at) * drivers.Microsecond)
		return r.Send(0, 1, []byte{at, 0, 0, 0, 0, 0, 0, 0})
	}))
}
