package host

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// A Layout divides a buffer into one block per rank. Blocks are contiguous and in the order of
// ranks.
type Layout struct{ counts, offsets []int }

// NewLayout makes a layout of blocks of the given sizes in bytes.
func NewLayout(counts []int) Layout {
	l := Layout{counts: counts, offsets: make([]int, len(counts)+1)}
	for i, n := range counts {
		l.offsets[i+1] = l.offsets[i] + n
	}
	return l
}

// Even makes a layout of one block of n bytes per rank.
func Even(ranks, n int) Layout {
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = n
	}
	return NewLayout(counts)
}

// split makes a layout that divides n bytes into blocks of about equal length. Each block is a
// multiple of unit bytes.
func split(ranks, n, unit int) Layout {
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = (n/unit*(i+1)/ranks - n/unit*i/ranks) * unit
	}
	return NewLayout(counts)
}

// Of returns block i of b.
func (l Layout) Of(b []byte, i int) []byte { return l.span(b, i, i+1) }

// span returns the blocks from to to-1 of b.
func (l Layout) span(b []byte, from, to int) []byte { return b[l.offsets[from]:l.offsets[to]] }

// longestHalf returns the length of the longest message that joins the blocks of half of the ranks.
// Fits knows only their average length.
func (l Layout) longestHalf() int {
	half := l.offsets[len(l.counts)/2]
	return max(half, l.Bytes()-half)
}

// Bytes returns the length of the whole buffer.
func (l Layout) Bytes() int {
	if len(l.offsets) == 0 {
		return 0
	}
	return l.offsets[len(l.offsets)-1]
}

// ordered reports whether no block has a negative length and the sum did not overflow.
func (l Layout) ordered() bool { return slices.IsSorted(l.offsets) }

func (c *Comm) checkLayout(what Collective, l Layout, buf []byte) error {
	if !l.ordered() {
		return fmt.Errorf("%w: %s among %d ranks: layout has a negative block length, or its sum overflows", drivers.ErrConfig, what, c.size)
	}
	if len(l.counts) != c.size || len(buf) != l.Bytes() {
		return fmt.Errorf("%w: %s among %d ranks: layout of %d blocks and buffer of %d bytes: expected %d blocks and %d bytes",
			drivers.ErrConfig, what, c.size, len(l.counts), len(buf), c.size, l.Bytes())
	}
	return nil
}

func (c *Comm) checkRoot(what Collective, root int) error {
	if root < 0 || root >= c.size {
		return fmt.Errorf("%w: %s from rank %d: expected 0 to %d", drivers.ErrConfig, what, root, c.size-1)
	}
	return nil
}
