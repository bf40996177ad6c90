package suite

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// TestFailureIsRepeatedWithWaves: a failing test on RTL leaves waveforms of the
// cycles before the failure behind, by itself.
func TestFailureIsRepeatedWithWaves(t *testing.T) {
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	attempts := 0
	broken := regress.Test{Name: "x/broken", Run: func(t *regress.T) error {
		nics, err := nictest.OpenNICs(t, 2)
		if err != nil {
			return err
		}
		attempts++
		return nics[0].Expect(regs.Magic, 1)
	}}
	o := options(t)
	o.NoLockstep = true
	o.Device = "rtl:"
	out, err := regress.Run(context.Background(), []regress.Test{broken}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Failed, out[0].Status)
	require.ErrorContains(t, out[0].Err, "MAGIC is 0x31504f4f4c43494e, expected 0x1")
	require.Equal(t, 1, attempts, "the end is repeated from a checkpoint")
	require.NotEmpty(t, out[0].Waves)
	info, err := os.Stat(out[0].Waves)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1000))
}

// TestRegressInside: a device without checkpoints runs the tests all the same, and repeats a
// failing one as a whole.
func TestRegressInside(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	attempts := 0
	read := func(want uint64) regress.Test {
		return regress.Test{Name: "x/read", Run: func(t *regress.T) error {
			attempts++
			nics, err := nictest.OpenNICs(t, 2)
			if err != nil {
				return err
			}
			return nics[0].Expect(regs.Magic, want)
		}}
	}
	o := options(t)
	o.NoLockstep = true
	o.Device = "rtl:?inside=1"
	out, err := regress.Run(context.Background(), []regress.Test{read(regs.MagicValue)}, o)
	require.NoError(t, err)
	require.NoError(t, out[0].Err)
	require.Equal(t, regress.Passed, out[0].Status)
	attempts = 0
	out, err = regress.Run(context.Background(), []regress.Test{read(1)}, o)
	require.NoError(t, err)
	require.Equal(t, regress.Failed, out[0].Status)
	require.Equal(t, 3, attempts, "planned, run, repeated with waves")
	require.FileExists(t, out[0].Waves)
}

// TestWavesOfSeveralWorlds: what a test compares after its last world has ended fails outside of
// any. The waves show the end of that world, whose cycles begin at 0, however long the worlds
// before were.
func TestWavesOfSeveralWorlds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	for name, iterations := range map[string][]int{"long, short": {400, 5}, "short, long": {5, 400}} {
		t.Run(name, func(t *testing.T) {
			worlds := regress.Test{Name: "x/worlds", Run: func(t *regress.T) error {
				for _, n := range iterations {
					c := bench.Default("pingpong")
					c.Iterations = n
					if _, err := t.Run(c); err != nil {
						return err
					}
				}
				return errBroken
			}}
			o := options(t)
			o.Device = "rtl:"
			out, err := regress.Run(context.Background(), []regress.Test{worlds}, o)
			require.NoError(t, err)
			require.Equal(t, regress.Failed, out[0].Status)
			require.ErrorIs(t, out[0].Err, errBroken)
			require.NotContains(t, out[0].Err.Error(), "no whole waves")
			info, err := os.Stat(out[0].Waves)
			require.NoError(t, err)
			require.Greater(t, info.Size(), int64(1000))
		})
	}
}
