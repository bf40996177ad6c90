package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// All members of a communicator call its collectives in the same order. A collective whose name
// begins with I is nonblocking: it returns a request, and the buffers must not be used before the
// request is done. Several nonblocking collectives and one blocking collective may be in progress
// at a time; all advance whenever their rank makes progress.
//
// Blocking and nonblocking forms execute the same schedule, which the algorithm that choose selects
// has built (algorithm.go).

// Barrier returns when every rank has entered it.
func (c *Comm) Barrier() error { return c.wait(call{kind: Barrier}, nil) }

// Ibarrier is the nonblocking form of [Comm.Barrier].
func (c *Comm) Ibarrier() (*Request, error) { return c.start(call{kind: Barrier}, nil) }

// Bcast copies the root's data to every rank.
func (c *Comm) Bcast(root int, data []byte) error { return c.wait(c.bcast(root, data)) }

// Ibcast is the nonblocking form of [Comm.Bcast].
func (c *Comm) Ibcast(root int, data []byte) (*Request, error) { return c.start(c.bcast(root, data)) }

func (c *Comm) bcast(root int, data []byte) (call, error) {
	return call{kind: Bcast, root: root, in: data, bytes: len(data)}, c.checkRoot(Bcast, root)
}

// Gather is Gatherv with blocks of len(send) bytes.
func (c *Comm) Gather(root int, send, recv []byte) error {
	return c.wait(c.gather(Gather, root, send, recv, Even(c.size, len(send))))
}

// Igather is the nonblocking form of [Comm.Gather].
func (c *Comm) Igather(root int, send, recv []byte) (*Request, error) {
	return c.start(c.gather(Gather, root, send, recv, Even(c.size, len(send))))
}

// Gatherv collects the blocks of all ranks at the root. recv and l are used at the root only.
func (c *Comm) Gatherv(root int, send, recv []byte, l Layout) error {
	return c.wait(c.gather(Gatherv, root, send, recv, l))
}

// Igatherv is the nonblocking form of [Comm.Gatherv].
func (c *Comm) Igatherv(root int, send, recv []byte, l Layout) (*Request, error) {
	return c.start(c.gather(Gatherv, root, send, recv, l))
}

func (c *Comm) gather(kind Collective, root int, send, recv []byte, l Layout) (call, error) {
	err := c.checkRoot(kind, root)
	if err == nil && c.id == root {
		err = c.checkLayout(kind, l, recv)
	}
	return call{kind: kind, root: root, out: send, in: recv, li: l, bytes: len(send)}, err
}

// Scatter is Scatterv with blocks of len(recv) bytes.
func (c *Comm) Scatter(root int, send, recv []byte) error {
	return c.wait(c.scatter(Scatter, root, send, recv, Even(c.size, len(recv))))
}

// Iscatter is the nonblocking form of [Comm.Scatter].
func (c *Comm) Iscatter(root int, send, recv []byte) (*Request, error) {
	return c.start(c.scatter(Scatter, root, send, recv, Even(c.size, len(recv))))
}

// Scatterv sends each rank its block of the root's buffer. send and l are used at the root only.
func (c *Comm) Scatterv(root int, send, recv []byte, l Layout) error {
	return c.wait(c.scatter(Scatterv, root, send, recv, l))
}

// Iscatterv is the nonblocking form of [Comm.Scatterv].
func (c *Comm) Iscatterv(root int, send, recv []byte, l Layout) (*Request, error) {
	return c.start(c.scatter(Scatterv, root, send, recv, l))
}

func (c *Comm) scatter(kind Collective, root int, send, recv []byte, l Layout) (call, error) {
	err := c.checkRoot(kind, root)
	if err == nil && c.id == root {
		err = c.checkLayout(kind, l, send)
	}
	return call{kind: kind, root: root, out: send, in: recv, lo: l, bytes: len(recv)}, err
}

// Allgather is Allgatherv with blocks of len(send) bytes.
func (c *Comm) Allgather(send, recv []byte) error {
	return c.wait(c.allgather(Allgather, send, recv, Even(c.size, len(send))))
}

// Iallgather is the nonblocking form of [Comm.Allgather].
func (c *Comm) Iallgather(send, recv []byte) (*Request, error) {
	return c.start(c.allgather(Allgather, send, recv, Even(c.size, len(send))))
}

// Allgatherv collects the blocks of all ranks at every rank.
func (c *Comm) Allgatherv(send, recv []byte, l Layout) error {
	return c.wait(c.allgather(Allgatherv, send, recv, l))
}

// Iallgatherv is the nonblocking form of [Comm.Allgatherv].
func (c *Comm) Iallgatherv(send, recv []byte, l Layout) (*Request, error) {
	return c.start(c.allgather(Allgatherv, send, recv, l))
}

func (c *Comm) allgather(kind Collective, send, recv []byte, l Layout) (call, error) {
	err := c.checkLayout(kind, l, recv)
	if err == nil && len(send) != l.counts[c.id] {
		err = fmt.Errorf("%w: %s: rank %d sends %d bytes, its layout has %d", drivers.ErrConfig, kind, c.id, len(send), l.counts[c.id])
	}
	return call{kind: kind, out: send, in: recv, li: l, bytes: len(recv) / c.size}, err
}

// Alltoall is Alltoallv with blocks of n bytes.
func (c *Comm) Alltoall(send, recv []byte, n int) error { return c.wait(c.alltoallEven(send, recv, n)) }

// Ialltoall is the nonblocking form of [Comm.Alltoall].
func (c *Comm) Ialltoall(send, recv []byte, n int) (*Request, error) {
	return c.start(c.alltoallEven(send, recv, n))
}

func (c *Comm) alltoallEven(send, recv []byte, n int) (call, error) {
	l := Even(c.size, n)
	x, err := c.alltoall(Alltoall, send, l, recv, l)
	x.bytes = n
	return x, err
}

// Alltoallv sends block i of send to rank i and receives block i of recv from it.
func (c *Comm) Alltoallv(send []byte, sendLayout Layout, recv []byte, recvLayout Layout) error {
	return c.wait(c.alltoall(Alltoallv, send, sendLayout, recv, recvLayout))
}

// Ialltoallv is the nonblocking form of [Comm.Alltoallv].
func (c *Comm) Ialltoallv(send []byte, sendLayout Layout, recv []byte, recvLayout Layout) (*Request, error) {
	return c.start(c.alltoall(Alltoallv, send, sendLayout, recv, recvLayout))
}

func (c *Comm) alltoall(kind Collective, send []byte, sendLayout Layout, recv []byte, recvLayout Layout) (call, error) {
	err := c.checkLayout(kind, sendLayout, send)
	if err == nil {
		err = c.checkLayout(kind, recvLayout, recv)
	}
	if err == nil && sendLayout.counts[c.id] != recvLayout.counts[c.id] {
		err = fmt.Errorf("%w: %s: rank %d sends %d bytes to itself and receives %d of them", drivers.ErrConfig, kind, c.id, sendLayout.counts[c.id], recvLayout.counts[c.id])
	}
	return call{kind: kind, out: send, lo: sendLayout, in: recv, li: recvLayout}, err
}

// AlltoallEach is a linear Alltoall with blocks of n bytes (at most EagerMax) that needs no buffers
// for the whole world. out returns the block to send to a peer, in returns the buffer for the block
// of a peer, and got is called when that block has been received. The buffers may be reused for the
// next peer.
func (c *Comm) AlltoallEach(n int, out, in func(peer int) []byte, got func(peer int) error) error {
	if n < 0 || n > EagerMax {
		return fmt.Errorf("%w: AlltoallEach with blocks of %d bytes: expected 0 to %d; a longer send waits for its receive", drivers.ErrConfig, n, EagerMax)
	}
	if out == nil || in == nil || got == nil {
		return fmt.Errorf("%w: AlltoallEach without one of its functions: expected out, in and got", drivers.ErrConfig)
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

// Reduce combines the data of all ranks; the root's data becomes the result. The data of the other
// ranks is unspecified afterwards.
func (c *Comm) Reduce(root int, data []byte, op Op) error { return c.wait(c.reduce(root, data, op)) }

// Ireduce is the nonblocking form of [Comm.Reduce].
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

// Allreduce combines the data of all ranks; the data of every rank becomes the result.
func (c *Comm) Allreduce(data []byte, op Op) error { return c.wait(c.allreduce(data, op)) }

// Iallreduce is the nonblocking form of [Comm.Allreduce].
func (c *Comm) Iallreduce(data []byte, op Op) (*Request, error) {
	return c.start(c.allreduce(data, op))
}

func (c *Comm) allreduce(data []byte, op Op) (call, error) {
	return call{kind: Allreduce, in: data, op: op, bytes: len(data)}, op.check(Allreduce, len(data))
}

// ReduceScatter combines the send buffers of all ranks and stores block i of the result in recv of
// rank i.
func (c *Comm) ReduceScatter(send, recv []byte, l Layout, op Op) error {
	return c.wait(c.reduceScatter(send, recv, l, op))
}

// IreduceScatter is the nonblocking form of [Comm.ReduceScatter].
func (c *Comm) IreduceScatter(send, recv []byte, l Layout, op Op) (*Request, error) {
	return c.start(c.reduceScatter(send, recv, l, op))
}

func (c *Comm) reduceScatter(all, mine []byte, l Layout, op Op) (call, error) {
	err := c.checkLayout(ReduceScatter, l, all)
	if err == nil && len(mine) != l.counts[c.id] {
		err = fmt.Errorf("%w: %s: receive buffer of rank %d has %d bytes, its layout needs %d", drivers.ErrConfig, ReduceScatter, c.id, len(mine), l.counts[c.id])
	}
	for _, n := range l.counts {
		if err == nil {
			err = op.check(ReduceScatter, n)
		}
	}
	return call{kind: ReduceScatter, out: all, in: mine, lo: l, op: op, bytes: len(all)}, err
}
