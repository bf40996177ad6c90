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

// TestLaunchShowsProgress: a program that waits for a simulator build prints the reason by default.
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

// TestLaunchWithDefaults: a program needs only the locations of its ranks and its maximum message
// length.
func TestLaunchWithDefaults(t *testing.T) {
	for _, n := range []int{64, 100_000} {
		c := world.Config{Directory: world.Even(2, 1), Longest: n, Buffers: 2}
		err := world.Launch(t.Context(), "ideal:?clock=wall", drivers.Options{}, c, func(r *host.Rank) error {
			data := make([]byte, n)
			if r.ID() == 0 {
				data[n-1] = 5
				return r.Send(1, 0, data)
			}
			_, err := r.Recv(0, 0, data)
			require.EqualValues(t, 5, data[n-1])
			return err
		})
		require.NoError(t, err)
	}
}
