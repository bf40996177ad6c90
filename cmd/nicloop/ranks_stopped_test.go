package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childrenOf gives the programs that a process has started.
func childrenOf(t *testing.T, pid int) (list []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	require.NoError(t, err)
	for _, f := range files {
		text, _ := os.ReadFile(f)
		for _, child := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(child)
			require.NoError(t, err)
			list = append(list, n)
		}
	}
	return list
}

// A program that is stopped in the middle ends the run with a verdict that names it, and nothing is
// left: neither the program itself nor the others, which wait for it.
func TestStoppedProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	cmd := nicloopCommand(t, ":", "ranks", "alltoall", "--programs", "2", "--device", "ideal:", "--sizes", "64", "--iterations", "100000000")
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, func() bool { return len(childrenOf(t, cmd.Process.Pid)) == 2 }, 20*time.Second, 10*time.Millisecond)
	time.Sleep(2 * time.Second) // they have met
	programs := childrenOf(t, cmd.Process.Pid)
	require.Len(t, programs, 2, said.String())
	require.NoError(t, syscall.Kill(programs[1], syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(programs[1], syscall.SIGKILL) })
	select {
	case <-exited:
	case <-time.After(90 * time.Second):
		t.Fatal("no verdict")
	}
	require.Equal(t, exitHang, cmd.ProcessState.ExitCode(), said.String())
	require.Regexp(t, fmt.Sprintf(`the program of ranks \[[01]\] \(process %d\) has been stopped for 30s`, programs[1]), said.String())
	for _, pid := range programs {
		require.Error(t, syscall.Kill(pid, 0), "process %d is left", pid)
	}
}
