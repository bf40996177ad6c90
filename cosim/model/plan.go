package model

import (
	"math/bits"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
)

// A plan says what is to be looked at in the cycles to come.
type plan struct{ fabric.Calendar }

// planned cycles are as far as a plan reaches: a run and what follows it.
const planned = 64

func newPlan(n int) plan { return plan{fabric.NewCalendar(planned-1, n)} }

// add plans thing i for cycle at, which is the present one or less than planned ahead.
func (p *plan) add(at drivers.Cycle, i int) { p.Add(uint64(at), uint32(i)) }

// each looks at what is planned for now; what is added for now meanwhile waits for the
// next call if its number has passed.
func (p *plan) each(now drivers.Cycle, look func(now drivers.Cycle, i int)) {
	words := p.Take(uint64(now))
	for w, set := range words {
		for words[w] = 0; set != 0; set &= set - 1 {
			look(now, w<<6+bits.TrailingZeros64(set))
		}
	}
}

// next is the first cycle behind now for which anything is planned, or Forever.
func (p *plan) next(now drivers.Cycle) drivers.Cycle { return drivers.Cycle(p.Next(uint64(now) + 1)) }
