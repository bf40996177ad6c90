package host

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
)

// errStuck: there is no room for a line, and attend must not wait for it.
var errStuck = errors.New("host: no room for a line")

const nobody = -1

// progress takes one packet, if there is one, and sends what its credits allow. After
// errStuck it goes on where it was.
func (r *Rank) progress() (bool, error) {
	got := r.serving != nobody
	if !got {
		var err error
		if got, err = r.take(); err != nil {
			return false, err
		}
	}
	for {
		if r.serving == nobody {
			peer, more := r.ep.Credited()
			if !more {
				if len(r.schedules.ready) > 0 {
					got, r.inside = true, true
					r.advance()
					r.inside = false
				}
				if !got {
					return false, r.tellEmpties()
				}
				return true, nil
			}
			r.serving = peer
		}
		got = true
		if err := r.push(r.serving); err != nil {
			return false, err
		}
		r.serving = nobody
	}
}

// take takes one packet, or what else has come, if there is any.
func (r *Rank) take() (bool, error) {
	got, err := r.poll()
	if err != nil {
		return false, err
	}
	if got {
		r.proc.Spend(r.cost.Take + r.credit + r.cost.CopyByte*drivers.Time(len(r.pkt.Payload)))
		if err := r.file(r.pkt.From, r.pkt.Payload); err != nil {
			return false, err
		}
	}
	r.chargeControl()
	long, err := r.progressRMA()
	if err != nil {
		return false, err
	}
	return r.progressLocal() || got || long, nil
}

// poll takes the next data packet out of the mailbox.
func (r *Rank) poll() (bool, error) {
	for {
		if !r.mayPost() {
			return false, errStuck
		}
		if data, more, err := r.ep.Take(&r.pkt); data || !more || err != nil {
			return data, err
		}
	}
}

// mayPost tells whether the endpoint may be called: nothing that attend does may wait.
func (r *Rank) mayPost() bool { return !r.attends || r.proc.Room(velo.MaxPosts) }

// await makes progress until the request that the rank waits for is done, or less.
// With RMA, whose operations post lines of their own, and with schedules, which begin messages, it does so
// step by step.
func (r *Rank) await() error {
	if r.failed != nil {
		return r.helperFailed()
	}
	if r.bulk == nil && r.schedules.active == 0 {
		r.stuck = false
		if r.proc.Attend((*attention)(r), r.cost.Poll); r.err != nil || !r.stuck {
			return r.runEnded(r.err)
		}
	}
	_, err := r.step()
	return err
}

// end ends a request.
func (r *Rank) end(q *Request) {
	q.done = true
	if q == r.waiting {
		r.over = true
	}
	if q.schedule != nil {
		r.partDone(q.schedule)
	}
}

// An attention is a rank that attends.
type attention Rank

// Work makes progress as far as it goes without waiting.
func (a *attention) Work() (done bool, until drivers.Time) {
	r := (*Rank)(a)
	for !r.over {
		r.attends = true
		got, err := r.progress()
		r.attends = false
		switch {
		case err == errStuck:
			r.stuck = true
			return true, 0
		case err != nil:
			r.err = err
			return true, 0
		case !got:
			return false, r.nextWake()
		}
	}
	return true, 0
}

// step makes progress, or sleeps until there can be any. An empty mailbox counts
// only once the hardware has caught up.
func (r *Rank) step() (bool, error) {
	if r.failed != nil {
		return false, r.helperFailed()
	}
	got, err := r.progress()
	if err != nil || got {
		return got, r.runEnded(err)
	}
	if !r.proc.Sync() {
		r.proc.WaitArrival(r.nextWake())
		r.proc.Spend(r.cost.Poll)
	}
	return false, r.runEnded(nil)
}

// runEnded returns drivers.ErrRunEnded when the machine has ended the run, otherwise err: an error of a device that was
// closed by the end of the run is not reported. What the rank waits for at that moment is kept for the report of the
// run, because its function goes on and may wait for something else.
func (r *Rank) runEnded(err error) error {
	ended := r.proc.Err()
	if ended == nil {
		return err
	}
	if r.lastWait == nil {
		w := r.Waiting()
		r.lastWait = &w
	}
	return ended
}
