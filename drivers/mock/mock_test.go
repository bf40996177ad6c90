package mock

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// tb records what a Device tells its test.
type tb struct {
	messages []string
	cleanup  []func()
}

func (t *tb) Helper()                      {}
func (t *tb) Errorf(f string, args ...any) { t.messages = append(t.messages, fmt.Sprintf(f, args...)) }
func (t *tb) Cleanup(f func())             { t.cleanup = append(t.cleanup, f) }
func (t *tb) end()                         { t.cleanup[0]() }
func device(t *tb) *Device {
	d := New(t, 64)
	d.Read(regs.Magic, regs.MagicValue)
	d.Write(regs.MboxSlots(3), 16)
	d.PIO(uint32(regs.PioFields{Length: 5}.Pack()), []byte("hello")).Then(func() { d.Memory()[0] = 7 })
	d.Read(0x2c, 9).Fail(errors.New("bus error"))
	return d
}

func TestAsExpected(t *testing.T) {
	var under tb
	d := device(&under)
	v, err := d.ReadReg(regs.Magic)
	require.NoError(t, err)
	require.EqualValues(t, regs.MagicValue, v)
	require.NoError(t, d.WriteReg(regs.MboxSlots(3), 16))
	require.Zero(t, d.Memory()[0])
	require.NoError(t, d.WritePIO(0x140, []byte("hello")))
	require.EqualValues(t, 7, d.Memory()[0])
	v, err = d.ReadReg(0x2c)
	require.EqualError(t, err, "bus error")
	require.EqualValues(t, 9, v)
	require.NoError(t, d.Done())
	under.end()
	require.Empty(t, under.messages)
}

func TestWrongAccesses(t *testing.T) {
	for name, wrong := range map[string]func(*Device) error{
		"value":  func(d *Device) error { return d.WriteReg(regs.MboxSlots(3), 17) },
		"offset": func(d *Device) error { return d.WriteReg(regs.MboxSlots(4), 16) },
		"order":  func(d *Device) error { return d.WritePIO(0x140, []byte("hello")) },
		"kind":   func(d *Device) error { _, err := d.ReadReg(regs.MboxSlots(3)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			var under tb
			d := device(&under)
			_, err := d.ReadReg(regs.Magic)
			require.NoError(t, err)
			err = wrong(d)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, 1, e.Index)
			require.Equal(t, "node 0: MBOX_SLOTS[3] = 0x10", e.Expected)
			require.NotEqual(t, e.Expected, e.Found)
			require.Equal(t, err, d.WriteReg(regs.MboxSlots(3), 16), "the first error stays")
			under.end()
			require.Len(t, under.messages, 1)
		})
	}
}

func TestLine(t *testing.T) {
	var under tb
	d := New(&under, 0)
	d.PIO(0x140, []byte("hello"))
	require.ErrorContains(t, d.WritePIO(0x140, []byte("hellO")), "[68656c6c4f]")
}

func TestTooManyAndTooFew(t *testing.T) {
	var under tb
	d := New(&under, 0)
	require.ErrorContains(t, d.WriteReg(regs.Scratch, 1), `expected "no more accesses", found "node 0: SCRATCH = 0x1"`)

	under = tb{}
	device(&under)
	under.end()
	require.Len(t, under.messages, 1)
	require.Contains(t, under.messages[0], "the end, with 4 accesses left")
}

// Registers take the address that the NIC knows memory by; what nobody can do is told when it is
// asked for.
func TestMemoryElsewhere(t *testing.T) {
	d := New(t, 1<<13)
	d.LiesAt(drivers.Segment{Off: 0, Addr: 0x80000000, Bytes: 1 << 12}, drivers.Segment{Off: 1 << 12, Addr: 0x10000, Bytes: 1 << 12})
	d.Write(regs.MboxBase(0), 0x10040)
	at, err := drivers.Address(d, 0x1040, 64)
	require.NoError(t, err)
	require.NoError(t, d.WriteReg(regs.MboxBase(0), at))
	off, ok := drivers.Offset(d, at)
	require.True(t, ok)
	require.EqualValues(t, 0x1040, off)
	_, ok = drivers.Offset(d, 0x1040)
	require.False(t, ok)
	_, err = drivers.Address(d, 0xfc0, 128)
	require.ErrorContains(t, err, "do not lie in one piece")
	_, err = drivers.Address(d, 1<<13-64, 128)
	require.ErrorContains(t, err, "inside the 8192 bytes")
	require.Equal(t, "PIO, DMA, write responses", d.Capabilities().String())
	_, err = d.Await(drivers.Interrupt)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "an interrupt")
}
