package vtime

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// A crew decides who simulates the windows of a meeting: one thread per loop (together), or one
// thread alone. Several threads need several cores at the same time; if other work occupies those,
// a thread mostly waits for another one that is not running. This can only be measured, so the
// other mode is tried from time to time and the faster one is kept. The criterion is the time per
// cycle and event, whose number is the same in both modes: the median of several slices, because
// single slices may be disturbed. The crew never affects results of the simulation.
type crew struct {
	together bool
	trial    int           // slices left in a trial of the current mode; the other mode was better when last measured
	rest     time.Duration // time before the other mode is tried
	backoff  time.Duration // rest, in durations of the last trial
	paces    [2]paces
	began    time.Time
	ends     time.Time
	done     uint64        // work done when the slice began
	used     time.Duration // CPU time when the slice began
	starved  bool          // the slice got less than a core
	windows  uint64        // since the slice began
	script   script
	most     uint64 // windows of the slice, if scripted
}

// A script determines the mode of the next slice and its number of windows, instead of
// measurements.
type script func() (together bool, windows uint64)

const (
	slice      = 4 * time.Millisecond // time between two measurements
	glance     = 32                   // windows between two reads of the clock
	tried      = 4                    // slices of a trial; the first has cold caches and does not count
	recent     = 5                    // number of slices of the median
	gain       = 1.1                  // minimum speed-up of threads together, because they use more of the machine
	backoff    = 4                    // short, because the disturbance may be temporary
	backoffMax = 64
	event      = 8  // cost of an event, in cycles of a part
	idle       = 64 // cost limit of skipped cycles
)

// A pace is the duration of a slice and the work done in it.
type pace struct {
	took time.Duration
	done uint64
}

// slower reports whether the same work takes more than a multiple of the time.
func (p pace) slower(than pace, times float64) bool {
	return float64(p.took)*float64(than.done) > float64(than.took)*float64(p.done)*times
}

// paces are those of the last slices of a mode.
type paces struct {
	n    int
	last [recent]pace
}

func (p *paces) add(x pace) {
	p.last[p.n%recent] = x
	p.n++
}

// median returns the fastest possible pace if there are none.
func (p *paces) median() pace {
	n := min(p.n, recent)
	if n == 0 {
		return pace{}
	}
	list := p.last
	slices.SortFunc(list[:n], func(a, b pace) int {
		return cmp.Compare(float64(a.took)*float64(b.done), float64(b.took)*float64(a.done))
	})
	return list[n/2]
}

func newCrew() crew {
	c := crew{rest: slice, backoff: backoff}
	if s := forced.Load(); s != nil {
		c.script = shuffled(*s)
	}
	return c
}

var forced atomic.Pointer[uint64]

// ForceSwitches is for tests, where no machine is busy enough: kernels created before undo is
// called switch between one thread and several after windows drawn from a seed.
func ForceSwitches(seed uint64) (undo func()) {
	before := forced.Swap(&seed)
	return func() { forced.Store(before) }
}

// shuffled returns a script of mostly short slices.
func shuffled(seed uint64) script {
	rnd := rand.New(rand.NewPCG(seed, 0))
	return func() (together bool, windows uint64) {
		return rnd.IntN(2) == 0, rnd.Uint64N(1 << rnd.IntN(10))
	}
}

// begin starts a slice; done is the work so far.
func (c *crew) begin(threads int, done uint64) {
	c.done, c.windows = done, 0
	c.began, c.used = time.Now(), used()
	c.ends = c.began.Add(slice)
	switch {
	case c.script != nil:
		c.together, c.most = c.script()
	case runtime.GOMAXPROCS(0) < threads:
		c.together, c.trial = false, 0
	}
}

// due reports after every window whether the slice is over.
func (c *crew) due() bool {
	c.windows++
	if c.script != nil {
		return c.windows > c.most
	}
	return c.windows%glance == 0 && time.Now().After(c.ends)
}

// change ends a slice, given its duration and the work so far, and chooses the mode of the next.
func (c *crew) change(took time.Duration, done uint64) {
	if c.trial != tried {
		c.pace(c.together).add(pace{took, done})
	}
	if c.trial > 0 {
		if c.trial--; c.trial == 0 {
			c.judge()
		}
		return
	}
	c.rest -= took
	if !c.together && c.starved && c.rest <= 0 { // there are no two cores available
		c.rest = took
	}
	if c.rest <= 0 || c.together && !c.paysOff() {
		c.together, c.trial = !c.together, tried
		*c.pace(c.together) = paces{}
	}
}

// judge ends a trial.
func (c *crew) judge() {
	took := tried * c.pace(c.together).median().took
	if c.paysOff() == c.together {
		c.backoff = backoff
	} else {
		c.together = !c.together
		c.backoff = min(2*c.backoff, backoffMax)
	}
	c.rest = took * c.backoff
}

// paysOff reports whether threads together are sufficiently faster than one.
func (c *crew) paysOff() bool { return c.paces[0].median().slower(c.paces[1].median(), gain) }

func (c *crew) pace(together bool) *paces {
	if together {
		return &c.paces[1]
	}
	return &c.paces[0]
}
