package routing

import "github.com/nicloop/nicloop/cosim/fabric/topology"

// fatTree goes up until the destination is below, then down on the only path. The way up follows
// the destination's digits, which shares the ways down evenly, or is random, or uses the output
// with most room.
type fatTree struct {
	topology.FatTree
	kind   Kind
	powers []int
}

func newFatTree(t topology.FatTree, k Kind) *fatTree {
	f := &fatTree{FatTree: t, kind: k}
	for i := range t.Levels + 1 {
		f.powers = append(f.powers, t.Power(i))
	}
	return f
}

// VCs implements Algorithm.
func (f *fatTree) VCs() int { return 1 }

// Route implements Algorithm.
func (f *fatTree) Route(router, _ int, h *Header, s *Sight) (port, vc int) {
	row := f.powers[f.Levels-1]
	level, at := router/row, router%row
	leaf := int(h.Dst) / f.K
	switch {
	case at/f.powers[level] != leaf/f.powers[level]:
		return f.K + f.up(level, int(h.Dst), s), 0
	case level == 0:
		return int(h.Dst) % f.K, 0
	}
	return leaf / f.powers[level-1] % f.K, 0
}

func (f *fatTree) up(level, dst int, s *Sight) int {
	switch f.kind {
	case Valiant:
		return s.Intn(f.K)
	case UGAL:
		best := s.Intn(f.K) // ties are broken at random
		for i, from := 1, best; i < f.K; i++ {
			if p := (from + i) % f.K; s.Used[f.K+p] < s.Used[f.K+best] {
				best = p
			}
		}
		return best
	}
	return dst / f.powers[level] % f.K
}
