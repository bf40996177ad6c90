package rma

import "slices"

// runs allocates ranges of table entries: first fit; adjacent free ranges are merged.
type runs struct {
	free []run // sorted by first, never adjacent
}

type run struct{ first, n int }

func (r *runs) take(n int) (first int, ok bool) {
	for i := range r.free {
		f := &r.free[i]
		if f.n < n {
			continue
		}
		first = f.first
		f.first, f.n = f.first+n, f.n-n
		if f.n == 0 {
			r.free = slices.Delete(r.free, i, i+1)
		}
		return first, true
	}
	return 0, false
}

func (r *runs) give(back run) {
	i, _ := slices.BinarySearchFunc(r.free, back.first, func(f run, first int) int { return f.first - first })
	r.free = slices.Insert(r.free, i, back)
	if i+1 < len(r.free) && back.first+back.n == r.free[i+1].first {
		r.free[i].n += r.free[i+1].n
		r.free = slices.Delete(r.free, i+1, i+2)
	}
	if i > 0 && r.free[i-1].first+r.free[i-1].n == r.free[i].first {
		r.free[i-1].n += r.free[i].n
		r.free = slices.Delete(r.free, i, i+1)
	}
}
