package bridge

import (
	"cmp"
	"runtime"
	"slices"
	"time"

	"github.com/nicloop/nicloop/drivers"
)

// A policy determines which side polls for a message before it sleeps.
type policy uint8

const (
	bothSleep policy = iota
	simulatorLooks
	bothLook
	policies
)

// simulatorLook is the maximum time for which the simulator polls. A host that takes longer to
// respond or to wake up may wait for the simulator's wake-up.
const simulatorLook = 20 * time.Microsecond

// A trial determines the fastest policy by experiment. The costs of sleeping and polling are
// unknown: two processes on one CPU only delay each other by polling; on two idle cores polling
// saves microseconds; on two threads of one core it slows the thread that clocks the model by up to
// a third; and all of this changes with the load of the machine. Therefore the policies are tried
// at random from time to time, and the one with the least time per cycle is kept for a while.
// Results never depend on it.
type trial struct {
	limit   time.Duration // maximum polling time
	single  bool          // nothing to try
	left    int           // exchanges until the next phase
	trying  bool
	policy  policy // of this exchange
	coming  policy // of the next: the simulator starts to wait for it at the end of this exchange
	random  uint32
	usual   float64 // time per cycle
	lost    int     // exchanges in which either side lost its core
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
	worthLooking   = 4 // required gain of polling, in 1/64: it takes a core from others
	// An exchange that exceeds the usual time by this much has waited for a core. If that happens,
	// the machine is busy, and polling takes time from other work.
	lostCore = time.Millisecond
	busy     = 2
)

func newTrial(limit time.Duration) trial {
	return trial{limit: limit, single: limit <= 0 || runtime.NumCPU() == 1, random: 1, left: trialExchanges, trying: true}
}

// begin publishes the policy of the exchange.
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

// done records the duration and the cycles of the exchange.
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
			t.coming = bothSleep // the machine was idle during the trial
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
		// spent / cycles, less than that of best by the required gain
		if spent[w]*cycles[best]*64 < spent[best]*cycles[w]*(64-worthLooking) {
			best = w
		}
	}
	return best
}

func (x policySample) perCycle() float64 { return float64(x.spent) / float64(x.cycles) }
