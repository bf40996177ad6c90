package rtl

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/record"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/selftest"
)

// TestReplayFindsPlantedBugs: a recording made on correct RTL diverges on RTL with a bug, at the
// effect of the bug, with waves of it.
func TestReplayFindsPlantedBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds simulators")
	}
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "log")
	opt := drivers.Options{Nodes: 2, MemoryBytes: selftest.MemoryBytes}
	sys, err := registry.Open(ctx, "record:"+file+"!rtl:", opt)
	require.NoError(t, err)
	_, err = selftest.Run(ctx, sys, selftest.Config{Seed: 1, Samples: 16, Only: []string{"velo", "interrupts", "links"}})
	require.NoError(t, err)
	require.NoError(t, sys.Close())
	log, err := os.ReadFile(file)
	require.NoError(t, err)
	rep, err := record.Replay(ctx, log, openTimed(t, "rtl:", opt), record.Config{})
	require.NoError(t, err)
	require.Nil(t, rep.Divergence, "%v", rep.Divergence)

	for _, c := range []struct{ name, file, from, to, where, expected, found string }{
		{"the last bytes of a packet are lost", "core/velo_completer.sv", "{left[2:0], 3'h0}", "{left[2:1], 4'h0}",
			"mailbox of process 0, slot 1, byte 0", "", "00 (word 0000000000000000)"},
		{"half of the notifications interrupt as others", "core/regfile.sv", "+6'(n_noti_vpid)", "+6'(n_noti_vpid[2:0])",
			"IRQ_STATUS", "noti 0x100", "noti 0x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := tree(t)
			edit(t, dir, c.file, c.from, c.to)
			uri := "rtl:?src=" + dir
			rep, err := record.Replay(ctx, log, openTimed(t, uri, opt), record.Config{})
			require.NoError(t, err)
			d := rep.Divergence
			require.NotNil(t, d)
			t.Log(d)
			require.Contains(t, d.Where, c.where)
			require.Contains(t, d.Expected, c.expected)
			require.Contains(t, d.Found, c.found)

			waves := opt
			waves.Waves = &drivers.WaveWindow{File: filepath.Join(t.TempDir(), "why.fst"), From: d.Since - 100, To: d.Cycle}
			target := openTimed(t, uri, waves)
			again, err := record.Replay(ctx, log, target, record.Config{})
			require.NoError(t, err)
			require.Equal(t, rep, again, "the same bytes, the same cycles")
			require.NoError(t, target.Close())
			info, err := os.Stat(waves.Waves.File)
			require.NoError(t, err)
			require.Greater(t, info.Size(), int64(1000))
		})
	}
}
