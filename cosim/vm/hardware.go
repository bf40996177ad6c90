package vm

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

// hardware is the device behind BAR 0: this project's NIC, or any design.
type hardware interface {
	read(off uint32, bytes int) (uint64, error)
	write(off uint32, bytes int, v uint64) error
	// causes returns the vectors whose cause is asserted, and those that had a pulse since the last
	// call.
	causes() (levels, pulses uint64, err error)
	// acknowledges reports whether a write to a register may deassert a cause.
	acknowledges(off uint32) bool
	reset() error
}

// A nicHardware is this project's NIC: registers of eight bytes, and a register of causes.
type nicHardware struct {
	dev drivers.Device
	log *logrus.Logger
}

func (h nicHardware) read(off uint32, _ int) (uint64, error) {
	v, err := h.dev.ReadReg(off &^ 7)
	return v >> (8 * (off & 7)), err
}

// write drops what is not a whole quadword: the NIC's registers are written whole.
func (h nicHardware) write(off uint32, bytes int, v uint64) error {
	if bytes != 8 || off%8 != 0 {
		logDropped(h.log, off, bytes)
		return nil
	}
	return h.dev.WriteReg(off, v)
}

func logDropped(log *logrus.Logger, off uint32, bytes int) {
	logs.Layer(log, "vm").WithFields(logrus.Fields{"offset": off, "bytes": bytes}).
		Debug("a register write of a width that the device does not accept is dropped")
}

func (h nicHardware) causes() (levels, pulses uint64, err error) {
	status, err := h.dev.ReadReg(regs.IRQStatus)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the causes of interrupts: %w", err)
	}
	mask, err := h.dev.ReadReg(regs.IRQMask)
	return vectorsOf(status & mask), 0, err
}

// vectorsOf maps bits of IRQ_STATUS to vectors: 0 for errors and stalls, v + 1 for arrivals and
// notifications of process v.
func vectorsOf(status uint64) (up uint64) {
	if status&(regs.IRQStatusError|regs.IRQStatusStall) != 0 {
		up = 1
	}
	return up | (regs.IRQStatusArrival.Of(status)|regs.IRQStatusNoti.Of(status))<<1
}

func (h nicHardware) acknowledges(off uint32) bool {
	return off == regs.IRQStatus || off == regs.IRQMask
}

func (h nicHardware) reset() error {
	_, err := process.ResetNIC(h.dev, false)
	return err
}

// A Design is what a guest needs to know of a design besides its PCI function.
type Design struct {
	Widths []int // bytes of the accesses that the registers accept: 4, 8 or both
	// Levels and Pulses are registers of the simulation: interrupts that are asserted, and pulses
	// since they were cleared by writing ones.
	Levels, Pulses uint32
	Reset          []RegisterWrite // what a reset of the function writes
}

// A RegisterWrite is a write that a reset of the function performs.
type RegisterWrite struct {
	Offset uint32
	Value  uint64
}

// A designHardware is any design. Interrupt i has vector i; the last vector has all others, too.
type designHardware struct {
	Design
	dev     drivers.SizedDevice
	vectors int
	log     *logrus.Logger
}

// read performs a narrow read as one of four bytes, of which the processor takes its part.
func (h designHardware) read(off uint32, bytes int) (uint64, error) {
	if bytes < 4 {
		v, err := h.read(off&^3, 4)
		return v >> (8 * (off & 3)), err
	}
	if !slices.Contains(h.Widths, bytes) {
		return ^uint64(0), nil
	}
	return h.dev.Read(off, bytes)
}

func (h designHardware) write(off uint32, bytes int, v uint64) error {
	if !slices.Contains(h.Widths, bytes) {
		logDropped(h.log, off, bytes)
		return nil
	}
	return h.dev.Write(off, bytes, v)
}

func (h designHardware) causes() (levels, pulses uint64, err error) {
	lines, err := h.dev.ReadReg(h.Levels)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the interrupts of the design: %w", err)
	}
	latched, err := h.dev.ReadReg(h.Pulses)
	if err == nil && latched != 0 {
		err = h.dev.WriteReg(h.Pulses, latched)
	}
	return h.ofLines(lines), h.ofLines(latched), err
}

// ofLines maps interrupts to vectors.
func (h designHardware) ofLines(lines uint64) (up uint64) {
	for ; lines != 0; lines &= lines - 1 {
		up |= 1 << min(bits.TrailingZeros64(lines), h.vectors-1)
	}
	return up
}

// acknowledges is true of every register: which of them clears an interrupt is not described.
func (h designHardware) acknowledges(uint32) bool { return true }

func (h designHardware) reset() (err error) {
	for _, w := range h.Reset {
		err = errors.Join(err, h.dev.WriteReg(w.Offset, w.Value))
	}
	return err
}

// hardwareOf is the hardware of a device.
func (f *Function) hardwareOf(dev drivers.Device, log *logrus.Logger) (hardware, error) {
	if f.Design == nil {
		return nicHardware{dev, log}, nil
	}
	sized, ok := dev.(drivers.SizedDevice)
	if !ok {
		return nil, fmt.Errorf("%w: expected a device with accesses of 4 and 8 bytes", drivers.ErrConfig)
	}
	return designHardware{*f.Design, sized, f.Vectors, log}, nil
}
