package monitor

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

func TestSince(t *testing.T) {
	wide, narrow := Counter{wide: true}, Counter{}
	for _, c := range []struct {
		c       Counter
		was, is uint64
		n       uint64
		anew    bool
	}{
		{wide, 5, 9, 4, false}, {wide, 9, 5, 5, true}, {narrow, 1<<32 - 2, 3, 5, false}, {narrow, 3, 3, 0, false}, {wide, 1<<32 - 2, 3, 3, true},
	} {
		n, anew := c.c.Since(c.was, c.is)
		require.Equal(t, c.n, n)
		require.Equal(t, c.anew, anew)
	}
}

// What is watched is there, and only counts: software writes none of it.
func TestCounters(t *testing.T) {
	for _, c := range counted {
		r, ok := regs.ByName(c.name)
		require.True(t, ok, c.name)
		require.Equal(t, regs.RO, r.Access, c.name)
	}
}

func TestMonitor(t *testing.T) {
	sys, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 1, MemoryBytes: 1 << 16})
	require.NoError(t, err)
	defer sys.Close()
	dev := sys.Device(0)
	m, err := New(dev, nil)
	require.NoError(t, err)
	before, err := m.Take(time.Second)
	require.NoError(t, err)
	for range 3 {
		_, _ = dev.ReadReg(0xff8) // refused
	}
	after, err := m.Take(2 * time.Second)
	require.NoError(t, err)

	var out bytes.Buffer
	require.NoError(t, m.Show(&out, before, after))
	require.Regexp(t, `BAD_ACCESS +4 +3.0 /s  <- \+3`, out.String(), "one of New, three more")
	require.Regexp(t, `CYCLES +\d+ +\d`, out.String())
	require.NotContains(t, out.String(), "TX_PACKETS")

	out.Reset()
	w := csv.NewWriter(&out)
	require.NoError(t, m.Head(w))
	require.NoError(t, m.Row(w, 0, after))
	rows, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2)
	for i, name := range rows[0] {
		switch name {
		case "time_s":
			require.Equal(t, "2.000000", rows[1][i])
		case "BAD_ACCESS":
			require.Equal(t, "4", rows[1][i])
		default:
			_, err := strconv.ParseUint(rows[1][i], 10, 64)
			require.NoError(t, err, name)
		}
	}
}

// fakeDesign is a device of two registers that are not this project's NIC's.
type fakeDesign struct {
	drivers.Device
	values map[uint32]uint64
}

func (d fakeDesign) ReadReg(off uint32) (uint64, error) { return d.values[off], nil }

// The read-only registers of any design are monitored by their own names. A decrease is shown as a
// change of value, since no map tells which registers are counters.
func TestMonitorOfADesign(t *testing.T) {
	m, err := regmap.Decode([]byte("name: x\nwidth: 32\nregisters:\n  FRAMES: {off: 0, access: ro, count: 2}\n  STATE: {off: 0x10, access: ro}\n  CTRL: {off: 0x14}\n"))
	require.NoError(t, err)
	dev := fakeDesign{values: map[uint32]uint64{0: 1, 0x10: 7, 0x14: 3}}
	mon, err := New(dev, m)
	require.NoError(t, err)
	before, err := mon.Take(0)
	require.NoError(t, err)
	dev.values[0], dev.values[0x10] = 11, 2
	after, err := mon.Take(2 * time.Second)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, mon.Show(&out, before, after))
	require.Regexp(t, `FRAMES\[0\] +11 +5.0 /s`, out.String())
	require.Regexp(t, `STATE +2 +was 7`, out.String())
	require.NotContains(t, out.String(), "CTRL")
	require.NotContains(t, out.String(), "FRAMES[1]", "a register that is and was 0 is not shown")
	out.Reset()
	require.NoError(t, mon.Head(csv.NewWriter(&out)))
	require.Equal(t, "time_s,node,FRAMES[0],FRAMES[1],STATE\n", out.String())

	_, err = New(dev, regmap.New("none", 0, []regmap.Register{{Name: "CTRL", Count: 1, Access: regmap.RW}}))
	require.ErrorIs(t, err, drivers.ErrConfig)
}
