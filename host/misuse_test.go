package host

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// Invalid arguments are ErrConfig from every call that returns an error, and never panic.
func TestInvalidArguments(t *testing.T) {
	type call = func(r *Rank) error
	one := func(_ any, err error) error { return err }
	negative := NewLayout([]int{8, -8})
	even := NewLayout([]int{8, 8})
	zero := Layout{}
	sum := Sum[uint64]()
	b8, b16 := make([]byte, 8), make([]byte, 16)
	calls := map[string]call{
		"Alloc(-1)":                      func(r *Rank) error { return one(r.Alloc(-1)) },
		"Alloc(MaxInt)":                  func(r *Rank) error { return one(r.Alloc(math.MaxInt)) },
		"Free of foreign memory":         func(r *Rank) error { return r.Free(make([]byte, 3)) },
		"Wait(nil)":                      func(r *Rank) error { return one(r.Wait(nil)) },
		"Test(nil)":                      func(r *Rank) error { _, _, err := r.Test(nil); return err },
		"Cancel(nil)":                    func(r *Rank) error { return r.Cancel(nil) },
		"Start(nil)":                     func(r *Rank) error { return r.Start(nil) },
		"Startall(nil)":                  func(r *Rank) error { return r.Startall([]*Request{nil}) },
		"Matched(nil).Irecv":             func(*Rank) error { return one((*Matched)(nil).Irecv(nil)) },
		"Matched(nil).Recv":              func(*Rank) error { return one((*Matched)(nil).Recv(nil)) },
		"Isend to -1":                    func(r *Rank) error { return one(r.Isend(-1, 0, nil)) },
		"Isend with tag -1":              func(r *Rank) error { return one(r.Isend(1, -1, nil)) },
		"Irecv from 9":                   func(r *Rank) error { return one(r.Irecv(9, 0, nil)) },
		"Iprobe of 9":                    func(r *Rank) error { _, _, err := r.Iprobe(9, 0); return err },
		"Bcast from 9":                   func(r *Rank) error { return r.Bcast(9, b8) },
		"Gather to -1":                   func(r *Rank) error { return r.Gather(-1, b8, b16) },
		"Gather of 3 and 16":             func(r *Rank) error { return r.Gather(0, b8[:3], b16) },
		"Gatherv, negative":              func(r *Rank) error { return r.Gatherv(0, b8, nil, negative) },
		"Gatherv, no layout":             func(r *Rank) error { return r.Gatherv(0, b8, nil, zero) },
		"Scatterv, negative":             func(r *Rank) error { return r.Scatterv(0, nil, b8, negative) },
		"Scatterv, no layout":            func(r *Rank) error { return r.Scatterv(0, nil, b8, zero) },
		"Allgather of 3 and 16":          func(r *Rank) error { return r.Allgather(b8[:3], b16) },
		"Allgatherv, negative":           func(r *Rank) error { return r.Allgatherv(b8, nil, negative) },
		"Allgatherv of 3":                func(r *Rank) error { return r.Allgatherv(b8[:3], b16, even) },
		"Allgatherv, no layout":          func(r *Rank) error { return r.Allgatherv(nil, nil, zero) },
		"Alltoall(-1)":                   func(r *Rank) error { return r.Alltoall(nil, nil, -1) },
		"Alltoall(MaxInt)":               func(r *Rank) error { return r.Alltoall(nil, nil, math.MaxInt) },
		"Alltoallv, negative":            func(r *Rank) error { return r.Alltoallv(nil, negative, nil, negative) },
		"Alltoallv, other lengths":       func(r *Rank) error { return r.Alltoallv(b16, even, b8, NewLayout([]int{4, 4})) },
		"Alltoallv, no layout":           func(r *Rank) error { return r.Alltoallv(nil, zero, nil, zero) },
		"AlltoallEach(-1)":               func(r *Rank) error { return r.AlltoallEach(-1, nil, nil, nil) },
		"AlltoallEach without functions": func(r *Rank) error { return r.AlltoallEach(8, nil, nil, nil) },
		"Reduce, no operation":           func(r *Rank) error { return r.Reduce(0, b8, Op{}) },
		"Reduce of 3 bytes":              func(r *Rank) error { return r.Reduce(0, b8[:3], sum) },
		"Allreduce, no operation":        func(r *Rank) error { return r.Allreduce(b8, Op{}) },
		"ReduceScatter, negative":        func(r *Rank) error { return r.ReduceScatter(nil, b8, negative, sum) },
		"ReduceScatter, no layout":       func(r *Rank) error { return r.ReduceScatter(nil, nil, zero, sum) },
		"Group of nobody":                func(r *Rank) error { return one(r.Group(nil)) },
		"Group of others":                func(r *Rank) error { return one(r.Group([]int{0, -1})) },
		"SetAlgorithm(-1)":               func(r *Rank) error { return r.SetAlgorithm(99, "linear") },
		"SetAlgorithm(99), none":         func(r *Rank) error { return r.SetAlgorithm(99, "") },
		"NewWindow outside":              func(r *Rank) error { return one(r.NewWindow(b8)) },
		"Window(nil).Put":                func(*Rank) error { return (*Window)(nil).Put(0, 0, nil) },
		"Window(nil).Fence":              func(*Rank) error { return (*Window)(nil).Fence() },
		"Window(nil).Free":               func(*Rank) error { return (*Window)(nil).Free() },
		"Vector(-1)":                     func(*Rank) error { return one(Vector(-1, 1, 1)) },
		"Vector(MaxInt)":                 func(*Rank) error { return one(Vector(math.MaxInt, 1, 1)) },
		"Vector of huge strides":         func(*Rank) error { return one(Vector(3, 1, math.MaxInt/2)) },
		"Vector of many blocks":          func(*Rank) error { return one(Vector(1<<40, 1, 1)) },
		"Indexed, one offset":            func(*Rank) error { return one(Indexed([]int{1}, nil)) },
		"IsendTyped of less":             func(r *Rank) error { v, _ := Vector(2, 8, 8); return one(r.IsendTyped(1, 0, b8, v)) },
		"UseRMA without a port":          func(r *Rank) error { return r.UseRMA(RMA{Protocol: RGET, HeapBytes: 1 << 16}) },
		"UseLocal, Compute(-1)":          func(r *Rank) error { r.Compute(-1); return fmt.Errorf("%w: none", drivers.ErrConfig) },
		"a Comm after Free":              func(r *Rank) error { return r.Comm.Free() },
		"Split of a freed one":           freedComm,
	}
	for _, mode := range []string{"rma", "none", "reuse"} {
		for name, do := range calls {
			t.Run(mode+"/"+name, func(t *testing.T) {
				p := inPairs(RGET)
				switch mode {
				case "none":
					p = plan{nodes: 2, procs: 1}
				case "reuse":
					p = reusing(ReuseCopy)
				}
				err := newRig(t, p).run(func(r *Rank) error {
					if r.ID() == 1 {
						return nil
					}
					return do(r)
				})
				if mode == "none" && name == "Free of foreign memory" {
					require.NoError(t, err) // without RMA memory is Go's, and Free has nothing to do
					return
				}
				if name == "NewWindow outside" && mode != "reuse" {
					require.ErrorIs(t, err, drivers.ErrNotSupported)
					return
				}
				require.ErrorIs(t, err, drivers.ErrConfig)
			})
		}
	}
}

// freedComm uses a communicator of its own after it was freed.
func freedComm(r *Rank) error {
	g, err := r.Group([]int{0})
	if err != nil {
		return err
	}
	c, err := g.Dup()
	if err != nil {
		return err
	}
	if err := c.Free(); err != nil {
		return err
	}
	_, err = c.Isend(0, 0, nil)
	return err
}

// Free accepts an empty buffer of Alloc.
func TestFreeOfNothing(t *testing.T) {
	launch(t, inPairs(RGET), func(r *Rank) error {
		before := r.engine.DMA.Left()
		for range 3 {
			none, err := r.Alloc(0)
			if err != nil {
				return err
			}
			some, err := r.Alloc(100)
			if err != nil {
				return err
			}
			if err := r.Free(none); err != nil {
				return err
			}
			if err := r.Free(some); err != nil {
				return err
			}
		}
		if left := r.engine.DMA.Left(); left != before {
			return fmt.Errorf("%d bytes are left of %d", left, before)
		}
		return nil
	})
}
