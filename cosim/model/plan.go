package model

import (
	"math/bits"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
)

// A plan schedules items for future cycles.
type plan struct{ fabric.Calendar }

// planned is the horizon of a plan: a run and its consequences.
const planned = 64

func newPlan(n int) plan { return plan{fabric.NewCalendar(planned-1, n)} }

// add schedules item i for cycle at, which is the current one or less than planned ahead.
func (p *plan) add(at drivers.Cycle, i int) { p.Add(uint64(at), uint32(i)) }

// each visits the items of cycle now. An item added for now meanwhile is visited by the next call
// if its number has passed.
func (p *plan) each(now drivers.Cycle, look func(now drivers.Cycle, i int)) {
	words := p.Take(uint64(now))
	for w, set := range words {
		for words[w] = 0; set != 0; set &= set - 1 {
			look(now, w<<6+bits.TrailingZeros64(set))
		}
	}
}

// next is the first cycle after now with a scheduled item, or Forever.
func (p *plan) next(now drivers.Cycle) drivers.Cycle { return drivers.Cycle(p.Next(uint64(now) + 1)) }
