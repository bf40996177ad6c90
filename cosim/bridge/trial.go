package bridge

import (
	"runtime"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A way says who looks for a message before he sleeps.
type way uint8

const (
	bothSleep way = iota
	simulatorLooks
	bothLook
	ways
)

// simulatorLook is how long the simulator looks at most: a host that thinks longer, or
// has to be woken for longer, may wait for it to wake up.
const simulatorLook = 20 * time.Microsecond

// A trial finds out by experiment which way is fastest. What a sleep costs and what looking costs are
// both unknown: two processes on one CPU only hold each other up by looking; on two idle
// cores it saves microseconds; where these are threads of one core, looking slows the one that
// clocks the model by up to a third; and all of it changes with what else the machine does. So now and
// then the ways are taken in turn at random, and the one with the least time per cycle is kept
// for a while. Results never depend on it.
type trial struct {
	limit  time.Duration // how long we may look
	single bool          // nothing to try
	left   int           // exchanges until the next phase
	trying bool
	way    way // of this exchange
	coming way // and of the next: the simulator begins to wait for that at the end of this
	random uint32
	spent  [ways]time.Duration
	cycles [ways]uint64
}

const (
	trialExchanges = 96
	holdExchanges  = 8192
	// looking must gain this part, in 1/64: it takes a core from others
	worthLooking = 2
)

func newTrial(limit time.Duration) trial {
	return trial{limit: limit, single: limit <= 0 || runtime.NumCPU() == 1, random: 1, left: trialExchanges, trying: true}
}

// begin makes the way of the exchange known.
func (t *trial) begin() {
	t.way = t.coming
	if !t.trying || t.single {
		return
	}
	t.random ^= t.random << 13
	t.random ^= t.random >> 17
	t.random ^= t.random << 5
	t.coming = way(t.random >> 8 % uint32(ways))
}

// done takes in how long the exchange took and how many cycles it was.
func (t *trial) done(spent time.Duration, cycles drivers.Cycle) {
	if t.single {
		return
	}
	if t.trying {
		t.spent[t.way] += spent
		t.cycles[t.way] += uint64(cycles)
	}
	if t.left--; t.left > 0 {
		return
	}
	if t.trying = !t.trying; t.trying {
		t.left = trialExchanges
		t.spent, t.cycles = [ways]time.Duration{}, [ways]uint64{}
		return
	}
	t.left = holdExchanges
	t.coming = t.best()
}

func (t *trial) best() way {
	best := bothSleep
	for w := range ways {
		if t.cost(w)*64 < t.cost(best)*(64-worthLooking) {
			best = w
		}
	}
	return best
}

// cost is the time per cycle.
func (t *trial) cost(w way) float64 { return float64(t.spent[w]) / float64(max(t.cycles[w], 1)) }
