package bench

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// waves reads an FST file, without the date in its header.
func waves(t *testing.T, file string) []byte {
	const date, behind = 202, 202 + 119
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Greater(t, len(data), behind)
	clear(data[date:behind])
	return data
}

// TestRepeatIsTheRun: what a repeat from a checkpoint shows is what waves of the same cycles show
// that are written while the run goes on, byte for byte, with one thread and with two.
func TestRepeatIsTheRun(t *testing.T) {
	const seed = 7
	for _, c := range []struct {
		nodes, threads int
		device         string
	}{{2, 1, "rtl:"}, {8, 2, "rtl:?link_errors=1e-3&link_seed=5"}} {
		t.Logf("seed %d; go test -run TestRepeatIsTheRun ./bench", seed)
		run := func(change func(*Config)) error {
			x := Default("random")
			x.Device, x.Nodes, x.Procs, x.Seed, x.Threads = c.device, c.nodes, 2, seed, c.threads
			x.Sizes, x.Iterations, x.Warmup = []int{2500}, 1000, 1
			x.Limit = 60 * drivers.Microsecond // it will not be ready by then
			change(&x)
			_, err := Run(context.Background(), x)
			return err
		}
		dir := t.TempDir()
		var shown []drivers.Repeated
		failed := run(func(x *Config) {
			x.Checkpoints = &drivers.Checkpoints{Every: 1000, Last: 2500, File: filepath.Join(dir, "repeat.fst"), Nodes: []int{1}}
			x.Repeated = func(r drivers.Repeated, err error) {
				require.NoError(t, err)
				shown = append(shown, r)
			}
		})
		require.Error(t, failed)
		require.Len(t, shown, 1)
		r := shown[0]
		require.Equal(t, drivers.Cycle(2500), r.To-r.From)
		require.LessOrEqual(t, r.Checkpoint, r.From)
		require.Less(t, r.From-r.Checkpoint, drivers.Cycle(1000))

		again := run(func(x *Config) {
			x.Waves = &drivers.WaveWindow{File: filepath.Join(dir, "direct.fst"), From: r.From, To: drivers.Forever, Nodes: []int{1}}
		})
		require.EqualError(t, again, failed.Error(), "checkpoints and waves change nothing")
		require.Equal(t, waves(t, filepath.Join(dir, "direct.fst")), waves(t, filepath.Join(dir, "repeat.fst")))
	}
}
