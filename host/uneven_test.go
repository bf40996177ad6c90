package host

import "testing"

// What a rank chooses by itself must work without RMA, also where the blocks of half of the ranks
// are long and the others' empty: joined they are longer than what travels over VELO.
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
