package world_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/velo"
)

// A program that waits for a simulator to be built shows why, without setting anything.
func TestLaunchShowsProgress(t *testing.T) {
	fails := errors.New("not built")
	open := func(_ context.Context, _ string, _ map[string]string, opt drivers.Options) (drivers.System, error) {
		opt.Progress("building a simulator")
		return nil, fails
	}
	registry.Register(registry.Backend{Scheme: "slow", Open: open})
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	was := os.Stderr
	os.Stderr = writer
	err = world.Launch(context.Background(), "slow:", drivers.Options{}, world.Config{
		Directory: world.Even(2, 1), Velo: velo.Config{Flow: velo.Dynamic, Slots: 16, CreditSlots: 2},
	}, func(*host.Rank) error { return nil })
	os.Stderr = was
	require.ErrorIs(t, err, fails)
	require.NoError(t, writer.Close())
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, "building a simulator\n", string(text))
}
