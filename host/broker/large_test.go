package broker

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/stretchr/testify/require"
)

// large pretends to have more nodes.
type large struct{ drivers.Lender }

func (l large) Info() drivers.Info {
	info := l.Lender.Info()
	info.Nodes = 72
	return info
}

func (l large) Device(int) drivers.Device { return l.Lender.Device(0) }

// TestTooManyNodes: a device that cannot be served is refused with the reason.
func TestTooManyNodes(t *testing.T) {
	sys, err := registry.Open(context.Background(), "ideal:?clock=wall", drivers.Options{Nodes: 2, MemoryBytes: MemoryFor(1, 4096), Needs: Needs})
	require.NoError(t, err)
	defer sys.Close()
	_, err = New(Config{System: large{sys.(drivers.Lender)}, Socket: filepath.Join(t.TempDir(), "s")})
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "a device of 72 nodes: at most 64")
}
