// Package mock is a strict device for tests of drivers: it expects given accesses in a given order
// and no others.
//
// The first unexpected access fails the test with the expected and the actual access and their
// position, and so do accesses that are left at the end of the test. The caller lists the accesses
// before the driver runs, with offsets from package regs, and uses the Device from one goroutine.
//
//	dev := mock.New(t, 4096)
//	dev.Read(regs.Magic, regs.MagicValue)
//	dev.Write(regs.MboxSlots(3), 16)
//	dev.PIO(off, []byte("hello")).Then(func() { copy(dev.Memory(), slot) })
//	err := driverUnderTest(dev)
package mock

import (
	"bytes"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
)

// TB is the part of testing.TB that a Device needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// An Error describes an unexpected or missing access.
type Error struct {
	Index    int // of the access, starting at 0
	Expected string
	Found    string
}

func (e *Error) Error() string {
	return fmt.Sprintf("access %d: expected %q, found %q", e.Index, e.Expected, e.Found)
}

// An Access is an expected access.
type Access struct {
	op    translog.Op
	value uint64 // result of a read
	err   error
	then  func()
}

// Fail makes the access return err.
func (a *Access) Fail(err error) *Access {
	a.err = err
	return a
}

// Then makes the device call f after the access, for example to change memory.
func (a *Access) Then(f func()) *Access {
	a.then = f
	return a
}

// Device expects accesses. The zero value is not usable; see New.
type Device struct {
	tb   TB
	mem  []byte
	at   []drivers.Segment
	list []*Access
	next int
	err  error
}

var _ drivers.Device = (*Device)(nil)

// New returns a device with n bytes of memory. At the end of the test, remaining accesses fail it.
func New(tb TB, n int) *Device {
	d := &Device{tb: tb, mem: make([]byte, n)}
	tb.Cleanup(func() {
		tb.Helper()
		if d.err == nil {
			_ = d.Done()
		}
	})
	return d
}

// Read expects a register read and returns v for it.
func (d *Device) Read(off uint32, v uint64) *Access {
	a := d.expect(translog.Op{Kind: translog.ReadReg, Off: uint64(off)})
	a.value = v
	return a
}

// Write expects a register write.
func (d *Device) Write(off uint32, v uint64) *Access {
	return d.expect(translog.Op{Kind: translog.WriteReg, Off: uint64(off), Value: v})
}

// PIO expects a line.
func (d *Device) PIO(off uint32, line []byte) *Access {
	return d.expect(translog.Op{Kind: translog.WritePIO, Off: uint64(off), Data: bytes.Clone(line)})
}

func (d *Device) expect(o translog.Op) *Access {
	a := &Access{op: o}
	d.list = append(d.list, a)
	return a
}

// Done fails if an access is left. It is called at the end of the test.
func (d *Device) Done() error {
	d.tb.Helper()
	if d.err == nil && d.next < len(d.list) {
		d.fail(d.list[d.next].op.Call(), fmt.Sprintf("the end, with %d accesses left", len(d.list)-d.next))
	}
	return d.err
}

func (d *Device) fail(expected, found string) {
	d.tb.Helper()
	d.err = &Error{d.next, expected, found}
	d.tb.Errorf("mock device: %v", d.err)
}

// take compares an access with the next expected one; after the first error every access fails.
func (d *Device) take(o translog.Op) (*Access, error) {
	d.tb.Helper()
	switch {
	case d.err != nil:
	case d.next == len(d.list):
		d.fail("no more accesses", o.Call())
	case !d.list[d.next].op.SameCall(&o):
		d.fail(d.list[d.next].op.Call(), o.Call())
	}
	if d.err != nil {
		return nil, d.err
	}
	a := d.list[d.next]
	d.next++
	if a.then != nil {
		a.then()
	}
	return a, a.err
}

// ReadReg implements drivers.Device.
func (d *Device) ReadReg(off uint32) (uint64, error) {
	d.tb.Helper()
	a, err := d.take(translog.Op{Kind: translog.ReadReg, Off: uint64(off)})
	if a == nil {
		return 0, err
	}
	return a.value, err
}

// WriteReg implements drivers.Device.
func (d *Device) WriteReg(off uint32, v uint64) error {
	d.tb.Helper()
	_, err := d.take(translog.Op{Kind: translog.WriteReg, Off: uint64(off), Value: v})
	return err
}

// WritePIO implements drivers.Device.
func (d *Device) WritePIO(off uint32, line []byte) error {
	d.tb.Helper()
	_, err := d.take(translog.Op{Kind: translog.WritePIO, Off: uint64(off), Data: line})
	return err
}

// LiesAt sets the segments of the memory; by default its device address is 0.
func (d *Device) LiesAt(list ...drivers.Segment) { d.at = list }

// Segments implements drivers.Device.
func (d *Device) Segments() []drivers.Segment { return d.at }

// Capabilities implements drivers.Device: no event occurs without a call.
func (d *Device) Capabilities() drivers.Capabilities {
	return drivers.CanPIO | drivers.CanDMA | drivers.CanAnswerWrites
}

// Await implements drivers.Device.
func (d *Device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return nil, fmt.Errorf("%w: a mock device never causes %s", drivers.ErrNotSupported, c)
}

// Memory implements drivers.Device; the test plays the NIC that writes to it.
func (d *Device) Memory() []byte { return d.mem }
