package explore

import (
	"context"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

var level = flag.Int("level", 1, "how far the suite goes: 1 takes a second, 2 ten, 3 minutes")

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
