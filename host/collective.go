package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// Collectives. All members of a communicator call them in the same order. Those whose names begin
// with I do not wait: each gives a request, buffers belong to it until it is done, several may be
// under way at once, also with those that wait, and all make progress whenever their rank does.
//
// Both forms are one schedule, made by the algorithm that choose gives (algorithm.go).

// Barrier returns when every rank has entered it.
func (c *Comm) Barrier() error { return c.wait(call{kind: Barrier}, nil) }

// Ibarrier is Barrier without waiting.
func (c *Comm) Ibarrier() (*Request, error) { return c.start(call{kind: Barrier}, nil) }

// Bcast gives every rank the root's data.
func (c *Comm) Bcast(root int, data []byte) error { return c.wait(c.bcast(root, data)) }

// Ibcast is Bcast without waiting.
func (c *Comm) Ibcast(root int, data []byte) (*Request, error) { return c.start(c.bcast(root, data)) }

func (c *Comm) bcast(root int, data []byte) (call, error) {
	return call{kind: Bcast, root: root, in: data, bytes: len(data)}, c.checkRoot(Bcast, root)
}

// Gather is Gatherv with blocks of len(mine) bytes.
func (c *Comm) Gather(root int, mine, all []byte) error {
	return c.wait(c.gather(Gather, root, mine, all, Even(c.size, len(mine))))
}

// Igather is Gather without waiting.
func (c *Comm) Igather(root int, mine, all []byte) (*Request, error) {
	return c.start(c.gather(Gather, root, mine, all, Even(c.size, len(mine))))
}

// Gatherv collects every rank's block at the root. all and l are used there only.
func (c *Comm) Gatherv(root int, mine, all []byte, l Layout) error {
	return c.wait(c.gather(Gatherv, root, mine, all, l))
}

// Igatherv is Gatherv without waiting.
func (c *Comm) Igatherv(root int, mine, all []byte, l Layout) (*Request, error) {
	return c.start(c.gather(Gatherv, root, mine, all, l))
}

func (c *Comm) gather(kind Collective, root int, mine, all []byte, l Layout) (call, error) {
	err := c.checkRoot(kind, root)
	if err == nil && c.id == root {
		err = c.checkLayout(kind, l, all)
	}
	return call{kind: kind, root: root, out: mine, in: all, li: l, bytes: len(mine)}, err
}

// Scatter is Scatterv with blocks of len(mine) bytes.
func (c *Comm) Scatter(root int, all, mine []byte) error {
	return c.wait(c.scatter(Scatter, root, all, mine, Even(c.size, len(mine))))
}

// Iscatter is Scatter without waiting.
func (c *Comm) Iscatter(root int, all, mine []byte) (*Request, error) {
	return c.start(c.scatter(Scatter, root, all, mine, Even(c.size, len(mine))))
}

// Scatterv gives every rank its block of the root's buffer. all and l are used there only.
func (c *Comm) Scatterv(root int, all, mine []byte, l Layout) error {
	return c.wait(c.scatter(Scatterv, root, all, mine, l))
}

// Iscatterv is Scatterv without waiting.
func (c *Comm) Iscatterv(root int, all, mine []byte, l Layout) (*Request, error) {
	return c.start(c.scatter(Scatterv, root, all, mine, l))
}

func (c *Comm) scatter(kind Collective, root int, all, mine []byte, l Layout) (call, error) {
	err := c.checkRoot(kind, root)
	if err == nil && c.id == root {
		err = c.checkLayout(kind, l, all)
	}
	return call{kind: kind, root: root, out: all, in: mine, lo: l, bytes: len(mine)}, err
}

// Allgather is Allgatherv with blocks of len(mine) bytes.
func (c *Comm) Allgather(mine, all []byte) error {
	return c.wait(c.allgather(Allgather, mine, all, Even(c.size, len(mine))))
}

// Iallgather is Allgather without waiting.
func (c *Comm) Iallgather(mine, all []byte) (*Request, error) {
	return c.start(c.allgather(Allgather, mine, all, Even(c.size, len(mine))))
}

// Allgatherv gives every rank every rank's block.
func (c *Comm) Allgatherv(mine, all []byte, l Layout) error {
	return c.wait(c.allgather(Allgatherv, mine, all, l))
}

// Iallgatherv is Allgatherv without waiting.
func (c *Comm) Iallgatherv(mine, all []byte, l Layout) (*Request, error) {
	return c.start(c.allgather(Allgatherv, mine, all, l))
}

func (c *Comm) allgather(kind Collective, mine, all []byte, l Layout) (call, error) {
	err := c.checkLayout(kind, l, all)
	if err == nil && len(mine) != l.counts[c.id] {
		err = fmt.Errorf("%w: %s of %d bytes of rank %d: its layout has %d", drivers.ErrConfig, kind, len(mine), c.id, l.counts[c.id])
	}
	return call{kind: kind, out: mine, in: all, li: l, bytes: len(all) / c.size}, err
}

// Alltoall is Alltoallv with blocks of n bytes.
func (c *Comm) Alltoall(out, in []byte, n int) error { return c.wait(c.alltoallEven(out, in, n)) }

// Ialltoall is Alltoall without waiting.
func (c *Comm) Ialltoall(out, in []byte, n int) (*Request, error) {
	return c.start(c.alltoallEven(out, in, n))
}

func (c *Comm) alltoallEven(out, in []byte, n int) (call, error) {
	l := Even(c.size, n)
	x, err := c.alltoall(Alltoall, out, l, in, l)
	x.bytes = n
	return x, err
}

// Alltoallv sends block i of out to rank i and receives block i of in from it.
func (c *Comm) Alltoallv(out []byte, lo Layout, in []byte, li Layout) error {
	return c.wait(c.alltoall(Alltoallv, out, lo, in, li))
}

// Ialltoallv is Alltoallv without waiting.
func (c *Comm) Ialltoallv(out []byte, lo Layout, in []byte, li Layout) (*Request, error) {
	return c.start(c.alltoall(Alltoallv, out, lo, in, li))
}

func (c *Comm) alltoall(kind Collective, out []byte, lo Layout, in []byte, li Layout) (call, error) {
	err := c.checkLayout(kind, lo, out)
	if err == nil {
		err = c.checkLayout(kind, li, in)
	}
	if err == nil && lo.counts[c.id] != li.counts[c.id] {
		err = fmt.Errorf("%w: %s: rank %d sends itself %d bytes and receives %d of them", drivers.ErrConfig, kind, c.id, lo.counts[c.id], li.counts[c.id])
	}
	return call{kind: kind, out: out, lo: lo, in: in, li: li}, err
}

// AlltoallEach is a linear Alltoall with blocks of n bytes, at most EagerMax, without the buffers
// of a large world: out gives the block for a peer, in the position of the block of one, and got is
// told when that is there. What out and in give is used again for the next peer.
func (c *Comm) AlltoallEach(n int, out, in func(peer int) []byte, got func(peer int) error) error {
	if n < 0 || n > EagerMax {
		return fmt.Errorf("%w: blocks of %d bytes, one at a time: expected 0 to %d, beyond which a send waits for its receive", drivers.ErrConfig, n, EagerMax)
	}
	if out == nil || in == nil || got == nil {
		return fmt.Errorf("%w: blocks one at a time without a function for those to send, to receive and received", drivers.ErrConfig)
	}
	for i := 1; i < c.size; i++ {
		p := (c.id + i) % c.size
		if err := c.send(p, int(Alltoall), c.inner, out(p)); err != nil {
			return err
		}
	}
	for i := 1; i < c.size; i++ {
		p := (c.id - i + c.size) % c.size
		if _, err := c.recv(p, int(Alltoall), c.inner, in(p)); err != nil {
			return err
		}
		if err := got(p); err != nil {
			return err
		}
	}
	return nil
}

// Reduce leaves at the root the combination of every rank's data. The data of other ranks is
// unspecified afterwards.
func (c *Comm) Reduce(root int, data []byte, op Op) error { return c.wait(c.reduce(root, data, op)) }

// Ireduce is Reduce without waiting.
func (c *Comm) Ireduce(root int, data []byte, op Op) (*Request, error) {
	return c.start(c.reduce(root, data, op))
}

func (c *Comm) reduce(root int, data []byte, op Op) (call, error) {
	err := c.checkRoot(Reduce, root)
	if err == nil {
		err = op.check(Reduce, len(data))
	}
	return call{kind: Reduce, root: root, in: data, op: op, bytes: len(data)}, err
}

// Allreduce leaves the combination at every rank.
func (c *Comm) Allreduce(data []byte, op Op) error { return c.wait(c.allreduce(data, op)) }

// Iallreduce is Allreduce without waiting.
func (c *Comm) Iallreduce(data []byte, op Op) (*Request, error) {
	return c.start(c.allreduce(data, op))
}

func (c *Comm) allreduce(data []byte, op Op) (call, error) {
	return call{kind: Allreduce, in: data, op: op, bytes: len(data)}, op.check(Allreduce, len(data))
}

// ReduceScatter combines every rank's all and leaves block i of the result at rank i.
func (c *Comm) ReduceScatter(all, mine []byte, l Layout, op Op) error {
	return c.wait(c.reduceScatter(all, mine, l, op))
}

// IreduceScatter is ReduceScatter without waiting.
func (c *Comm) IreduceScatter(all, mine []byte, l Layout, op Op) (*Request, error) {
	return c.start(c.reduceScatter(all, mine, l, op))
}

func (c *Comm) reduceScatter(all, mine []byte, l Layout, op Op) (call, error) {
	err := c.checkLayout(ReduceScatter, l, all)
	if err == nil && len(mine) != l.counts[c.id] {
		err = fmt.Errorf("%w: %s into %d bytes: expected %d, as its layout has them", drivers.ErrConfig, ReduceScatter, len(mine), l.counts[c.id])
	}
	for _, n := range l.counts {
		if err == nil {
			err = op.check(ReduceScatter, n)
		}
	}
	return call{kind: ReduceScatter, out: all, in: mine, lo: l, op: op, bytes: len(all)}, err
}
