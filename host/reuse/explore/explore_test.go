package explore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuite(t *testing.T) {
	states := 0
	for _, o := range Suite() {
		if testing.Short() && len(o.Messages) > 3 {
			continue
		}
		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.NoError(t, r.Violation, "%v: %v", o, r.Path)
		require.NotZero(t, r.Ends)
		states += r.States
	}
	t.Logf("%d states", states)
}

// TestPlantsAreFound: every mistake is found, and the same world without it is proved.
func TestPlantsAreFound(t *testing.T) {
	for _, o := range Planted() {
		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.ErrorIs(t, r.Violation, ErrUnsafe, "%v", o)
		t.Logf("%s: %v: %v", o.Plant, r.Violation, r.Path)
		o.Plant = ""
		r, err = Run(t.Context(), o)
		require.NoError(t, err)
		require.NoError(t, r.Violation)
	}
}

func TestOptions(t *testing.T) {
	_, err := Run(t.Context(), Options{Entries: 5})
	require.Error(t, err)
	_, err = Run(t.Context(), Options{Entries: 1, Messages: []int{1}})
	require.Error(t, err)
}

// TestCancelledExploration: an exploration can be cancelled.
func TestCancelledExploration(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, Suite()[0])
	require.ErrorIs(t, err, context.Canceled)
}
