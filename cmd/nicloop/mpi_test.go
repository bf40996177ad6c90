package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/stretchr/testify/require"
)

// mpiPrograms compiles testdata/mpi, once.
var mpiPrograms = sync.OnceValues(func() (dir string, err error) {
	for _, tool := range []string{"mpirun", "mpicc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", fmt.Errorf("no %s: scripts/setup-debian.sh --mpi installs it", tool)
		}
	}
	if _, err := os.Stat("/usr/include/rdma/fabric.h"); err != nil {
		return "", fmt.Errorf("no headers of libfabric: scripts/setup-debian.sh --mpi installs them")
	}
	sources, err := filepath.Glob("testdata/mpi/*.c")
	if err != nil {
		return "", err
	}
	cache, err := build.ProgramCache("libfabric", "providers")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "tests")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, source := range sources {
		to := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".c"))
		made := fmt.Sprintf("%s.%d", to, os.Getpid()) // tests of another process may run the last one
		if out, err := exec.Command("mpicc", "-O2", "-Wall", "-Werror", "-o", made, source).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		if err := os.Rename(made, to); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// fabricProgram compiles a program of testdata/fabric.
func fabricProgram(t *testing.T, name string) string {
	t.Helper()
	mpiProgram(t, "")
	to := filepath.Join(t.TempDir(), name)
	source := "testdata/fabric/" + name + ".c"
	out, err := exec.Command("cc", "-O2", "-Wall", "-Werror", "-o", to, source, "-lfabric").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return to
}

// mpiProgram is the path of a compiled program of testdata/mpi.
func mpiProgram(t *testing.T, name string) string {
	t.Helper()
	dir, err := mpiPrograms()
	if err != nil {
		t.Skip(err)
	}
	return filepath.Join(dir, name)
}

// runMPI runs nicloop mpi; out is standard output, and what else was printed if it failed.
func runMPI(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	// Programs take seconds of processor time, but a loaded machine lets every call of theirs wait.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	code = run(ctx, append([]string{"mpi"}, args...), strings.NewReader(""), &stdout, &stderr)
	t.Logf("nicloop mpi %s: exit %d\n%s%s", strings.Join(args, " "), code, stdout.String(), stderr.String())
	return code, stdout.String() + stderr.String()
}

// Every call of testdata/mpi/calls.c on ideal:, with several ranks per node, and with little DMA
// memory.
func TestMPICalls(t *testing.T) {
	calls := mpiProgram(t, "calls")
	cases := strings.Fields("alltoall wildcard iprobe test late profiled ssend mprobe window passive epochs nodes " +
		"nonblocking cancel self large flood clocks truncate")
	worlds := []string{
		"-n 4 --device ideal: --procs-per-node 2 --rendezvous rput --flow static --heap 1MiB",
		"-n 4 --device ideal:",
		"-n 4 --device ideal: --procs-per-node 4 --local --rendezvous chunked",
	}
	if testing.Short() {
		worlds = worlds[:1]
	}
	for _, flags := range worlds {
		code, out := runMPI(t, append(append(strings.Fields(flags), "--", calls), cases...)...)
		require.Zero(t, code, "%s", flags)
		for _, c := range cases {
			require.Contains(t, out, c+": ok", "%s", flags)
		}
	}
}

var traceLine = regexp.MustCompile(`trace [0-9a-f]+`)

// The same command repeats to the picosecond, next to loops that take the processors away.
func TestMPIRepeats(t *testing.T) {
	calls := mpiProgram(t, "calls")
	var stop atomic.Bool
	defer stop.Store(true)
	for range 2 {
		go func() {
			for !stop.Load() {
			}
		}()
	}
	var first string
	for i := range 2 {
		code, out := runMPI(t, "-n", "4", "--device", "model:", "--", calls, "wildcard", "iprobe", "test", "ssend", "mprobe", "window")
		require.Zero(t, code)
		now := regexp.MustCompile(`(in|simulated in) [0-9.]+ s`).ReplaceAllString(out, "")
		now = regexp.MustCompile(`bytes [0-9a-f]+`).ReplaceAllString(now, "") // one-sided messages have addresses in them
		if i == 0 {
			first = now
		}
		require.Equal(t, first, now, "run %d", i)
		require.Regexp(t, traceLine, now)
	}
}

// Polls that the provider answers without the world change nothing: with measured computing, of
// which almost nothing is charged, every poll reaches the world.
func TestMPILocalPolls(t *testing.T) {
	calls := mpiProgram(t, "calls")
	for _, flags := range []string{"-n 3 --device ideal:", "-n 4 --device model: --procs-per-node 2 --local"} {
		var outcome [2]string
		var polls [2]int
		for i, compute := range []string{"0", "measured×1e-9"} {
			args := append(strings.Fields(flags), "--json", "--compute", compute, "--", calls, "late", "late", "test")
			code, out := runMPI(t, args...)
			require.Zero(t, code)
			found := regexp.MustCompile(`"(simulated_ps|trace_sha256)": .*|late: [0-9].*`).FindAllString(out, -1)
			require.Len(t, found, 4)
			outcome[i] = strings.Join(found, "\n")
			_, err := fmt.Sscanf(regexp.MustCompile(`"local_polls": [0-9]+`).FindString(out), `"local_polls": %d`, &polls[i])
			require.NoError(t, err)
		}
		require.Greater(t, polls[0], 5000, flags)
		require.Zero(t, polls[1], flags)
		require.Equal(t, outcome[1], outcome[0], flags)
	}
}

// BenchmarkMPITest reports the real time of a poll that finds nothing.
func BenchmarkMPITest(b *testing.B) {
	dir, err := mpiPrograms()
	if err != nil {
		b.Skip(err)
	}
	args := []string{"mpi", "-n", "2", "--device", "ideal:", "--", filepath.Join(dir, "rate"), "50000"}
	var us float64
	for b.Loop() {
		var out, errOut bytes.Buffer
		require.Zero(b, run(b.Context(), args, strings.NewReader(""), &out, &errOut), errOut.String())
		found := regexp.MustCompile(`([0-9.]+) us of real time per call`).FindStringSubmatch(out.String())
		require.Len(b, found, 2, out.String())
		us, err = strconv.ParseFloat(found[1], 64)
		require.NoError(b, err)
	}
	b.ReportMetric(us*1000, "ns/call")
}

// What a program prints of its latency is that of nicloop run pingpong and a constant: a header
// that is longer by 16 bytes, and looks at an empty completion queue.
func TestMPILatency(t *testing.T) {
	latency := mpiProgram(t, "latency")
	for _, x := range []struct {
		bytes    string
		at, most float64 // of nicloop run pingpong, in microseconds, and the constant
	}{{"8", 0.4285, 0.1}, {"65536", 58.927, 0.15}} {
		code, out := runMPI(t, "-n", "2", "--device", "model:", "--", latency, x.bytes)
		require.Zero(t, code)
		var us float64
		_, err := fmt.Sscanf(out, x.bytes+" bytes: %f us", &us)
		require.NoError(t, err)
		require.InDelta(t, x.at+x.most/2, us, x.most/2, "%s bytes", x.bytes)
	}
}

func TestMPIFailures(t *testing.T) {
	calls := mpiProgram(t, "calls")
	for _, x := range []struct {
		name, flags string
		program     []string
		code        int
		want        []string
	}{
		{"hang", "-n 3", []string{calls, "hang"}, exitHang, []string{"rank 0 in MPI_Recv: receive of up to 4 bytes from rank 1", "rank 1 in MPI_Barrier"}},
		{"death", "-n 3", []string{calls, "die"}, exitFailed, []string{"the program of rank 1 ended outside of MPI, before MPI_Finalize"}},
		{"silent rank", "-n 2 --timeout 4s", []string{calls, "spin"}, exitStopped, []string{"the world waits for rank 0, which is outside of MPI"}},
		{"no MPI", "-n 2", []string{"hostname"}, exitFailed, []string{"no message crossed the NIC: 0 of 2 ranks"}},
		{"no program", "-n 2", []string{"/does/not/exist"}, exitFailed, []string{"mpirun"}},
		{"abort", "-n 3", []string{calls, "abort"}, exitFailed, []string{"rank 2 called MPI_Abort with code 9"}},
		{"no rank", "-n 0", []string{calls}, exitUsage, []string{"expected at least 1 rank"}},
		{"compute", "-n 2 --compute 3", []string{calls}, exitUsage, []string{"measured×F, record:FILE or replay:FILE"}},
		{"no record", "-n 2 --compute replay:/does/not/exist", []string{calls}, exitUsage, []string{"no such file"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			began := time.Now()
			code, out := runMPI(t, append(append(strings.Fields(x.flags), "--device", "ideal:", "--"), x.program...)...)
			require.Equal(t, x.code, code)
			for _, want := range x.want {
				require.Contains(t, out, want)
			}
			require.Less(t, time.Since(began), time.Minute)
		})
	}
}

// MPI_THREAD_MULTIPLE is rejected, and the reason is printed.
func TestMPIThreads(t *testing.T) {
	threads := mpiProgram(t, "threads")
	code, out := runMPI(t, "-n", "2", "--device", "ideal:", "--", threads, "multiple")
	require.Zero(t, code)
	require.Contains(t, out, "serialized provided")
	require.Equal(t, 1, strings.Count(out, "MPI_THREAD_MULTIPLE is not provided, because a rank has one virtual clock"))
	code, out = runMPI(t, "-n", "2", "--device", "ideal:", "--", threads, "serialized")
	require.Zero(t, code)
	require.Contains(t, out, "serialized provided")
	require.NotContains(t, out, "MPI_THREAD_MULTIPLE")
}

// One rank is a world: its messages go to itself.
func TestMPIOneRank(t *testing.T) {
	calls := mpiProgram(t, "calls")
	code, out := runMPI(t, "-n", "1", "--device", "ideal:", "--", calls, "alltoall", "self", "nonblocking")
	require.Zero(t, code)
	require.Contains(t, out, "nonblocking: ok")
	require.Contains(t, out, "1 ranks on 1 nodes")
}

// What was measured once is replayed: the same times, whatever the machine does meanwhile, and on a
// slower network a longer run of the same program.
func TestMPIComputeReplay(t *testing.T) {
	calls, file := mpiProgram(t, "calls"), filepath.Join(t.TempDir(), "times")
	flags := func(compute string, more ...string) []string {
		args := append([]string{"-n", "3", "--device", "ideal:", "--compute", compute}, more...)
		return append(args, "--", calls, "alltoall", "wildcard", "test")
	}
	code, recorded := runMPI(t, flags("record:"+file)...)
	require.Zero(t, code)
	trace := traceLine.FindString(recorded)
	for range 2 {
		code, out := runMPI(t, flags("replay:"+file)...)
		require.Zero(t, code)
		require.Equal(t, trace, traceLine.FindString(out))
	}
	code, out := runMPI(t, flags("replay:"+file, "--poll-cost", "1us")...)
	require.Zero(t, code)
	require.NotEqual(t, trace, traceLine.FindString(out))
	code, out = runMPI(t, "-n", "3", "--device", "ideal:", "--compute", "replay:"+file, "--", calls, "ssend")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "record the same program with the same arguments")
	code, out = runMPI(t, "-n", "2", "--device", "ideal:", "--compute", "replay:"+file, "--", calls, "test")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "recorded with 3 ranks")
}

// Windows that use puts, gets and atomics of the NIC instead of messages. Runs repeat, and atomics
// of a rank on its own memory let the others proceed.
func TestMPIWindowsOverRMA(t *testing.T) {
	calls, suite := mpiProgram(t, "calls"), mpiProgram(t, "suite")
	for _, flags := range []string{"-n 4 --device ideal:", "-n 4 --device model: --procs-per-node 2 --local"} {
		var traces []string
		for range 2 {
			args := append(strings.Fields(flags), "--windows", "rma", "--", calls, "window", "passive", "epochs")
			code, out := runMPI(t, args...)
			require.Zero(t, code)
			require.Regexp(t, `one-sided +[1-9]`, out)
			traces = append(traces, traceLine.FindString(out))
		}
		require.Equal(t, traces[0], traces[1], flags)
	}
	code, out := runMPI(t, "-n", "2", "--device", "ideal:", "--windows", "rma", "--", suite, "all", "8", "20000")
	require.Zero(t, code)
	require.Regexp(t, `accumulate 20000 bytes`, out)
	code, out = runMPI(t, "-n", "2", "--windows", "shared", "--", suite)
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "expected messages or rma")
}

// A wait ends when it is over: Open MPI advances nonblocking collectives, and operations of
// communicators, some rounds after it has read the completion that they wait for.
func TestMPIWaitsEnd(t *testing.T) {
	calls := mpiProgram(t, "calls")
	code, out := runMPI(t, "-n", "4", "--device", "ideal:", "--", calls, "nonblocking")
	require.Zero(t, code)
	var us float64
	_, err := fmt.Sscanf(regexp.MustCompile(`ok at .*`).FindString(out), "ok at %f us", &us)
	require.NoError(t, err)
	require.Less(t, us, 20.0) // a wait that nothing ends lasts 20 us
}

// A program sees the simulated nodes instead of the machine that runs it.
func TestMPINodes(t *testing.T) {
	calls := mpiProgram(t, "calls")
	code, out := runMPI(t, "-n", "6", "--procs-per-node", "2", "--device", "ideal:", "--", calls, "nodes")
	require.Zero(t, code)
	require.Contains(t, out, "rank 5: 2 ranks on node2")
}

// Calls that the OSU and Intel benchmarks make, short and long, with several ranks per node.
func TestMPISuite(t *testing.T) {
	suite := mpiProgram(t, "suite")
	worlds := []string{"-n 4 --device ideal:", "-n 4 --device ideal: --procs-per-node 2 --flow static"}
	if testing.Short() {
		worlds = worlds[:1]
	}
	for _, flags := range worlds {
		code, out := runMPI(t, append(strings.Fields(flags), "--", suite, "all", "8", "20000")...)
		require.Zero(t, code)
		require.Len(t, regexp.MustCompile(`(?m)^[a-z_]+ (8|20000) bytes: [0-9.]+ us`).FindAllString(out, -1), 2*15)
	}
}

// A sweep runs a program at every point.
func TestMPISweep(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("testdata/mpi/sweep.yaml")
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte("./latency"), []byte(mpiProgram(t, "latency")))
	file := filepath.Join(dir, "sweep.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	cmd := nicloopCommand(t, "true", "sweep", file, "-o", filepath.Join(dir, "out"), "-j", "1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "6 runs, 0 failed")
}

// The critical path of a ring is the ring.
func TestMPICriticalPath(t *testing.T) {
	code, out := runMPI(t, "-n", "4", "--device", "ideal:", "--", mpiProgram(t, "ring"))
	require.Zero(t, code)
	require.Regexp(t, `critical path: [0-9]+ messages, .* in them: .*0 > 1 > 2 > 3 > 0`, out)
}

// One-sided operations and atomics of libfabric.
func TestMPIOneSided(t *testing.T) {
	for _, name := range []string{"rma", "atomic", "queues"} {
		program := fabricProgram(t, name)
		for _, flags := range []string{
			"-n 2 --device ideal:", "-n 4 --device ideal: --procs-per-node 2", "-n 2 --device model:",
		} {
			code, out := runMPI(t, append(strings.Fields(flags), "--", program)...)
			require.Zero(t, code)
			require.Contains(t, out, name+": ok")
		}
	}
}

// An interrupt ends the programs, and nothing of them is left.
func TestMPISignals(t *testing.T) {
	calls := mpiProgram(t, "calls")
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd, out, tmp := startLong(t, "mpi -n 3 --device ideal: -- "+calls+" spin")
		time.Sleep(4 * time.Second) // some have started
		require.NoError(t, cmd.Process.Signal(number))
		endsSoon(t, cmd, out, tmp, exitStopped)
		left, _ := exec.Command("pgrep", "-f", calls).Output()
		require.Empty(t, string(left), "processes are left after %v", number)
	}
}

// Programs that others have written, where they are installed.
func TestMPIForeign(t *testing.T) {
	mpiProgram(t, "ring")
	need := func(t *testing.T, file string) {
		if _, err := exec.LookPath(file); err != nil {
			t.Skipf("no %s: scripts/setup-debian.sh --mpi installs it", file)
		}
	}
	t.Run("NetPIPE", func(t *testing.T) {
		need(t, "NPopenmpi")
		code, out := runMPI(t, "-n", "2", "--device", "ideal:", "--", "NPopenmpi", "-u", "10000", "-n", "5", "-o", filepath.Join(t.TempDir(), "np.out"))
		require.Zero(t, code)
		require.Regexp(t, `8192 bytes +5 times --> +[0-9.]+ Mbps`, out)
	})
	t.Run("fi_pingpong", func(t *testing.T) {
		need(t, "fi_pingpong")
		script := `if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec fi_pingpong -p nicloop -e rdm -m $0 -I 10; fi
			sleep 1; exec fi_pingpong -p nicloop -e rdm -m $0 -I 10 localhost`
		for _, mode := range []string{"msg", "tagged"} {
			code, out := runMPI(t, "-n", "2", "--device", "ideal:", "--stall", "50ms", "--", "sh", "-c", script, mode)
			require.Zero(t, code)
			require.Regexp(t, `1m +10 +=10`, out)
			require.Contains(t, out, "the next run may differ")
		}
	})
	t.Run("mpi4py", func(t *testing.T) {
		if exec.Command("/usr/bin/python3", "-c", "import mpi4py").Run() != nil {
			t.Skip("no mpi4py: scripts/setup-debian.sh --mpi installs it")
		}
		code, out := runMPI(t, "-n", "3", "--device", "ideal:", "--", "/usr/bin/python3", "testdata/mpi/objects.py")
		require.Zero(t, code)
		require.Contains(t, out, "sum 3, gathered [0, 1, 2]")
	})
}

// The documents of a run and of a hang.
func TestMPIDocument(t *testing.T) {
	calls := mpiProgram(t, "calls")
	for _, x := range []struct {
		run, schema string
		code        int
	}{{"self", "mpi", exitOK}, {"hang", "mpi_hang", exitHang}} {
		var out, errOut bytes.Buffer
		code := run(t.Context(), []string{"mpi", "-n", "2", "--device", "ideal:", "--json", "--", calls, x.run}, strings.NewReader(""), &out, &errOut)
		require.Equal(t, x.code, code, errOut.String())
		checkDocument(t, "mpi "+x.run, x.schema, out.Bytes())
	}
}

// The report as JSON, on RTL: the NICs have counted packets, and the times are those of the model.
func TestMPIOnRTL(t *testing.T) {
	ring := mpiProgram(t, "ring")
	ends := map[string]string{}
	for _, device := range []string{"rtl:", "model:"} {
		code, out := runMPI(t, "-n", "2", "--device", device, "--json", "--", ring)
		if code == exitEnvironment {
			t.Skipf("no simulator: %s", out)
		}
		require.Zero(t, code)
		require.Regexp(t, `"tx_packets": [1-9]`, out)
		ends[device] = regexp.MustCompile(`"simulated_ps": [0-9]+`).FindString(out)
	}
	require.NotEmpty(t, ends["rtl:"])
	require.Equal(t, ends["model:"], ends["rtl:"])
}
