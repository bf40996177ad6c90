package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

func TestFaces(t *testing.T) {
	for _, x := range []struct {
		ranks int
		want  space
	}{{1, space{1, 1, 1}}, {2, space{2, 1, 1}}, {8, space{2, 2, 2}}, {12, space{3, 2, 2}}, {27, space{3, 3, 3}}, {64, space{4, 4, 4}}, {13, space{13, 1, 1}}} {
		require.Equal(t, x.want, spaceOf(x.ranks))
	}
	// Every edge is one of the peer's, the other way round.
	for _, ranks := range []int{2, 3, 8, 12, 30, 64} {
		s := spaceOf(ranks)
		for r := range ranks {
			for _, e := range s.faces(r) {
				require.NotEqual(t, r, e.peer)
				require.True(t, slices.ContainsFunc(s.faces(e.peer), func(o edge) bool { return o.peer == r && o.inTag == e.outTag && o.outTag == e.inTag }), "%d ranks, %d to %d", ranks, r, e.peer)
			}
		}
	}
}

func TestPartners(t *testing.T) {
	c := Default("halo")
	for _, ranks := range []int{2, 7, 16} {
		changes := false
		for e := range 5 {
			task := &task{c: &c}
			for r := range ranks {
				p := task.partner(r, ranks, e, 0)
				require.Equal(t, r, task.partner(p, ranks, e, 0))
				changes = changes || p != task.partner(r, ranks, e+1, 0)
			}
		}
		require.Equal(t, ranks > 2, changes)
	}
}

// The same steps, eager or not, on ideal: and the model, verified to the byte.
func TestStepsWithThresholds(t *testing.T) {
	for _, name := range []string{"stencil", "halo"} {
		if name == "halo" && testing.Short() {
			continue
		}
		for _, e := range []*Thresholds{nil, {Threshold: 16384, Buffers: 1 << 20}, {Threshold: 16384, All: true, Buffers: 1 << 20}, {Buffers: 1 << 20}, {Buffers: 1 << 20, Partial: true}} {
			if testing.Short() && (e == nil || e.Threshold > 0) {
				continue
			}
			c := onIdeal(name)
			c.Nodes, c.Procs, c.Eager, c.Sizes, c.Iterations, c.Warmup = 8, 1, e, []int{8192}, 12, 8
			c.Velo.Slots = 32
			res, err := Run(context.Background(), c)
			require.NoError(t, err)
			x := res.Rows[0].Exchange
			require.Greater(t, x.Overall, x.Computation)
			require.NotZero(t, res.Verified)
			if e == nil {
				require.Nil(t, res.Rows[0].Eager)
				continue
			}
			var switches, buffered uint64
			for _, r := range res.Rows[0].Eager {
				switches, buffered = switches+r.Switches, buffered+r.Buffered
				require.LessOrEqual(t, r.Most, e.Buffers)
			}
			require.Positive(t, switches, "%s %+v", name, e)
			require.Positive(t, buffered)
		}
	}
}

// TestPublishedDesign: thresholds as published adapt in halo, and their settings take effect. With
// the header a length of 8,192 bytes gets the next power of two; one length of buffers permits
// fewer changes; idle buffers are reclaimed fewer times with weights than without.
func TestPublishedDesign(t *testing.T) {
	run := func(workload string, e Thresholds) (greatest int, switches, shrunk uint64) {
		c := onIdeal(workload)
		c.Nodes, c.Procs, c.Eager, c.Sizes, c.Iterations = 4, 1, &e, []int{8192}, 30
		c.Velo.Slots = 32
		res, err := Run(context.Background(), c)
		require.NoError(t, err)
		require.NotZero(t, res.Verified)
		for _, r := range res.Rows[0].Eager {
			greatest, switches, shrunk = max(greatest, r.Threshold), switches+r.Switches, shrunk+r.Shrunk
		}
		return greatest, switches, shrunk
	}
	for published, want := range map[bool]int{false: 8192 + 1024, true: 16384 + 1024} {
		greatest, _, _ := run("stencil", Thresholds{Buffers: 1 << 20, Published: published})
		require.Equal(t, want, greatest)
	}
	_, many, _ := run("halo", Thresholds{Buffers: 1 << 20, Published: true})
	_, few, _ := run("halo", Thresholds{Buffers: 1 << 20, Published: true, Lengths: 1})
	require.Less(t, few, many)
	_, _, cycles := run("halo", Thresholds{Buffers: 1 << 20, Idle: 20 * drivers.Microsecond})
	_, _, weighted := run("halo", Thresholds{Buffers: 1 << 20, Idle: 20 * drivers.Microsecond, Weights: 64})
	require.Less(t, 4*weighted, cycles)
}

// What a step hides is what is not in its overall time.
func TestOverlapOfSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	run := func(e *Thresholds) *Exchange {
		c := onIdeal("stencil")
		c.Nodes, c.Procs, c.Eager, c.Sizes, c.Iterations, c.Warmup = 8, 1, e, []int{32768}, 10, 15
		c.Velo.Slots = 32
		res, err := Run(context.Background(), c)
		require.NoError(t, err)
		return res.Rows[0].Exchange
	}
	by, auto := run(nil), run(&Thresholds{Buffers: 1 << 20})
	require.Less(t, by.Overlap, 0.2)
	require.Greater(t, auto.Overlap, by.Overlap+0.2)
	require.Less(t, auto.Overall, by.Overall)
}

func TestBadThresholds(t *testing.T) {
	for want, e := range map[string]Thresholds{
		"expected more than 2048": {Threshold: 2048, Buffers: 1}, "expected 1 to 67108864": {}, "idle time of eager buffers of -1 ps": {Buffers: 1, Idle: -1},
		"a pool of -1": {Buffers: 1, Pool: -1}, "expected no settings of buffers": {Buffers: 1, NotReady: true, Published: true},
	} {
		c := Default("stencil")
		c.Sizes, c.Iterations, c.Eager = []int{4096}, 1, &e
		require.ErrorIs(t, c.Validate(), drivers.ErrConfig)
		require.ErrorContains(t, c.Validate(), want)
	}
	c := Default("stencil")
	c.Sizes, c.Iterations, c.Compute = []int{4096}, 1, -1
	require.ErrorContains(t, c.Validate(), fmt.Sprintf("computation of %d ps", c.Compute))
}

// TestThresholdsBesideReuse: messages of a pair go by VELO, into a ring, into larger buffers and by
// a rendezvous, and stay in order.
func TestThresholdsBesideReuse(t *testing.T) {
	for _, seed := range []int64{1, 2, 3} {
		for _, all := range []bool{false, true} {
			t.Logf("seed %d; go test ./bench -run TestThresholdsBesideReuse", seed)
			c := Default("random")
			c.Device, c.Nodes, c.Procs, c.Seed = "ideal:", 2, 2, seed
			c.Sizes, c.Iterations, c.Rendezvous = []int{9000}, 60, host.Spec
			c.Reuse = host.Reuse{Mode: host.ReuseCopy}
			e := DefaultThresholds()
			if c.Eager = &e; all {
				e.Threshold, e.All, c.Reuse.Mode = 5000, true, host.ReuseAdapt
			}
			res, err := Run(context.Background(), c)
			require.NoError(t, err)
			require.NotZero(t, res.Verified)
			buffered := 0
			for _, rank := range res.Rows[0].Eager {
				buffered += int(rank.Buffered)
			}
			require.Equal(t, all, buffered != 0, "with thresholds from the start messages go into buffers")
		}
	}
}
