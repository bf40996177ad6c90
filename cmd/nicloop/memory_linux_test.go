package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	estimated    = regexp.MustCompile(`memory_bytes=([0-9]+)`)
	residentPeak = regexp.MustCompile(`VmHWM:\s*([0-9]+) kB`)
)

// The estimate of a run's memory is between 0.7 and 2 times the peak that the kernel measured.
func TestMemoryEstimate(t *testing.T) {
	for _, line := range []string{
		"pingpong --sizes 8",
		"pingpong --sizes 1M --iterations 2 --warmup 0",
		"pingpong --sizes 4M --iterations 1 --warmup 0 --blocks=false",
		"pingpong --sizes 4M --iterations 1 --warmup 0 --procs 8 --blocks=false",
		"multi-pingpong --sizes 1M --procs 4 --iterations 1 --warmup 0",
		"alltoall --sizes 8 --nodes 64 --procs 4 --iterations 1 --warmup 0",
		"alltoall --sizes 16k --nodes 16 --procs 2 --iterations 1 --warmup 0",
	} {
		t.Run(strings.ReplaceAll(line, " ", "_"), func(t *testing.T) {
			cmd := nicloopCommand(t, "true", append(strings.Fields("run -v --device ideal:"), strings.Fields(line)...)...)
			var log bytes.Buffer
			cmd.Stderr = &log
			require.NoError(t, cmd.Start())
			peak := peakUntilExit(cmd.Process.Pid)
			require.NoError(t, cmd.Wait(), log.String())
			match := estimated.FindStringSubmatch(log.String())
			require.NotNil(t, match, log.String())
			estimate, err := strconv.ParseFloat(match[1], 64)
			require.NoError(t, err)
			t.Logf("estimate %.0f MiB, peak %.0f MiB", estimate/(1<<20), peak/(1<<20))
			require.InDelta(t, 1.35, estimate/peak, 0.65, "estimate %.0f, peak %.0f", estimate, peak)
		})
	}
}

// peakUntilExit polls the largest resident memory of a child process, in bytes. Its rusage would
// include the memory of this process, which it shares before exec.
func peakUntilExit(pid int) (peak float64) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		match := residentPeak.FindSubmatch(status)
		if err != nil || match == nil { // it has exited
			return peak
		}
		kib, _ := strconv.ParseFloat(string(match[1]), 64) // digits
		peak = kib * 1024
		time.Sleep(time.Millisecond)
	}
}

// A run that does not fit below the limit of the address space is refused before it begins.
func TestMemoryLimit(t *testing.T) {
	cmd := nicloopCommand(t, fmt.Sprint("ulimit -v ", 6<<20), strings.Fields("run pingpong --device ideal: --procs 16 --sizes 64M --blocks=false")...)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended)
	require.Equal(t, exitUsage, ended.ExitCode(), string(out))
	require.Contains(t, string(out), "needs about 10")
	require.Contains(t, string(out), "GiB of address space")
	require.Contains(t, string(out), "lower --nodes, --procs, --sizes")
}
