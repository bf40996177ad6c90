package host

import "github.com/nicloop/nicloop/drivers"

// UseHelper gives the rank a thread on a core of its own that makes progress while the rank
// computes (asynchronous progress; SPEC, section 3.6.2, has it of Myrinet). In a call the rank
// makes progress itself, and the thread stays out. Both share the library under a lock, which takes
// Cost.Lock: each call that starts or waits takes it, and the thread each time that it finds
// something to do after nothing. A rank that calls meanwhile waits for the end of one piece of
// work.
func (r *Rank) UseHelper() { r.helped = true }

// computeHelped spends the time until then with what the helper does in it. The rank's own work
// needs no time of the same core, so only a piece of work that has begun before then can end after
// it.
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
