package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// longCommands are, for each verb that can run for longer than a second, command lines that would
// run for minutes, and the exit code after a signal.
var longCommands = []struct {
	line string
	code int
}{
	{"run pingpong --device ideal: --iterations 100000000", exitStopped},
	{"run random --device model: --iterations 100000000", exitStopped},
	{"run alltoall --device model: --nodes 64 --procs 4 -j 2", exitStopped},
	{"ranks alltoall --device ideal: --iterations 100000000", exitStopped},
	{"imb Alltoall --device model: --nodes 64 --npmin 64 --iter 1000000", exitStopped},
	{"fabric mesh:32x32x8", exitStopped},
	{"fabric dragonfly:8 --seeds 100", exitStopped},
	{"sweep many.yaml --dry-run", exitStopped},
	{"sweep many.yaml", exitStopped},
	{"reproduce fc-fig6 --device model: --scale paper", exitStopped},
	{"regress velo/* --device model: --seeds 1000", exitStopped},
	{"conform --device model:", exitStopped},
	{"bisect x/one --device model: --good HEAD~1", exitStopped},
	{"check mailbox --bound 40", exitStopped},
	{"check rendezvous --bound 3", exitStopped},
	{"check threshold --bound 2", exitStopped},
	{"check iwarp --deep", exitStopped},
	{"bench collectives", exitStopped},
	{"device monitor --device ideal:", exitOK},
	{"device serve --device ideal: --socket SOCKET", exitOK},
	{"iwarp serve --listen 127.0.0.1:0", exitOK},
	{"iwarp ping --iterations 100000000", exitStopped},
	{"iwarp bandwidth --iterations 100000000", exitStopped},
	{"iwarp rping --server 127.0.0.1:0", exitStopped},
}

// otherCommands are tested elsewhere or end on their own within a second, but for bind and unbind,
// which wait for the kernel.
var otherCommands = []string{
	"bench bridge", "budget", "cache clean", "cache list", "cache prebuild", "cache verify", "calibrate", "check portals", "check portals-offload", "check rdrp", "check rportals", "completion", "design check", "design init", "device bind",
	"device diff", "device dump", "device info", "device list", "device log", "device peek", "device poke", "device replay",
	"device reset", "device scan", "device script", "device selftest", "device unbind", "dissector", "doctor", "help", "man", "mpi", "part",
	"runs diff", "runs gc", "runs list", "runs show", "runs trend", "serve", "task", "version", "vm", "vm build-module",
}

func startLong(t *testing.T, line string) (cmd *exec.Cmd, out *bytes.Buffer, tmp string) {
	t.Helper()
	dir := t.TempDir()
	tmp = filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(tmp, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(`
schema: 1
name: many
verb: fabric mesh:32x32x8
flags: {rate: "0.1"}
seeds: {count: 9000000}
values: {state: "rates[].state"}
`), 0o644))
	if strings.HasPrefix(line, "bisect") {
		sleepingRepository(t, dir)
	}
	args := strings.Fields(strings.ReplaceAll(line, "SOCKET", filepath.Join(dir, "s")))
	cmd, out = nicloopCommand(t, "true", args...), &bytes.Buffer{}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	require.NoError(t, cmd.Start())
	return cmd, out, tmp
}

// sleepingRepository makes a git repository of two commits whose nicloop sleeps.
func sleepingRepository(t *testing.T, dir string) {
	t.Helper()
	git := func(args ...string) {
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "--quiet")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n\ngo 1.26\n"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cmd", "nicloop"), 0o755))
	sleeper := "package main\n\nimport \"time\"\n\nfunc main() { time.Sleep(time.Minute) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cmd", "nicloop", "main.go"), []byte(sleeper), 0o644))
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	git("commit", "--quiet", "--allow-empty", "-m", "two")
}

// endsSoon waits for a command. The limit is generous, for busy machines.
func endsSoon(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer, tmp string, code int) {
	t.Helper()
	stuck := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer stuck.Stop()
	_ = cmd.Wait()
	text := out.String()
	require.Equal(t, code, cmd.ProcessState.ExitCode(), "%v: %s", cmd.ProcessState, text[max(0, len(text)-500):])
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left, "temporary files are left")
}

// Every command that can run for long ends within seconds of a signal, with its documented exit
// code, and leaves no temporary files.
func TestSignals(t *testing.T) {
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, c := range longCommands {
			t.Run(number.String()+"/"+c.line, func(t *testing.T) {
				t.Parallel()
				cmd, out, tmp := startLong(t, c.line)
				time.Sleep(500 * time.Millisecond)
				require.NoError(t, cmd.Process.Signal(number))
				endsSoon(t, cmd, out, tmp, c.code)
			})
		}
	}
}

// Every verb with --timeout ends when it has passed.
func TestTimeouts(t *testing.T) {
	for _, c := range timeLimits {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			cmd, out, tmp := startLong(t, c.line)
			endsSoon(t, cmd, out, tmp, c.code)
		})
	}
}

// timeLimits are command lines that would run for longer without --timeout, and their exit codes.
// The time limit of regress and conform applies to one test, which fails.
var timeLimits = []struct {
	line string
	code int
}{
	{"run pingpong --device ideal: --iterations 100000000 --timeout 1s", exitStopped},
	{"run random --device model: --iterations 100000000 --timeout 1s", exitStopped},
	{"ranks alltoall --device ideal: --iterations 100000000 --timeout 1s", exitStopped},
	{"imb Alltoall --device model: --nodes 64 --npmin 64 --iter 1000000 --timeout 1s", exitStopped},
	{"regress links/soak-long-50 --device model: --timeout 1s", exitFailed},
	{"conform rma/large --device model: --timeout 100ms", exitFailed},
	{"bisect x/one --device model: --good HEAD~1 --timeout 1s", exitStopped},
}

// Every verb with --timeout is in the table; mpi has tests of its own.
func TestTimeoutsOfEveryVerb(t *testing.T) {
	var visit func(cmd *cobra.Command, words string)
	visit = func(cmd *cobra.Command, words string) {
		for _, c := range cmd.Commands() {
			visit(c, words+c.Name()+" ")
		}
		if cmd.Flags().Lookup("timeout") == nil || words == "mpi " {
			return
		}
		require.True(t, slices.ContainsFunc(timeLimits, func(c struct {
			line string
			code int
		}) bool {
			return strings.HasPrefix(c.line, words)
		}), "%s is not in the table", words)
	}
	visit(newRoot(), "")
}

// A second signal does not replace the exit code, also while the program ends.
func TestSignalsTwice(t *testing.T) {
	for wait := 300 * time.Millisecond; wait < 330*time.Millisecond; wait += 5 * time.Millisecond {
		cmd, out, tmp := startLong(t, "fabric mesh:32x32x8")
		time.Sleep(wait)
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		go func() {
			for cmd.Process.Signal(syscall.SIGTERM) == nil { // until it has ended
				time.Sleep(10 * time.Microsecond)
			}
		}()
		endsSoon(t, cmd, out, tmp, exitStopped)
	}
}

// Every verb is in one of the tables.
func TestSignalsOfEveryVerb(t *testing.T) {
	var leaves func(cmd *cobra.Command, words []string)
	leaves = func(cmd *cobra.Command, words []string) {
		for _, c := range cmd.Commands() {
			leaves(c, append(slices.Clone(words), c.Name()))
		}
		if name := strings.Join(words, " "); len(cmd.Commands()) == 0 && !slices.Contains(otherCommands, name) {
			require.True(t, slices.ContainsFunc(longCommands, func(c struct {
				line string
				code int
			}) bool {
				return strings.HasPrefix(c.line+" ", name+" ")
			}), "%s is in neither table", name)
		}
	}
	leaves(newRoot(), nil)
}
