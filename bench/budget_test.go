package bench

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func budget(t *testing.T, c BudgetConfig) *Budget {
	t.Helper()
	c.Device, c.Cost = "rtl:", host.DefaultCost()
	b, err := MeasureBudget(context.Background(), c)
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	return b
}

// The stages add up to what the clocks of the two processes say, and so do the classes.
func TestBudgetAddsUp(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []BudgetConfig{{Size: 1, Hops: 1}, {Size: 8, Hops: 1}, {Size: 56, Hops: 1}, {Size: 256, Hops: 1}, {Size: 8, Hops: 1, Cold: true}} {
		b := budget(t, c)
		require.Len(t, b.Trips, map[bool]int{true: 2, false: 1}[c.Size <= 56])
		for _, trip := range b.Trips {
			stages, classes := drivers.Time(0), drivers.Time(0)
			for _, s := range trip.Stages {
				require.GreaterOrEqual(t, s.Time, drivers.Time(0), "%s: %s", trip.Name, s.Name)
				stages += s.Time
			}
			for _, s := range trip.Classes {
				require.Positive(t, s.Time, "%s: %s", trip.Name, s.Class)
				classes += s.Time
			}
			require.Equal(t, trip.Total, stages, "%+v %s", c, trip.Name)
			require.Equal(t, trip.Total, classes, "%+v %s", c, trip.Name)
		}
		first, err := json.Marshal(b)
		require.NoError(t, err)
		again, err := json.Marshal(budget(t, c))
		require.NoError(t, err)
		require.Equal(t, string(first), string(again), "not deterministic")
	}
}

// What must take longer does, and nothing else.
func TestBudgetFollowsItsCause(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	classes := func(c BudgetConfig) (sum map[capture.Class]drivers.Time) {
		b := budget(t, c)
		sum = map[capture.Class]drivers.Time{}
		for _, x := range b.Trips[len(b.Trips)-1].Classes {
			sum[x.Class] = x.Time
		}
		return sum
	}
	warm, cold := classes(BudgetConfig{Size: 8, Hops: 1}), classes(BudgetConfig{Size: 8, Hops: 1, Cold: true})
	require.Greater(t, cold[capture.NIC], warm[capture.NIC], "translations that come from memory")
	require.Equal(t, cold[capture.Network], warm[capture.Network])
	long := classes(BudgetConfig{Size: 256, Hops: 1})
	require.Greater(t, long[capture.Bus], warm[capture.Bus])
	require.Greater(t, long[capture.Network], warm[capture.Network])
}

func TestBudgetRefuses(t *testing.T) {
	for want, c := range map[string]BudgetConfig{
		"packet of 0 bytes: expected 1 to 256":   {Device: "ideal:", Size: 0, Hops: 1},
		"packet of 257 bytes: expected 1 to 256": {Device: "ideal:", Size: 257, Hops: 1},
		"0 hops: expected 1 to 63":               {Device: "ideal:", Size: 8},
	} {
		_, err := MeasureBudget(context.Background(), c)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
	c := BudgetConfig{Device: "ideal:", Size: 8, Hops: 1, Cost: host.DefaultCost()}
	_, err := MeasureBudget(context.Background(), c)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "VELO packet: ")
}
