package rma

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// naive is the registration cache as one would write it without thinking of
// speed: a list, the one used last at the end.
type naive struct {
	limit CacheConfig
	list  []*naiveRegion
}

type naiveRegion struct {
	low, high uint64
	rights    Rights
	refs      int
}

func (c *naive) bytes() (n uint64) {
	for _, r := range c.list {
		n += r.high - r.low
	}
	return n
}

func (c *naive) evictOne() bool {
	for i, r := range c.list {
		if r.refs == 0 {
			c.list = append(c.list[:i], c.list[i+1:]...)
			return true
		}
	}
	return false
}

// register returns the region and whether it was there.
func (c *naive) register(off, n uint64, want Rights) (*naiveRegion, bool) {
	low, high := off/4096*4096, (off+n+4095)/4096*4096
	for i := len(c.list) - 1; i >= 0; i-- {
		if r := c.list[i]; r.low <= low && high <= r.high && r.rights&want == want {
			c.list = append(append(c.list[:i], c.list[i+1:]...), r)
			r.refs++
			return r, true
		}
	}
	for len(c.list)+1 > c.limit.Regions || c.bytes()+high-low > c.limit.Bytes {
		if !c.evictOne() {
			break
		}
	}
	r := &naiveRegion{low, high, want, 1}
	c.list = append(c.list, r)
	return r, false
}

// forget drops what nobody uses of a range.
func (c *naive) forget(off, n uint64) {
	c.list = slices.DeleteFunc(c.list, func(r *naiveRegion) bool { return r.refs == 0 && off < r.high && off+n > r.low })
}

func TestCacheAgainstNaive(t *testing.T) {
	for round := range uint64(20) {
		fail := fmt.Sprintf("round %d; rerun: go test ./rma -run TestCacheAgainstNaive -seed %d", round, *seed)
		rng := rand.New(rand.NewPCG(*seed, round))
		limit := CacheConfig{Regions: 1 + rng.IntN(12), Bytes: uint64(1+rng.IntN(40)) << 12}
		r := newRig(t, 1, 4<<20)
		p := r.openWith(0, 5, func(c *Config) { c.Cache = limit })
		model := &naive{limit: limit}
		type held struct {
			got  *Region
			want *naiveRegion
			off  uint64
		}
		var out []held
		var hits uint64
		for range 1000 {
			if len(out) > 0 && rng.IntN(2) == 0 {
				i := rng.IntN(len(out))
				p.Release(out[i].got)
				out[i].want.refs--
				out = append(out[:i], out[i+1:]...)
				continue
			}
			off, n, rights := dataAt+uint64(rng.IntN(20<<12)), uint64(1+rng.IntN(3<<12)), Rights(1+rng.IntN(3))
			if rng.IntN(10) == 0 {
				model.forget(off, n)
				require.NoError(t, p.Forget(off, n), fail)
				require.Len(t, r.atus[0].mapped, len(model.list), fail)
				r.quiet()
				continue
			}
			want, hit := model.register(off, n, rights)
			if hit {
				hits++
			}
			got, err := p.Register(off, n, rights)
			require.NoError(t, err, fail)
			require.Equal(t, []uint64{want.low, want.high}, []uint64{got.low, got.high}, fail)
			require.Equal(t, want.rights, got.rights, fail)
			require.Equal(t, want.refs, got.refs, fail)
			require.Equal(t, hits, p.Stats().Hits, fail)
			require.Len(t, r.atus[0].mapped, len(model.list), fail)
			out = append(out, held{got, want, off})
			r.quiet() // the hardware forgets what was evicted
			h := out[rng.IntN(len(out))]
			requireMapped(t, r.atus[0], h.got.NLA(h.off), h.off, h.got.rights, fail)
		}
		require.NotZero(t, p.Stats().Evictions, fail)
		require.NotZero(t, hits, fail)
	}
}

// requireMapped translates as the hardware does.
func requireMapped(t *testing.T, a *ATU, nla NLA, off uint64, rights Rights, fail string) {
	w := regs.NLA(nla)
	for i, p := range pageShifts {
		if p.table == w.Table() {
			e := regs.ATUEntry(a.tables[i].entries[w.Offset()>>p.shift])
			require.Equal(t, off>>p.shift<<p.shift>>12, e.Page(), fail)
			require.EqualValues(t, rights, e.Rights(), fail)
			return
		}
	}
	require.Fail(t, "no such table", "NLA 0x%x: %s", uint64(nla), fail)
}

// When the tables are full, regions that nobody uses make room.
func TestRegisterEvictsForFullTables(t *testing.T) {
	r := newRig(t, 1, 4<<20)
	atu, err := NewATU(r.Device(0), atuAt, headBytes+32*entryBytes)
	require.NoError(t, err)
	p := r.openWith(0, 0, func(c *Config) { c.ATU = atu })
	var last *Region
	for i := range 100 {
		off := dataAt + uint64(i)*0x3000
		g, err := p.Register(off, 0x2000, ReadOnly)
		for tries := 0; errors.Is(err, ErrTryAgain); tries++ {
			require.Less(t, tries, 4)
			r.quiet()
			g, err = p.Register(off, 0x2000, ReadOnly)
		}
		require.NoError(t, err, i)
		p.Release(g)
		last = g
	}
	again, err := p.Register(dataAt+99*0x3000, 1, ReadOnly)
	require.NoError(t, err)
	require.Same(t, last, again)
	for i := range 11 { // with the one above: all twelve entries
		_, err := p.Register(dataAt+uint64(200+3*i)<<12, 0x2000, ReadOnly)
		for tries := 0; errors.Is(err, ErrTryAgain); tries++ {
			require.Less(t, tries, 4)
			r.quiet()
			_, err = p.Register(dataAt+uint64(200+3*i)<<12, 0x2000, ReadOnly)
		}
		require.NoError(t, err)
	}
	r.quiet()
	_, err = p.Register(dataAt, 0x2000, ReadOnly)
	require.ErrorIs(t, err, drivers.ErrTablesFull, "all regions are in use")
}
