package host

import "github.com/nicloop/nicloop/host/path"

// A schedule is a collective in progress: the sends, receives, copies and reductions of one rank,
// in order. Steps between two stops may be in progress together. A schedule advances whenever its
// rank makes progress, whatever the rank waits for.
type schedule struct {
	comm    *Comm
	own     *Request // the request that the caller waits for
	tag     int      // of all its messages; unique within the communicator
	steps   []step
	next    int
	parts   []*Request // begun since the last stop
	pending int        // number of parts that are not done
	stopped bool       // waits at a stop until pending is 0
	err     error
}

// A step is one action of a schedule.
type step struct {
	do   action
	peer int
	b    []byte // sent, received into, or changed
	from []byte
	op   Op
}

type action uint8

const (
	doStop action = iota
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

// stopUnlessDirect is a stop between eager sends. Without a copy, each send takes until its bytes
// have left, and the next can begin meanwhile.
func (s *schedule) stopUnlessDirect() {
	if s.comm.rank.ring == nil {
		s.stop()
	}
}

func (s *schedule) copy(to, from []byte) {
	s.steps = append(s.steps, step{do: doCopy, b: to, from: from})
}

func (s *schedule) combine(into, from []byte, op Op) {
	s.steps = append(s.steps, step{do: doCombine, b: into, from: from, op: op})
}

// Tags of nonblocking collectives follow those of blocking ones and wrap around after 2^31 calls.
const tagSchedule = 16

// schedules holds the schedules of a rank.
type schedules struct {
	ready []*schedule // whose stop has been passed
	idle  []*schedule
}

// blank returns an empty schedule whose messages have the given tag.
func (l *schedules) blank(c *Comm, tag int) *schedule {
	s := &schedule{}
	if n := len(l.idle); n > 0 {
		s = l.idle[n-1]
		l.idle = l.idle[:n-1]
	}
	*s = schedule{comm: c, tag: tag, steps: s.steps[:0], parts: s.parts[:0]}
	return s
}

func (l *schedules) giveBack(s *schedule) {
	clear(s.steps) // release references to buffers
	l.idle = append(l.idle, s)
}

// walk executes the schedule of a blocking collective. Like a program that sends and receives
// itself, it waits for the messages of one stop at a time.
func (r *Rank) walk(s *schedule) error {
	s.stop()
	for i := range s.steps {
		x := &s.steps[i]
		switch x.do {
		case doSend, doReceive:
			q, err := s.message(x)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, q)
		case doStop:
			if err := r.settle(s); err != nil {
				return err
			}
		default:
			r.work(x)
		}
	}
	r.schedules.giveBack(s)
	return nil
}

// settle waits for the messages of a walked schedule, sends first, so that peers can continue.
func (r *Rank) settle(s *schedule) error {
	for _, receives := range []bool{false, true} {
		for i, q := range s.parts {
			if q == nil || q.op.Receive != receives {
				continue
			}
			s.parts[i] = nil // the request is reused after its completion
			b := q.op.Buf
			st, err := r.waitFor(q)
			if receives {
				err = checkLength(st, err, b)
			}
			if err != nil {
				return err
			}
		}
	}
	s.parts = s.parts[:0]
	return nil
}

// begin runs a schedule until it has to wait.
func (s *schedule) begin() *Request {
	s.stop() // the schedule ends when all its messages are done
	r := s.comm.rank
	own := r.requests.Get()
	*own = Request{comm: s.comm}
	own.op.Group = s
	s.own = own
	r.engine.Background++
	r.run(s)
	return own
}

// run executes steps until one has to wait for messages.
func (r *Rank) run(s *schedule) {
	for ; s.next < len(s.steps); s.next++ {
		x := &s.steps[s.next]
		switch x.do {
		case doSend, doReceive:
			if err := r.part(s, x); err != nil {
				r.abandon(s, err)
				return
			}
		case doStop:
			if s.stopped = s.pending > 0; s.stopped {
				return
			}
			if r.gather(s); s.err != nil {
				r.conclude(s)
				return
			}
		default:
			r.work(x)
		}
	}
	r.conclude(s)
}

// work executes a local step.
func (r *Rank) work(x *step) {
	if x.do == doCombine {
		x.op.Combine(x.b, x.from)
		return
	}
	r.copied(copy(x.b, x.from))
}

// message begins a send or receive of a schedule.
func (s *schedule) message(x *step) (*Request, error) {
	if x.do == doSend {
		return s.comm.begin(x.peer, s.tag, s.comm.inner, x.b, false)
	}
	return s.comm.irecv(x.peer, s.tag, s.comm.inner, x.b)
}

// part begins a send or receive of a nonblocking schedule.
func (r *Rank) part(s *schedule, x *step) error {
	q, err := s.message(x)
	if err != nil {
		return err
	}
	s.parts = append(s.parts, q)
	if !q.op.Done {
		q.op.Group = s
		s.pending++
	}
	return nil
}

// gather releases the requests before a stop, which are all done.
func (r *Rank) gather(s *schedule) {
	for _, q := range s.parts {
		if s.err == nil {
			st, err := q.outcome()
			if s.err = err; q.op.Receive {
				s.err = checkLength(st, err, q.op.Buf)
			}
		}
		q.op.Group = nil
		if q.op.Err == nil && len(q.op.Buf) <= EagerMax {
			r.requests.Put(q)
		}
	}
	s.parts = s.parts[:0]
}

// conclude completes a schedule.
func (r *Rank) conclude(s *schedule) {
	q := s.own
	q.op.Group, q.op.Err = nil, s.err
	r.engine.Background--
	r.schedules.giveBack(s)
	r.engine.End(&q.op)
}

// abandon ends a schedule that cannot send or receive.
func (r *Rank) abandon(s *schedule, err error) {
	for _, q := range s.parts {
		q.op.Group = nil
		if !q.op.Done {
			_ = r.Cancel(q) // the first error is reported
		}
	}
	s.parts, s.err = s.parts[:0], err
	r.conclude(s)
}

// OpDone implements path.Group: it counts a completed message of a schedule. The schedule must not
// continue here, because the caller may be processing a packet.
func (s *schedule) OpDone() {
	r := s.comm.rank
	if s.pending--; s.pending == 0 && s.stopped {
		r.schedules.ready = append(r.schedules.ready, s)
		r.engine.Resumable = true
	}
}

// advance continues the schedules whose messages are done.
func (r *Rank) advance() {
	for len(r.schedules.ready) > 0 {
		s := r.schedules.ready[0]
		n := copy(r.schedules.ready, r.schedules.ready[1:])
		r.schedules.ready = r.schedules.ready[:n]
		r.run(s)
	}
	r.engine.Resumable = false
}

// Blocker implements path.Group: the first message that a schedule waits for.
func (s *schedule) Blocker() *path.Op {
	for _, q := range s.parts {
		if !q.op.Done {
			return &q.op
		}
	}
	return nil
}
