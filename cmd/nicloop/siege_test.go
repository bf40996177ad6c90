package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	_ "github.com/nicloop/nicloop/drivers/shared"
)

// nicloopCommand makes this test binary run as nicloop, in a shell that prepares it first. It is a
// copy, not a symbolic link: the programs that nicloop starts are its executable again, and would
// run the tests under the binary's own name.
func nicloopCommand(t *testing.T, prepare string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	nicloop := filepath.Join(t.TempDir(), "nicloop")
	if os.Link(self, nicloop) != nil { // on another file system
		program, err := os.ReadFile(self)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(nicloop, program, 0o755))
	}
	return exec.Command("sh", append([]string{"-c", prepare + `; exec "$0" "$@"`, nicloop}, args...)...)
}

// A served device survives 10,000 hostile connections at its limit of descriptors: silent ones,
// ones that send garbage and ones that announce a long claim. Programs that claim properly get in
// between them and afterwards.
func TestDeviceServeSurvivesASiege(t *testing.T) {
	const connections, atOnce, descriptors = 10_000, 200, 48
	socket := filepath.Join(t.TempDir(), "s")
	cmd := nicloopCommand(t, fmt.Sprintf("ulimit -n %d", descriptors), "device", "serve", "--device", "ideal:", "--nodes", "2", "--memory", "8", "--socket", socket)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	exited := make(chan error, 1)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.True(t, bufio.NewScanner(out).Scan(), "it does not serve")
	go func() { exited <- cmd.Wait() }()

	tenants := 0
	works := func(when string) {
		t.Helper()
		tenants++ // the last one's process may not be free yet
		sys, err := registry.Open(t.Context(), fmt.Sprintf("shared:%s?claim=0.%d,1.%d", socket, tenants, tenants), drivers.Options{Nodes: 2})
		require.NoError(t, err, when)
		require.NoError(t, sys.Close())
		require.Empty(t, exited, when)
	}
	var made atomic.Int64
	var attackers sync.WaitGroup
	for range 8 {
		attackers.Go(func() {
			var held []net.Conn
			for n := made.Add(1); n <= connections; n = made.Add(1) {
				c, err := net.Dial("unix", socket)
				if err != nil { // the backlog is full
					time.Sleep(time.Millisecond)
					continue
				}
				switch n % 3 {
				case 1:
					_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: nicloop\r\n\r\n"))
				case 2:
					_, _ = c.Write([]byte{'c', 0, 0, 0, 0, 0, 1, 0, 0}) // a claim of 64 KiB, and no more
				}
				if held = append(held, c); len(held) > atOnce/8 {
					held[0].Close()
					held = held[1:]
				}
			}
			time.Sleep(200 * time.Millisecond) // the last ones stay for a while
			for _, c := range held {
				c.Close()
			}
		})
	}
	for _, part := range []int64{connections / 4, connections / 2} {
		require.Eventually(t, func() bool { return made.Load() >= part }, time.Minute, time.Millisecond)
		works("in the middle")
	}
	attackers.Wait()
	works("afterwards")
	require.Eventually(t, func() bool {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))
		return err != nil || len(list) < descriptors/2
	}, 10*time.Second, 10*time.Millisecond, "descriptors of the attackers are left")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.NoError(t, <-exited)
}
