package model

import (
	"math/bits"

	"github.com/nicloop/nicloop/drivers"
)

// A plan says what is to be looked at in the cycles to come, each thing once per
// cycle and in order of the numbers.
type plan struct {
	words  int // per cycle
	sets   []uint64
	filled uint64 // cycles that have any, by their place among planned
}

// planned cycles are as far as a plan reaches: a run and what follows it.
const planned = 64

func newPlan(n int) plan {
	words := (n + 63) / 64
	return plan{words: words, sets: make([]uint64, planned*words)}
}

// add plans thing i for cycle at, which is the present one or less than planned ahead.
func (p *plan) add(at drivers.Cycle, i int) {
	cycle := int(at % planned)
	p.sets[cycle*p.words+i>>6] |= 1 << (i & 63)
	p.filled |= 1 << cycle
}

// each looks at what is planned for now; what is added for now meanwhile waits for the
// next call if its number has passed.
func (p *plan) each(now drivers.Cycle, look func(now drivers.Cycle, i int)) {
	cycle := int(now % planned)
	if p.filled>>cycle&1 == 0 {
		return
	}
	p.filled &^= 1 << cycle
	sets := p.sets[cycle*p.words:][:p.words]
	for w := range sets {
		set := sets[w]
		sets[w] = 0
		for ; set != 0; set &= set - 1 {
			look(now, w<<6+bits.TrailingZeros64(set))
		}
	}
}

// next is the first cycle behind now for which anything is planned, or Forever.
func (p *plan) next(now drivers.Cycle) drivers.Cycle {
	if p.filled == 0 {
		return drivers.Forever
	}
	return now + 1 + drivers.Cycle(bits.TrailingZeros64(bits.RotateLeft64(p.filled, -int((now+1)%planned))))
}
