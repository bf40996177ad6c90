package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A Layout cuts a buffer into one block per rank: block i is the Counts[i] bytes
// from the sum of those before it.
type Layout struct{ counts, offsets []int }

// NewLayout makes a layout of blocks of the given sizes.
func NewLayout(counts []int) Layout {
	l := Layout{counts: counts, offsets: make([]int, len(counts)+1)}
	for i, n := range counts {
		l.offsets[i+1] = l.offsets[i] + n
	}
	return l
}

// Even is a layout of ranks blocks of n bytes.
func Even(ranks, n int) Layout {
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = n
	}
	return NewLayout(counts)
}

// Of is block i of b.
func (l Layout) Of(b []byte, i int) []byte { return b[l.offsets[i]:l.offsets[i+1]] }

// Bytes is the size of the whole buffer.
func (l Layout) Bytes() int { return l.offsets[len(l.offsets)-1] }

func (c *Comm) checkLayout(what string, l Layout, buf []byte) error {
	if len(l.counts) != c.size || len(buf) != l.Bytes() {
		return fmt.Errorf("%w: %s among %d ranks: a layout of %d blocks and a buffer of %d bytes, expected %d blocks and %d bytes",
			drivers.ErrConfig, what, c.size, len(l.counts), len(buf), c.size, l.Bytes())
	}
	return nil
}

// Gatherv collects every rank's block at the root: linear. all is used at the
// root only.
func (c *Comm) Gatherv(root int, mine, all []byte, l Layout) error {
	if err := c.checkRoot("gather", root); err != nil {
		return err
	}
	if c.id != root {
		return c.collSend(root, tagGather, mine)
	}
	if err := c.checkLayout("gather", l, all); err != nil {
		return err
	}
	copy(l.Of(all, root), mine)
	return c.others(func(p int) error { return c.collRecv(p, tagGather, l.Of(all, p)) })
}

// Scatterv gives every rank its block of the root's buffer: linear.
func (c *Comm) Scatterv(root int, all, mine []byte, l Layout) error {
	if err := c.checkRoot("scatter", root); err != nil {
		return err
	}
	if c.id != root {
		return c.collRecv(root, tagScatter, mine)
	}
	if err := c.checkLayout("scatter", l, all); err != nil {
		return err
	}
	copy(mine, l.Of(all, root))
	return c.others(func(p int) error { return c.collSend(p, tagScatter, l.Of(all, p)) })
}

// Gather is Gatherv with blocks of len(mine) bytes: a binomial tree.
func (c *Comm) Gather(root int, mine, all []byte) error {
	n := len(mine)
	if c.rank.linear {
		return c.Gatherv(root, mine, all, Even(c.size, n))
	}
	if err := c.checkRoot("gather", root); err != nil {
		return err
	}
	if c.id == root {
		if err := c.checkLayout("gather", Even(c.size, n), all); err != nil {
			return err
		}
	}
	v := (c.id - root + c.size) % c.size
	tmp := make([]byte, n*subtree(v, c.size)) // blocks of v, v+1, …
	copy(tmp, mine)
	for mask := 1; mask < c.size; mask *= 2 {
		if v&mask != 0 {
			return c.collSend((v-mask+root)%c.size, tagGather, tmp)
		}
		if child := v + mask; child < c.size {
			if err := c.collRecv((child+root)%c.size, tagGather, tmp[mask*n:][:subtree(child, c.size)*n]); err != nil {
				return err
			}
		}
	}
	rotate(all, tmp, root*n)
	return nil
}

// Scatter is Scatterv with blocks of len(mine) bytes: a binomial tree.
func (c *Comm) Scatter(root int, all, mine []byte) error {
	n := len(mine)
	if c.rank.linear {
		return c.Scatterv(root, all, mine, Even(c.size, n))
	}
	if err := c.checkRoot("scatter", root); err != nil {
		return err
	}
	v := (c.id - root + c.size) % c.size
	tmp := make([]byte, n*subtree(v, c.size))
	if c.id == root {
		if err := c.checkLayout("scatter", Even(c.size, n), all); err != nil {
			return err
		}
		copy(tmp[copy(tmp, all[root*n:]):], all)
	}
	mask := lowest(v, c.size)
	if v != 0 {
		if err := c.collRecv((v-mask+root)%c.size, tagScatter, tmp); err != nil {
			return err
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if child := v + mask; child < c.size {
			if err := c.collSend((child+root)%c.size, tagScatter, tmp[mask*n:][:subtree(child, c.size)*n]); err != nil {
				return err
			}
		}
	}
	copy(mine, tmp)
	return nil
}

// subtree is the number of ranks at and below v in the binomial tree of size
// ranks with root 0.
func subtree(v, size int) int {
	if v == 0 {
		return size
	}
	return min(v&-v, size-v)
}

// lowest is the lowest bit of v, or the first power of two that is not below size: the distance to
// the parent of v in a binomial tree, above those to its children.
func lowest(v, size int) int {
	mask := 1
	for ; mask < size && v&mask == 0; mask *= 2 {
	}
	return mask
}

// rotate copies from to to, beginning at offset at and going round.
func rotate(to, from []byte, at int) { copy(to, from[copy(to[at:], from):]) }

// Allgatherv gives every rank every rank's block: a ring.
func (c *Comm) Allgatherv(mine, all []byte, l Layout) error {
	if err := c.checkLayout("allgather", l, all); err != nil {
		return err
	}
	copy(l.Of(all, c.id), mine)
	if c.rank.linear {
		return c.toAndFromAll(tagAllgather, func(int) []byte { return mine }, func(p int) []byte { return l.Of(all, p) })
	}
	right, left := (c.id+1)%c.size, (c.id-1+c.size)%c.size
	for i := range c.size - 1 {
		out, in := (c.id-i+c.size)%c.size, (c.id-i-1+c.size)%c.size
		if err := c.exchange(tagAllgather, right, l.Of(all, out), left, l.Of(all, in)); err != nil {
			return err
		}
	}
	return nil
}

// Allgather is Allgatherv with blocks of len(mine) bytes.
func (c *Comm) Allgather(mine, all []byte) error {
	return c.Allgatherv(mine, all, Even(c.size, len(mine)))
}

// Alltoallv sends block i of out to rank i and receives block i of in from it:
// pairs exchange, one peer after the other.
func (c *Comm) Alltoallv(out []byte, lo Layout, in []byte, li Layout) error {
	if err := c.checkLayout("alltoall", lo, out); err != nil {
		return err
	}
	if err := c.checkLayout("alltoall", li, in); err != nil {
		return err
	}
	copy(li.Of(in, c.id), lo.Of(out, c.id))
	if c.rank.linear {
		return c.toAndFromAll(tagAlltoall, func(p int) []byte { return lo.Of(out, p) }, func(p int) []byte { return li.Of(in, p) })
	}
	for i := 1; i < c.size; i++ {
		to, from := (c.id+i)%c.size, (c.id-i+c.size)%c.size
		if err := c.exchange(tagAlltoall, to, lo.Of(out, to), from, li.Of(in, from)); err != nil {
			return err
		}
	}
	return nil
}

// Alltoall is Alltoallv with blocks of n bytes.
func (c *Comm) Alltoall(out, in []byte, n int) error {
	l := Even(c.size, n)
	return c.Alltoallv(out, l, in, l)
}

// AlltoallEach is a linear Alltoall with blocks of n bytes, at most EagerMax, without the buffers of a
// large world: out gives the block for a peer, in the place for the block of one, and
// got is told when that is there. What out and in give is used again for the next peer.
func (c *Comm) AlltoallEach(n int, out, in func(peer int) []byte, got func(peer int) error) error {
	if n > EagerMax {
		return fmt.Errorf("%w: blocks of %d bytes, one at a time: expected at most %d, beyond which a send waits for its receive", drivers.ErrConfig, n, EagerMax)
	}
	if err := c.others(func(p int) error { return c.collSend(p, tagAlltoall, out(p)) }); err != nil {
		return err
	}
	for i := 1; i < c.size; i++ {
		p := (c.id - i + c.size) % c.size
		if err := c.collRecv(p, tagAlltoall, in(p)); err != nil {
			return err
		}
		if err := got(p); err != nil {
			return err
		}
	}
	return nil
}

// toAndFromAll sends to every other rank, then receives from every other: the
// linear algorithm (FC paper, section 5.3). Messages that need a rendezvous are
// all under way at a time, for a send of theirs waits for its receive.
func (c *Comm) toAndFromAll(tag int, out, in func(peer int) []byte) error {
	var sends []*Request
	if err := c.others(func(p int) error {
		if len(out(p)) <= EagerMax {
			return c.collSend(p, tag, out(p))
		}
		q, err := c.collIsend(p, tag, out(p))
		sends = append(sends, q)
		return err
	}); err != nil {
		return err
	}
	for i := 1; i < c.size; i++ {
		p := (c.id - i + c.size) % c.size
		if err := c.collRecv(p, tag, in(p)); err != nil {
			return err
		}
	}
	return c.rank.Waitall(sends)
}
