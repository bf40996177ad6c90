package explore

import (
	"context"
	"flag"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

var level = flag.Int("level", 1, "how far the suite goes: 1 takes two seconds, 2 half a minute, 3 minutes")

func run(t *testing.T, o Options) Result {
	t.Helper()
	r, err := Run(context.Background(), o)
	require.NoError(t, err)
	return r
}

func TestSuite(t *testing.T) {
	for _, o := range Suite(*level) {
		r := run(t, o)
		t.Logf("%v, %s: %v, %d states, depth %d, %d ends, %v", o.String(), o.Bound(), r.Verdict, r.States, r.Depth, r.Ends, r.Duration)
		require.Equal(t, Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.NotZero(t, r.Ends)
	}
}

func TestPlantsAreFound(t *testing.T) {
	planted := Planted()
	require.GreaterOrEqual(t, len(planted), 15)
	for _, o := range planted {
		t.Run(o.Plant, func(t *testing.T) {
			r := run(t, o)
			require.Equal(t, Refuted, r.Verdict, "%s", o.String())
			t.Logf("%s\n%s", r.Violation, r.Script)
			o.Plant = ""
			require.Equal(t, Proved, run(t, o).Verdict, "the same world without the mistake")
		})
	}
}

// TestJobsChangeNothing: the number of goroutines affects neither proofs nor counterexamples.
func TestJobsChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("explores everything twice")
	}
	worlds := append(Suite(1), Planted()...)
	for _, w := range worlds {
		one := run(t, w)
		w.Jobs = 3
		three := run(t, w)
		one.Duration, three.Duration = 0, 0
		require.Equal(t, one, three, "%s", w.String())
	}
}

var deep = flag.Bool("deep", false, "explore the world that takes minutes, too")

func TestDeep(t *testing.T) {
	if !*deep {
		t.Skip("takes minutes: run with: go test ./host/rendezvous/explore -run TestDeep -timeout 30m -deep")
	}
	for _, o := range Deep() {
		o.Jobs = runtime.NumCPU()
		r := run(t, o)
		t.Logf("%v, %s: %v, %d states, depth %d, %d ends, %v", o.String(), o.Bound(), r.Verdict, r.States, r.Depth, r.Ends, r.Duration)
		require.Equal(t, Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
	}
}
