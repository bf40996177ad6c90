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
	m, err := New(dev)
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
