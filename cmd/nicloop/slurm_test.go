package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// slurmDir is where scripts/slurm-test has started a cluster of two nodes.
func slurmDir(t *testing.T) string {
	dir := os.Getenv("NICLOOP_SLURM")
	if dir == "" {
		t.Skip("no cluster of its own: scripts/slurm-test starts one")
	}
	return dir
}

// program builds nicloop, as a cluster wants a file.
func program(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "nicloop")
	out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return file
}

const slurmSweep = `schema: 1
name: cluster
verb: run random
flags: {device: 'model:', nodes: 4, iterations: ITERATIONS}
seeds: {count: 12}
values:
  end_ps: end_ps
`

// withoutMachine reads rows and leaves out where each was measured, which may be n1 or n2.
func withoutMachine(t *testing.T, file string) (rows [][]string, machines map[string]int) {
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	rows, err = csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	machines = map[string]int{}
	at := len(rows[0]) - 2
	require.Equal(t, "machine", rows[0][at])
	for i := range rows {
		machines[rows[i][at]]++
		rows[i][at] = ""
	}
	return rows, machines
}

// started is a command that goes on.
func started(t *testing.T, dir, name string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, &out
}

// TestSlurmSweep: a cluster gives the rows that one machine gives, also when a node dies under its
// tasks.
func TestSlurmSweep(t *testing.T) {
	cluster := slurmDir(t)
	nicloop, dir := program(t), t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(slurmSweep, "ITERATIONS", "3000", 1)), 0o644))
	local, out := started(t, dir, nicloop, "sweep", file, "-j", "2", "-o", "local", "--db", "")
	require.NoError(t, local.Wait(), "%s", out)
	want, _ := withoutMachine(t, filepath.Join(dir, "local", "rows.csv"))

	remote, out := started(t, dir, nicloop, "sweep", file, "-j", "4", "-o", "remote", "--db", "", "--executor", "slurm")
	eventually(t, "tasks on n2", func() bool { return len(processesOf("n2", "run")) > 0 })
	lose(t, cluster, "n2")
	require.NoError(t, remote.Wait(), "%s", out)
	t.Logf("%s", out)
	require.Contains(t, out.String(), "are submitted again: their nodes are lost")
	got, machines := withoutMachine(t, filepath.Join(dir, "remote", "rows.csv"))
	require.Equal(t, want, got)
	t.Logf("rows by machine: %v", machines)
	find(t, cluster, "n2")
}

// processesOf lists what runs on a virtual node: daemons and tasks, or only tasks with a word in
// their command.
func processesOf(node, word string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range all {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, []byte(os.Getenv("SLURM_CONF"))) ||
			!bytes.Contains(env, []byte("NICLOOP_SLURM_NODE="+node+"\x00")) && !bytes.Contains(env, []byte("SLURMD_NODENAME="+node+"\x00")) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if err != nil || word != "" && !bytes.Contains(command, []byte("\x00"+word+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// keepersOf lists the processes of Slurm that watch over the tasks of a node.
func keepersOf(node string) (pids []int) {
	for _, pid := range processesOf(node, "") {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "\nPPid:")
		parent, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		name, err := os.ReadFile(filepath.Join("/proc", parent, "comm"))
		if pid, nerr := strconv.Atoi(parent); err == nil && nerr == nil && strings.HasPrefix(string(name), "slurmstepd") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// lose takes a node away, as a power cut does: its daemon and all of its tasks.
func lose(t *testing.T, cluster, node string) {
	text, err := os.ReadFile(filepath.Join(cluster, "slurmd-"+node+".pid"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	// Their keepers before the tasks: else those report how the tasks ended, as they do on a node that
	// lives.
	for _, pid := range append(keepersOf(node), processesOf(node, "")...) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
}

// find starts the daemon of a node again.
func find(t *testing.T, cluster, node string) {
	log, err := os.Create(filepath.Join(cluster, "slurmd-"+node+"-again.log"))
	require.NoError(t, err)
	cmd := exec.Command("slurmd", "-D", "-N", node) // its pid file is how scripts/slurm-test ends it
	cmd.Env = append(os.Environ(), "NICLOOP_SLURM_NODE="+node)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	eventually(t, node+" idle", func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--Node", "--nodes="+node, "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited a minute for %s", what)
}

// TestSlurmInterrupted: Ctrl-C leaves no job, and what has ended is kept.
func TestSlurmInterrupted(t *testing.T) {
	slurmDir(t)
	nicloop, dir := program(t), t.TempDir()
	file := filepath.Join(dir, "s.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(slurmSweep, "ITERATIONS", "1500", 1)), 0o644))
	cmd, out := started(t, dir, nicloop, "sweep", file, "-j", "2", "-o", "o", "--executor", "slurm")
	eventually(t, "a record", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "o", "runs.jsonl"))
		return err == nil && bytes.Contains(text, []byte("\n"))
	})
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &ended)
	require.Equal(t, exitStopped, ended.ExitCode(), "%s", out)
	eventually(t, "an empty queue", func() bool {
		left, err := exec.Command("squeue", "--noheader", "--name=nicloop").Output()
		return err == nil && len(left) == 0
	})
	cmd, out = started(t, dir, nicloop, "sweep", file, "-j", "4", "-o", "o", "--executor", "slurm", "--resume")
	require.NoError(t, cmd.Wait(), "%s", out)
	require.Contains(t, out.String(), " are known")
	require.Contains(t, out.String(), "12 runs, 0 failed")
}

// TestSlurmRegress: tests as tasks, with their logs, verdicts and seeds.
func TestSlurmRegress(t *testing.T) {
	slurmDir(t)
	nicloop, dir := program(t), t.TempDir()
	cmd, out := started(t, dir, nicloop, "regress", "velo/lengths", "velo/kinds", "matching/chunked", "--device", "model:", "--seeds", "2", "-j", "4", "--executor", "slurm")
	require.NoError(t, cmd.Wait(), "%s", out)
	require.Contains(t, out.String(), "6 passed, 0 failed")
	show, err := exec.Command(nicloop, "runs", "show", "--all", "--db", filepath.Join(dir, "nicloop-out/runs.db")).Output()
	require.NoError(t, err)
	require.Regexp(t, `(?m)^velo/lengths +2 +PASS +[1-9]`, string(show))
	log, err := os.ReadFile(filepath.Join(dir, "nicloop-out/regress-001/velo.lengths.seed2/velo.lengths/test.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "velo/lengths on model:, seed 2")

	cmd, out = started(t, dir, nicloop, "regress", "matching/chunked", "velo/kinds", "--device", "model:", "--timeout", "1ms", "--executor", "slurm")
	var ended *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &ended)
	require.Equal(t, exitFailed, ended.ExitCode(), "%s", out)
	require.Contains(t, out.String(), "FAIL matching/chunked (seed 1)")
	require.Contains(t, out.String(), "no verdict within 1ms")
}

// TestSlurmNoRecord: what says COMPLETED and leaves no record has failed.
func TestSlurmNoRecord(t *testing.T) {
	slurmDir(t)
	s := batch.Slurm{Program: "/bin/true", Dir: t.TempDir(), Jobs: 2}
	err := s.Run(context.Background(), make([]batch.Task, 3), func(int, batch.Record) error { return errors.New("a record") })
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "_2, which Slurm calls COMPLETED")
	s.Program = "/bin/false"
	err = s.Run(context.Background(), make([]batch.Task, 1), func(int, batch.Record) error { return io.EOF })
	require.ErrorContains(t, err, "_0, which Slurm calls FAILED")
}
