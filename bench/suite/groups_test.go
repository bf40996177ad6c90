package suite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// hanging is a workload that fills its mailboxes.
func hanging(t *regress.T) error {
	c := bench.Default("alltoall")
	c.Nodes, c.Procs, c.Iterations, c.Sizes = 6, 2, 8, []int{8, 500}
	c.Velo = velo.Config{Flow: velo.None, Slots: 1}
	_, err := t.Run(c)
	return err
}

// TestGroups: failures of one kind are one group, whatever their numbers, with all seeds; of each
// the smallest workload is looked for that fails alike.
func TestGroups(t *testing.T) {
	o := options(t)
	o.Device, o.Jobs, o.Seeds, o.Seed, o.Shrink = "model:", 1, 3, 5, time.Minute
	out, err := regress.Run(context.Background(), []regress.Test{
		{Name: "x/value", Run: func(t *regress.T) error { return fmt.Errorf("MAGIC is %d\nat cycle 7", t.Seed) }},
		{Name: "x/hang", Run: hanging},
	}, o)
	require.NoError(t, err)
	groups := regress.Groups(out)
	require.Len(t, groups, 2)
	require.Equal(t, "MAGIC is N", groups[0].Signature)
	require.Equal(t, "hang: RTL stall", groups[1].Signature)
	require.Equal(t, "x/hang (seeds 5, 6, 7)", groups[1].Seeds())

	shortest := 0
	for _, x := range out {
		if x.Shortest != "" {
			shortest++
			require.Equal(t, "x/hang", x.Test.Name)
			require.Regexp(t, `^nicloop run alltoall --device model: --nodes 2 --procs 2 --sizes \d+ --iterations [12] --warmup 0 --flow none --slots 1 --seed 5$`, x.Shortest)
		}
	}
	require.Equal(t, 1, shortest, "once for each kind")
	var text strings.Builder
	regress.NewTable(&text, nil).Close(out)
	require.Contains(t, text.String(), "3 failures of this kind (MAGIC is N): x/value (seeds 5, 6, 7)")
	require.Contains(t, text.String(), "shortest that fails alike: nicloop run alltoall")
}

// TestAgainst: a test that passes on both devices fails where they are not the same, and passes
// where they are. What fails is held against the model only where there is one.
func TestAgainst(t *testing.T) {
	packets := regress.Test{Name: "x/packets", Run: func(t *regress.T) error {
		sys, err := t.Open(2, nictest.NodeMemory, nil)
		if err != nil {
			return err
		}
		nics := []*nictest.NIC{{Sys: sys, Dev: sys.Device(0)}, {Sys: sys, Dev: sys.Device(1), Node: 1}}
		if err := nics[1].Enable(0, nictest.SlotsPerBox); err != nil {
			return err
		}
		if err := nics[0].Enable(0, nictest.SlotsPerBox); err != nil {
			return err
		}
		if err := nics[0].Send(regs.PioFields{DstNode: 1}, make([]byte, 8)); err != nil {
			return err
		}
		return nictest.Settle(sys)
	}}
	o := options(t)
	o.Device, o.Lockstep, o.Against = "model:", true, "model:"
	out, err := regress.Run(context.Background(), []regress.Test{packets}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Passed, out[0].Status, "%v", out[0].Err)
	require.NotZero(t, out[0].Simulated)

	o.Against, o.Dir = "model:?host_wr_latency=9", t.TempDir()
	out, err = regress.Run(context.Background(), []regress.Test{packets}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Failed, out[0].Status)
	require.Equal(t, "velo_completer", out[0].Parted.Module())
	require.Equal(t, "first divergence: packet at velo_completer", out[0].Signature())
	require.ErrorContains(t, out[0].Err, "first divergence: cycle")
	require.Contains(t, out[0].Rerun, " --seed 1 --lockstep --against 'model:?host_wr_latency=9'", "alone it passes")

	o.Same, o.Dir = lockstep.Packets, t.TempDir()
	out, err = regress.Run(context.Background(), []regress.Test{packets}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Passed, out[0].Status, "%v", out[0].Err)

	o.Device, o.Against, o.Dir = "ideal:", "", t.TempDir()
	out, err = regress.Run(context.Background(), []regress.Test{packets}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Skipped, out[0].Status)
	require.ErrorIs(t, out[0].Err, drivers.ErrNotSupported)
}
