package model_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// TestFaultsAreRefused: invalid probabilities, and cycles with which no link of the RTL works.
func TestFaultsAreRefused(t *testing.T) {
	opt := drivers.Options{Nodes: 4}
	for _, keys := range []string{"link_errors=2", "link_losses=-1e-3", "link_losses=often", "link_seed=x"} {
		_, err := registry.Open(context.Background(), "model:?"+keys, opt)
		require.ErrorIs(t, err, drivers.ErrConfig, keys)
	}
	params, err := os.ReadFile("../../cosim/nic/rtl.json")
	require.NoError(t, err)
	other := strings.Replace(string(params), `"link": 3`, `"link": 4`, 1)
	require.NotEqual(t, string(params), other)
	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, []byte(other), 0o600))
	sys, err := registry.Open(context.Background(), "model:?params="+file, opt)
	require.NoError(t, err)
	require.NoError(t, sys.Close())
	_, err = registry.Open(context.Background(), "model:?link_errors=1e-3&params="+file, opt)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
}
