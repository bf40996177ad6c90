package vm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// fakeDesign records accesses; its registers of interrupts are at 0x100 and 0x108.
type fakeDesign struct {
	drivers.Device
	levels, pulses uint64
	written        []RegisterWrite
	read           []uint32
}

func (d *fakeDesign) ReadReg(off uint32) (uint64, error) {
	if off == 0x100 {
		return d.levels, nil
	}
	return d.pulses, nil
}

func (d *fakeDesign) WriteReg(off uint32, v uint64) error {
	if off == 0x108 {
		d.pulses &^= v
		return nil
	}
	d.written = append(d.written, RegisterWrite{off, v})
	return nil
}

func (d *fakeDesign) Read(off uint32, bytes int) (uint64, error) {
	d.read = append(d.read, off, uint32(bytes))
	return 0x8877665544332211 & (1<<(8*bytes) - 1), nil
}

func (d *fakeDesign) Write(off uint32, _ int, v uint64) error { return d.WriteReg(off, v) }

// Accesses of other widths than those that are described do not reach a design, a reset writes what
// is described and nothing else, and interrupts map to vectors.
func TestDesignBehindTheFunction(t *testing.T) {
	dev := &fakeDesign{}
	f := Function{Vectors: 3, Design: &Design{
		Widths: []int{4}, Levels: 0x100, Pulses: 0x108, Reset: []RegisterWrite{{0x10, 5}},
	}}
	hw, err := f.hardwareOf(dev, nil)
	require.NoError(t, err)

	v, err := hw.read(0x22, 2)
	require.NoError(t, err)
	require.EqualValues(t, 0x4433, v&0xffff)
	require.Equal(t, []uint32{0x20, 4}, dev.read)
	v, err = hw.read(0x20, 8)
	require.NoError(t, err)
	require.Equal(t, ^uint64(0), v)
	require.Len(t, dev.read, 2)
	require.NoError(t, hw.write(0x20, 8, 1))
	require.NoError(t, hw.write(0x21, 1, 1))
	require.Empty(t, dev.written)
	require.NoError(t, hw.write(0x20, 4, 7))
	require.NoError(t, hw.reset())
	require.Equal(t, []RegisterWrite{{0x20, 7}, {0x10, 5}}, dev.written)

	dev.levels, dev.pulses = 1<<1, 1|1<<40
	levels, pulses, err := hw.causes()
	require.NoError(t, err)
	require.EqualValues(t, 1<<1, levels)
	require.EqualValues(t, 1|1<<2, pulses, "the last vector has all further interrupts")
	_, pulses, err = hw.causes()
	require.NoError(t, err)
	require.Zero(t, pulses, "a pulse is reported once")
}

func TestDesignWithoutWidths(t *testing.T) {
	f := Function{Vectors: 1, Design: &Design{}}
	_, err := f.hardwareOf(struct{ drivers.Device }{}, nil)
	require.ErrorIs(t, err, drivers.ErrConfig)
}
