package host

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A schedule is a collective under way: sends, receives and what is done with their data, in the order in
// which one rank does them. What stands between two stops is under way together. A schedule goes on
// whenever its rank makes progress, whatever that waits for.
type schedule struct {
	comm    *Comm
	own     *Request // what its caller waits for
	tag     int      // of all its messages: those of two collectives of a communicator never mix
	steps   []step
	next    int
	parts   []*Request // begun since the last stop
	pending int        // of them, not done
	stopped bool       // at a stop, until none is pending
	err     error
}

// A step is one thing that a schedule does.
type step struct {
	do   deed
	peer int
	b    []byte // sent, received into, or changed
	from []byte
	op   Op
}

type deed uint8

const (
	doStop deed = iota
	doSend
	doReceive
	doCopy
	doCombine
)

func (s *schedule) send(to int, b []byte) {
	s.steps = append(s.steps, step{do: doSend, peer: to, b: b})
}

func (s *schedule) receive(from int, b []byte) {
	s.steps = append(s.steps, step{do: doReceive, peer: from, b: b})
}

func (s *schedule) stop() { s.steps = append(s.steps, step{do: doStop}) }

func (s *schedule) copy(to, from []byte) {
	s.steps = append(s.steps, step{do: doCopy, b: to, from: from})
}

func (s *schedule) combine(into, from []byte, op Op) {
	s.steps = append(s.steps, step{do: doCombine, b: into, from: from, op: op})
}

// Tags of schedules begin behind those of collectives that wait, and come again after 2^31 of them.
const tagSchedule = 16

// schedule begins an empty one.
func (c *Comm) schedule() (*schedule, error) {
	if c.context == contextNone {
		return nil, fmt.Errorf("%w: a collective that does not wait in a group, which has no context for it: make a communicator of it with Dup", drivers.ErrConfig)
	}
	r := c.rank
	s := &schedule{}
	if n := len(r.schedules.idle); n > 0 {
		s = r.schedules.idle[n-1]
		r.schedules.idle = r.schedules.idle[:n-1]
	}
	*s = schedule{comm: c, tag: tagSchedule + int(c.started%(MaxTag-tagSchedule)), steps: s.steps[:0], parts: s.parts[:0]}
	c.started++
	return s, nil
}

// schedules are those of a rank.
type schedules struct {
	active int
	ready  []*schedule // at a stop that is over
	idle   []*schedule
}

// begin lets a schedule run as far as it goes.
func (s *schedule) begin() *Request {
	s.stop() // it ends when all is done
	r := s.comm.rank
	own := r.requests.get()
	*own = Request{comm: s.comm, schedule: s}
	s.own = own
	r.schedules.active++
	r.run(s)
	return own
}

// run takes steps until one has to wait for messages.
func (r *Rank) run(s *schedule) {
	for ; s.next < len(s.steps); s.next++ {
		x := &s.steps[s.next]
		switch x.do {
		case doSend, doReceive:
			if err := r.part(s, x); err != nil {
				r.abandon(s, err)
				return
			}
		case doCopy:
			copy(x.b, x.from)
		case doCombine:
			x.op.Combine(x.b, x.from)
		case doStop:
			if s.stopped = s.pending > 0; s.stopped {
				return
			}
			if r.gather(s); s.err != nil {
				r.conclude(s)
				return
			}
		}
	}
	r.conclude(s)
}

// part begins a message of a schedule.
func (r *Rank) part(s *schedule, x *step) error {
	var q *Request
	var err error
	if x.do == doSend {
		q, err = s.comm.begin(x.peer, s.tag, s.comm.inner, x.b, false)
	} else {
		q, err = s.comm.irecv(x.peer, s.tag, s.comm.inner, x.b)
	}
	if err != nil {
		return err
	}
	s.parts = append(s.parts, q)
	if !q.done {
		q.schedule = s
		s.pending++
	}
	return nil
}

// gather forgets the messages before a stop, which are all done.
func (r *Rank) gather(s *schedule) {
	for _, q := range s.parts {
		if s.err == nil {
			if s.err = q.err; q.receive {
				s.err = checkLength(q.status, q.err, q.buf)
			}
		}
		q.schedule = nil
		if q.err == nil && len(q.buf) <= EagerMax {
			r.requests.put(q)
		}
	}
	s.parts = s.parts[:0]
}

// conclude ends a schedule.
func (r *Rank) conclude(s *schedule) {
	q := s.own
	q.schedule, q.err = nil, s.err
	r.schedules.active--
	clear(s.steps) // it shall not keep buffers
	r.schedules.idle = append(r.schedules.idle, s)
	r.end(q)
}

// abandon ends a schedule that cannot send or receive.
func (r *Rank) abandon(s *schedule, err error) {
	for _, q := range s.parts {
		q.schedule = nil
		if !q.done {
			_ = r.Cancel(q) // the first error is the one to tell
		}
	}
	s.parts, s.err = s.parts[:0], err
	r.conclude(s)
}

// partDone counts a message of a schedule that has ended. It must not go on here: this may be in the
// middle of taking a packet.
func (r *Rank) partDone(s *schedule) {
	if s.pending--; s.pending == 0 && s.stopped {
		r.schedules.ready = append(r.schedules.ready, s)
	}
}

// advance lets the schedules go on whose messages are done.
func (r *Rank) advance() {
	for len(r.schedules.ready) > 0 {
		s := r.schedules.ready[0]
		n := copy(r.schedules.ready, r.schedules.ready[1:])
		r.schedules.ready = r.schedules.ready[:n]
		r.run(s)
	}
}

// blocker is the first message that a schedule waits for.
func (s *schedule) blocker() *Request {
	for _, q := range s.parts {
		if !q.done {
			return q
		}
	}
	return nil
}
