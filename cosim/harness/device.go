package harness

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/design"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
)

// A Device is one instance of a design.
type Device struct {
	sys  *System
	node int
}

var _ drivers.Device = Device{}

// bytesAt is the width of the register at an offset, in bytes; outside the map it is the bus's.
func (s *System) bytesAt(off uint32) int {
	if off == design.SimIRQLevel || off == design.SimIRQPulse {
		return s.width / 8
	}
	if r, _, ok := s.info.Registers.ByAddress(off); ok && r.Width != 0 {
		return r.Bytes()
	}
	return s.width / 8
}

// onBus is the address that the bus model gets for an access of some bytes.
func (s *System) onBus(off uint32, bytes int) uint32 {
	if s.width == 64 && bytes == 4 {
		return off | onWide
	}
	return off
}

// ReadReg reads a register in the width that the map gives it.
func (d Device) ReadReg(off uint32) (uint64, error) { return d.Read(off, d.sys.bytesAt(off)) }

// WriteReg posts a write of a register in the width that the map gives it.
func (d Device) WriteReg(off uint32, v uint64) error {
	d.sys.PostReg(d.node, d.sys.Now(), off, v)
	return d.sys.Err()
}

// Read reads 4 or 8 bytes. On a bus of 4 bytes, 8 take two accesses: the lower word first.
func (d Device) Read(off uint32, bytes int) (uint64, error) {
	s := d.sys
	if s.versions != nil {
		return s.versions.read(s, d.node, off, bytes)
	}
	return s.readOne(d.node, off, bytes)
}

func (s *System) readOne(node int, off uint32, bytes int) (uint64, error) {
	low, err := s.Session.ReadReg(node, s.onBus(off, bytes))
	if err != nil || bytes == s.width/8 || bytes == 4 {
		return low, s.plain(err)
	}
	high, err := s.Session.ReadReg(node, off+4)
	return low | high<<32, s.plain(err)
}

// Write posts a write of 4 or 8 bytes.
func (d Device) Write(off uint32, bytes int, v uint64) error {
	d.sys.postBytes(d.node, d.sys.Now(), off, bytes, v)
	return d.sys.Err()
}

// PostReg posts a write; see drivers.Timed.
func (s *System) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	s.postBytes(node, at, off, s.bytesAt(off), v)
}

func (s *System) postBytes(node int, at drivers.Cycle, off uint32, bytes int, v uint64) {
	if s.versions != nil {
		s.versions.second.postBytes(node, at, off, bytes, v)
	}
	if node >= 0 && node < len(s.dirty) {
		s.mu.Lock()
		s.dirty[node] = true
		s.mu.Unlock()
	}
	s.Session.PostReg(node, at, s.onBus(off, bytes), v)
	if bytes == 8 && s.width == 32 {
		s.Session.PostReg(node, at, off+4, v>>32)
	}
}

// ReadReg reads a register; see drivers.Device.
func (s *System) ReadReg(node int, off uint32) (uint64, error) { return s.devices[node].ReadReg(off) }

// ArmIRQ makes Run stop while the node has an interrupt. It is ordered behind the register writes
// that were posted before it: one that clears the interrupt has been performed.
func (s *System) ArmIRQ(node int) {
	if s.versions != nil {
		s.versions.arm(s, node)
		return
	}
	s.armOne(node)
}

func (s *System) armOne(node int) {
	s.mu.Lock()
	wait := node >= 0 && node < len(s.dirty) && s.dirty[node]
	if wait {
		s.dirty[node] = false
	}
	s.mu.Unlock()
	if wait {
		// Accesses of a node are performed in order, so the answer to this one is behind all writes.
		if _, err := s.Session.ReadReg(node, design.SimIRQLevel); err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, s.plain(err))
			s.mu.Unlock()
		}
	}
	s.Session.ArmIRQ(node)
}

// Run lets time pass; see drivers.Timed.
func (s *System) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	if s.versions != nil {
		return s.versions.run(s, deadline, stop)
	}
	return s.runOne(deadline, stop)
}

func (s *System) runOne(deadline drivers.Cycle, stop *drivers.Stop) error {
	s.mu.Lock()
	err := s.err
	s.err = nil
	s.mu.Unlock()
	if err == nil {
		err = s.plain(s.Session.Run(deadline, stop))
	}
	s.waiters.NoteStop(stop)
	return err
}

// plain removes the mark of onBus from the address in an error.
func (s *System) plain(err error) error {
	var refused *drivers.BusError
	if errors.As(err, &refused) {
		refused.Off &^= onWide
	}
	return err
}

// WritePIO is an error: a design has no send windows.
func (d Device) WritePIO(uint32, []byte) error {
	return fmt.Errorf("%w: %s has no send windows", drivers.ErrNotSupported, d.sys.info.Registers.Name)
}

// Memory is the node's DMA memory.
func (d Device) Memory() []byte { return d.sys.Memory(d.node) }

// Segments is nil: device address 0 is the start of the memory.
func (d Device) Segments() []drivers.Segment { return nil }

// Capabilities are those of every design.
func (d Device) Capabilities() drivers.Capabilities {
	return drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanSimulate | drivers.CanAnswerWrites
}

// Await returns a Waiter; see drivers.Device.
func (d Device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return d.sys.waiters.Await(d.sys, d.node, c)
}

// Lines has a bit for every interrupt output that is asserted now, in the order of their names.
func (d Device) Lines() (uint64, error) { return d.Read(design.SimIRQLevel, d.sys.width/8) }

// TakePulses returns the interrupt pulses since the last call, and clears them.
func (d Device) TakePulses() (uint64, error) {
	v, err := d.Read(design.SimIRQPulse, d.sys.width/8)
	if err == nil && v != 0 {
		err = d.WriteReg(design.SimIRQPulse, v)
	}
	return v, err
}

// Get reads a register, or REGISTER.FIELD, by its name in the map.
func (d Device) Get(name string) (uint64, error) {
	off, field, err := d.find(name)
	if err != nil {
		return 0, err
	}
	v, err := d.ReadReg(off)
	if err == nil && field != 0 {
		v = field.Of(v)
	}
	return v, err
}

// Set posts a write of a register by its name. With REGISTER.FIELD the other bits are written as
// they were read.
func (d Device) Set(name string, v uint64) error {
	off, field, err := d.find(name)
	if err == nil && field != 0 {
		var old uint64
		if old, err = d.ReadReg(off); err == nil {
			v = field.In(old, v)
		}
	}
	if err != nil {
		return err
	}
	return d.WriteReg(off, v)
}

func (d Device) find(name string) (uint32, regmap.Bits, error) {
	return d.sys.info.Registers.Find(name)
}

// Until lets time pass until the node has an interrupt; it is an error if that takes longer.
func (d Device) Until(most drivers.Cycle) error {
	d.sys.ArmIRQ(d.node)
	var stop drivers.Stop
	end := d.sys.Now() + most
	for d.sys.Now() < end {
		if err := d.sys.Run(end, &stop); err != nil {
			return err
		}
		for _, f := range stop.Fired {
			if f.Kind == drivers.FiredIRQ && f.Node == d.node {
				return nil
			}
		}
	}
	return fmt.Errorf("node %d: no interrupt within %d cycles", d.node, most)
}
