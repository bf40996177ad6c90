package broker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	_ "github.com/nicloop/nicloop/drivers/shared"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/nicloop/nicloop/host/world/bootstrap"
	"github.com/nicloop/nicloop/velo"
)

// Environment of a child, which is this test binary run as one program of a world.
const (
	programOf   = "NICLOOP_TEST_PROGRAM" // PROGRAM/PROGRAMS
	socketAt    = "NICLOOP_TEST_SOCKET"
	bootstrapAt = "NICLOOP_TEST_BOOTSTRAP"
	dieAt       = "NICLOOP_TEST_ROUNDS" // number of rounds of exchange
)

func TestMain(m *testing.M) {
	if which := os.Getenv(programOf); which != "" {
		if err := program(which); err != nil {
			fmt.Println("failed:", describe(err))
			os.Exit(1)
		}
		fmt.Println("passed")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// describe returns the class of an expected error.
func describe(err error) string {
	kind := "other"
	var died *bootstrap.PeerError
	var stall *world.StallError
	switch {
	case errors.As(err, &died):
		kind = "a program died"
	case errors.Is(err, drivers.ErrPeerDied):
		kind = "the device died"
	case errors.As(err, &stall):
		kind = "stall"
	}
	return kind + ": " + strings.ReplaceAll(err.Error(), "\n", " ")
}

// The worlds of these tests have 2 nodes with 2 processes each, so that programs share nodes in any
// distribution.
const (
	testNodes = 2
	testProcs = 2
	longest   = 40000
)

func testWorld() world.Config {
	return world.Config{
		Directory: world.Even(testNodes, testProcs), Velo: velo.Config{Flow: velo.Static, Slots: 8, CreditSlots: 2},
		Longest: longest, Buffers: 2, Rendezvous: host.RGET, Local: true,
	}
}

// program runs the ranks R with R % PROGRAMS == PROGRAM, so that each node has ranks of several
// programs.
func program(which string) error {
	first, of, _ := strings.Cut(which, "/")
	me, err1 := strconv.Atoi(first)
	programs, err2 := strconv.Atoi(of)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	c := testWorld()
	mine := map[int]world.Location{}
	for r, at := range c.Directory {
		if r%programs == me {
			mine[r] = at
			c.Mine = append(c.Mine, r)
		}
	}
	rounds, _ := strconv.Atoi(os.Getenv(dieAt))
	return world.Join(context.Background(), world.Joining{
		Device: "shared:" + os.Getenv(socketAt), World: "test", Config: c,
		Meet: func(ctx context.Context) (world.Meeting, error) {
			b := bootstrap.Config{Address: os.Getenv(bootstrapAt), Size: len(c.Directory), World: "test", Mine: mine}
			if me != 0 {
				return bootstrap.Join(ctx, b)
			}
			l, err := bootstrap.Listen(b)
			if err != nil {
				return nil, err
			}
			return l.Wait(ctx)
		},
	}, func(r *host.Rank) error {
		for i := range max(rounds, 2) {
			if err := exchange(r, i); err != nil {
				return err
			}
			if r.ID() == 0 {
				fmt.Println("round", i)
			}
		}
		return nil
	})
}

// exchange sends eager and long messages from every rank to every other and verifies them.
func exchange(r *host.Rank, round int) error {
	for _, n := range []int{100, 2048, longest} {
		of := func(from, to int) []byte { return bytes.Repeat([]byte{byte(16*from + to + n + round)}, n) }
		in := make([]byte, n*r.Size())
		var out []byte
		for p := range r.Size() {
			out = append(out, of(r.ID(), p)...)
		}
		if err := r.Alltoall(out, in, n); err != nil {
			return err
		}
		for p := range r.Size() {
			if !bytes.Equal(in[p*n:][:n], of(p, r.ID())) {
				return fmt.Errorf("rank %d has other bytes of rank %d in round %d", r.ID(), p, round)
			}
		}
	}
	return nil
}

// A child is a running program.
type child struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

// start starts a program.
func start(t *testing.T, socket, meet string, me, programs, rounds int) *child {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", programOf, me, programs), socketAt+"="+socket, bootstrapAt+"="+meet, fmt.Sprintf("%s=%d", dieAt, rounds))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &child{cmd, bufio.NewScanner(out)}
}

// end returns the last line of a program's output, within a timeout.
func (c *child) end(t *testing.T) (last string) {
	t.Helper()
	timer := time.AfterFunc(60*time.Second, func() { _ = c.cmd.Process.Kill() })
	for c.out.Scan() {
		last = c.out.Text()
	}
	require.True(t, timer.Stop(), "the program hangs; it said last: %s", last)
	return last
}

// serve starts a broker for a device.
func serve(t *testing.T, device string, procs, bytes int, set ...func(*Config)) (*Broker, drivers.System) {
	t.Helper()
	sys, err := registry.Open(context.Background(), device, drivers.Options{Nodes: testNodes, MemoryBytes: MemoryFor(procs, bytes), Needs: Needs})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	c := Config{System: sys, Socket: filepath.Join(t.TempDir(), "s")}
	for _, f := range set {
		f(&c)
	}
	b, err := New(c)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		require.NoError(t, sys.Close())
	})
	return b, sys
}

// lentBytes is the memory that a program needs per node.
func lentBytes(t *testing.T) int {
	c := testWorld()
	n, err := c.LentBytes()
	require.NoError(t, err)
	return n
}
