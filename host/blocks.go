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

func (r *Rank) checkLayout(what string, l Layout, buf []byte) error {
	if len(l.counts) != r.size || len(buf) != l.Bytes() {
		return fmt.Errorf("%w: %s among %d ranks: a layout of %d blocks and a buffer of %d bytes, expected %d blocks and %d bytes",
			drivers.ErrConfig, what, r.size, len(l.counts), len(buf), r.size, l.Bytes())
	}
	return nil
}

// Gatherv collects every rank's block at the root: linear. all is used at the
// root only.
func (r *Rank) Gatherv(root int, mine, all []byte, l Layout) error {
	if err := r.checkRoot("gather", root); err != nil {
		return err
	}
	if r.id != root {
		return r.collSend(root, tagGather, mine)
	}
	if err := r.checkLayout("gather", l, all); err != nil {
		return err
	}
	copy(l.Of(all, root), mine)
	return r.others(func(p int) error { return r.collRecv(p, tagGather, l.Of(all, p)) })
}

// Scatterv gives every rank its block of the root's buffer: linear.
func (r *Rank) Scatterv(root int, all, mine []byte, l Layout) error {
	if err := r.checkRoot("scatter", root); err != nil {
		return err
	}
	if r.id != root {
		return r.collRecv(root, tagScatter, mine)
	}
	if err := r.checkLayout("scatter", l, all); err != nil {
		return err
	}
	copy(mine, l.Of(all, root))
	return r.others(func(p int) error { return r.collSend(p, tagScatter, l.Of(all, p)) })
}

// Gather is Gatherv with blocks of len(mine) bytes: a binomial tree.
func (r *Rank) Gather(root int, mine, all []byte) error {
	n := len(mine)
	if r.linear {
		return r.Gatherv(root, mine, all, Even(r.size, n))
	}
	if err := r.checkRoot("gather", root); err != nil {
		return err
	}
	if r.id == root {
		if err := r.checkLayout("gather", Even(r.size, n), all); err != nil {
			return err
		}
	}
	v := (r.id - root + r.size) % r.size
	tmp := make([]byte, n*subtree(v, r.size)) // blocks of v, v+1, …
	copy(tmp, mine)
	for mask := 1; mask < r.size; mask *= 2 {
		if v&mask != 0 {
			return r.collSend((v-mask+root)%r.size, tagGather, tmp)
		}
		if child := v + mask; child < r.size {
			if err := r.collRecv((child+root)%r.size, tagGather, tmp[mask*n:][:subtree(child, r.size)*n]); err != nil {
				return err
			}
		}
	}
	rotate(all, tmp, root*n)
	return nil
}

// Scatter is Scatterv with blocks of len(mine) bytes: a binomial tree.
func (r *Rank) Scatter(root int, all, mine []byte) error {
	n := len(mine)
	if r.linear {
		return r.Scatterv(root, all, mine, Even(r.size, n))
	}
	if err := r.checkRoot("scatter", root); err != nil {
		return err
	}
	v := (r.id - root + r.size) % r.size
	tmp := make([]byte, n*subtree(v, r.size))
	if r.id == root {
		if err := r.checkLayout("scatter", Even(r.size, n), all); err != nil {
			return err
		}
		copy(tmp[copy(tmp, all[root*n:]):], all)
	}
	mask := 1
	for ; mask < r.size && v&mask == 0; mask *= 2 {
	}
	if v != 0 {
		if err := r.collRecv((v-mask+root)%r.size, tagScatter, tmp); err != nil {
			return err
		}
	}
	for mask /= 2; mask > 0; mask /= 2 {
		if child := v + mask; child < r.size {
			if err := r.collSend((child+root)%r.size, tagScatter, tmp[mask*n:][:subtree(child, r.size)*n]); err != nil {
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

// rotate copies from to to, beginning at offset at and going round.
func rotate(to, from []byte, at int) { copy(to, from[copy(to[at:], from):]) }

// Allgatherv gives every rank every rank's block: a ring.
func (r *Rank) Allgatherv(mine, all []byte, l Layout) error {
	if err := r.checkLayout("allgather", l, all); err != nil {
		return err
	}
	copy(l.Of(all, r.id), mine)
	if r.linear {
		return r.toAndFromAll(tagAllgather, func(int) []byte { return mine }, func(p int) []byte { return l.Of(all, p) })
	}
	right, left := (r.id+1)%r.size, (r.id-1+r.size)%r.size
	for i := range r.size - 1 {
		out, in := (r.id-i+r.size)%r.size, (r.id-i-1+r.size)%r.size
		if err := r.exchange(tagAllgather, right, l.Of(all, out), left, l.Of(all, in)); err != nil {
			return err
		}
	}
	return nil
}

// Allgather is Allgatherv with blocks of len(mine) bytes.
func (r *Rank) Allgather(mine, all []byte) error {
	return r.Allgatherv(mine, all, Even(r.size, len(mine)))
}

// Alltoallv sends block i of out to rank i and receives block i of in from it:
// pairs exchange, one peer after the other.
func (r *Rank) Alltoallv(out []byte, lo Layout, in []byte, li Layout) error {
	if err := r.checkLayout("alltoall", lo, out); err != nil {
		return err
	}
	if err := r.checkLayout("alltoall", li, in); err != nil {
		return err
	}
	copy(li.Of(in, r.id), lo.Of(out, r.id))
	if r.linear {
		return r.toAndFromAll(tagAlltoall, func(p int) []byte { return lo.Of(out, p) }, func(p int) []byte { return li.Of(in, p) })
	}
	for i := 1; i < r.size; i++ {
		to, from := (r.id+i)%r.size, (r.id-i+r.size)%r.size
		if err := r.exchange(tagAlltoall, to, lo.Of(out, to), from, li.Of(in, from)); err != nil {
			return err
		}
	}
	return nil
}

// Alltoall is Alltoallv with blocks of n bytes.
func (r *Rank) Alltoall(out, in []byte, n int) error {
	l := Even(r.size, n)
	return r.Alltoallv(out, l, in, l)
}

// toAndFromAll sends to every other rank, then receives from every other: the
// linear algorithm (FC paper, section 5.3). Messages that need a rendezvous are
// all under way at a time, for a send of theirs waits for its receive.
func (r *Rank) toAndFromAll(tag int, out, in func(peer int) []byte) error {
	var sends []*Request
	if err := r.others(func(p int) error {
		if len(out(p)) <= EagerMax {
			return r.collSend(p, tag, out(p))
		}
		q, err := r.isend(p, tag, commCollective, out(p))
		sends = append(sends, q)
		return err
	}); err != nil {
		return err
	}
	for i := 1; i < r.size; i++ {
		p := (r.id - i + r.size) % r.size
		if err := r.collRecv(p, tag, in(p)); err != nil {
			return err
		}
	}
	return r.Waitall(sends)
}
