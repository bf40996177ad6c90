package packets

import (
	"cmp"
	"fmt"
	"slices"
)

// asking returns the queues whose front packets request an output with room for all of them, in the
// order of last service.
func (s *reference) asking(r *refRouter) (list []int) {
	for i := range r.queues {
		q := &r.queues[i]
		crossing := slices.ContainsFunc(r.crossings, func(c *refCrossing) bool { return c.q == i })
		if q.routed && len(q.flits) > 0 && !crossing && r.credits[q.out*s.vcs+q.vc] >= s.cfg.Flits {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(r.queues[a].nextFrom, r.queues[b].nextFrom) })
	return list
}

// grant gives the queue that was served longest ago its output, if output and input are free and
// not held for another one; then continues with the next queue.
func (s *reference) grant(r *refRouter) {
	free := func(side refSide) bool { return !side.busy && side.free < (s.t+1)*ticks }
	isFor := func(held, i int) bool { return held < 0 || held == i }
	list := s.asking(r)
	able := slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		o := r.queues[i].out
		return !free(r.in[i/s.vcs]) || !free(r.out[o]) || r.heldIn[i/s.vcs] >= 0 || r.heldOut[o] >= 0
	})
	served := slices.Repeat([]int{-1}, len(r.out))
	var taken []*refCrossing
	for _, i := range list {
		q, in, o := &r.queues[i], i/s.vcs, r.queues[i].out
		if !free(r.in[in]) || !free(r.out[o]) || !isFor(r.heldIn[in], i) || !isFor(r.heldOut[o], i) {
			continue
		}
		s.begin(r, q, o)
		taken = append(taken, &refCrossing{in, i, o, q.vc, s.t})
		served[o] = i
		r.in[in].busy, r.out[o].busy = true, true
		r.passed[i] = 0
		if r.heldOut[o] == i {
			r.heldOut[o], r.heldIn[in] = -1, -1
		}
	}
	for o, i := range served {
		oldest := slices.IndexFunc(list, func(k int) bool { return r.queues[k].out == o })
		if i >= 0 && list[oldest] != i {
			s.passOver(r, o, list[oldest])
		}
	}
	s.checkFair(r, able, taken)
	for _, c := range taken {
		s.move(r, c)
	}
	r.crossings = append(r.crossings, taken...)
}

// passOver counts that queue i, the oldest request for an output, was passed over; after too many
// times both sides are held for it.
func (s *reference) passOver(r *refRouter, o, i int) {
	switch q := &r.queues[i]; {
	case r.passed[i] < s.patience:
		r.passed[i]++
	case r.heldIn[i/s.vcs] < 0 && r.credits[o*s.vcs+q.vc] >= s.cfg.Flits:
		r.heldOut[o], r.heldIn[i/s.vcs] = i, i
		s.holds++
	}
}

// checkFair records a queue that could cross and did not, unless a queue that was served longer ago
// took its input or its output, for the first time since its front packet has waited.
func (s *reference) checkFair(r *refRouter, able []int, taken []*refCrossing) {
	for _, c := range taken {
		clear(r.lostTo[c.q])
	}
	for _, i := range able {
		if slices.ContainsFunc(taken, func(c *refCrossing) bool { return c.q == i }) {
			continue
		}
		if r.lostTo[i] == nil {
			r.lostTo[i] = map[int]int{}
		}
		lost, again := false, false
		for _, c := range taken {
			older := cmp.Or(cmp.Compare(r.queues[c.q].nextFrom, r.queues[i].nextFrom), cmp.Compare(c.q, i)) < 0
			if older && (c.in == i/s.vcs || c.out == r.queues[i].out) {
				r.lostTo[i][c.q]++
				lost, again = true, again || r.lostTo[i][c.q] > 1
			}
		}
		if (!lost || again) && s.unfair == "" {
			s.unfair = fmt.Sprintf("cycle %d, router %d: queue %d lost: %v", s.t, r.id, i, r.lostTo[i])
		}
	}
}
