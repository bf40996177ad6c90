package bench

// ReuseStats counts eager messages by RMA over all ranks, including warm-up.
type ReuseStats struct {
	Copied uint64 `json:"copied"`        // through an intermediate buffer
	Direct uint64 `json:"without_copy"`  // from the buffer of the send
	Other  uint64 `json:"other_ways"`    // without a free ring entry: by VELO or rendezvous
	Pins   uint64 `json:"registrations"` // that mapped pages
}

// reuseStats sums the counters of all ranks.
func (w *World) reuseStats() (s ReuseStats) {
	for _, r := range w.Ranks {
		if r == nil {
			continue
		}
		x := r.Reused()
		s.Copied, s.Direct, s.Other, s.Pins = s.Copied+x.Copied, s.Direct+x.Direct, s.Other+x.Other, s.Pins+x.Pins
	}
	return s
}

// reused adds the counts since before to the last row.
func (res *Result) reused(w *World, before ReuseStats) {
	if !w.Config.Reuse.On() {
		return
	}
	now := w.reuseStats()
	res.Rows[len(res.Rows)-1].Reuse = &ReuseStats{now.Copied - before.Copied, now.Direct - before.Direct, now.Other - before.Other, now.Pins - before.Pins}
}
