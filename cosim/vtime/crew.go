package vtime

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// A crew decides who does the windows of a meeting: a thread for each loop, together, or one alone.
// Two threads need two cores, at the same time: where other work wants them, a thread waits most of
// the time for one that does not run. Whether that is so can only be measured, so now and then the
// other way is tried, and the better kept. What is compared is the time per cycle and per event, of
// which there are as many either way: the median of some slices, since one in which the machine did
// something else says nothing. It decides on nothing but who works.
type crew struct {
	together bool
	trial    int           // slices left to a trial of this way; the other was the better when last measured
	rest     time.Duration // that the better way has before the other is tried
	backoff  time.Duration // rest, in durations of the trial before
	paces    [2]paces
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
	tried      = 4                    // slices of a trial; the first finds cold caches and does not count
	recent     = 5                    // slices of which the median is taken
	gain       = 1.1                  // how much faster threads together must be: they take more of the machine
	backoff    = 4                    // soon again: what was so bad may be over
	backoffMax = 64
	event      = 8  // takes as long as so many cycles of a part, more or less
	idle       = 64 // cycles, of those that are passed over together
)

// A pace is how long a slice took, and for how much.
type pace struct {
	took time.Duration
	done uint64
}

// slower tells whether the same takes more than a multiple of another pace.
func (p pace) slower(than pace, times float64) bool {
	return float64(p.took)*float64(than.done) > float64(than.took)*float64(p.done)*times
}

// paces are those of the last slices of a way.
type paces struct {
	n    int
	last [recent]pace
}

func (p *paces) add(x pace) {
	p.last[p.n%recent] = x
	p.n++
}

// median of none is a pace that nothing is slower than.
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

// ForceSwitches is for tests, for which no machine is busy enough: kernels that are made before
// undo is called change between one thread and all after windows drawn from a seed.
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
	switch {
	case c.script != nil:
		c.together, c.most = c.script()
	case runtime.GOMAXPROCS(0) < threads:
		c.together, c.trial = false, 0
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
	if !c.together && c.starved && c.rest <= 0 { // then there are no two cores
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

// paysOff tells whether threads together are enough faster than one.
func (c *crew) paysOff() bool { return c.paces[0].median().slower(c.paces[1].median(), gain) }

func (c *crew) pace(together bool) *paces {
	if together {
		return &c.paces[1]
	}
	return &c.paces[0]
}
