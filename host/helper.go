package host

import "github.com/nicloop/nicloop/drivers"

// UseHelper gives the rank a thread on a core of its own that makes progress while the rank computes (asynchronous progress;
// SPEC, section 3.6.2, has it of Myrinet). In a call the rank makes progress itself, and the thread stays out.
// Both share the library under a lock, which takes Cost.Lock: each call that starts or waits takes it, and the thread each time that it finds something
// to do after nothing. A rank that calls meanwhile waits for the end of one piece of work.
func (r *Rank) UseHelper() { r.helped = true }

// enter takes the library's lock, where there is one.
func (r *Rank) enter() {
	if r.helped {
		r.proc.Spend(r.cost.Lock)
	}
}

// computeHelped passes the time until then with what the helper does in it. The rank's own work needs no time of
// the same core, so only a piece of work that has begun before then can end after it.
func (r *Rank) computeHelped(until drivers.Time) {
	for locked := false; r.proc.Now() < until && r.failed == nil; {
		got, err := r.progress()
		switch {
		case err != nil:
			r.failed = err
		case got && !locked:
			locked = true
			r.proc.Spend(r.cost.Lock)
		case got:
		case r.proc.Sync():
		default:
			locked = false
			if r.proc.WaitArrival(min(until, r.nextWake())); r.proc.Now() < until {
				r.proc.Spend(r.cost.Poll)
			}
			r.failed = r.runEnded(nil)
		}
	}
	r.proc.Spend(max(until-r.proc.Now(), 0))
}

// helperFailed is what the helper met since the last call, which the next one tells.
func (r *Rank) helperFailed() error {
	err := r.failed
	r.failed = nil
	return err
}
