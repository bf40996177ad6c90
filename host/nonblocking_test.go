package host

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// A begun collective: its request, its output, and the expected output (nil: unspecified).
type begun struct {
	name      string
	q         *Request
	got, want []byte
	err       error
}

// beginners begin the collectives among the ranks of c, with blocks of n bytes.
var beginners = []func(c *Comm, root, n int) begun{
	func(c *Comm, _, _ int) begun {
		q, err := c.Ibarrier()
		return begun{"barrier", q, nil, nil, err}
	},
	func(c *Comm, root, n int) begun {
		b := make([]byte, n)
		if c.ID() == root {
			copy(b, letter(n, 77))
		}
		q, err := c.Ibcast(root, b)
		return begun{"bcast", q, b, letter(n, 77), err}
	},
	func(c *Comm, root, n int) begun {
		all := make([]byte, n*c.Size())
		q, err := c.Igather(root, block(c.ID(), 0, n), all)
		return begun{"gather", q, all, atRoot(c, root, column(0, c.Size(), n)), err}
	},
	func(c *Comm, root, n int) begun {
		l, all := steps(c.Size(), n)
		in := make([]byte, len(all))
		q, err := c.Igatherv(root, l.Of(all, c.ID()), in, l)
		return begun{"gatherv", q, in, atRoot(c, root, all), err}
	},
	func(c *Comm, root, n int) begun {
		b := make([]byte, n)
		q, err := c.Iscatter(root, row(root, c.Size(), Even(c.Size(), n)), b)
		return begun{"scatter", q, b, block(root, c.ID(), n), err}
	},
	func(c *Comm, root, n int) begun {
		l, all := steps(c.Size(), n)
		b := make([]byte, l.counts[c.ID()])
		q, err := c.Iscatterv(root, all, b, l)
		return begun{"scatterv", q, b, l.Of(all, c.ID()), err}
	},
	func(c *Comm, _, n int) begun {
		all := make([]byte, n*c.Size())
		q, err := c.Iallgather(block(c.ID(), 0, n), all)
		return begun{"allgather", q, all, column(0, c.Size(), n), err}
	},
	func(c *Comm, _, n int) begun {
		if c.rank.engine.DMA == nil {
			n = min(n, 140) // a randomly selected algorithm may join blocks
		}
		l, all := steps(c.Size(), n)
		in := make([]byte, len(all))
		q, err := c.Iallgatherv(l.Of(all, c.ID()), in, l)
		return begun{"allgatherv", q, in, all, err}
	},
	func(c *Comm, _, n int) begun {
		in := make([]byte, n*c.Size())
		q, err := c.Ialltoall(row(c.ID(), c.Size(), Even(c.Size(), n)), in, n)
		return begun{"alltoall", q, in, column(c.ID(), c.Size(), n), err}
	},
	func(c *Comm, root, n int) begun {
		n = n / 8 * 8
		b := numbersOf(c.ID(), n)
		q, err := c.Ireduce(root, b, MaxInt64)
		return begun{"reduce", q, b, atRoot(c, root, reduced(c.Size(), n, MaxInt64)), err}
	},
	func(c *Comm, _, n int) begun {
		n = n / 8 * 8
		b := numbersOf(c.ID(), n)
		q, err := c.Iallreduce(b, SumInt64)
		return begun{"allreduce", q, b, reduced(c.Size(), n, SumInt64), err}
	},
	func(c *Comm, _, n int) begun {
		n = n / 8 * 8
		mine := make([]byte, n)
		q, err := c.IreduceScatter(bytes.Repeat(numbersOf(c.ID(), n), c.Size()), mine, Even(c.Size(), n), SumInt64)
		return begun{"reduce_scatter", q, mine, reduced(c.Size(), n, SumInt64), err}
	},
}

func atRoot(c *Comm, root int, b []byte) []byte {
	if c.ID() != root {
		return nil
	}
	return b
}

// steps returns blocks of increasing length.
func steps(size, n int) (Layout, []byte) {
	counts := make([]int, size)
	for i := range counts {
		counts[i] = i * n / 2
	}
	l := NewLayout(counts)
	return l, letter(l.Bytes(), 5)
}

// Many collectives are in progress at once, in three communicators that share ranks, with blocking
// ones among them. Each rank waits in an order of its own.
func TestManyCollectivesAtOnce(t *testing.T) {
	for seed := range int64(4) {
		for _, p := range []plan{
			{nodes: 1, procs: 1}, {nodes: 2, procs: 1}, {nodes: 5, procs: 1, heap: 1 << 20, rma: RMA{Protocol: RGET}},
			{nodes: 8, procs: 1}, {nodes: 2, procs: 3, local: true, heap: 1 << 20, rma: RMA{Protocol: RPUT}},
		} {
			sizes := []int{0, 1, 24, 300}
			if p.heap > 0 {
				sizes = append(sizes, 5000)
			}
			launch(t, p, func(r *Rank) error {
				if err := manyAtOnce(r, seed, sizes); err != nil {
					return fmt.Errorf("seed %d, %d ranks: %w", seed, r.Size(), err)
				}
				return nil
			})
		}
	}
}

func manyAtOnce(r *Rank, seed int64, sizes []int) error {
	d, err := r.Dup()
	if err != nil {
		return err
	}
	half, err := r.Split(r.ID()*2/r.Size(), -r.ID())
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewSource(seed))
	var list []begun
	for range 40 {
		c := []*Comm{&r.Comm, d, half}[rnd.Intn(3)]
		if err := setAlgorithms(c, rnd); err != nil {
			return err
		}
		kind, root, n := rnd.Intn(len(beginners)), rnd.Intn(1000)%c.Size(), sizes[rnd.Intn(len(sizes))]
		if rnd.Intn(10) == 0 {
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		b := beginners[kind](c, root, n)
		if b.err != nil {
			return b.err
		}
		list = append(list, b)
	}
	order := rand.New(rand.NewSource(seed*50 + int64(r.ID())))
	order.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var requests []*Request
	for _, b := range list {
		requests = append(requests, b.q)
	}
	var some []Completion
	for left := len(list); left > 0; left -= len(some) {
		if some, err = r.Waitsome(requests, some[:0]); err != nil {
			return err
		}
		for _, x := range some {
			requests[x.Index] = nil
			if b := list[x.Index]; b.want != nil && !bytes.Equal(b.got, b.want) {
				return fmt.Errorf("%s: %d bytes differ from what is expected", b.name, len(b.got))
			}
		}
	}
	if r.engine.Background != 0 || len(r.schedules.ready) != 0 {
		return fmt.Errorf("%+v are left", r.schedules)
	}
	return noneLeft(r)
}

// setAlgorithms selects a random algorithm for each collective of a communicator.
func setAlgorithms(c *Comm, rnd *rand.Rand) error {
	for _, k := range Collectives() {
		names := append(k.Algorithms(), "")
		if err := c.SetAlgorithm(k, names[rnd.Intn(len(names))]); err != nil {
			return err
		}
	}
	return nil
}

// No barrier is done before all ranks have begun theirs, and a rank that waits for something else
// makes progress on it.
func TestIbarrier(t *testing.T) {
	came := drivers.Time(0)
	launch(t, plan{nodes: 5, procs: 1}, func(r *Rank) error {
		if r.ID() == 3 {
			r.Compute(200 * drivers.Microsecond)
			came = r.Now()
		}
		q, err := r.Ibarrier()
		if err != nil {
			return err
		}
		if r.ID() == 2 { // it only receives the message that rank 0 sends after its barrier
			if _, err := r.Recv(0, 0, nil); err != nil {
				return err
			}
		}
		if _, err := r.Wait(q); err != nil {
			return err
		}
		if came == 0 || r.Now() < came {
			return fmt.Errorf("rank %d is through at %v, the last one came at %v", r.ID(), r.Now(), came)
		}
		if r.ID() == 0 {
			return r.Send(2, 0, nil)
		}
		return nil
	})
}

func TestWrongNonblocking(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		g, err := r.Group([]int{0, 1})
		if err != nil {
			return err
		}
		l := Even(2, 8)
		for what, call := range map[string]func() (*Request, error){
			"group":             g.Ibarrier,
			"bcast":             func() (*Request, error) { return r.Ibcast(2, nil) },
			"gather":            func() (*Request, error) { return r.Igather(-1, nil, nil) },
			"gather at root":    func() (*Request, error) { return r.Igather(r.ID(), make([]byte, 8), nil) },
			"gatherv":           func() (*Request, error) { return r.Igatherv(2, nil, nil, l) },
			"gatherv at root":   func() (*Request, error) { return r.Igatherv(r.ID(), nil, nil, l) },
			"scatter":           func() (*Request, error) { return r.Iscatter(2, nil, nil) },
			"scatter at root":   func() (*Request, error) { return r.Iscatter(r.ID(), nil, make([]byte, 8)) },
			"scatterv":          func() (*Request, error) { return r.Iscatterv(2, nil, nil, l) },
			"scatterv at root":  func() (*Request, error) { return r.Iscatterv(r.ID(), nil, nil, l) },
			"allgather":         func() (*Request, error) { return r.Iallgather(make([]byte, 8), nil) },
			"allgatherv":        func() (*Request, error) { return r.Iallgatherv(make([]byte, 8), nil, l) },
			"alltoall":          func() (*Request, error) { return r.Ialltoall(nil, nil, 8) },
			"alltoallv, in":     func() (*Request, error) { return r.Ialltoallv(make([]byte, 16), l, nil, l) },
			"reduce":            func() (*Request, error) { return r.Ireduce(2, nil, SumInt64) },
			"half a number":     func() (*Request, error) { return r.Ireduce(0, make([]byte, 4), SumInt64) },
			"allreduce":         func() (*Request, error) { return r.Iallreduce(make([]byte, 4), SumInt64) },
			"reduce_scatter":    func() (*Request, error) { return r.IreduceScatter(nil, nil, l, SumInt64) },
			"half of a block's": func() (*Request, error) { return r.IreduceScatter(make([]byte, 8), nil, Even(2, 4), SumInt64) },
		} {
			if _, err := call(); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%s: %v", what, err)
			}
		}
		// Errors of sending and receiving are reported by the request; the rank continues.
		q, err := r.Ialltoall(make([]byte, 6000), make([]byte, 6000), 3000)
		if err != nil {
			return err
		}
		if _, err := r.Wait(q); !errors.Is(err, drivers.ErrConfig) {
			return fmt.Errorf("%v, expected that it is too long", err)
		}
		if q, err = r.Ibcast(0, make([]byte, 8-4*r.ID())); err != nil {
			return err
		}
		if _, err := r.Wait(q); errors.Is(err, ErrTruncated) != (r.ID() == 1) {
			return fmt.Errorf("%v at rank %d", err, r.ID())
		}
		return r.Barrier()
	})
}

// A rank that waits for a collective names the message that it waits for.
func TestHangInSchedule(t *testing.T) {
	g := newRig(t, plan{nodes: 3, procs: 1})
	require.ErrorIs(t, g.run(func(r *Rank) error {
		if r.ID() == 2 {
			return nil
		}
		q, err := r.Ibcast(2, make([]byte, 4))
		if err == nil {
			_, err = r.Wait(q)
		}
		return err
	}), errHang)
	w := g.ranks[0].Waiting()
	require.Equal(t, "message", w.For)
	require.Equal(t, 2, w.Peer)
}

// Schedules are reused.
func TestSchedulesAreReused(t *testing.T) {
	g := newRig(t, plan{nodes: 2, procs: 1})
	require.NoError(t, g.run(func(r *Rank) error {
		made := map[*schedule]bool{}
		for range 20 {
			var list []*Request
			for range 3 {
				q, err := r.Ibarrier()
				if err != nil {
					return err
				}
				made[q.op.Group.(*schedule)] = true
				list = append(list, q)
			}
			if err := r.Waitall(slices.Clip(list)); err != nil {
				return err
			}
		}
		if len(made) > 3+1 { // and none, of one that was done at once
			return fmt.Errorf("%d schedules for 3 at a time", len(made))
		}
		return nil
	}))
}
