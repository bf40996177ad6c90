package host

import "github.com/nicloop/nicloop/drivers"

// UseHelper adds a progress thread on a core of its own, which makes progress while the rank
// computes (asynchronous progress, as on Myrinet: SPEC, section 3.6.2). Inside a library call the
// rank makes progress itself and the thread is idle. A lock protects the library and takes
// Cost.Lock. Each call that starts or waits acquires it, and so does the thread whenever it finds
// work after an idle period. A call that meets the thread at work waits for the end of one work
// item.
func (r *Rank) UseHelper() { r.helped = true }

// computeHelped spends the time until then, in which the progress thread works. The thread has a
// core of its own, so only a work item that began before then can delay the rank.
func (r *Rank) computeHelped(until drivers.Time) {
	e := &r.engine
	for locked := false; e.Proc.Now() < until && e.Failed == nil; {
		got, err := e.Progress()
		switch {
		case err != nil:
			e.Failed = err
		case got && !locked:
			locked = true
			e.Proc.Spend(e.Cost.Lock)
		case got:
		case e.Proc.Sync():
		default:
			locked = false
			if e.Proc.WaitArrival(min(until, e.NextWake())); e.Proc.Now() < until {
				e.Proc.Spend(e.Cost.Poll)
			}
			e.Failed = e.RunEnded(nil)
		}
	}
	e.Proc.Spend(max(until-e.Proc.Now(), 0))
}
