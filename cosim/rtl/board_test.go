package rtl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/uart"
)

// fastLine is a line at the bridge's maximum rate, which keeps the simulated time of tests short.
const fastLine = "rtl:?uart=pty&baud=19531250"

func openBoards(t testing.TB, uri string, nodes int) *boards {
	t.Helper()
	sys, err := registry.Open(t.Context(), uri, drivers.Options{
		Nodes: nodes, MemoryBytes: 1 << 16, Needs: drivers.CanPIO | drivers.CanAwait | drivers.CanFreeRun, Progress: func(what string) { t.Log(what) },
	})
	require.NoError(t, err)
	return sys.(*boards)
}

// A boardBox is a mailbox in the memory of a board, read over its line.
type boardBox struct {
	dev   drivers.Device
	vpid  uint8
	base  uint64
	slots uint64
	came  uint64
}

func setRegs(t testing.TB, dev drivers.Device, list ...[2]uint64) {
	t.Helper()
	for _, w := range list {
		require.NoError(t, dev.WriteReg(uint32(w[0]), w[1]))
	}
}

func newBoardBox(t testing.TB, dev drivers.Device, vpid uint8, base, slots uint64) *boardBox {
	t.Helper()
	setRegs(t, dev, [2]uint64{uint64(regs.PDID(vpid)), 1}, [2]uint64{uint64(regs.MboxBase(vpid)), base},
		[2]uint64{uint64(regs.MboxSlots(vpid)), slots}, [2]uint64{uint64(regs.MboxCtrl(vpid)), regs.MboxCtrlEnable | regs.MboxCtrlWindow})
	return &boardBox{dev: dev, vpid: vpid, base: base, slots: slots}
}

// next waits for the next packet and returns its header and payload.
func (b *boardBox) next(ctx context.Context) (regs.SlotFields, []byte, error) {
	at := b.base + b.came%b.slots*regs.SlotBytes
	w, err := b.dev.Await(drivers.Cause{Off: at, Bytes: regs.SlotBytes})
	if err != nil {
		return regs.SlotFields{}, nil, err
	}
	defer func() { _ = w.Close() }()
	for {
		slot := b.dev.Memory()[at : at+regs.SlotBytes]
		head := regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).Fields()
		if uint64(head.Seq) == b.came+1 {
			b.came++
			return head, bytes.Clone(slot[:head.Length]), b.dev.WriteReg(regs.MboxRP(b.vpid), b.came)
		}
		if err := w.Wait(ctx); err != nil {
			return head, nil, err
		}
	}
}

func sendOver(dev drivers.Device, to int, payload []byte) error {
	f := regs.PioFields{Length: uint8(len(payload)), DstNode: uint8(to), DstVPID: 5, SrcVPID: 3}
	return dev.WritePIO(uint32(f.Pack()), payload)
}

// TestBoards: messages between two boards, and of one to itself, are stored in a mailbox on board
// and read over its line: every byte, once, in order, on a clean line and on noisy ones.
func TestBoards(t *testing.T) {
	for _, c := range []struct {
		nodes int
		noise string
		seed  uint64
	}{{2, "0", 1}, {1, "0", 1}, {2, "1e-5", 2}, {2, "1e-4", 3}, {1, "1e-4", 4}} {
		if testing.Short() && c.seed != 2 {
			continue
		}
		uri := fmt.Sprintf("%s&noise=%s&noise_seed=%d&random_init=%d", fastLine, c.noise, c.seed, c.seed)
		t.Run(fmt.Sprintf("%d boards, noise %s", c.nodes, c.noise), func(t *testing.T) {
			again := fmt.Sprintf("%s, %d nodes: go test -run 'TestBoards' ./cosim/rtl", uri, c.nodes)
			sys := openBoards(t, uri, c.nodes)
			defer func() { require.NoError(t, sys.Close()) }()
			require.Equal(t, "rtl", sys.Info().Backend)
			require.ErrorIs(t, drivers.Require(sys, drivers.CanDMA), drivers.ErrNotSupported)
			from, to := sys.Device(0), sys.Device(c.nodes-1)
			id, err := to.ReadReg(regs.NodeID)
			require.NoError(t, err, again)
			require.EqualValues(t, c.nodes-1, id)
			setRegs(t, from, [2]uint64{uint64(regs.PDID(3)), 1}, [2]uint64{uint64(regs.MboxCtrl(3)), regs.MboxCtrlEnable | regs.MboxCtrlWindow})
			box := newBoardBox(t, to, 5, 0x800, 4)
			rnd := rand.New(rand.NewPCG(c.seed, 0))
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("nothing came for a minute"))
			defer cancel()
			for i := range 25 {
				payload := make([]byte, rnd.IntN(regs.VELOPayload+1))
				for j := range payload {
					payload[j] = byte(rnd.Uint32())
				}
				require.NoError(t, sendOver(from, c.nodes-1, payload), again)
				head, got, err := box.next(ctx)
				require.NoError(t, err, again)
				require.Equal(t, regs.SlotFields{SrcVPID: 3, Length: uint16(len(payload)), Seq: uint32(i + 1)}, head, again)
				require.Equal(t, payload, got, again)
			}
			sent, err := from.ReadReg(regs.TXPackets)
			require.NoError(t, err)
			require.EqualValues(t, 25, sent, again)
		})
	}
}

// TestBoardsEnd: a single board refuses packets to others; accesses beyond its memory and register
// map fail.
func TestBoardsEnd(t *testing.T) {
	sys := openBoards(t, fastLine, 1)
	defer func() { require.NoError(t, sys.Close()) }()
	dev := sys.Device(0)
	setRegs(t, dev, [2]uint64{uint64(regs.PDID(3)), 1}, [2]uint64{uint64(regs.MboxCtrl(3)), regs.MboxCtrlEnable | regs.MboxCtrlWindow})
	var bus *drivers.BusError
	require.ErrorAs(t, sendOver(dev, 1, make([]byte, 8)), &bus)
	require.Equal(t, "pio", bus.Port)
	_, err := dev.ReadReg(0xfffffff8)
	require.ErrorAs(t, err, &bus)
	require.Equal(t, drivers.BusError{Port: "register", Off: 0xfffffff8, Resp: 3}, *bus)
	_, err = dev.ReadReg(4)
	require.ErrorAs(t, err, &bus)
}

// gone checks that neither the simulator nor its pseudo-terminals are left.
func gone(t *testing.T, pid int, ports []string) {
	t.Helper()
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
	for _, port := range ports {
		_, err := os.Stat(port)
		require.ErrorIs(t, err, os.ErrNotExist)
	}
}

// portsOf returns the pseudo-terminals of a simulator.
func portsOf(t *testing.T, pid int) (list []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	require.NoError(t, err)
	for _, f := range files {
		if name, err := os.Readlink(f); err == nil && strings.HasPrefix(name, "/dev/pts/") {
			list = append(list, name)
		}
	}
	return list
}

// TestBoardsAreLost: a killed simulator behaves like an unplugged board, a stopped one like a line
// without response; Close ends waits. Nothing is left behind.
func TestBoardsAreLost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for lines that stand")
	}
	for _, how := range []string{"killed", "closed", "stands"} {
		t.Run(how, func(t *testing.T) {
			sys := openBoards(t, fastLine, 2)
			pid := sys.program.cmd.Process.Pid
			ports := portsOf(t, pid)
			require.Len(t, ports, 2)
			w, err := sys.Device(1).Await(drivers.Cause{Off: 0, Bytes: 64})
			require.NoError(t, err)
			waits := make(chan error, 1)
			go func() { waits <- w.Wait(context.Background()) }()
			switch how {
			case "killed":
				require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
				require.ErrorIs(t, <-waits, drivers.ErrPeerDied)
				_, err = sys.Device(0).ReadReg(regs.Magic)
				require.ErrorIs(t, err, drivers.ErrPeerDied)
				err = sys.Close()
				require.ErrorIs(t, err, drivers.ErrPeerDied)
				require.ErrorContains(t, err, "signal: killed")
				require.Equal(t, err, sys.Close())
			case "closed":
				require.NoError(t, sys.Close())
				require.ErrorIs(t, <-waits, drivers.ErrClosed)
				_, err = sys.Device(0).ReadReg(regs.Magic)
				require.ErrorIs(t, err, drivers.ErrClosed)
			case "stands":
				require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
				_, err = sys.Device(0).ReadReg(regs.Magic)
				var line *uart.LineError
				require.ErrorAs(t, err, &line)
				require.Zero(t, line.Bytes)
				require.ErrorAs(t, <-waits, &line)
				require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
				magic, err := sys.Device(0).ReadReg(regs.Magic)
				require.NoError(t, err, "the line is good again")
				require.Equal(t, regs.MagicValue, magic)
				require.NoError(t, sys.Close())
			}
			gone(t, pid, ports)
		})
	}
}

// ownerOfBoards is set in a process that owns boards until it is killed.
const ownerOfBoards = "NICLOOP_TEST_OWNS_BOARDS"

// TestBoardsEndWithTheirOwner: when a program is killed, its simulator exits.
func TestBoardsEndWithTheirOwner(t *testing.T) {
	if os.Getenv(ownerOfBoards) != "" {
		sys := openBoards(t, fastLine, 1)
		fmt.Printf("simulator %d\n", sys.program.cmd.Process.Pid)
		time.Sleep(time.Minute)
		return
	}
	openBoards(t, fastLine, 1).Close() // builds the simulator
	owner := exec.Command(os.Args[0], "-test.run", "^TestBoardsEndWithTheirOwner$")
	owner.Env = append(os.Environ(), ownerOfBoards+"=1")
	out, err := owner.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, owner.Start())
	var pid int
	_, err = fmt.Fscanf(out, "simulator %d\n", &pid)
	require.NoError(t, err)
	ports := portsOf(t, pid)
	require.Len(t, ports, 1)
	require.NoError(t, owner.Process.Kill())
	require.Error(t, owner.Wait())
	require.Eventually(t, func() bool {
		_, err := os.Stat(ports[0])
		return errors.Is(err, os.ErrNotExist)
	}, time.Minute, 10*time.Millisecond)
}

// TestBoardOfATree: a working tree equal to the program's RTL gives the same simulator.
func TestBoardOfATree(t *testing.T) {
	sys := openBoards(t, fastLine, 1)
	own := sys.Info().Hash
	require.NoError(t, sys.Close())
	dir := tree(t)
	sys = openBoards(t, fastLine+"&src="+dir, 1)
	require.Equal(t, own, sys.Info().Hash)
	require.NoError(t, sys.Close())
	edit(t, dir, "board.flist", "board/uart_rx.sv", "board/uart_xr.sv")
	_, err := registry.Open(t.Context(), fastLine+"&src="+dir, drivers.Options{Nodes: 1})
	require.ErrorContains(t, err, "board/uart_xr.sv is in design.flist, simulation.flist, pcie.flist, axi.flist or board.flist: no such file")
}

// TestBoardsAreNotOpened: cancelling the context while boards are opened leaves nothing behind.
func TestBoardsAreNotOpened(t *testing.T) {
	openBoards(t, fastLine, 1).Close() // builds the simulator
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := registry.Open(ctx, fastLine, drivers.Options{Nodes: 1})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestBoardKeys(t *testing.T) {
	for uri, want := range map[string]struct {
		kind error
		text string
	}{
		"rtl:?uart=usb":                                 {drivers.ErrConfig, "uart=usb: expected pty"},
		"rtl:?noise=1e-5":                               {drivers.ErrConfig, "rtl:?noise is of a serial line: expected uart=pty beside it"},
		"rtl:?uart=pty&torus=1":                         {drivers.ErrNotSupported, "rtl:?uart=pty has no torus: it knows uart, baud"},
		"rtl:?uart=pty&clock=wall":                      {drivers.ErrNotSupported, "has no clock"},
		"rtl:?size=small":                               {drivers.ErrConfig, "rtl:?size is of a serial line: expected uart=pty beside it"},
		"rtl:?uart=pty&dims=1x1x1&size=tiny":            {drivers.ErrConfig, "size=tiny: expected small"},
		"rtl:?uart=pty&dims=1x1x1&netlist=xc7":          {drivers.ErrConfig, "netlist=xc7: expected ice40"},
		"rtl:?uart=pty&dims=2x1x1&size=small":           {drivers.ErrNotSupported, "2 small boards: the link of one ends where it begins: expected 1"},
		"rtl:?uart=pty&dims=1x1x1&size=small&baud=9600": {drivers.ErrNotSupported, "baud=9600: the small board's is fixed, at 8 cycles per bit"},
		"rtl:?uart=pty&dims=3x1x1":                      {drivers.ErrNotSupported, "3x1x1 boards on serial lines: expected 1 or 2"},
		"rtl:?uart=pty&dims=1x2x1":                      {drivers.ErrNotSupported, "1x2x1 boards"},
		"rtl:?uart=pty&dims=1x1x1&noise=0.2":            {drivers.ErrConfig, "noise=0.2: expected a chance per bit from 0 to 0.1"},
		"rtl:?uart=pty&dims=1x1x1&noise_seed=x":         {drivers.ErrConfig, "noise_seed=x"},
		"rtl:?uart=pty&dims=1x1x1&baud=2000":            {drivers.ErrConfig, "baud=2000: expected a number 2385..19531250"},
		"rtl:?uart=pty&dims=1x1x1&src=/no/such/folder":  {drivers.ErrConfig, "expected a checkout"},
	} {
		_, err := registry.Open(t.Context(), uri, drivers.Options{})
		require.ErrorIs(t, err, want.kind, uri)
		require.ErrorContains(t, err, want.text)
	}
	_, err := registry.Open(t.Context(), "rtl:?uart=pty", drivers.Options{Nodes: 1, MemoryBytes: 2 << 20})
	require.ErrorContains(t, err, "2097152 bytes of memory: a simulated board has 1048576")
	require.False(t, registry.CanRepeat("rtl:?uart=pty"))
}

// BenchmarkBoardRegister reads registers over a line of 3 Mbaud. reads/s is per simulated time,
// which includes the time of the host until the board enters sleep.
func BenchmarkBoardRegister(b *testing.B) {
	sys := openBoards(b, "rtl:?uart=pty", 1)
	defer func() { require.NoError(b, sys.Close()) }()
	dev := sys.Device(0)
	cycles := func() uint64 {
		v, err := dev.ReadReg(regs.Cycles)
		require.NoError(b, err)
		return v
	}
	began, reads := cycles(), 0
	for b.Loop() {
		if _, err := dev.ReadReg(regs.Magic); err != nil {
			b.Fatal(err)
		}
		reads++
	}
	seconds := float64(cycles()-began) * regs.ClockPS * 1e-12
	b.ReportMetric(float64(reads+1)/seconds, "reads/s")
}
