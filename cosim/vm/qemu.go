package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// QEMU is the program that boots the guest.
const QEMU = "qemu-system-x86_64"

// endPatience is the time that QEMU gets to exit after the command.
const endPatience = 5 * time.Second

func findQEMU(name string) (string, error) {
	if name == "" {
		name = QEMU
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w; install it: scripts/setup-debian.sh --vm", drivers.ErrEnvironment, err)
	}
	return path, nil
}

// memoryFile returns a file without a name.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// A wire is an unnamed pair of sockets: this program's and the one that QEMU inherits.
type wire struct {
	ours  *net.UnixConn
	other *os.File
}

func newWire() (w wire, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return w, os.NewSyscallError("socketpair", err)
	}
	mine := os.NewFile(uintptr(pair[0]), "ours")
	defer mine.Close()
	w.other = os.NewFile(uintptr(pair[1]), "QEMU's")
	c, err := net.FileConn(mine)
	if err != nil {
		w.other.Close()
		return w, err
	}
	w.ours = c.(*net.UnixConn)
	return w, nil
}

// Descriptors that QEMU inherits, in this order from 3 on.
const (
	proxyWire = iota
	qtestWire
	consoleWire
	stdoutWire
	stderrWire
	wires
)

// A guest is a running QEMU.
type guest struct {
	cmd    *exec.Cmd
	wires  [wires]wire
	output bytes.Buffer  // output of QEMU itself
	done   chan struct{} // closed after the process was reaped
}

func (c *Config) arguments() []string {
	fd := func(n int) int { return 3 + n }
	memory := fmt.Sprintf("%dM", c.Memory>>20)
	line := fmt.Sprintf("console=ttyS0 panic=-1 quiet no_timer_check hugepages=%d", c.Memory>>23) // a quarter of it in pages of 2 MB
	var args []string
	if c.IOMMU { // precedes the devices behind it
		args = []string{"-device", "intel-iommu,intremap=on"}
		line += " intel_iommu=on"
	}
	args = append(args,
		"-accel", "tcg", "-machine", "q35,memory-backend=ram0", "-m", memory,
		"-object", "memory-backend-memfd,id=ram0,share=on,size="+memory,
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", c.Kernel, "-initrd", fmt.Sprintf("/proc/self/fd/%d", fd(wires)),
		"-append", line,
		"-device", fmt.Sprintf("x-pci-proxy-dev,id=nic0,fd=%d,addr=02.0", fd(proxyWire)),
		"-chardev", fmt.Sprintf("socket,id=qtest0,fd=%d", fd(qtestWire)), "-object", "qtest,id=qtest1,chardev=qtest0",
	)
	for i := range 3 {
		args = append(args, "-chardev", fmt.Sprintf("socket,id=tty%d,fd=%d", i, fd(consoleWire+i)), "-serial", fmt.Sprintf("chardev:tty%d", i))
	}
	return args
}

// start starts QEMU, which exits with this process.
func (c *Config) start(initrd *os.File) (*guest, error) {
	g := &guest{done: make(chan struct{})}
	g.cmd = exec.Command(c.QEMU, c.arguments()...)
	g.cmd.Stdout, g.cmd.Stderr = &g.output, &g.output
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	var err error
	for i := range g.wires {
		if g.wires[i], err = newWire(); err != nil {
			g.close()
			return nil, err
		}
		g.cmd.ExtraFiles = append(g.cmd.ExtraFiles, g.wires[i].other)
	}
	g.cmd.ExtraFiles = append(g.cmd.ExtraFiles, initrd)
	started := make(chan error)
	go func() {
		// The parent-death signal is sent when the thread that started QEMU exits, so that thread
		// is kept.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := g.cmd.Start()
		started <- err
		if err == nil {
			_ = g.cmd.Wait() // the result is in ProcessState
			close(g.done)
		}
	}()
	if err := <-started; err != nil {
		g.close()
		return nil, fmt.Errorf("%w: starting QEMU: %w", drivers.ErrEnvironment, err)
	}
	for _, w := range g.wires {
		_ = w.other.Close()
	}
	if c.Started != nil {
		c.Started(g.cmd.Process.Pid)
	}
	return g, nil
}

// close closes the remaining wires.
func (g *guest) close() {
	for _, w := range g.wires {
		if w.ours != nil {
			_ = w.ours.Close()
			_ = w.other.Close()
		}
	}
}

// end waits for QEMU, and kills it after a timeout.
func (g *guest) end(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-g.done:
	case <-timer.C:
		_ = g.cmd.Process.Kill()
		<-g.done
	}
}

// boot is one attempt of Run.
func (c *Config) boot(ctx context.Context, m mark) (res Result, err error) {
	initrd, err := c.initrd(m)
	if err != nil {
		return res, err
	}
	defer initrd.Close()
	lender := c.System.(drivers.Lender)
	mem, err := newGuestMemory(lender, c.Node, uint64(c.Memory))
	if err != nil {
		return res, err
	}
	defer mem.close()
	began := time.Now()
	g, err := c.start(initrd)
	if err != nil {
		return res, err
	}
	defer g.close()
	defer func() { g.end(0) }()
	chip := newQtest(g.wires[qtestWire].ours)
	if c.IOMMU {
		mem.chip = chip
	}
	function := *c.Function
	s := &server{sys: c.System, dev: c.System.Device(c.Node), hw: c.hw, node: c.Node,
		conn: g.wires[proxyWire].ours, chip: chip, mem: mem, log: c.Log,
		space: newConfigSpace(function), table: newMSIXTable(function.Vectors), acked: make(chan struct{}, 1)}
	s.first = func() { res.FirstRegister = time.Since(began) }

	inner, cancel := context.WithCancel(ctx)
	failed := make(chan error, 2)
	var working, reading sync.WaitGroup
	working.Go(func() { failed <- s.serve() })
	working.Go(func() { failed <- s.interrupts(inner) })
	out, kernel := newSplitter(m, c.Stdout), &console{also: c.Console}
	for i, w := range []io.Writer{kernel, out, c.Stderr} {
		reading.Go(func() { _, _ = io.Copy(w, g.wires[consoleWire+i].ours) })
	}
	// The order matters: QEMU's output is complete after its exit, and then res is no longer
	// written concurrently.
	ended, err := g.watch(ctx, out, failed, func() { res.Begun = time.Since(began) })
	res.Ended = time.Since(began)
	if err == nil {
		g.end(endPatience)
	} else {
		g.end(0)
	}
	reading.Wait()
	cancel()
	_ = g.wires[proxyWire].ours.Close()
	working.Wait()
	if code, ok := out.code(); ok && err != nil && errors.Is(err, ErrQEMU) { // it exited before its last output was read
		ended, err = code, nil
	}
	res.Code = ended
	if err != nil && ctx.Err() == nil {
		err = g.guestError(err, out, kernel)
	}
	return res, errors.Join(err, mem.reach(false))
}

// watch waits for the end of the command, or for any other event that ends the guest.
func (g *guest) watch(ctx context.Context, out *splitter, failed <-chan error, begun func()) (int, error) {
	starts := out.begun
	for {
		select {
		case <-starts:
			begun()
			starts = nil
		case code := <-out.ended:
			return code, nil
		case <-g.done:
			return 0, ErrQEMU
		case err := <-failed:
			if err != nil {
				return 0, err
			}
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// guestError explains why a guest ended too early.
func (g *guest) guestError(err error, out *splitter, kernel *console) error {
	e := &GuestError{Err: err, Console: string(kernel.tail)}
	select {
	case <-out.begun:
		e.begun = true
	default:
	}
	if errors.Is(err, ErrQEMU) {
		e.Detail = fmt.Sprintf("%v %s", g.cmd.ProcessState, bytes.TrimSpace(g.output.Bytes()))
		if kernel.panic {
			e.Err, e.Detail = ErrPanic, ""
		}
	}
	return e
}
