package libfabric

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// Error numbers of libfabric that completions carry.
const (
	errNoMessage = 42
	errCancelled = 125
	errTruncated = 265
)

// An operation is a send or a receive that the program has started.
type operation struct {
	host.TaggedOp
	request
	multi *multi // of a receive into a part of a multi-receive buffer
	dma   bool   // Buf is from Rank.Alloc
	// serial numbers the receives of a rank.
	serial uint64
}

// A multi is a buffer that receives messages one behind the other.
type multi struct {
	request
	filled uint64
}

// A report is a completion that has not been written yet, with the bytes of a short message.
type report struct {
	completion
	bytes []byte
}

// A session is one rank: it does what its program asks for.
type session struct {
	s       *Server
	link    *link
	region  *region
	r       *host.Rank
	q       *host.TaggedQueue
	ops     map[uint64]*operation // by context: those that can be cancelled
	claimed map[uint64]*host.Claimed
	reports []report
	spare   [][]byte // buffers of short messages
	sending int      // sends that are not done
	posted  uint64   // receives
	state   *rankState
	replay  computeCursor // of Config.Replay
	spin    spinner
	quiet   drivers.Time // nothing arrives before; 0: unknown

	oneSided oneSidedState
	// memoryChanges counts writes of other ranks to the memory of the program, changesSeen those
	// before its last call returned: it may have seen them.
	memoryChanges, changesSeen uint64
	failed                     error // of a callback; the next collect returns it
}

// waits describes what the rank waits for: the oldest of its receives and sends.
func (x *session) waits() string {
	var oldest *operation
	for _, op := range x.ops {
		if oldest == nil || op.serial < oldest.serial {
			oldest = op
		}
	}
	more := ""
	if n := len(x.ops); n > 1 {
		more = fmt.Sprintf(", and %d more", n-1)
	}
	switch {
	case oldest == nil && x.sending > 0:
		return fmt.Sprintf("%d sends that are not done", x.sending)
	case oldest == nil && x.oneSided.inProgress > 0:
		return fmt.Sprintf("%d one-sided operations that are not done", x.oneSided.inProgress)
	case oldest == nil:
		return "a message that it looks for"
	case oldest.Peer == host.AnySource:
		return fmt.Sprintf("receive of up to %d bytes from any rank%s", oldest.length, more)
	}
	return fmt.Sprintf("receive of up to %d bytes from rank %d%s", oldest.length, oldest.Peer, more)
}

// Serve does what the program of rank r asks for, until it leaves the world.
func (s *Server) Serve(r *host.Rank) error {
	l := s.links[r.ID()]
	x := &session{
		s: s, link: l, region: l.region, r: r, q: r.NewTaggedQueue(),
		ops: map[uint64]*operation{}, claimed: map[uint64]*host.Claimed{}, state: s.world.rank(r.ID(), s.Ranks),
	}
	x.state.session = x
	select {
	case <-l.connected:
	case <-s.ended:
		return s.endCause
	}
	for {
		done, err := x.step()
		if err != nil {
			x.region.end()
			return err
		}
		if done {
			x.link.left.Store(true)
			x.state.finished = true
			x.state.end = r.Now()
			return nil
		}
	}
}

// step waits for a request and does it.
func (x *session) step() (done bool, err error) {
	if err := x.awaitRequest(); err != nil {
		return false, err
	}
	r := &x.region.requests[x.region.requestTail%slots]
	x.state.calls++
	computed, err := x.computed(r)
	if err != nil {
		return false, err
	}
	x.r.Compute(drivers.Time(r.spent) + drivers.Time(float64(computed)*1000*x.s.Compute))
	x.quiet = 0
	if err := x.do(r); err != nil {
		return false, err
	}
	op := r.op
	if op >= opPeek {
		x.writeReports()
		atomic.StoreUint64(&x.region.nowPS, uint64(x.r.Now()))
		x.region.quietPS = uint64(x.quiet)
		x.changesSeen = x.memoryChanges
	}
	x.region.answer()
	return op == opFinalize, nil
}

// computed is the processor time before a request: measured, and recorded if that was asked for, or
// replayed.
func (x *session) computed(r *request) (ns uint64, err error) {
	switch rank := x.link.rank; {
	case x.s.Replay != nil:
		return x.s.Replay.next(rank, &x.replay, r.op)
	case x.s.Record != nil:
		x.s.Record.record(rank, r.op, r.computeNS)
	}
	return r.computeNS, nil
}

// awaitRequest waits for the program in real time: virtual time does not pass, for any rank.
func (x *session) awaitRequest() error {
	if x.spin.until(x.region.pending) {
		return nil
	}
	x.s.world.awaited.Store(int32(x.link.rank) + 1)
	defer x.s.world.awaited.Store(0)
	var since time.Time
	var used uint64
	for wait := 200 * time.Microsecond; !x.region.pending(); wait = min(2*wait, 100*time.Millisecond) {
		if err := x.s.hasEnded(); err != nil {
			return err
		}
		if x.link.dead.Load() && !x.region.pending() {
			return x.died()
		}
		if x.region.sleep(wait); x.region.pending() || wait < 10*time.Millisecond {
			continue
		}
		if now := x.link.processorTime(); since.IsZero() || now != used {
			since, used = time.Now(), now // it computes
		} else if time.Since(since) > x.s.Stall {
			return x.detach()
		}
	}
	return nil
}

// died names the first program that died: mpirun kills the others.
func (x *session) died() error {
	if err := x.s.aborted(); err != nil {
		return err
	}
	l := x.s.links[x.s.firstDead.Load()-1]
	return &DiedError{Rank: l.rank, Call: l.region.mpiCall()}
}

// A DiedError is a program that ended while it was a rank of the world.
type DiedError struct {
	Rank int
	Call string // the MPI function that it was in, or ""
}

func (e *DiedError) Error() string {
	where := "outside of MPI"
	if e.Call != "" {
		where = "in " + e.Call
	}
	return fmt.Sprintf("the program of rank %d ended %s, before MPI_Finalize", e.Rank, where)
}

// aborted is the error of a program that has called MPI_Abort, or nil. If several ranks have called
// it, the lowest one is named.
func (s *Server) aborted() error {
	for _, l := range s.links {
		if atomic.LoadUint32(&l.region.aborted) != 0 {
			at := drivers.Time(atomic.LoadUint64(&l.region.nowPS))
			return &AbortError{Rank: l.rank, Code: int(int32(l.region.abortCode)), At: at}
		}
	}
	return nil
}

// An AbortError is a program that has called MPI_Abort.
type AbortError struct {
	Rank int
	Code int
	At   drivers.Time // of its last call before
}

func (e *AbortError) Error() string {
	return fmt.Sprintf("rank %d called MPI_Abort with code %d, %v after the start", e.Rank, e.Code, e.At)
}

// detach lets the other ranks continue while the program waits for something that is not a message.
func (x *session) detach() error {
	if !x.s.world.detached {
		x.s.world.detached = true
		x.s.Warn(fmt.Sprintf("rank %d has not called libfabric for %v of real time and does not compute: "+
			"the others continue; this run may differ from the next", x.link.rank, x.s.Stall))
	}
	x.state.detached = true
	defer func() { x.state.detached = false }()
	for !x.region.pending() {
		switch err := x.s.hasEnded(); {
		case err != nil:
			return err
		case x.link.dead.Load() && !x.region.pending():
			return x.died()
		}
		x.region.sleep(200 * time.Microsecond)
		if err := x.r.ProgressUntil(x.r.Now()+drivers.Microsecond, x.region.pending); err != nil {
			return err
		}
	}
	return nil
}

// processorTime is what the program has used, in clock ticks, or 0 if that is not known.
func (l *link) processorTime() uint64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.pid.Load()))
	if err != nil {
		return 0
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	var user, system uint64
	if len(f) > 12 {
		_, _ = fmt.Sscan(f[11], &user)
		_, _ = fmt.Sscan(f[12], &system)
		if f[0] == "R" || f[0] == "D" {
			return uint64(time.Now().UnixNano()) // it runs, or waits for a disk
		}
	}
	return user + system
}

func (x *session) do(r *request) error {
	switch r.op {
	case opSend:
		return x.send(r)
	case opRecv, opRecvClaimed:
		return x.receive(r)
	case opPeek:
		return x.peek(r)
	case opCancel:
		return x.cancel(r)
	case opWrite, opRead:
		return x.access(r)
	case opAtomic:
		return x.atomic(r)
	case opRegister:
		return x.register(r)
	case opUnregister:
		return x.unregister(r.tag)
	case opPoll:
		return x.poll(r.flags&flagNoWait != 0, drivers.Time(r.data))
	case opClock:
		return nil
	case opFinalize:
		return x.finalize()
	}
	return fmt.Errorf("rank %d: its program asks for %v", x.link.rank, r.op)
}

func spaceOf(r *request) host.Space {
	if r.flags&flagTagged != 0 {
		return host.TaggedSpace
	}
	return host.UntaggedSpace
}

// ---- operations ----

func (x *session) send(r *request) error {
	op := &operation{request: *r}
	op.Space, op.Peer, op.Tag, op.Data = spaceOf(r), int(r.peer), r.tag, r.data
	op.Synchronous = r.flags&flagMatched != 0
	op.Buf, op.dma = x.buffer(r.length)
	if err := x.fetch(r, op.Buf); err != nil {
		return err
	}
	op.User = op
	x.sending++
	x.state.sent(x.s, x.link.rank, op)
	x.s.world.critical.waits[x.link.rank] = false
	x.s.world.critical.send(x.link.rank, op.Peer, op.Space == host.TaggedSpace, op.Tag, x.r.Now())
	if err := x.q.Send(&op.TaggedOp); err != nil {
		return err
	}
	return x.collect()
}

func (x *session) receive(r *request) error {
	op := &operation{request: *r}
	if r.flags&flagMulti != 0 {
		op.multi = &multi{request: *r}
	}
	return x.post(op)
}

func (x *session) post(op *operation) error {
	op.Space, op.Peer, op.Tag, op.Ignore = spaceOf(&op.request), int(op.peer), op.tag, op.ignore
	if op.Peer < 0 {
		op.Peer = host.AnySource
	}
	op.Buf, op.dma = x.buffer(op.length)
	op.User = op
	x.posted++
	op.serial = x.posted
	x.ops[op.context] = op
	var err error
	if c := x.claimed[op.context]; op.op == opRecvClaimed && c != nil {
		delete(x.claimed, op.context)
		err = x.q.ReceiveClaimed(&op.TaggedOp, c)
	} else {
		err = x.q.Receive(&op.TaggedOp)
	}
	return errors.Join(err, x.collect())
}

func (x *session) cancel(r *request) error {
	op := x.ops[r.context]
	if op == nil {
		return nil
	}
	return errors.Join(x.q.Cancel(&op.TaggedOp), x.collect())
}

// peek looks for a message. If there is none, a program that may wait does: it would look again.
func (x *session) peek(r *request) error {
	op := &operation{request: *r}
	op.Space, op.Peer, op.Tag, op.Ignore = spaceOf(r), int(r.peer), r.tag, r.ignore
	if op.Peer < 0 {
		op.Peer = host.AnySource
	}
	if err := x.poll(true, 0); err != nil {
		return err
	}
	st, found := x.q.Peek(&op.TaggedOp)
	if !found && r.flags&flagNoWait == 0 && len(x.reports) == 0 {
		if err := x.poll(false, 0); err != nil {
			return err
		}
		st, found = x.q.Peek(&op.TaggedOp)
	}
	c := completion{context: r.context, flags: wasRecv | wasPeek | r.origin(), tag: r.tag, source: -1}
	if !found {
		c.err = errNoMessage
		x.reports = append(x.reports, report{completion: c})
		return nil
	}
	x.quiet = 0
	if r.flags&(flagClaim|flagDiscard) != 0 {
		m := x.q.Claim(&op.TaggedOp)
		if r.flags&flagDiscard == 0 {
			x.claimed[r.context] = m
		} else {
			x.noteReceived(op, st)
		}
	}
	c.length, c.tag, c.data, c.source, c.flags = uint64(st.Bytes), st.Tag, st.Data, int32(st.Source), c.flags|withData
	x.reports = append(x.reports, report{completion: c})
	return nil
}

// poll reads the completion queue. Reading an empty one takes PollCost; a program that may wait
// continues when something has arrived, or after limit, if that is not 0.
func (x *session) poll(noWait bool, limit drivers.Time) error {
	if err := x.collect(); err != nil || len(x.reports) > 0 {
		return err
	}
	x.r.Compute(x.s.PollCost)
	x.s.world.critical.waits[x.link.rank] = true
	var failed error
	stop := func() bool {
		failed = x.collect()
		return failed != nil || len(x.reports) > 0
	}
	if noWait {
		err := errors.Join(x.r.ProgressUntil(x.r.Now(), stop), failed)
		if err == nil && len(x.reports) == 0 {
			x.quiet = x.quietUntil()
		}
		return err
	}
	x.quiet = 0
	unexpected := x.r.UnexpectedCount()
	arrived := func() bool {
		return len(x.reports) > 0 || x.r.UnexpectedCount() != unexpected || x.memoryChanges != x.changesSeen
	}
	until := x.r.Now() + x.state.patience()
	if limit > 0 {
		until = x.r.Now() + limit
	}
	err := x.r.ProgressUntil(until, func() bool { return stop() || arrived() })
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if arrived() {
		x.state.vain = 0
		return nil
	}
	if limit > 0 {
		return nil // the program goes on
	}
	x.state.vain++
	x.state.waitsIn = x.region.mpiCall()
	return x.s.world.checkHang(x)
}

// longestQuiet limits how long a program polls without the world, so that it notices the end of the
// world and the limit of simulated time.
const longestQuiet = 100 * drivers.Microsecond

// quietUntil is the time until which polls of the program find nothing: the provider answers them
// itself, as a call of the world takes several microseconds of real time. With measured computing,
// the world must see every poll.
func (x *session) quietUntil() drivers.Time {
	if x.s.Compute > 0 {
		return 0
	}
	return min(x.r.QuietUntil(), x.r.Now()+longestQuiet)
}

// finalize ends the sends of the program.
func (x *session) finalize() error {
	var failed error
	err := x.r.ProgressUntil(drivers.Never, func() bool {
		failed = x.collect()
		return failed != nil || x.sending+x.oneSided.inProgress == 0
	})
	x.state.mpi = drivers.Time(x.region.mpiPS)
	x.state.localPolls = x.region.localPolls
	return errors.Join(err, failed, x.stopService())
}
