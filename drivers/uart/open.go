package uart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/sirupsen/logrus"
	"github.com/tarm/serial"
)

const (
	defaultBaud   = 115200
	defaultMemory = 1 << 16
	maxMemory     = 1 << 26 // half an hour at 3 Mbaud
	pollEvery     = 2 * time.Millisecond
)

func init() {
	registry.Register(registry.Backend{Scheme: "uart", Doc: "registers, send windows and a window of memory over serial lines: uart:/dev/ttyUSB0?baud=3000000", Keys: []registry.Key{
		{Name: "baud", Value: "115200", Doc: "bits per second, 50 to 4000000"},
		{Name: "memory", Value: "65536", Doc: "bytes of a board's memory that are kept here as well, in whole quadwords"},
	}, Open: open, Validate: validate, DiscoversNodes: true, IsLoopback: func(path string, _ map[string]string) bool { return !strings.Contains(path, ",") }})
}

// validate checks the values of the keys and that the ports exist. Opening them would take their
// locks.
func validate(path string, keys map[string]string) error {
	if path == "" {
		return fmt.Errorf("%w: uart: expected a serial port, as in uart:/dev/ttyUSB0", drivers.ErrConfig)
	}
	_, e1 := baudRate(keys)
	_, e2 := number(keys, "memory", defaultMemory, 0, maxMemory)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	for _, name := range strings.Split(path, ",") {
		if _, err := os.Stat(name); err != nil {
			return fmt.Errorf("%w: %w; serial ports: ls /dev/ttyUSB* /dev/ttyACM* /dev/ttyS*", drivers.ErrEnvironment, err)
		}
	}
	return nil
}

// A System is the NICs behind one or more serial lines.
type System struct {
	info   drivers.Info
	nodes  []*device
	cancel context.CancelCauseFunc
}

func open(ctx context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	if opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil {
		return nil, fmt.Errorf("%w: traces, waves and checkpoints of a board", drivers.ErrNotSupported)
	}
	ports := strings.Split(path, ",")
	if path == "" || opt.Nodes > len(ports) {
		return nil, fmt.Errorf("%w: expected a serial port for each of %d nodes, as in uart:/dev/ttyUSB0,/dev/ttyUSB1; found %q", drivers.ErrConfig, max(1, opt.Nodes), path)
	}
	baud, err := baudRate(keys)
	if err != nil {
		return nil, err
	}
	memory, err := number(keys, "memory", max(defaultMemory, opt.MemoryBytes), 0, maxMemory)
	if err != nil {
		return nil, err
	}
	if memory < opt.MemoryBytes || memory%8 != 0 {
		return nil, fmt.Errorf("%w: memory=%d: expected at least %d bytes, in whole quadwords", drivers.ErrConfig, memory, opt.MemoryBytes)
	}
	var list []namedPort
	for _, name := range ports {
		p, err := openPort(name, baud)
		if err != nil {
			return nil, errors.Join(err, closeAll(list))
		}
		list = append(list, namedPort{name, p})
	}
	return attach(ctx, "uart:"+path, list, baud, memory, opt.Log)
}

func baudRate(keys map[string]string) (int, error) {
	return number(keys, "baud", defaultBaud, 50, 4_000_000)
}

// number reads a key.
func number(keys map[string]string, key string, otherwise, least, most int) (int, error) {
	text, ok := keys[key]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%w: %s=%s: expected a number from %d to %d", drivers.ErrConfig, key, text, least, most)
	}
	return n, nil
}

// openPort says what is wrong with a port in words that help.
func openPort(name string, baud int) (io.ReadWriteCloser, error) {
	st, err := os.Stat(name)
	if err == nil && st.Mode()&os.ModeCharDevice == 0 {
		return nil, fmt.Errorf("%w: %s: expected a serial port, found %s", drivers.ErrConfig, name, st.Mode().Type())
	}
	var lock *os.File
	if err == nil {
		lock, err = lockPort(name)
	}
	if err == nil {
		var p *serial.Port
		if p, err = serial.OpenPort(&serial.Config{Name: name, Baud: baud, ReadTimeout: readTimeout}); err == nil {
			return &lockedPort{p, lock}, nil
		}
		_ = lock.Close()
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, fmt.Errorf("%w: %s: another program uses this port: expected to have it alone; who it is: fuser -v %s", drivers.ErrEnvironment, name, name)
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%w: %w; ports that are there: ls /dev/ttyUSB* /dev/ttyACM* /dev/ttyS*", drivers.ErrEnvironment, err)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%w: %w; members of the port's group may use it, on Debian: usermod -aG dialout USER, then log in again", drivers.ErrEnvironment, err)
	}
	return nil, fmt.Errorf("%w: %s with %d baud: %w", drivers.ErrEnvironment, name, baud, err)
}

// A lockedPort is a port that no second program uses as long as it asks for the lock, as terminal
// programs do too: frames of two programs would meet on the line.
type lockedPort struct {
	*serial.Port
	lock *os.File
}

func lockPort(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Close gives the port back, then the lock.
func (p *lockedPort) Close() error { return errors.Join(p.Port.Close(), p.lock.Close()) }

type namedPort struct {
	name string
	port io.ReadWriteCloser
}

func closeAll(list []namedPort) error {
	var all error
	for _, p := range list {
		all = errors.Join(all, p.port.Close())
	}
	return all
}

// attach finds our hardware behind every port, or closes all of them.
func attach(ctx context.Context, uri string, ports []namedPort, baud, memory int, log *logrus.Logger) (*System, error) {
	s := &System{info: drivers.Info{
		URI: uri, Backend: "uart", Nodes: len(ports), VPIDs: regs.VPIDs, DescHash: regs.DescHashValue, Tool: "serial line",
	}}
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.cancel = cancel
	for n, p := range ports {
		s.nodes = append(s.nodes, &device{
			node: n, line: newLine(p.name, p.port, baud, log), ctx: inner, memory: quadwords(memory), poll: pollEvery,
		})
	}
	for _, d := range s.nodes {
		vpids, err := d.probe(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.info.VPIDs = min(s.info.VPIDs, vpids)
	}
	return s, nil
}

// probe touches nothing but what reads as ours, and gives the number of processes: a small NIC has
// fewer.
func (d *device) probe(ctx context.Context) (vpids int, err error) {
	if err := d.line.hello(ctx); err != nil {
		return 0, err
	}
	for _, want := range []struct {
		off   uint32
		value uint64
		what  string
	}{
		{regs.Magic, regs.MagicValue, "nicloop NIC"},
		{regs.DescHash, regs.DescHashValue, "NIC of this program's register description"},
	} {
		v, err := d.ReadReg(want.off)
		if err != nil {
			return 0, err
		}
		if v != want.value {
			return 0, fmt.Errorf("%w: %s: expected a %s: 0x%016x in %s, found 0x%016x", drivers.ErrProtocol, d.line.name, want.what, want.value, regs.Describe(want.off), v)
		}
	}
	params, err := d.ReadReg(regs.Params)
	return int(regs.ParamsVPIDs.Of(params)), err
}

// Info says what is behind the lines.
func (s *System) Info() drivers.Info { return s.info }

// Device is the NIC of a node: that behind the line of that number.
func (s *System) Device(node int) drivers.Device { return s.nodes[node] }

// Close ends what waits and gives the ports back.
func (s *System) Close() error {
	s.cancel(drivers.ErrClosed)
	var all error
	for _, d := range s.nodes {
		all = errors.Join(all, d.line.Close())
	}
	return all
}

// quadwords are n bytes that may be read and written by quadwords at once.
func quadwords(n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, n/8)))), n)
}
