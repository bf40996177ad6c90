package fabric

// wheel keeps what is due in the cycles to come, a list per cycle.
type wheel struct {
	mask  uint64
	count int
	n     []int
	lists [][]uint64
}

// newWheel reaches horizon cycles ahead with at most size entries per cycle.
func newWheel(horizon, size int) wheel {
	slots := 1
	for slots <= horizon {
		slots *= 2
	}
	w := wheel{mask: uint64(slots - 1), n: make([]int, slots), lists: make([][]uint64, slots)}
	for i := range w.lists {
		w.lists[i] = make([]uint64, size)
	}
	return w
}

func (w *wheel) add(at, entry uint64) {
	i := at & w.mask
	w.lists[i][w.n[i]] = entry
	w.n[i]++
	w.count++
}

// take empties the list of a cycle; what it returns is good until the wheel turns.
func (w *wheel) take(at uint64) []uint64 {
	i := at & w.mask
	n := w.n[i]
	w.n[i] = 0
	w.count -= n
	return w.lists[i][:n]
}

// first is the earliest cycle behind now for which something is due.
func (w *wheel) first(now uint64) (uint64, bool) {
	if w.count == 0 {
		return 0, false
	}
	for at := now + 1; ; at++ {
		if w.n[at&w.mask] > 0 {
			return at, true
		}
	}
}
