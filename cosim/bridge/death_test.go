package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// endless makes the model run forever.
func endless(s *Session) { s.PostReg(0, 0, regMisbehave, 5) }

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestSimulatorKilledMidRun(t *testing.T) {
	r := rand.New(rand.NewPCG(seed(t), 2))
	for range 10 {
		s := start(t, nil)
		endless(s)
		delay := time.Duration(r.IntN(30)) * time.Millisecond
		killed := make(chan time.Time, 1)
		go func() {
			time.Sleep(delay)
			killed <- time.Now()
			_ = syscall.Kill(s.proc.pid(), syscall.SIGKILL)
		}()
		var stop drivers.Stop
		err := s.Run(drivers.Forever, &stop)
		require.ErrorIs(t, err, drivers.ErrPeerDied)
		require.ErrorContains(t, err, "signal: killed")
		require.Less(t, time.Since(<-killed), time.Second)
		require.Equal(t, err, s.Run(drivers.Forever, &stop))
		require.NoError(t, s.Close())
	}
}

func TestSimulatorKilledBetweenRuns(t *testing.T) {
	s := start(t, nil)
	run(t, s, 100)
	require.NoError(t, syscall.Kill(s.proc.pid(), syscall.SIGKILL))
	<-s.proc.done
	var stop drivers.Stop
	require.ErrorIs(t, s.Run(200, &stop), drivers.ErrPeerDied)
}

func TestStarved(t *testing.T) {
	s := start(t, func(c *Config) { c.Patience = 700 * time.Millisecond })
	endless(s)
	run(t, s, s.Now()+1_000_000) // runs and answers
	pid := s.proc.pid()
	time.AfterFunc(50*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGSTOP) })
	var stop drivers.Stop
	began := time.Now()
	err := s.Run(drivers.Forever, &stop)
	require.ErrorIs(t, err, drivers.ErrStarved)
	require.ErrorContains(t, err, "no sign of life for 700ms")
	require.Less(t, time.Since(began), 3*time.Second)
	require.False(t, alive(pid))
}

// A long run sends heartbeats, so it does not time out.
func TestLongRunIsNotStarved(t *testing.T) {
	if testing.Short() {
		t.Skip("runs for seconds")
	}
	s := start(t, func(c *Config) { c.Patience = 800 * time.Millisecond })
	endless(s)
	began := time.Now()
	var stop drivers.Stop
	time.AfterFunc(2*time.Second, func() { s.Close() })
	require.ErrorIs(t, s.Run(drivers.Forever, &stop), drivers.ErrClosed)
	require.Greater(t, time.Since(began), 1900*time.Millisecond)
}

func TestCloseDuringRun(t *testing.T) {
	s := start(t, nil)
	endless(s)
	closed := make(chan time.Duration)
	time.AfterFunc(100*time.Millisecond, func() {
		began := time.Now()
		s.Close()
		closed <- time.Since(began)
	})
	var stop drivers.Stop
	require.ErrorIs(t, s.Run(drivers.Forever, &stop), drivers.ErrClosed)
	require.Less(t, <-closed, time.Second)
}

func TestCancelledStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("BRIDGE_TEST_ROLE", "silent")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	cfg := config()
	cfg.Program = os.Args[0]
	_, err := Start(ctx, cfg)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// The process that owns the session is killed: nothing remains of the session.
func TestHostKilled(t *testing.T) {
	r := rand.New(rand.NewPCG(seed(t), 3))
	for range 5 {
		dir := t.TempDir()
		host := exec.Command(os.Args[0])
		host.Env = append(os.Environ(), "BRIDGE_TEST_ROLE=host", "TMPDIR="+dir)
		out, err := host.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, host.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		require.True(t, alive(pid))
		time.Sleep(time.Duration(r.IntN(50)) * time.Millisecond)
		require.NoError(t, host.Process.Kill())
		_ = host.Wait()
		require.Eventually(t, func() bool { return !alive(pid) }, time.Second, 5*time.Millisecond)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

// playRole is what this test binary does in the role of another process.
func playRole(role string) {
	switch role {
	case "host":
		playHost()
	case "inside":
		playInside()
		return
	}
	playSimulator(role, os.Args[1])
}

func playHost() {
	model, err := buildFixture(false)
	if err != nil {
		panic(err)
	}
	fixture = model
	os.Unsetenv("BRIDGE_TEST_ROLE")
	s, err := Start(context.Background(), config())
	if err != nil {
		panic(err)
	}
	fmt.Println(s.proc.pid())
	endless(s)
	var stop drivers.Stop
	panic(s.Run(drivers.Forever, &stop))
}

// readAll waits until the peer disconnects.
func readAll(r io.Reader) { _, _ = io.Copy(io.Discard, r) }
