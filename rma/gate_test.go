package rma

import (
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// drainFaults polls a port until there is nothing, and gives the faults that were told.
func drainFaults(t *testing.T, r *rig, p *Port) (codes []regs.RMAError) {
	for {
		r.quiet()
		var ev Event
		got, err := p.Poll(&ev)
		require.NoError(t, err)
		if !got {
			return codes
		}
		if f, ok := ev.Err.(*FaultError); ok {
			codes = append(codes, f.Code)
		}
	}
}

// TestGate: what is put at a gate is refused until it is open, lands where the memory behind it
// lies, and is refused again when it is clear; another piece of memory may be behind it then. The
// process's end takes it along.
func TestGate(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	from, to := r.open(0, 1), r.open(1, 2)
	const n, off = 10000, 200
	source := r.region(from, dataAt, n, ReadOnly)
	for i := range n {
		r.mem(0)[dataAt+i] = byte(i*7 + 1)
	}
	g, err := to.Gate(n)
	require.NoError(t, err)
	put := func() []regs.RMAError {
		_, err := from.Put(Peer{1, 2}, source.NLA(dataAt), g.NLA(off), n, Requester)
		require.NoError(t, err)
		return drainFaults(t, r, from)
	}
	require.Contains(t, put(), regs.RMAErrorTranslation)
	for _, at := range []uint64{dataAt + off, dataAt + 1<<20 + off} {
		require.NoError(t, g.Open(at, n, WriteOnly))
		require.ErrorIs(t, g.Open(at, n, WriteOnly), drivers.ErrConfig, "it is open")
		require.Empty(t, put())
		require.Equal(t, r.mem(0)[dataAt:dataAt+n], r.mem(1)[at:at+n])
		require.NoError(t, g.Shut())
		r.quiet()
		clear, err := g.Clear()
		require.NoError(t, err)
		require.True(t, clear)
		require.Contains(t, put(), regs.RMAErrorTranslation)
	}
	require.ErrorIs(t, g.Open(dataAt, 20000, WriteOnly), drivers.ErrConfig, "longer than its addresses")
	require.ErrorIs(t, g.Shut(), drivers.ErrConfig)
	require.NoError(t, g.Open(dataAt+off, n, WriteOnly))
	require.NoError(t, to.Close())
	require.Empty(t, r.atus[1].gates)
}
