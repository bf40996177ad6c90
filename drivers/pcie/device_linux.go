package pcie

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A device is one NIC of a board.
type device struct {
	node      int
	way       way
	mu        sync.RWMutex // protects the fields below: Close may be called during other calls
	registers []byte       // nil after Close
	windows   []byte
	mem       memory
	irq       *interrupts // nil: no interrupts
	fence     atomic.Uint32
	pacing    *pacing.Pacing
	log       *logrus.Logger

	closing sync.Mutex
	closed  bool
}

func attach(w way, node int, opt drivers.Options) (*device, error) {
	d := &device{node: node, way: w, log: opt.Log}
	d.pacing = pacing.New(raw{d})
	if err := d.use(opt.MemoryBytes); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *device) use(memoryBytes int) (err error) {
	if err := d.way.begin(); err != nil {
		return err
	}
	if d.registers, err = d.way.bar(registerBAR, registerEnd, false); err != nil {
		return helped(err)
	}
	if err := d.probe(); err != nil {
		return err
	}
	if d.windows, err = d.way.bar(windowBAR, regs.LineBytes, true); err != nil {
		return helped(err)
	}
	if d.mem, err = d.way.memory(memoryBytes); err != nil || d.mem.bytes == nil {
		return err
	}
	// State left by a program that died could make the NIC write to memory of others.
	if err := d.way.command(0, commandBusMaster); err != nil {
		return err
	}
	if _, err := process.ResetNIC(d, false); err != nil {
		return err
	}
	if d.irq, err = d.way.interrupts(); err != nil {
		return err
	}
	return d.way.command(commandMemory|commandBusMaster, 0)
}

// helped adds advice to an error of the kernel.
func helped(err error) error {
	if err == nil || errors.Is(err, drivers.ErrConfig) {
		return err
	}
	if os.IsPermission(err) {
		return fmt.Errorf("%w: %w; root may do this, or who owns the device's files", drivers.ErrEnvironment, err)
	}
	return fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
}

// probe identifies the NIC before anything else is used.
func (d *device) probe() error {
	name := d.way.name()
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
	d.closing.Lock()
	defer d.closing.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var all error
	if len(d.mem.bytes) > 0 && d.registers != nil {
		// The reset stops the NIC's writes. If it fails, disabling DMA at least protects memory.
		if _, err := process.ResetNIC(d, false); err != nil {
			logs.Layer(d.log, "pcie").WithError(err).Debug("a board is left as it is")
		}
		all = errors.Join(all, d.way.command(0, commandBusMaster))
	}
	if d.irq != nil {
		all = errors.Join(all, d.irq.close(d))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range [][]byte{d.registers, d.windows} {
		if m != nil {
			all = errors.Join(all, d.way.unmap(m))
		}
	}
	d.registers, d.windows = nil, nil
	return errors.Join(all, d.mem.free(), d.way.close())
}

// ReadReg reads a register. All ones may be the answer of a dead link, so it then reads another
// register, too.
func (d *device) ReadReg(off uint32) (uint64, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.registers == nil {
		return 0, drivers.ErrClosed
	}
	refused := &drivers.BusError{Node: d.node, Port: "register", Off: off, Resp: drivers.RespDECERR}
	if off%8 != 0 || int(off)+8 > len(d.registers) {
		return 0, refused
	}
	v := atomic.LoadUint64(d.word(d.registers, off))
	if v != ^uint64(0) {
		return v, nil
	}
	if atomic.LoadUint64(d.word(d.registers, regs.Magic)) == ^uint64(0) {
		return 0, fmt.Errorf("%w: %s: all registers read as ones", drivers.ErrPeerDied, d.way.name())
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
		return &drivers.BusError{Node: d.node, Port: "register", Off: off, Write: true, Resp: drivers.RespDECERR}
	}
	d.pacing.Wrote(off, v)
	store(d.word(d.registers, off), v)
	return nil
}

// raw is a device whose stores do not wait, for Pacing.
type raw struct{ *device }

func (d raw) WritePIO(off uint32, line []byte) error { return d.post(off, line) }
func (raw) PacesPIO() bool                           { return false }

// PacesPIO returns true: a store waits for an entry.
func (d *device) PacesPIO() bool { return true }

func (d *device) WritePIO(off uint32, line []byte) error { return d.pacing.WritePIO(off, line) }

// post stores whole quadwords, at least one; the NIC assembles them to a line.
func (d *device) post(off uint32, line []byte) error {
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
		return &drivers.BusError{Node: d.node, Port: "pio", Off: off, Write: true, Resp: drivers.RespDECERR}
	}
	var whole [regs.LineBytes]byte
	copy(whole[:], line)
	d.fence.Add(1) // orders write-combined stores: earlier ones leave the buffer, later stores to memory stay behind them
	for at := 0; at < n; at += 8 {
		store(d.word(d.windows, off+uint32(at)), binary.NativeEndian.Uint64(whole[at:]))
	}
	d.fence.Add(1)
	return nil
}

// Memory is the DMA memory; empty without DMA.
func (d *device) Memory() []byte { return d.mem.bytes }

func (d *device) Segments() []drivers.Segment { return d.mem.segments }

func (d *device) Capabilities() drivers.Capabilities {
	can := drivers.CanPIO | drivers.CanFreeRun
	if d.mem.bytes != nil {
		can |= drivers.CanDMA | drivers.CanAwait
	}
	if d.irq != nil {
		can |= drivers.CanInterrupt
	}
	return can
}
