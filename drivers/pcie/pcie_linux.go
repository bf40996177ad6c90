package pcie

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// The BARs (rtl/board, nic_pcie).
const (
	registerBAR = 0
	windowBAR   = 2
	registerEnd = 0x80000 // of the map of registers
)

func init() {
	drivers.Register("pcie", "registers and send windows of boards in PCIe slots, without a driver: pcie:0000:03:00.0", []string{"root"}, open)
	drivers.RegisterFound("pcie")
}

// A System is boards in slots.
type System struct {
	info  drivers.Info
	nodes []*device
}

func open(_ context.Context, path string, keys map[string]string, opt drivers.Options) (drivers.System, error) {
	addresses := strings.Split(path, ",")
	switch {
	case opt.Trace != nil || opt.Waves != nil || opt.Checkpoints != nil:
		return nil, fmt.Errorf("%w: traces, waves and checkpoints of a board", drivers.ErrNotSupported)
	case path == "" || opt.Nodes > len(addresses):
		return nil, fmt.Errorf("%w: expected the address of a PCI device for each of %d nodes, as in pcie:0000:03:00.0; found %q", drivers.ErrConfig, max(1, opt.Nodes), path)
	}
	s := &System{info: drivers.Info{
		URI: "pcie:" + path, Backend: "pcie", Nodes: len(addresses), VPIDs: regs.VPIDs, DescHash: regs.DescHashValue, Tool: "files of BARs",
	}}
	for n, a := range addresses {
		d, err := attach(filepath.Join(keys["root"]+"/", "sys/bus/pci/devices", filepath.Base(a)), n)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.nodes = append(s.nodes, d)
	}
	return s, nil
}

// Info says what was opened.
func (s *System) Info() drivers.Info { return s.info }

// Device is the board of a node.
func (s *System) Device(node int) drivers.Device { return s.nodes[node] }

// Close gives the BARs back, and leaves a device as it was found.
func (s *System) Close() error {
	var all error
	for _, d := range s.nodes {
		all = errors.Join(all, d.close())
	}
	return all
}

// A device is one board.
type device struct {
	node      int
	dir       string
	mu        sync.RWMutex // of all below: Close may come while others work
	registers []byte       // nil when it is closed
	windows   []byte
	switched  bool // on by us
}

func attach(dir string, node int) (*device, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w: %w; nicloop device scan lists the boards that there are", drivers.ErrEnvironment, err)
	}
	if driver, err := os.Readlink(filepath.Join(dir, "driver")); err == nil {
		return nil, fmt.Errorf("%w: the driver %s has %s: expected nobody; nicloop device unbind %s", drivers.ErrEnvironment,
			filepath.Base(driver), filepath.Base(dir), filepath.Base(dir))
	}
	d := &device{node: node, dir: dir}
	if err := d.use(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *device) use() (err error) {
	on, err := os.ReadFile(filepath.Join(d.dir, "enable"))
	if err == nil && strings.TrimSpace(string(on)) == "0" {
		if err = d.enable("1"); err != nil {
			return helped(err)
		}
		d.switched = true
	}
	if d.registers, err = mapBAR(d.dir, registerBAR, registerEnd); err != nil {
		return helped(err)
	}
	if err := d.probe(); err != nil {
		return err
	}
	d.windows, err = mapBAR(d.dir, windowBAR, regs.LineBytes)
	return helped(err)
}

func (d *device) enable(v string) error {
	f, err := os.OpenFile(filepath.Join(d.dir, "enable"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(v)
	return errors.Join(err, f.Close())
}

// helped says what to do about what the kernel refuses.
func helped(err error) error {
	if err == nil || errors.Is(err, drivers.ErrConfig) {
		return err
	}
	if os.IsPermission(err) {
		return fmt.Errorf("%w: %w; root may do this, or who owns the device's files", drivers.ErrEnvironment, err)
	}
	return fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
}

// mapBAR maps all of a BAR.
func mapBAR(dir string, number, least int) ([]byte, error) {
	name := fmt.Sprintf("%s/resource%d", dir, number)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < int64(least) {
		return nil, fmt.Errorf("%w: %s has %d bytes: expected %d or more; a BAR of another design", drivers.ErrConfig, name, st.Size(), least)
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: name, Err: err}
	}
	return m, nil
}

// probe reads who it is, before anything else.
func (d *device) probe() error {
	name := filepath.Base(d.dir)
	for _, want := range []struct {
		off   uint32
		value uint64
		what  string
	}{{regs.Magic, regs.MagicValue, "a nicloop NIC"}, {regs.DescHash, regs.DescHashValue, "a NIC of this program's register description"}} {
		switch v := *d.word(d.registers, want.off); {
		case v == ^uint64(0):
			return fmt.Errorf("%w: %s: all bits of %s read as one: no link, or no bitstream", drivers.ErrPeerDied, name, regs.Describe(want.off))
		case v != want.value:
			return fmt.Errorf("%w: %s: expected %s: 0x%016x in %s, found 0x%016x", drivers.ErrProtocol, name, want.what, want.value, regs.Describe(want.off), v)
		}
	}
	return nil
}

func (d *device) word(bar []byte, off uint32) *uint64 { return (*uint64)(unsafe.Pointer(&bar[off])) }

func (d *device) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all error
	for _, m := range [][]byte{d.registers, d.windows} {
		if m != nil {
			all = errors.Join(all, unix.Munmap(m))
		}
	}
	d.registers, d.windows = nil, nil
	if d.switched {
		d.switched = false
		all = errors.Join(all, d.enable("0"))
	}
	return all
}

// ReadReg reads a register, of which all ones need a second look.
func (d *device) ReadReg(off uint32) (uint64, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.registers == nil {
		return 0, drivers.ErrClosed
	}
	refused := &drivers.BusError{Node: d.node, Port: "register", Off: off, Resp: 3}
	if off%8 != 0 || int(off)+8 > len(d.registers) {
		return 0, refused
	}
	v := atomic.LoadUint64(d.word(d.registers, off))
	if v != ^uint64(0) {
		return v, nil
	}
	if atomic.LoadUint64(d.word(d.registers, regs.Magic)) == ^uint64(0) {
		return 0, fmt.Errorf("%w: %s: all registers read as ones", drivers.ErrPeerDied, filepath.Base(d.dir))
	}
	if _, _, ok := regs.ByAddress(off); !ok {
		return 0, refused
	}
	return v, nil
}

// WriteReg posts a write.
func (d *device) WriteReg(off uint32, v uint64) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.registers == nil {
		return drivers.ErrClosed
	}
	if off%8 != 0 || int(off)+8 > len(d.registers) {
		return &drivers.BusError{Node: d.node, Port: "register", Off: off, Write: true, Resp: 3}
	}
	atomic.StoreUint64(d.word(d.registers, off), v)
	return nil
}

// WritePIO stores whole quadwords, at least one, each of which is a piece of the line for the NIC.
func (d *device) WritePIO(off uint32, line []byte) error {
	n := max(8, (len(line)+7)&^7)
	if off%8 != 0 || n > regs.LineBytes {
		return fmt.Errorf("%w: %d bytes to the send windows at 0x%x: expected at most a line of %d, from a multiple of 8 on", drivers.ErrConfig, len(line), off, regs.LineBytes)
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.windows == nil {
		return drivers.ErrClosed
	}
	if int(off)+n > len(d.windows) {
		return &drivers.BusError{Node: d.node, Port: "pio", Off: off, Write: true, Resp: 3}
	}
	var whole [regs.LineBytes]byte
	copy(whole[:], line)
	for at := 0; at < n; at += 8 {
		atomic.StoreUint64(d.word(d.windows, off+uint32(at)), binary.NativeEndian.Uint64(whole[at:]))
	}
	return nil
}

// Memory: none that the NIC would find.
func (d *device) Memory() []byte { return nil }

func (d *device) Segments() []drivers.Segment { return nil }

func (d *device) Capabilities() drivers.Capabilities { return drivers.CanPIO | drivers.CanRunAlone }

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return nil, fmt.Errorf("%w: waiting for %v without a driver", drivers.ErrNotSupported, c)
}
