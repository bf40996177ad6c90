package bridge

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A policy says who looks for a message before he sleeps.
type policy uint8

const (
	bothSleep policy = iota
	simulatorLooks
	bothLook
	policies
)

// simulatorLook is how long the simulator looks at most: a host that thinks longer, or
// has to be woken for longer, may wait for it to wake up.
const simulatorLook = 20 * time.Microsecond

// A trial finds out by experiment which policy is fastest. What a sleep costs and what looking
// costs are both unknown: two processes on one CPU only hold each other up by looking; on two idle
// cores it saves microseconds; where these are threads of one core, looking slows the one that
// clocks the model by up to a third; and all of it changes with what else the machine does. So now
// and then the policies are tried at random, and the one with the least time per cycle is kept for
// a while. Results never depend on it.
type trial struct {
	limit   time.Duration // how long we may look
	single  bool          // nothing to try
	left    int           // exchanges until the next phase
	trying  bool
	policy  policy // of this exchange
	coming  policy // and of the next: the simulator begins to wait for that at the end of this
	random  uint32
	usual   float64 // time per cycle
	lost    int     // exchanges in which we or the simulator lost the core
	samples [trialExchanges]policySample
}

type policySample struct {
	policy policy
	spent  time.Duration
	cycles uint64
}

const (
	trialExchanges = 96
	holdExchanges  = 8192
	worthLooking   = 4 // looking must gain this part, in 1/64: it takes a core from others
	// An exchange that takes longer than usual by this has waited for a core. If some did
	// the machine is busy, and looking takes what others want.
	lostCore = time.Millisecond
	busy     = 2
)

func newTrial(limit time.Duration) trial {
	return trial{limit: limit, single: limit <= 0 || runtime.NumCPU() == 1, random: 1, left: trialExchanges, trying: true}
}

// begin makes the way of the exchange known.
func (t *trial) begin() {
	t.policy = t.coming
	if !t.trying || t.single {
		return
	}
	t.random ^= t.random << 13
	t.random ^= t.random >> 17
	t.random ^= t.random << 5
	t.coming = policy(t.random >> 8 % uint32(policies))
}

// done takes in how long the exchange took and how many cycles it was.
func (t *trial) done(spent time.Duration, cycles drivers.Cycle) {
	if t.single {
		return
	}
	t.left--
	x := policySample{t.policy, spent, uint64(max(cycles, 1))}
	switch {
	case t.trying:
		t.samples[t.left] = x
	case t.policy != bothSleep && t.isLost(x):
		if t.lost++; t.lost > busy {
			t.coming = bothSleep // it was not when we tried
		}
	}
	if t.left == 0 {
		t.nextPhase()
	}
}

// nextPhase ends a phase.
func (t *trial) nextPhase() {
	if t.trying = !t.trying; t.trying {
		t.left = trialExchanges
		return
	}
	t.left, t.coming, t.lost = holdExchanges, t.best(), 0
}

func (t *trial) isLost(x policySample) bool {
	return float64(x.spent-lostCore) > 2*t.usual*float64(x.cycles)
}

// best is the policy with the least time per cycle.
func (t *trial) best() policy {
	slices.SortFunc(t.samples[:], func(a, b policySample) int { return cmp.Compare(a.perCycle(), b.perCycle()) })
	t.usual = t.samples[trialExchanges/2].perCycle()
	lost := 0
	var spent, cycles [policies]float64
	for _, x := range &t.samples {
		if t.isLost(x) {
			lost++
			continue
		}
		spent[x.policy] += float64(x.spent)
		cycles[x.policy] += float64(x.cycles)
	}
	if lost > busy {
		return bothSleep
	}
	best := bothSleep
	for w := range policies {
		// spent / cycles, less than that of best by what looking must gain
		if spent[w]*cycles[best]*64 < spent[best]*cycles[w]*(64-worthLooking) {
			best = w
		}
	}
	return best
}

func (x policySample) perCycle() float64 { return float64(x.spent) / float64(x.cycles) }
