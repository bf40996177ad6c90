package rma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers/regs"
)

// A put ahead of a get costs no notification, and is done when the get has told anything.
func TestPutAhead(t *testing.T) {
	told := func(put func(a *Port, local, remote NLA) (Handle, error)) uint64 {
		r := newRig(t, 2, 4<<20)
		a, b := r.open(0, 0), r.open(1, 0)
		mine, theirs := r.region(a, dataAt, 4096, ReadWrite), r.region(b, dataAt, 4096, ReadWrite)
		copy(r.mem(0)[dataAt:], "what goes ahead")
		h, err := put(a, mine.NLA(dataAt), theirs.NLA(dataAt))
		require.NoError(t, err)
		fence, err := a.Get(Peer{1, 0}, mine.NLA(dataAt+2048), theirs.NLA(dataAt), 4, Completer)
		require.NoError(t, err)
		r.quiet()
		require.False(t, a.LocallyComplete(h), "not before it was polled")
		ev := r.poll(a)
		require.Equal(t, fence, ev.Handle)
		require.NoError(t, ev.Err)
		require.True(t, a.LocallyComplete(h) && a.LocallyComplete(fence))
		r.nothing(a)
		require.Equal(t, "what", string(r.mem(0)[dataAt+2048:][:4]), "the get sees the put")
		require.Zero(t, a.InFlight())
		return a.Stats().Notifications
	}
	plain := told(func(a *Port, local, remote NLA) (Handle, error) { return a.Put(Peer{1, 0}, local, remote, 1000, 0) })
	ahead := told(func(a *Port, local, remote NLA) (Handle, error) {
		return a.PutUnsignaled(Peer{1, 0}, local, remote, 1000)
	})
	require.Equal(t, plain-1, ahead)
}

// Its faults come in front of what is told of the get behind it, once, whoever has found them.
func TestFaultOfPutAhead(t *testing.T) {
	for _, at := range []struct {
		name          string
		local, remote NLA // 0: a good one
		unit          Unit
	}{{"origin", 0x1234, 0, UnitRequester}, {"target", 0, 0x1234, UnitCompleter}} {
		r := newRig(t, 2, 4<<20)
		a, b := r.open(0, 0), r.open(1, 0)
		mine, theirs := r.region(a, dataAt, 4096, ReadWrite), r.region(b, dataAt, 4096, ReadWrite)
		local, remote := at.local, at.remote
		if local == 0 {
			local = mine.NLA(dataAt)
		}
		if remote == 0 {
			remote = theirs.NLA(dataAt)
		}
		h, err := a.PutUnsignaled(Peer{1, 0}, local, remote, 3*regs.RMAMTU)
		require.NoError(t, err)
		fence, err := a.Get(Peer{1, 0}, mine.NLA(dataAt), theirs.NLA(dataAt), 1, Completer)
		require.NoError(t, err)
		r.quiet()
		ev := r.poll(a)
		require.Equal(t, h, ev.Handle, at.name)
		var fault *FaultError
		require.ErrorAs(t, ev.Err, &fault, at.name)
		require.Equal(t, at.unit, fault.Unit, at.name)
		ev = r.poll(a)
		require.Equal(t, fence, ev.Handle, at.name)
		require.NoError(t, ev.Err, at.name)
		r.nothing(a)
		require.Zero(t, a.InFlight(), at.name)
	}
}

// Puts with nothing behind them stop nobody: the last one for which there is room is told of, and
// with it those in front.
func TestPutsAheadOfNothing(t *testing.T) {
	for _, outstanding := range []int{1, 2, regs.RMADepth, 8} {
		r := newRig(t, 2, 4<<20)
		a, b := r.openWith(0, 0, func(c *Config) { c.Outstanding = outstanding }), r.open(1, 0)
		mine, theirs := r.region(a, dataAt, 4096, ReadWrite), r.region(b, dataAt, 4096, ReadWrite)
		for range 100 {
			posted := 0
			for ; ; posted++ {
				if _, err := a.PutUnsignaled(Peer{1, 0}, mine.NLA(dataAt), theirs.NLA(dataAt), 8); err != nil {
					require.ErrorIs(t, err, ErrTryAgain)
					break
				}
			}
			require.Equal(t, min(outstanding, regs.RMADepth), posted, "%d outstanding", outstanding)
			r.quiet()
			r.nothing(a)
			require.Zero(t, a.InFlight(), "%d outstanding", outstanding)
		}
	}
}
