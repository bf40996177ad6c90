package rma

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

func TestATUMisuse(t *testing.T) {
	r := newRig(t, 1, 4<<20)
	for _, c := range []struct {
		base  uint64
		bytes int
	}{{32, 4096}, {0, 64}, {4 << 20, 4096}, {4<<20 - 64, 4096}, {^uint64(63), 4096}} {
		_, err := NewATU(r.Device(0), c.base, c.bytes)
		require.ErrorIs(t, err, drivers.ErrConfig, "%d bytes at 0x%x", c.bytes, c.base)
	}
	a := r.atus[0]
	for _, c := range []struct {
		owner  int
		off, n uint64
		r      Rights
	}{{16, 0, 1, ReadOnly}, {-1, 0, 1, ReadOnly}, {0, 0, 0, ReadOnly}, {0, 4 << 20, 1, ReadOnly}, {0, 1, 4 << 20, ReadOnly},
		{0, ^uint64(0), 2, ReadOnly}, {0, 0, 1, 0}, {0, 0, 1, 4}} {
		_, err := a.Map(c.owner, c.off, c.n, c.r)
		require.ErrorIs(t, err, drivers.ErrConfig, "%+v", c)
	}
	nla, err := a.Map(0, 5, 10, ReadOnly)
	require.NoError(t, err)
	require.ErrorIs(t, a.Unmap(nla+1), drivers.ErrConfig)
	require.NoError(t, a.Unmap(nla))
	require.ErrorIs(t, a.Unmap(nla), drivers.ErrConfig)
}

// The largest pages that reach no further than those of 4 KB would.
func TestPageSizes(t *testing.T) {
	r := newRig(t, 1, 16<<20)
	for _, c := range []struct {
		off, n uint64
		table  uint8
		pages  int
	}{
		{0, 1, 1, 1}, {4095, 2, 1, 2}, {1 << 16, 1 << 16, 2, 1}, {1 << 16, 1<<16 - 1, 2, 1}, {1 << 16, 1<<16 - 4096, 1, 15},
		{1 << 12, 1 << 16, 1, 16}, {1 << 16, 3 << 16, 2, 3}, {1 << 21, 1 << 21, 3, 1}, {0, 1 << 24, 3, 8}, {1 << 20, 1 << 21, 2, 32},
	} {
		nla, err := r.atus[0].Map(3, c.off, c.n, ReadWrite)
		require.NoError(t, err)
		m := r.atus[0].mapped[nla]
		require.Equal(t, c.table, regs.NLA(nla).Table(), "%+v", c)
		require.Equal(t, c.pages, m.n, "%+v", c)
		require.NotZero(t, nla)
	}
	// A table of large pages that is full does not end it.
	for range 50 {
		_, err := r.atus[0].Map(3, 0, 1<<21, ReadOnly)
		require.NoError(t, err)
	}
}

// Entries are given out again only when the hardware has answered the fence, and
// the new mapping then holds although the TLB knew the old one.
func TestUnmapWaitsForTheFence(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	p := r.open(0, 0)
	a := r.atus[1]
	r.open(1, 0)
	mine := r.region(p, dataAt, 4096, ReadWrite)
	get := func(remote NLA) (byte, error) {
		_, err := p.Get(Peer{1, 0}, mine.NLA(dataAt), remote, 1, Completer)
		require.NoError(t, err)
		r.quiet()
		ev := r.poll(p)
		require.NotNil(t, ev)
		return r.mem(0)[dataAt], ev.Err
	}
	for i := range 20 {
		at := uint64(dataAt + i<<12)
		r.mem(1)[at] = byte(i + 1)
		nla, err := a.Map(0, at, 4096, ReadOnly)
		require.NoError(t, err)
		require.EqualValues(t, 1<<44, nla, "the first entry, every time")
		v, err := get(nla)
		require.NoError(t, err)
		require.EqualValues(t, i+1, v)
		require.NoError(t, a.Unmap(nla))
		other, err := a.Map(0, at, 4096, ReadOnly)
		require.NoError(t, err)
		require.NotEqual(t, nla, other, "the hardware may still know the entry")
		n, err := a.Poll()
		require.NoError(t, err)
		require.Equal(t, 1, n)
		r.quiet()
		n, err = a.Poll()
		require.NoError(t, err)
		require.Zero(t, n)
		_, err = get(nla)
		var fault *FaultError
		require.ErrorAs(t, err, &fault)
		require.Equal(t, regs.RMAErrorTranslation, fault.Code)
		require.NoError(t, a.Unmap(other))
		r.quiet()
		_, err = a.Poll()
		require.NoError(t, err)
	}
}

func TestTablesFull(t *testing.T) {
	r := newRig(t, 1, 4<<20)
	a, err := NewATU(r.Device(0), atuAt, headBytes+32*entryBytes)
	require.NoError(t, err)
	var list []NLA
	var nla NLA
	for err == nil {
		if nla, err = a.Map(0, 0, 2*4096, ReadOnly); err == nil {
			list = append(list, nla)
		}
	}
	require.ErrorIs(t, err, drivers.ErrTablesFull)
	require.Len(t, list, 12) // 24 of the entries are for pages of 4 KB
	r.quiet()                // the flush of the beginning
	require.NoError(t, a.Unmap(list[3]))
	_, err = a.Map(0, 0, 2*4096, ReadOnly)
	require.ErrorIs(t, err, ErrTryAgain, "an entry is on its way")
	r.quiet()
	nla, err = a.Map(0, 0, 2*4096, ReadOnly)
	require.NoError(t, err)
	require.Equal(t, list[3], nla)
}

// Random mapping against a naive list: live ranges never overlap, entries say
// what was asked, and what was unmapped and not fenced is never given out.
func TestRandomMappings(t *testing.T) {
	fail := fmt.Sprintf("rerun: go test ./rma -run TestRandomMappings -seed %d", *seed)
	rng := rand.New(rand.NewPCG(*seed, 1))
	r := newRig(t, 1, 16<<20)
	a, err := NewATU(r.Device(0), atuAt, headBytes+1024*entryBytes)
	require.NoError(t, err, fail)
	type live struct {
		nla          NLA
		owner        int
		off, n       uint64
		rights       Rights
		first, pages int
		size         int
	}
	var mapped, unfenced []live
	overlaps := func(l live, list []live) bool {
		for _, o := range list {
			if o.size == l.size && l.first < o.first+o.pages && o.first < l.first+l.pages {
				return true
			}
		}
		return false
	}
	granted, refused := 0, 0
	for range 5000 {
		switch k := rng.IntN(10); {
		case k < 5:
			l := live{owner: rng.IntN(16), rights: Rights(1 + rng.IntN(3)), off: uint64(rng.IntN(12 << 20)), n: uint64(1 + rng.IntN(1<<(1+rng.IntN(18))))}
			if rng.IntN(3) == 0 { // whole large pages
				l.off &^= 1<<16 - 1
				l.n = uint64(1+rng.IntN(3)) << 16
			}
			l.nla, err = a.Map(l.owner, l.off, l.n, l.rights)
			if err != nil {
				refused++
				continue
			}
			granted++
			m := a.mapped[l.nla]
			l.first, l.pages, l.size = m.first, m.n, m.size
			require.False(t, overlaps(l, mapped), fail)
			require.False(t, overlaps(l, unfenced), fail)
			mapped = append(mapped, l)
		case k < 8 && len(mapped) > 0:
			i := rng.IntN(len(mapped))
			require.NoError(t, a.Unmap(mapped[i].nla), fail)
			unfenced = append(unfenced, mapped[i])
			mapped = append(mapped[:i], mapped[i+1:]...)
		default:
			require.NoError(t, r.Run(r.Now()+drivers.Cycle(rng.IntN(100)), &r.stop), fail)
			if pending, err := a.Poll(); pending == 0 {
				require.NoError(t, err, fail)
				unfenced = unfenced[:0]
			} else {
				keep := unfenced[len(unfenced)-pending:]
				unfenced = append(unfenced[:0], keep...)
			}
		}
	}
	require.Greater(t, granted, 1000, fail)
	require.Greater(t, refused, 10, fail)
	for _, l := range mapped {
		p := pageShifts[l.size]
		for i := range l.pages {
			e := regs.ATUEntry(a.tables[l.size].entries[l.first+i])
			page := (l.off>>p.shift + uint64(i)) << p.shift
			require.Equal(t, regs.ATUEntryFields{Rights: regs.ATURights(l.rights), VPID: uint8(l.owner), Page: page >> 12}, e.Fields(), fail)
		}
		require.Equal(t, l.off&(1<<p.shift-1), uint64(l.nla)&(1<<p.shift-1), fail)
	}
	for _, l := range mapped {
		require.NoError(t, a.Unmap(l.nla), fail)
	}
	r.quiet()
	_, err = a.Poll()
	require.NoError(t, err, fail)
	r.quiet()
	pending, err := a.Poll()
	require.NoError(t, err, fail)
	require.Zero(t, pending, fail)
	for i := range a.tables {
		require.Equal(t, []run{{0, len(a.tables[i].entries)}}, a.tables[i].runs.free, fail)
	}
	for i := range pageShifts {
		for _, e := range a.tables[i].entries {
			require.Zero(t, e, fail)
		}
	}
}

// Somebody else fills the queue of commands, so that the hardware refuses those of a fence: they
// are given again, and nothing is given out before they are done.
func TestRefusedFence(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	a, dev := r.atus[1], r.Device(1)
	nla, err := a.Map(0, dataAt, 4096, ReadOnly)
	require.NoError(t, err)
	r.quiet()
	for range 4 * regs.ATUCommands {
		require.NoError(t, dev.WriteReg(regs.ATUCommand, uint64(regs.ATUOpFlushVPID)<<regs.ATUCommandCommand.LSB()|9<<regs.ATUCommandVPID.LSB()))
	}
	require.NoError(t, a.Unmap(nla))
	r.quiet()
	refused, err := dev.ReadReg(regs.ATURefused)
	require.NoError(t, err)
	require.Positive(t, refused)
	before, err := dev.ReadReg(regs.ATUStatus)
	require.NoError(t, err)
	n, err := a.Poll()
	require.NoError(t, err)
	require.Equal(t, 1, n, "part of the fence was refused")
	r.quiet()
	n, err = a.Poll()
	require.NoError(t, err)
	require.Zero(t, n)
	after, err := dev.ReadReg(regs.ATUStatus)
	require.NoError(t, err)
	require.Equal(t, before+2, after, "one page and a fence")
}
