package host

import "testing"

// The table must select an algorithm that works without RMA, also if half of the ranks have long
// blocks and the others empty ones: joined blocks are longer than the limit of VELO.
func TestUnevenBlocksNeedNoRMA(t *testing.T) {
	launch(t, plan{nodes: 16, procs: 1}, func(r *Rank) error {
		counts := make([]int, r.Size())
		for i := r.Size() / 2; i < r.Size(); i++ {
			counts[i] = 512
		}
		l := NewLayout(counts)
		all := letter(l.Bytes(), 5)
		in := make([]byte, len(all))
		if err := r.Allgatherv(l.Of(all, r.ID()), in, l); err != nil {
			return err
		}
		return same("allgatherv", in, all)
	})
}
