package imb

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/host"
)

func (x *rank) root(k int) int { return x.c.root(k, x.Size()) }

// fill and verify are for block number d that rank s contributes to iteration k.
func (x *rank) fill(b []byte, s, d, k int)         { bench.Fill(b, x.c.Run.Seed, s, d, k) }
func (x *rank) verify(b []byte, s, d, k int) error { return bench.Verify(b, x.c.Run.Seed, s, d, k) }

// pair allocates a rank's own buffer and one for all.
func (x *rank) pair(mine, all int) (a, b []byte, err error) {
	if a, err = x.r.Alloc(mine); err != nil {
		return nil, nil, err
	}
	b, err = x.r.Alloc(all)
	return a, b, err
}

// put writes what a rank adds to iteration k, sums checks the sum of all ranks':
// rank r adds (r+1)(i+k+1) as element i.
func (x *rank) put(b []byte, k int) {
	for i := range len(b) / elementBytes {
		binary.LittleEndian.PutUint64(b[i*elementBytes:], uint64((x.ID()+1)*(i+k+1)))
	}
}

func (x *rank) sums(b []byte, first, k int) error {
	total := x.Size() * (x.Size() + 1) / 2
	for i := range len(b) / elementBytes {
		want := uint64(total * (first + i + k + 1))
		if got := binary.LittleEndian.Uint64(b[i*elementBytes:]); got != want {
			return fmt.Errorf("reduction %d among %d ranks, rank %d: element %d is %d, expected %d", k, x.Size(), x.r.ID(), first+i, got, want)
		}
	}
	return nil
}

func (x *rank) allreduce(n int) (func(int) error, error) {
	b, err := x.r.Alloc(n)
	return func(k int) error {
		x.put(b, k)
		if err := x.Allreduce(b, host.SumInt64); err != nil {
			return err
		}
		return x.sums(b, 0, k)
	}, err
}

func (x *rank) reduce(n int) (func(int) error, error) {
	b, err := x.r.Alloc(n)
	return func(k int) error {
		x.put(b, k)
		root := x.root(k)
		if err := x.Reduce(root, b, host.SumInt64); err != nil || x.ID() != root {
			return err
		}
		return x.sums(b, 0, k)
	}, err
}

// reduceScatter deals the elements of n bytes out to the ranks, the first ranks
// getting one more if they do not divide.
func (x *rank) reduceScatter(n int) (func(int) error, error) {
	counts := make([]int, x.Size())
	first := 0
	for i := range counts {
		elements := n / elementBytes / x.Size()
		if i < n/elementBytes%x.Size() {
			elements++
		}
		counts[i] = elements * elementBytes
		if i < x.ID() {
			first += elements
		}
	}
	l := host.NewLayout(counts)
	mine, all, err := x.pair(counts[x.ID()], n)
	return func(k int) error {
		x.put(all, k)
		if err := x.ReduceScatter(all, mine, l, host.SumInt64); err != nil {
			return err
		}
		return x.sums(mine, first, k)
	}, err
}

func (x *rank) allgather(n int) (func(int) error, error) {
	return x.gathered(n, true, func(_ int, mine, all []byte) error { return x.Allgather(mine, all) })
}

func (x *rank) allgatherv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.gathered(n, true, func(_ int, mine, all []byte) error { return x.Allgatherv(mine, all, l) })
}

func (x *rank) gather(n int) (func(int) error, error) {
	return x.gathered(n, false, func(root int, mine, all []byte) error { return x.Gather(root, mine, all) })
}

func (x *rank) gatherv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.gathered(n, false, func(root int, mine, all []byte) error { return x.Gatherv(root, mine, all, l) })
}

// gathered collects every rank's block at the root, or everywhere.
func (x *rank) gathered(n int, everywhere bool, do func(root int, mine, all []byte) error) (func(int) error, error) {
	mine, all, err := x.pair(n, n*x.Size())
	return func(k int) error {
		x.fill(mine, x.ID(), 0, k)
		root := x.root(k)
		if err := do(root, mine, all); err != nil || (x.ID() != root && !everywhere) {
			return err
		}
		for s := range x.Size() {
			if err := x.verify(all[s*n:(s+1)*n], s, 0, k); err != nil {
				return err
			}
		}
		return nil
	}, err
}

func (x *rank) scatter(n int) (func(int) error, error) {
	return x.scattered(n, func(root int, all, mine []byte) error { return x.Scatter(root, all, mine) })
}

func (x *rank) scatterv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.scattered(n, func(root int, all, mine []byte) error { return x.Scatterv(root, all, mine, l) })
}

func (x *rank) scattered(n int, do func(root int, all, mine []byte) error) (func(int) error, error) {
	mine, all, err := x.pair(n, n*x.Size())
	return func(k int) error {
		root := x.root(k)
		if x.ID() == root {
			for d := range x.Size() {
				x.fill(all[d*n:(d+1)*n], root, d, k)
			}
		}
		if err := do(root, all, mine); err != nil {
			return err
		}
		return x.verify(mine, root, x.ID(), k)
	}, err
}

func (x *rank) alltoall(n int) (func(int) error, error) {
	if x.c.Linear && n <= host.EagerMax {
		return x.blockByBlock(n)
	}
	return x.exchanged(n, func(out, in []byte) error { return x.Alltoall(out, in, n) })
}

// blockByBlock is the linear alltoall with one block of each kind: a thousand ranks with
// all of theirs would hold gigabytes.
func (x *rank) blockByBlock(n int) (func(int) error, error) {
	out, in, err := x.pair(n, n)
	return func(k int) error {
		return x.AlltoallEach(n,
			func(d int) []byte { x.fill(out, x.ID(), d, k); return out },
			func(int) []byte { return in },
			func(s int) error { return x.verify(in, s, x.ID(), k) })
	}, err
}

func (x *rank) alltoallv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.exchanged(n, func(out, in []byte) error { return x.Alltoallv(out, l, in, l) })
}

func (x *rank) exchanged(n int, do func(out, in []byte) error) (func(int) error, error) {
	out, in, err := x.pair(n*x.Size(), n*x.Size())
	return func(k int) error {
		for d := range x.Size() {
			x.fill(out[d*n:(d+1)*n], x.ID(), d, k)
		}
		if err := do(out, in); err != nil {
			return err
		}
		for s := range x.Size() {
			if err := x.verify(in[s*n:(s+1)*n], s, x.ID(), k); err != nil {
				return err
			}
		}
		return nil
	}, err
}

func (x *rank) bcast(n int) (func(int) error, error) {
	b, err := x.r.Alloc(n)
	return func(k int) error {
		root := x.root(k)
		if x.ID() == root {
			x.fill(b, root, root, k)
		}
		if err := x.Bcast(root, b); err != nil {
			return err
		}
		return x.verify(b, root, root, k)
	}, err
}

func (x *rank) barrier(int) (func(int) error, error) {
	return func(int) error { return x.Barrier() }, nil
}
