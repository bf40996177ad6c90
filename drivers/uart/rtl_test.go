package uart_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	_ "github.com/nicloop/nicloop/drivers/uart"
	"github.com/stretchr/testify/require"
)

// bench builds rtl/board/uart_bridge with its bench, once.
var bench = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	out := filepath.Join(root, "build", "uart-test")
	cmd := exec.Command(filepath.Join(root, "scripts", "rtl-test"), "uart_bridge")
	cmd.Env = append(os.Environ(), "NICLOOP_RTL_BUILD="+out)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	found, err := filepath.Glob(filepath.Join(out, "uart_bridge_*", "Vuart_bridge"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("expected one bench, found %v: %w", found, err)
	}
	return found[0], nil
})

// board is the RTL of the bridge, bit by bit on a pseudo-terminal, with a few registers and memory
// behind it.
func board(t testing.TB, args ...string) (port string, end func()) {
	t.Helper()
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	program, err := bench()
	require.NoError(t, err)
	args = append([]string{"+pty", "+seed=5", fmt.Sprintf("+reg=%#x=%#x", regs.Magic, regs.MagicValue), fmt.Sprintf("+reg=%#x=%#x", regs.DescHash, regs.DescHashValue)}, args...)
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	end = sync.OnceFunc(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	name, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(name), end
}

// Registers, windows and memory through tarm/serial, a pseudo-terminal and the RTL of the bridge,
// on a clean line and on one where a bit in so many is wrong: what is written is there, once.
func TestOverTheRTL(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"+noise=3000"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			port, _ := board(t, args...)
			sys, err := registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{Needs: drivers.CanPIO | drivers.CanAwait})
			require.NoError(t, err)
			defer func() { require.NoError(t, sys.Close()) }()
			dev := sys.Device(0)
			for i := range uint64(40) {
				off := uint32(0x1000 + 8*i)
				v := i * 0x7e7d010203040506
				require.NoError(t, dev.WriteReg(off, v))
				got, err := dev.ReadReg(off)
				require.NoError(t, err)
				require.Equal(t, v, got, "register 0x%x", off)
			}
			_, err = dev.ReadReg(0x8000)
			var bus *drivers.BusError
			require.ErrorAs(t, err, &bus)

			// The bench keeps what is stored to the windows in its memory, as a mailbox would.
			arrival, err := dev.Await(drivers.Cause{Off: 0x200, Bytes: 256})
			require.NoError(t, err)
			line := []byte("a line of 64 bytes, with a flag ~ and an escape } in it, padded.")
			require.Len(t, line, 64)
			require.NoError(t, dev.WritePIO(0x240, line))
			require.NoError(t, arrival.Wait(t.Context()))
			require.Equal(t, line, dev.Memory()[0x240:0x280])
		})
	}
}

// Sequence numbers come round after 256 requests: a write is done whatever was the number of the
// one before.
func TestNumbersComeRound(t *testing.T) {
	t.Parallel()
	port, _ := board(t)
	sys, err := registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, sys.Close()) }()
	dev := sys.Device(0)
	require.NoError(t, dev.WriteReg(0x100, 1))
	for range 255 {
		_, err := dev.ReadReg(0x100)
		require.NoError(t, err)
	}
	require.NoError(t, dev.WriteReg(0x100, 2))
	got, err := dev.ReadReg(0x100)
	require.NoError(t, err)
	require.EqualValues(t, 2, got)
}

// A killed board is told as a dead one, whoever waits.
func TestBoardDies(t *testing.T) {
	t.Parallel()
	port, end := board(t)
	sys, err := registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.NoError(t, err)
	w, err := sys.Device(0).Await(drivers.Cause{Off: 0, Bytes: 64})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- w.Wait(context.Background()) }()
	end()
	require.ErrorIs(t, <-done, drivers.ErrPeerDied)
	_, err = sys.Device(0).ReadReg(regs.Magic)
	require.ErrorIs(t, err, drivers.ErrPeerDied)
	require.NoError(t, sys.Close())
}

// What others leave on the line, half a frame of ours too, does not keep the next program out.
func TestRemainsOnTheLine(t *testing.T) {
	t.Parallel()
	port, _ := board(t)
	f, err := os.OpenFile(port, os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	_, err = io.WriteString(f, "\r\nroot\r\n~\x07\x10\x01half a frame }")
	require.NoError(t, err)
	sys, err := registry.Open(t.Context(), "uart:"+port, drivers.Options{})
	require.NoError(t, err)
	require.NoError(t, sys.Close())
	require.NoError(t, f.Close())
}

// TestPortIsTakenAlone: the frames of a second program would meet the first one's on the line.
func TestPortIsTakenAlone(t *testing.T) {
	t.Parallel()
	port, _ := board(t)
	first, err := registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.NoError(t, err)
	_, err = registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "another program uses this port")
	require.NoError(t, first.Close())
	again, err := registry.Open(t.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.NoError(t, err, "the lock goes with the port")
	require.NoError(t, again.Close())
}

// BenchmarkRegister reads registers over the RTL; bytes per access are what a line of 3 Mbaud would
// carry.
func BenchmarkRegister(b *testing.B) {
	port, _ := board(b)
	sys, err := registry.Open(b.Context(), "uart:"+port+"?baud=3000000", drivers.Options{})
	require.NoError(b, err)
	defer func() { _ = sys.Close() }()
	for b.Loop() {
		if _, err := sys.Device(0).ReadReg(regs.Magic); err != nil {
			b.Fatal(err)
		}
	}
}
