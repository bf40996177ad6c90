package paper

import (
	"bytes"
	"context"
	"strings"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// References of different patterns are different runs.
func TestReferencesAreNotMixed(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	all := e.Alltoall(World{Nodes: 2, Procs: 2}, velo.Static, 64, 2)
	some := all
	some.Active = 2
	samples, refs, err := e.Compare(context.Background(), []Run{all, some, all})
	require.NoError(t, err)
	require.Equal(t, refs[0], refs[2])
	require.Less(t, refs[1].Time, refs[0].Time)
	require.Equal(t, samples[0], samples[2])
}

// Without flow control mailboxes grow until nothing stalls; a flow control that
// lets them stall is an error, not a result.
func TestReferenceGrows(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	r := Run{World: World{Nodes: 4, Procs: 1}, Benchmark: "Scatterv", Iterations: 30}
	r.Flow = velo.None
	s, err := e.perform(context.Background(), r, nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.slots, 80)
	r.Slots = 1
	_, stalled, err := e.once(context.Background(), r, nil)
	require.True(t, err != nil || stalled > 0, "one slot per peer must stall")
}

// Progress ends at its end, whatever runs go on at a time, and the plan is told first.
func TestProgress(t *testing.T) {
	last, of, planned := -1, 0, 0
	e := &Env{Device: "model:", Scale: Small, Seed: 1, Jobs: 2,
		Plan: func(runs, _ int, packets float64) {
			require.Equal(t, -1, last)
			require.Positive(t, packets)
			planned = runs
		},
		Step: func(done, all int) {
			require.GreaterOrEqual(t, done, last)
			last, of = done, all
		},
	}
	var runs []Run
	for _, slots := range []int{10, 30, 10} {
		runs = append(runs, e.Alltoall(World{Nodes: 2, Procs: 2}, velo.Static, slots, 2))
	}
	_, _, err := e.Compare(context.Background(), runs)
	require.NoError(t, err)
	require.Equal(t, 3, planned, "two runs and one reference")
	require.Positive(t, of)
	require.InDelta(t, of, last, 1)
}

// What a thin grid leaves out stands in its report, and only there.
func TestReportSaysWhatIsThinned(t *testing.T) {
	x := &Experiment{IDs: []string{"x"}, PaperSize: "all", Thinned: "every second point",
		Measure: func(_ context.Context, e *Env) (*Table, error) {
			e.RunCount, e.PacketCount = 3, 2_500_000
			return &Table{}, nil
		}}
	for _, scale := range Scales() {
		rep, err := x.Run(context.Background(), Env{Scale: scale})
		require.NoError(t, err)
		var b bytes.Buffer
		rep.Print(&b)
		require.Contains(t, b.String(), "runs: 3, of 2.5 million packets together\n")
		require.Equal(t, scale.Thin(), strings.Contains(b.String(), "THINNED: every second point\n"), scale)
		require.Equal(t, scale != Full, strings.Contains(b.String(), "SCALED DOWN"), scale)
	}
}
