package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// numbers are the n values that rank r contributes.
func numbers(r, n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(r*1000+i))
	}
	return b
}

// sums are the sums of what all ranks contribute.
func sums(ranks, n int) []byte {
	b := make([]byte, 0, 8*n)
	for i := range n {
		total := 0
		for r := range ranks {
			total += r*1000 + i
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(total))
	}
	return b
}

func same(what string, got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%s: got %x, expected %x", what, got, want)
	}
	return nil
}

// TestCollectives compares every collective with what it must leave behind, for
// every world of 2 to 9 ranks and every root, optimised and linear.
func TestCollectives(t *testing.T) {
	for ranks := 2; ranks <= 9; ranks++ {
		for _, linear := range []bool{false, true} {
			c := onIdeal("")
			c.Nodes, c.Procs = ranks, 1
			c.Velo = velo.Config{Flow: velo.Static, Slots: 6, CreditSlots: 2, Piggyback: true}
			require.NoError(t, launch(t, c, func(r *host.Rank) error {
				r.SetLinear(linear)
				for root := range ranks {
					if err := rooted(&r.Comm, root); err != nil {
						return fmt.Errorf("root %d: %w", root, err)
					}
				}
				return unrooted(&r.Comm)
			}), "%d ranks, linear %v", ranks, linear)
		}
	}
}

// uneven is a layout of blocks of 8, 16, 24, 8, … bytes.
func uneven(ranks int) host.Layout {
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = 8 * (i%3 + 1)
	}
	return host.NewLayout(counts)
}

func rooted(r *host.Comm, root int) error {
	n, me := r.Size(), r.ID()
	b := make([]byte, 24)
	if me == root {
		copy(b, numbers(root, 3))
	}
	if err := r.Bcast(root, b); err != nil {
		return err
	}
	if err := same("bcast", b, numbers(root, 3)); err != nil {
		return err
	}
	var all []byte
	for p := range n {
		all = append(all, numbers(p, 2)...)
	}
	got := make([]byte, len(all))
	if err := r.Gather(root, numbers(me, 2), got); err != nil {
		return err
	}
	if me == root {
		if err := same("gather", got, all); err != nil {
			return err
		}
	}
	mine := make([]byte, 16)
	if err := r.Scatter(root, all, mine); err != nil {
		return err
	}
	if err := same("scatter", mine, numbers(me, 2)); err != nil {
		return err
	}
	l := uneven(n)
	all = make([]byte, l.Bytes())
	for p := range n {
		copy(l.Of(all, p), numbers(p, 3))
	}
	mine = make([]byte, len(l.Of(all, me)))
	if err := r.Scatterv(root, all, mine, l); err != nil {
		return err
	}
	if err := same("scatterv", mine, l.Of(all, me)); err != nil {
		return err
	}
	got = make([]byte, len(all))
	if err := r.Gatherv(root, mine, got, l); err != nil {
		return err
	}
	sum := numbers(me, 3)
	if err := r.Reduce(root, sum, host.SumInt64); err != nil {
		return err
	}
	if me != root {
		return nil
	}
	if err := same("gatherv", got, all); err != nil {
		return err
	}
	return same("reduce", sum, sums(n, 3))
}

func unrooted(r *host.Comm) error {
	n, me := r.Size(), r.ID()
	l := uneven(n)
	want := make([]byte, l.Bytes())
	for p := range n {
		copy(l.Of(want, p), numbers(p, 3))
	}
	got := make([]byte, len(want))
	if err := r.Allgatherv(l.Of(want, me), got, l); err != nil {
		return err
	}
	if err := same("allgatherv", got, want); err != nil {
		return err
	}
	sum := numbers(me, 5)
	if err := r.Allreduce(sum, host.SumInt64); err != nil {
		return err
	}
	if err := same("allreduce", sum, sums(n, 5)); err != nil {
		return err
	}
	all, mine := make([]byte, l.Bytes()), make([]byte, len(l.Of(want, me)))
	for p := range n {
		copy(l.Of(all, p), numbers(me, 3))
	}
	if err := r.ReduceScatter(all, mine, l, host.SumInt64); err != nil {
		return err
	}
	if err := same("reduce_scatter", mine, sums(n, 3)[:len(mine)]); err != nil {
		return err
	}
	return alltoallv(r)
}

// alltoallv sends 8*((s+d)%4) bytes from s to d.
func alltoallv(r *host.Comm) error {
	n, me := r.Size(), r.ID()
	counts := make([]int, n)
	for p := range counts {
		counts[p] = 8 * ((me + p) % 4)
	}
	l := host.NewLayout(counts)
	out, in, want := make([]byte, l.Bytes()), make([]byte, l.Bytes()), make([]byte, l.Bytes())
	for p := range n {
		fill(l.Of(out, p), 1, me, p, 0)
		fill(l.Of(want, p), 1, p, me, 0)
	}
	if err := r.Alltoallv(out, l, in, l); err != nil {
		return err
	}
	return same("alltoallv", in, want)
}

func TestOps(t *testing.T) {
	minus := make([]byte, 8)
	binary.LittleEndian.PutUint64(minus, ^uint64(4)) // -5
	b := append([]byte{}, minus...)
	host.MaxInt64.Combine(b, make([]byte, 8))
	require.Equal(t, make([]byte, 8), b)
	host.SumFloat64.Combine(b, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, b)
}

func TestCollectiveErrors(t *testing.T) {
	c := onIdeal("")
	c.Nodes, c.Procs = 2, 1
	for name, call := range map[string]func(r *host.Rank) error{
		"root":   func(r *host.Rank) error { return r.Bcast(2, nil) },
		"layout": func(r *host.Rank) error { return r.Allgatherv(nil, nil, host.Even(3, 8)) },
	} {
		require.ErrorIs(t, launch(t, c, call), drivers.ErrConfig, name)
	}
}

// TestGroups runs every collective in two groups at once, numbered against the
// order of the ranks, and in the world after them.
func TestGroups(t *testing.T) {
	for ranks := 4; ranks <= 9; ranks++ {
		c := onIdeal("")
		c.Nodes, c.Procs = ranks, 1
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			var members []int
			for m := ranks - 1; m >= 0; m-- {
				if m%2 == r.ID()%2 {
					members = append(members, m)
				}
			}
			g, err := r.Group(members)
			if err != nil {
				return err
			}
			if g.World(g.ID()) != r.ID() || g.Size() != len(members) {
				return fmt.Errorf("rank %d is %d of %v", r.ID(), g.ID(), members)
			}
			for root := range g.Size() {
				if err := rooted(g, root); err != nil {
					return fmt.Errorf("root %d of %v: %w", root, members, err)
				}
			}
			if err := unrooted(g); err != nil {
				return err
			}
			return unrooted(&r.Comm)
		}), "%d ranks", ranks)
	}
}

func TestBadGroups(t *testing.T) {
	c := onIdeal("")
	require.NoError(t, launch(t, c, func(r *host.Rank) error {
		me := r.ID()
		for _, members := range [][]int{{}, {(me + 1) % r.Size()}, {me, me}, {me, -1}, {me, r.Size()}} {
			if _, err := r.Group(members); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("group %v of rank %d: %v", members, me, err)
			}
		}
		return nil
	}))
}
