package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/host"
)

// A Member is a rank that takes part in collectives, and generates and checks their data.
type Member struct {
	*host.Comm
	Rank *host.Rank
	Seed int64
	Root func(k int) int // of iteration k
	// Linear makes alltoall use one block of each kind, see blockByBlock.
	Linear bool
	// Verified receives the number of verified bytes from others; may be nil.
	Verified func(n int)
}

// Prepare returns the function of one iteration of a collective with messages or blocks of n bytes;
// reduce-scatter divides n bytes.
func (x *Member) Prepare(kind host.Collective, n int) (func(k int) error, error) {
	return map[host.Collective]func(int) (func(int) error, error){
		host.Barrier: x.barrier, host.Bcast: x.bcast, host.Gather: x.gather, host.Gatherv: x.gatherv, host.Scatter: x.scatter,
		host.Scatterv: x.scatterv, host.Allgather: x.allgather, host.Allgatherv: x.allgatherv, host.Alltoall: x.alltoall,
		host.Alltoallv: x.alltoallv, host.Reduce: x.reduce, host.Allreduce: x.allreduce, host.ReduceScatter: x.reduceScatter,
	}[kind](n)
}

// fill and verify generate and check block d that rank s contributes to iteration k.
func (x *Member) fill(b []byte, s, d, k int) { fill(b, x.Seed, s, d, k) }

func (x *Member) verify(b []byte, s, d, k int) error {
	if s != x.ID() {
		x.got(len(b))
	}
	return verify(b, x.Seed, s, d, k)
}

func (x *Member) got(n int) {
	if x.Verified != nil {
		x.Verified(n)
	}
}

// pair allocates a rank's own buffer and one for all ranks.
func (x *Member) pair(mine, all int) (a, b []byte, err error) {
	if a, err = x.Rank.Alloc(mine); err != nil {
		return nil, nil, err
	}
	b, err = x.Rank.Alloc(all)
	return a, b, err
}

// put writes a rank's contribution to iteration k, sums checks the sum over all ranks: rank r
// contributes (r+1)(i+k+1) as element i.
func (x *Member) put(b []byte, k int) {
	for i := range len(b) / ElementBytes {
		binary.LittleEndian.PutUint64(b[i*ElementBytes:], uint64((x.ID()+1)*(i+k+1)))
	}
}

func (x *Member) sums(b []byte, first, k int) error {
	total := x.Size() * (x.Size() + 1) / 2
	for i := range len(b) / ElementBytes {
		want := uint64(total * (first + i + k + 1))
		if got := binary.LittleEndian.Uint64(b[i*ElementBytes:]); got != want {
			return fmt.Errorf("reduction %d among %d ranks, rank %d: element %d is %d, expected %d", k, x.Size(), x.Rank.ID(), first+i, got, want)
		}
	}
	x.got(len(b))
	return nil
}

func (x *Member) allreduce(n int) (func(int) error, error) {
	b, err := x.Rank.Alloc(n)
	return func(k int) error {
		x.put(b, k)
		if err := x.Allreduce(b, host.Sum[int64]()); err != nil {
			return err
		}
		return x.sums(b, 0, k)
	}, err
}

func (x *Member) reduce(n int) (func(int) error, error) {
	b, err := x.Rank.Alloc(n)
	return func(k int) error {
		x.put(b, k)
		root := x.Root(k)
		if err := x.Reduce(root, b, host.Sum[int64]()); err != nil || x.ID() != root {
			return err
		}
		return x.sums(b, 0, k)
	}, err
}

// reduceScatter divides the elements of n bytes among the ranks; the first ranks receive one more
// if they do not divide evenly.
func (x *Member) reduceScatter(n int) (func(int) error, error) {
	counts := make([]int, x.Size())
	first := 0
	for i := range counts {
		elements := n / ElementBytes / x.Size()
		if i < n/ElementBytes%x.Size() {
			elements++
		}
		counts[i] = elements * ElementBytes
		if i < x.ID() {
			first += elements
		}
	}
	l := host.NewLayout(counts)
	mine, all, err := x.pair(counts[x.ID()], n)
	return func(k int) error {
		x.put(all, k)
		if err := x.ReduceScatter(all, mine, l, host.Sum[int64]()); err != nil {
			return err
		}
		return x.sums(mine, first, k)
	}, err
}

func (x *Member) allgather(n int) (func(int) error, error) {
	return x.gathered(n, true, func(_ int, mine, all []byte) error { return x.Allgather(mine, all) })
}

func (x *Member) allgatherv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.gathered(n, true, func(_ int, mine, all []byte) error { return x.Allgatherv(mine, all, l) })
}

func (x *Member) gather(n int) (func(int) error, error) {
	return x.gathered(n, false, func(root int, mine, all []byte) error { return x.Gather(root, mine, all) })
}

func (x *Member) gatherv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.gathered(n, false, func(root int, mine, all []byte) error { return x.Gatherv(root, mine, all, l) })
}

// gathered collects the blocks of all ranks at the root, or at all ranks.
func (x *Member) gathered(n int, everywhere bool, do func(root int, mine, all []byte) error) (func(int) error, error) {
	mine, all, err := x.pair(n, n*x.Size())
	return func(k int) error {
		x.fill(mine, x.ID(), 0, k)
		root := x.Root(k)
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

func (x *Member) scatter(n int) (func(int) error, error) {
	return x.scattered(n, func(root int, all, mine []byte) error { return x.Scatter(root, all, mine) })
}

func (x *Member) scatterv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.scattered(n, func(root int, all, mine []byte) error { return x.Scatterv(root, all, mine, l) })
}

func (x *Member) scattered(n int, do func(root int, all, mine []byte) error) (func(int) error, error) {
	mine, all, err := x.pair(n, n*x.Size())
	return func(k int) error {
		root := x.Root(k)
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

func (x *Member) alltoall(n int) (func(int) error, error) {
	if x.Linear && n <= host.EagerMax {
		return x.blockByBlock(n)
	}
	return x.exchanged(n, func(out, in []byte) error { return x.Alltoall(out, in, n) })
}

// blockByBlock is the linear alltoall with one block of each kind: a thousand ranks with all of
// their blocks would need gigabytes.
func (x *Member) blockByBlock(n int) (func(int) error, error) {
	out, in, err := x.pair(n, n)
	return func(k int) error {
		return x.AlltoallEach(n,
			func(d int) []byte { x.fill(out, x.ID(), d, k); return out },
			func(int) []byte { return in },
			func(s int) error { return x.verify(in, s, x.ID(), k) })
	}, err
}

func (x *Member) alltoallv(n int) (func(int) error, error) {
	l := host.Even(x.Size(), n)
	return x.exchanged(n, func(out, in []byte) error { return x.Alltoallv(out, l, in, l) })
}

func (x *Member) exchanged(n int, do func(out, in []byte) error) (func(int) error, error) {
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

func (x *Member) bcast(n int) (func(int) error, error) {
	b, err := x.Rank.Alloc(n)
	return func(k int) error {
		root := x.Root(k)
		if x.ID() == root {
			x.fill(b, root, root, k)
		}
		if err := x.Bcast(root, b); err != nil {
			return err
		}
		return x.verify(b, root, root, k)
	}, err
}

func (x *Member) barrier(int) (func(int) error, error) {
	return func(int) error { return x.Barrier() }, nil
}
