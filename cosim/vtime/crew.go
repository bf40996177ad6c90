package vtime

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"
)

// A crew decides who does the windows of a meeting: a thread for each loop, together, or one
// alone. Two threads need two cores, at the same time: where other work wants them, a thread waits
// most of the time for one that does not run. Whether that is so can only be measured, so
// now and then the other way is tried, and the better kept. What is compared is the time per
// cycle and per event that a process waits for, of which there are as many either way. It decides
// on nothing but who works.
type crew struct {
	together bool
	trial    bool          // of this way; the other was the better when last measured
	rest     time.Duration // that the better way has before the other is tried
	backoff  time.Duration // rest, in durations of the trial before
	paces    [2]pace
	began    time.Time
	ends     time.Time
	done     uint64        // when it began
	used     time.Duration // processor time, then
	starved  bool          // the slice got less than a core
	windows  uint64        // since it began
	script   script
	most     uint64 // windows of the slice, if there is a script
}

// A script says instead who has the next slice, and how many windows.
type script func() (together bool, windows uint64)

const (
	slice      = 4 * time.Millisecond // time between two looks at the pace
	glance     = 32                   // windows between two looks at the clock
	gain       = 1.1                  // how much faster threads together must be: they take more of the machine
	backoff    = 16
	backoffMax = 64
	event      = 8  // takes as long as so many cycles of a part, more or less
	idle       = 64 // cycles, of those that are passed over together
)

// A pace is how long takes what is done; what was done some slices ago counts less.
type pace struct{ took, done float64 }

func (p *pace) add(took time.Duration, done uint64) {
	const keep = 7. / 8
	p.took, p.done = p.took*keep+float64(took), p.done*keep+float64(done)
}

// slower tells whether the same takes more than a multiple of another pace.
func (p pace) slower(than pace, times float64) bool {
	return p.took*than.done > than.took*p.done*times
}

func newCrew() crew {
	c := crew{rest: slice, backoff: backoff}
	if s := forced.Load(); s != nil {
		c.script = shuffled(*s)
	}
	return c
}

var forced atomic.Pointer[uint64]

// ForceSwitches is for tests, for which no machine is busy enough: kernels that are made before undo is
// called change between one thread and all after windows drawn from a seed.
func ForceSwitches(seed uint64) (undo func()) {
	before := forced.Swap(&seed)
	return func() { forced.Store(before) }
}

// shuffled is a script of short slices, and some long ones.
func shuffled(seed uint64) script {
	rnd := rand.New(rand.NewPCG(seed, 0))
	return func() (together bool, windows uint64) {
		return rnd.IntN(2) == 0, rnd.Uint64N(1 << rnd.IntN(10))
	}
}

// begin begins a slice, when so much is done.
func (c *crew) begin(threads int, done uint64) {
	c.done, c.windows = done, 0
	c.began, c.used = time.Now(), used()
	c.ends = c.began.Add(slice)
	if c.trial { // caches are cold at first
		c.ends = c.ends.Add(slice)
	}
	switch {
	case c.script != nil:
		c.together, c.most = c.script()
	case runtime.GOMAXPROCS(0) < threads:
		c.together, c.trial = false, false
	}
}

// due tells, after every window, whether the slice is over.
func (c *crew) due() bool {
	c.windows++
	if c.script != nil {
		return c.windows > c.most
	}
	return c.windows%glance == 0 && time.Now().After(c.ends)
}

// change ends a slice that took so long and in which so much was done, and tells who has the next.
func (c *crew) change(took time.Duration, done uint64) {
	c.pace(c.together).add(took, done)
	if c.trial {
		c.judge(took)
		return
	}
	c.rest -= took
	now := pace{float64(took), float64(done)}
	if !c.together && c.starved && c.rest <= 0 { // then there are no two cores
		c.rest = took
	}
	if c.rest <= 0 || c.together && !c.paysOff(now) {
		c.together, c.trial = !c.together, true
		*c.pace(c.together) = pace{}
	}
}

// judge ends a trial.
func (c *crew) judge(took time.Duration) {
	c.trial = false
	if c.paysOff(*c.pace(true)) == c.together {
		c.backoff = backoff
	} else {
		c.together = !c.together
		c.backoff = min(2*c.backoff, backoffMax)
	}
	c.rest = took * c.backoff
}

// paysOff tells whether threads together, at a pace, are enough faster than one.
func (c *crew) paysOff(together pace) bool { return c.pace(false).slower(together, gain) }

func (c *crew) pace(together bool) *pace {
	if together {
		return &c.paces[1]
	}
	return &c.paces[0]
}
