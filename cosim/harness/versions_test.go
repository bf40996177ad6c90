package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
)

// buggyProber is the description of a prober with parameter BUG.
func buggyProber(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs("testdata")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/prober.yaml")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "buggy.yaml")
	changed := strings.NewReplacer("prober.sv", filepath.Join(here, "prober.sv"), "prober_registers.yaml", filepath.Join(here, "prober_registers.yaml"),
		"top: prober", "top: prober\nparameters: {BUG: 1}").Replace(string(text))
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o666))
	return file
}

// workload uses all that is compared, and returns the first error.
func workload(sys *harness.System, bug uint64) error {
	a, b := sys.Node(0), sys.Node(1)
	if err := a.Set("BUG", bug); err != nil {
		return err
	}
	if err := b.Set("BUG", bug); err != nil {
		return err
	}
	copy(a.Memory()[0x3000:], "written by software")
	for _, w := range []burst{
		{master: "A", addr: 0x1000, beats: 2, size: 2, kind: incr, write: true, seed: 1},
		{master: "A", addr: 0x103c, beats: 4, size: 2, kind: incr, write: true, seed: 9},
		{master: "B", addr: 0x3000, beats: 2, size: 4, kind: incr},
	} {
		if err := w.start(a); err != nil {
			return err
		}
		if err := let(sys, 200); err != nil {
			return err
		}
	}
	if _, err := a.Get("B_RDATA[1]"); err != nil {
		return err
	}
	for i := range 12 {
		if err := a.Set("SEND_LAST", uint64(i)); err != nil {
			return err
		}
		if err := let(sys, 40); err != nil {
			return err
		}
	}
	if _, err := b.Get("LAST_WORD"); err != nil {
		return err
	}
	return let(sys, 2000)
}

// The first difference between two versions is named by what it is: a DMA write, a beat of a stream
// or a register, with its number, its node and both values.
func TestVersions(t *testing.T) {
	needsDeep(t)
	file := buggyProber(t)
	for bug, want := range map[uint64]string{
		0: "",
		1: "node 0: DMA write 3 of master 0: 0x2c2b2ad61c1b1a19 at 0x1040 in cycle",
		2: "node 0: beat 6 of the stream out:",
		3: "node 1: register LAST_WORD: 0xc in cycle",
		4: "node 0: beat 10 of the stream out:",
	} {
		sys := openProberAt(t, file, "?against=testdata/prober.yaml", drivers.Options{Nodes: 2})
		err := workload(sys, bug)
		if want == "" {
			require.NoError(t, err)
			require.NoError(t, sys.Close())
			continue
		}
		var differs *harness.VersionError
		require.ErrorAs(t, err, &differs, "mistake %d", bug)
		require.ErrorIs(t, err, harness.ErrVersions)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, let(sys, 1), harness.ErrVersions, "the run has ended")
	}
}

// Both versions write waves of the same cycles, of a window and from checkpoints, and a log.
func TestWavesOfBothVersions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.fst")
	written := func(what string) {
		t.Helper()
		for _, name := range []string{file, harness.OtherFile(file)} {
			info, err := os.Stat(name)
			require.NoError(t, err, what)
			require.NotZero(t, info.Size(), what)
			require.NoError(t, os.Remove(name))
		}
	}
	const query = "?against=testdata/prober.yaml" // itself: no further simulator is built
	log := filepath.Join(t.TempDir(), "simulator.log")
	sys := openProberAt(t, "testdata/prober.yaml", query, drivers.Options{Waves: &drivers.WaveWindow{File: file, To: drivers.Forever}, LogFile: log})
	require.NoError(t, let(sys, 300))
	require.NoError(t, sys.Close())
	written("a window")
	require.FileExists(t, filepath.Join(filepath.Dir(log), "simulator.other.log"))

	sys = openProberAt(t, "testdata/prober.yaml", query, drivers.Options{Checkpoints: &drivers.Checkpoints{Every: 1000, Last: 500, File: file}})
	require.NoError(t, let(sys, 3000))
	repeated, err := sys.Repeat()
	require.NoError(t, err)
	require.Equal(t, file, repeated.File)
	require.NoError(t, sys.Close())
	written("checkpoints")
}
