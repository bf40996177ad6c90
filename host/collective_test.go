package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// block is the data that rank r sends to rank to.
func block(r, to, n int) []byte { return letter(n, r*16+to) }

func joined(blocks ...[]byte) []byte { return bytes.Join(blocks, nil) }

// row is the data that rank r sends to all ranks, column the data that all ranks send to rank r.
func row(r, size int, l Layout) (b []byte) {
	for to := range size {
		b = append(b, block(r, to, l.counts[to])...)
	}
	return b
}

func column(r, size, n int) (b []byte) {
	for from := range size {
		b = append(b, block(from, r, n)...)
	}
	return b
}

func same(what string, got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: %d bytes differ from what is expected", what, len(got))
	}
	return nil
}

// maxAlgorithms is the largest number of algorithms of a collective, plus one for the table's
// choice.
const maxAlgorithms = 5

// setWay selects algorithm way-1 of every collective that has one with that number; way 0 leaves
// the choice to the table.
func setWay(r *Rank, way int) error {
	for _, k := range Collectives() {
		name := ""
		if names := k.Algorithms(); way > 0 && way <= len(names) {
			name = names[way-1]
		}
		if err := r.SetAlgorithm(k, name); err != nil {
			return err
		}
	}
	return nil
}

// worldsOf runs body in worlds whose sizes are and are not powers of two, with all algorithms and
// with blocks on either side of EagerMax.
func worldsOf(t *testing.T, body func(r *Rank, n int) error) {
	for _, nodes := range []int{1, 2, 5, 8} {
		for way := range maxAlgorithms {
			for _, n := range []int{0, 24, 3000} {
				p := plan{nodes: nodes, procs: 1, heap: 1 << 18, rma: RMA{Protocol: RGET}}
				launch(t, p, func(r *Rank) error {
					if err := errors.Join(setWay(r, way), body(r, n)); err != nil {
						return fmt.Errorf("%d ranks, way %d, %d bytes: %w", nodes, way, n, err)
					}
					return nil
				})
			}
		}
	}
}

func TestDataCollectives(t *testing.T) {
	worldsOf(t, func(r *Rank, n int) error {
		size, id, root := r.Size(), r.ID(), r.Size()-1
		even := Even(size, n)
		in := make([]byte, size*n)
		b := make([]byte, n)
		if id == root {
			copy(b, letter(n, 77))
		}
		err := errors.Join(r.Barrier(), r.Bcast(root, b), same("bcast", b, letter(n, 77)))
		err = errors.Join(err, r.Gather(root, block(id, root, n), in))
		if id == root {
			err = errors.Join(err, same("gather", in, column(root, size, n)))
		}
		err = errors.Join(err, r.Scatter(root, row(root, size, even), b), same("scatter", b, block(root, id, n)))
		err = errors.Join(err, r.Allgather(block(id, 0, n), in), same("allgather", in, column(0, size, n)))
		err = errors.Join(err, r.Alltoall(row(id, size, even), in, n), same("alltoall", in, column(id, size, n)))
		return err
	})
}

// Blocks of different lengths, some of them empty.
func TestVectorCollectives(t *testing.T) {
	worldsOf(t, func(r *Rank, n int) error {
		size, id := r.Size(), r.ID()
		counts, mine := make([]int, size), make([]int, size)
		for i := range size {
			counts[i] = n * i
			mine[i] = n * id
		}
		l, lo := NewLayout(counts), NewLayout(mine)
		var want, columnWant []byte
		for i := range size {
			want = append(want, block(i, 0, counts[i])...)
			columnWant = append(columnWant, block(i, id, counts[id])...)
		}
		in := make([]byte, l.Bytes())
		err := errors.Join(r.Gatherv(0, block(id, 0, counts[id]), in, l))
		if id == 0 {
			err = errors.Join(err, same("gatherv", in, want))
		}
		b := make([]byte, counts[id])
		err = errors.Join(err, r.Scatterv(0, want, b, l), same("scatterv", b, block(id, 0, counts[id])))
		err = errors.Join(err, r.Allgatherv(block(id, 0, counts[id]), in, l), same("allgatherv", in, want))
		all := make([]byte, lo.Bytes())
		return errors.Join(err, r.Alltoallv(row(id, size, l), l, all, lo), same("alltoallv", all, columnWant))
	})
}

func numbersOf(r, n int) (b []byte) {
	for i := range n / 8 {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64((r+1)*(i%5-2))))
	}
	return b
}

// reduced is the reference: it reduces one rank after the other.
func reduced(size, n int, op Op) []byte {
	b := numbersOf(0, n)
	for r := 1; r < size; r++ {
		op.Combine(b, numbersOf(r, n))
	}
	return b
}

func TestReductions(t *testing.T) {
	worldsOf(t, func(r *Rank, n int) (err error) {
		size, id := r.Size(), r.ID()
		for _, op := range []Op{SumInt64, MaxInt64} {
			want := reduced(size, n, op)
			b := numbersOf(id, n)
			err = errors.Join(err, r.Allreduce(b, op), same("allreduce", b, want))
			b = numbersOf(id, n)
			err = errors.Join(err, r.Reduce(size/2, b, op))
			if id == size/2 {
				err = errors.Join(err, same("reduce", b, want))
			}
			all := bytes.Repeat(numbersOf(id, n), size)
			mine := make([]byte, n)
			err = errors.Join(err, r.ReduceScatter(all, mine, Even(size, n), op), same("reduce_scatter", mine, want))
		}
		return err
	})
	a, b := make([]byte, 8), make([]byte, 8)
	binary.LittleEndian.PutUint64(a, math.Float64bits(1.5))
	binary.LittleEndian.PutUint64(b, math.Float64bits(2.25))
	SumFloat64.Combine(a, b)
	require.Equal(t, 3.75, math.Float64frombits(binary.LittleEndian.Uint64(a)))
}

// AlltoallEach needs no buffers for the whole world.
func TestAlltoallEach(t *testing.T) {
	worldsOf(t, func(r *Rank, n int) error {
		if n > EagerMax {
			err := r.AlltoallEach(n, nil, nil, nil)
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%v, expected that blocks are too long", err)
			}
			return nil
		}
		b, seen := make([]byte, n), 0
		err := r.AlltoallEach(n, func(p int) []byte { return block(r.ID(), p, n) }, func(int) []byte { return b }, func(p int) error {
			seen++
			return same("alltoall", b, block(p, r.ID(), n))
		})
		if err == nil && seen != r.Size()-1 {
			err = fmt.Errorf("%d blocks, expected %d", seen, r.Size()-1)
		}
		return err
	})
}

// Groups can run collectives.
func TestGroups(t *testing.T) {
	launch(t, plan{nodes: 5, procs: 1}, func(r *Rank) error {
		members := []int{3, 0, 4}
		if r.ID()%2 == 1 && r.ID() != 3 || r.ID() == 2 {
			if _, err := r.Group(members); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%v, expected that rank %d is not in it", err, r.ID())
			}
			return nil
		}
		g, err := r.Group(members)
		if err != nil {
			return err
		}
		if g.Size() != 3 || g.World(g.ID()) != r.ID() || r.World(r.ID()) != r.ID() {
			return fmt.Errorf("rank %d is %d of %d", r.ID(), g.ID(), g.Size())
		}
		in := make([]byte, 3*24)
		if err := errors.Join(g.Allgather(letter(24, r.ID()), in), same("allgather", in, joined(letter(24, 3), letter(24, 0), letter(24, 4)))); err != nil {
			return err
		}
		for _, bad := range [][]int{{r.ID(), 9}, {r.ID(), r.ID()}, {r.ID(), -1}} {
			if _, err := r.Group(bad); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%v: %v", bad, err)
			}
		}
		return nil
	})
}

func TestWrongCollectives(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		l := Even(2, 8)
		for what, err := range map[string]error{
			"bcast": r.Bcast(2, nil), "gather": r.Gather(-1, nil, nil), "scatter": r.Scatter(5, nil, nil), "reduce": r.Reduce(2, nil, SumInt64),
			"gatherv": r.Gatherv(7, nil, nil, l), "scatterv": r.Scatterv(7, nil, nil, l), "gather at root": r.Gather(r.ID(), make([]byte, 8), nil),
			"gatherv at root": r.Gatherv(r.ID(), nil, nil, l), "scatterv at root": r.Scatterv(r.ID(), nil, nil, l),
			"scatter at root": r.Scatter(r.ID(), nil, make([]byte, 8)), "allgather": r.Allgather(make([]byte, 8), nil),
			"alltoallv": r.Alltoallv(nil, l, nil, l), "alltoallv, in": r.Alltoallv(make([]byte, 16), l, nil, l),
			"reduce_scatter": r.ReduceScatter(nil, nil, l, SumInt64), "half a number": r.Allreduce(make([]byte, 12), SumInt64),
			"half a number in a block": r.ReduceScatter(make([]byte, 8), make([]byte, 4), Even(2, 4), SumInt64),
			"no operation":             r.Reduce(0, nil, Op{}),
		} {
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%s: %v", what, err)
			}
		}
		return nil
	})
}

// All flow controls, with ranks that share a node's NIC and memory.
func TestFlowsAndSharedNodes(t *testing.T) {
	for _, flow := range []velo.Flow{velo.None, velo.Static, velo.Dynamic} {
		for _, local := range []bool{false, true} {
			g := newRig(t, plan{nodes: 2, procs: 3, local: local, flow: velo.Config{Flow: flow, Slots: 6, CreditSlots: 2, Piggyback: true}})
			require.NoError(t, g.run(func(r *Rank) error {
				in := make([]byte, 6*700)
				for range 5 {
					if err := errors.Join(r.Alltoall(row(r.ID(), 6, Even(6, 700)), in, 700), same("alltoall", in, column(r.ID(), 6, 700))); err != nil {
						return err
					}
				}
				return nil
			}), "%s", flow)
			for _, r := range g.ranks {
				s := r.Stats()
				require.EqualValues(t, 25, s.MessagesSent)
				require.EqualValues(t, 25*700, s.BytesReceived)
				require.Equal(t, local, s.LocalMessages > 0)
				require.NoError(t, r.Endpoint().Check())
			}
		}
	}
}
