package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
)

// TestRunChecksCredits: a run that ends with the hardware idle verifies that no credit is missing.
func TestRunChecksCredits(t *testing.T) {
	m, f, err := model.NewInside(model.Defaults([3]int{2, 2, 1}), drivers.Options{}, nil)
	require.NoError(t, err)
	var stop drivers.Stop
	require.NoError(t, m.Run(1000, &stop))
	require.True(t, stop.Idle)
	f.Part(0).Release(1, 0) // of an entry that was free
	require.ErrorIs(t, m.Run(2000, &stop), fabric.ErrCredits)
}
