package imb

import (
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/host"
)

// rank is a rank of a group that runs a benchmark.
type rank struct {
	*host.Comm
	r *host.Rank
	c *Config
}

// Tags of the messages to the next and to the previous rank.
const (
	tagRight = 1
	tagLeft  = 2
)

// post begins to send message k with a tag to a rank of the group.
func (x *rank) post(to, tag int, buf []byte, k int) (*host.Request, error) {
	bench.Fill(buf, x.c.Run.Seed, x.ID(), to, 4*k+tag)
	return x.r.Isend(x.World(to), tag, buf)
}

func (x *rank) send(to, tag int, buf []byte, k int) error {
	q, err := x.post(to, tag, buf, k)
	if err == nil {
		_, err = x.r.Wait(q)
	}
	return err
}

// recv receives and verifies message k.
func (x *rank) recv(from, tag int, buf []byte, k int) error {
	st, err := x.r.Recv(x.World(from), tag, buf)
	if err != nil {
		return err
	}
	if st.Bytes != len(buf) {
		return fmt.Errorf("message %d from rank %d to rank %d has %d bytes, expected %d", k, x.World(from), x.r.ID(), st.Bytes, len(buf))
	}
	return bench.Verify(buf, x.c.Run.Seed, from, x.ID(), 4*k+tag)
}

// buffers allocates several buffers of n bytes.
func (x *rank) buffers(n, count int) ([][]byte, error) {
	list := make([][]byte, count)
	for i := range list {
		b, err := x.r.Alloc(n)
		if err != nil {
			return nil, err
		}
		list[i] = b
	}
	return list, nil
}

func (x *rank) pingPong(n int) (func(int) error, error) {
	b, err := x.buffers(n, 1)
	if err != nil {
		return nil, err
	}
	first, peer := x.ID() == 0, 1-x.ID()
	return func(k int) error {
		if first {
			if err := x.send(peer, tagRight, b[0], k); err != nil {
				return err
			}
			return x.recv(peer, tagLeft, b[0], k)
		}
		if err := x.recv(peer, tagRight, b[0], k); err != nil {
			return err
		}
		return x.send(peer, tagLeft, b[0], k)
	}, nil
}

func (x *rank) pingPing(n int) (func(int) error, error) {
	b, err := x.buffers(n, 2)
	if err != nil {
		return nil, err
	}
	peer := 1 - x.ID()
	return func(k int) error { return x.sendAndReceive(peer, peer, b, k) }, nil
}

// sendAndReceive sends to one rank while it receives from another.
func (x *rank) sendAndReceive(to, from int, b [][]byte, k int) error {
	q, err := x.post(to, tagRight, b[0], k)
	if err != nil {
		return err
	}
	if err := x.recv(from, tagRight, b[1], k); err != nil {
		return err
	}
	_, err = x.r.Wait(q)
	return err
}

func (x *rank) neighbours() (left, right int) {
	return (x.ID() - 1 + x.Size()) % x.Size(), (x.ID() + 1) % x.Size()
}

func (x *rank) sendrecv(n int) (func(int) error, error) {
	b, err := x.buffers(n, 2)
	if err != nil {
		return nil, err
	}
	left, right := x.neighbours()
	return func(k int) error { return x.sendAndReceive(right, left, b, k) }, nil
}

func (x *rank) exchange(n int) (func(int) error, error) {
	b, err := x.buffers(n, 4)
	if err != nil {
		return nil, err
	}
	left, right := x.neighbours()
	return func(k int) error {
		sends := make([]*host.Request, 2)
		if sends[0], err = x.post(left, tagLeft, b[0], k); err != nil {
			return err
		}
		if sends[1], err = x.post(right, tagRight, b[1], k); err != nil {
			return err
		}
		if err := x.recv(left, tagRight, b[2], k); err != nil {
			return err
		}
		if err := x.recv(right, tagLeft, b[3], k); err != nil {
			return err
		}
		return x.r.Waitall(sends)
	}, nil
}
