package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// valueBlocks counts the blocks of value changes in an FST file that are complete: a byte with the
// type, and eight with the length, which counts itself.
func valueBlocks(t *testing.T, file string) (n int) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	const valueChanges, withAliases, withAliases2 = 1, 5, 8
	for len(data) >= 9 {
		length := 1 + binary.BigEndian.Uint64(data[1:])
		if length < 9 || length > uint64(len(data)) {
			break
		}
		switch data[0] {
		case valueChanges, withAliases, withAliases2:
			n++
		}
		data = data[length:]
	}
	return n
}

// A simulator that is killed leaves the waves up to its last flush. A reader opens them as long as
// the file of the hierarchy lies beside them.
func TestKilledSimulatorLeavesWaves(t *testing.T) {
	if testing.Short() {
		t.Skip("it simulates for seconds")
	}
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	file := filepath.Join(t.TempDir(), "killed.fst")
	cmd := nicloopCommand(t, ":", "run", "alltoall", "--nodes", "2", "--iterations", "1000000", "--warmup", "0", "--waves", file)
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	flushed := func() bool {
		_, err := os.Stat(file)
		return err == nil && valueBlocks(t, file) > 0
	}
	require.Eventually(t, flushed, 5*time.Minute, 100*time.Millisecond)
	programs := childrenOf(t, cmd.Process.Pid)
	require.Len(t, programs, 1)
	require.NoError(t, syscall.Kill(programs[0], syscall.SIGKILL))
	<-exited
	require.Positive(t, valueBlocks(t, file))
	require.FileExists(t, file+".hier")
}
