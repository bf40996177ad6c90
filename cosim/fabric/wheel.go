package fabric

// wheel holds the credits that are under way, a list of lanes per cycle. A VC's
// credits come one per cycle: what is freed together follows one behind the other,
// because the flit channel has one credit wire per VC.
type wheel struct {
	mask   uint64
	lanes  uint64
	inside int
	n      []uint64
	list   []uint32 // lanes entries per cycle
	last   []uint64 // by lane: the cycle in which its last credit started, + 1
}

// newWheel reaches horizon cycles ahead.
func newWheel(horizon, lanes int) wheel {
	slots := 1
	for slots <= horizon {
		slots *= 2
	}
	return wheel{
		mask: uint64(slots - 1), lanes: uint64(lanes),
		n: make([]uint64, slots), list: make([]uint32, slots*lanes), last: make([]uint64, lanes),
	}
}

// put starts a credit for a place freed now, which arrives delay cycles later.
func (w *wheel) put(now, delay uint64, lane uint32) {
	start := max(now, w.last[lane])
	w.last[lane] = start + 1
	i := (start + delay) & w.mask
	w.list[i*w.lanes+w.n[i]] = lane
	w.n[i]++
	w.inside++
}

// take empties the list of a cycle; what it returns is good until the wheel turns.
func (w *wheel) take(at uint64) []uint32 {
	i := at & w.mask
	n := w.n[i]
	w.n[i] = 0
	w.inside -= int(n)
	return w.list[i*w.lanes:][:n]
}

// next is the first cycle behind now in which something arrives, or Forever.
func (w *wheel) next(now uint64) uint64 {
	if w.inside == 0 {
		return Forever
	}
	for at := now + 1; ; at++ {
		if w.n[at&w.mask] > 0 {
			return at
		}
	}
}
