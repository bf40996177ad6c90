package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	descBytes     = 24
	underWay      = regs.RMAUnderWay // fragments, answers or writes that a unit has begun
	writeBuffers  = 4                // packets that a completer holds
	answerBuffers = 2                // packets that the responder holds
)

// The two classes of RMA, by which its units are numbered: answers never wait for requests.
const (
	ofRequests = iota
	ofAnswers
)

// sourceOf returns the source of a class of RMA.
func sourceOf(class int) Source { return SourceRequest + Source(class) }

type descriptor struct {
	w0     regs.RMADesc
	w1, w2 uint64
}

// A phase is the next step of a unit.
type phase uint8

const (
	phaseIdle   phase = iota // take the next piece of work, if there is one
	phaseMove                // move its bytes to memory, a burst at a time
	phaseAct                 // hand it on
	phaseNotify              // the notifier has to write the notification
	phaseTold                // it is acknowledged
)

// A unit works on one item at a time.
type unit struct {
	phase phase
	free  drivers.Cycle // the present phase may be done
	note  notice        // to be written in phaseNotify
}

// enter schedules a phase for a cycle.
func (u *unit) enter(p phase, at drivers.Cycle) { u.phase, u.free = p, at }

// notBefore delays a unit that waited for something until a cycle.
func (u *unit) notBefore(at drivers.Cycle) { u.free = max(u.free, at) }

// A sender is the sending half of the requester or the responder. It sends its jobs in order, and
// notifies of each before it starts the next.
type sender struct {
	unit
	jobs     queue[job]
	promised int // buffers: of jobs, and of those that are not here yet
}

func (s *sender) room() bool { return s.promised < underWay }

// due is the cycle in which the next job may begin: one after the acknowledgement of the
// notification.
func (s *sender) due() drivers.Cycle {
	if s.phase != phaseTold {
		return drivers.Forever
	}
	return s.free + 1
}

type job struct {
	packet uint32
	sends  bool // false: an error was found before anything was sent
	note   notice
}

// rma is a node's RMA engine.
type rma struct {
	rings [regs.VPIDs]notiRing

	descs     [regs.VPIDs]queue[descriptor]
	closed    [regs.VPIDs]closing
	waiting   int // descriptors of all processes
	progress  [regs.VPIDs]uint32
	next      int           // process whose fragment is next
	newest    int           // process whose descriptor came last
	taken     drivers.Cycle // when
	requester unit
	frag      fragment      // the one that it works on
	begun     queue[begun]  // those that are read, in order
	sent      drivers.Cycle // the last of them was
	reads     readChannel

	in        [2]queue[uint32] // packets in the completers, by class
	arrived   [2]drivers.Cycle // the last of them
	wrong     bool             // some of them, since the beginning, were ended by a link, or not for this node
	freed     [2]drivers.Cycle // one left
	completer [2]completer

	senders  [2]sender // by class
	notifier notifier

	txPackets, rxPackets, rxDropped, refused, errors, notis, notiOff, late, purged uint64
}

func (r *rma) empty() bool {
	return r.in[0].n+r.in[1].n+r.completer[0].ends.n+r.completer[1].ends.n+
		r.senders[0].promised+r.senders[1].promised+r.waiting+r.notifier.flying.n == 0
}

// pick selects the next process with a descriptor that hardware has seen.
func (r *rma) pick(now drivers.Cycle) (vpid int) {
	for n := r.descs[r.next].n; n == 0 || n == 1 && r.next == r.newest && r.taken+behind > now; n = r.descs[r.next].n {
		r.next = (r.next + 1) % regs.VPIDs
	}
	return r.next
}

// nextRMA is the first cycle in which the engine has something to do.
func (n *node) nextRMA() drivers.Cycle {
	r := &n.rma
	t := min(n.commandDue(), r.requestDue(), r.begunDue(), n.atu.server.due(),
		n.notifyDue(), r.notifier.noticesDue(), r.reads.due(), n.writes.due(), n.landings.due())
	if r.notifier.pays {
		t = min(t, r.notifier.spent)
	}
	for class := range r.in {
		t = min(t, n.judgeDue(class), r.completer[class].write.due(), n.endDue(class))
		t = min(t, r.senders[class].due())
	}
	return t
}

// stepRMA performs all steps that are due, those nearest to completion first, and schedules the
// next.
func (n *node) stepRMA() {
	r, now := &n.rma, n.p.now
	for n.commandDue() <= now {
		n.command(now)
	}
	for class := range r.senders {
		for s := &r.senders[class]; s.due() <= now; {
			n.endJob(class, now)
		}
	}
	for _, class := range [...]int{ofAnswers, ofRequests} {
		n.complete(now, class)
	}
	for r.begunDue() <= now {
		n.sendFragment(now)
	}
	for r.requestDue() <= now {
		n.request(now)
	}
	for n.atu.server.due() <= now {
		n.serve(now)
	}
	for r.notifier.pays && r.notifier.spent <= now {
		n.spendRing(now)
	}
	for n.notifyDue() <= now {
		n.notify(now)
	}
	for r.reads.due() <= now {
		n.grantRead(now)
	}
	for n.writes.due() <= now {
		n.grantWrite(now)
	}
	for r.notifier.noticesDue() <= now {
		n.settleNotices(now)
	}
	n.land(now)
	if t := n.nextRMA(); t != drivers.Forever {
		n.wake(unitRMA, t)
	}
}

// acceptsRMA reports whether the unit that a packet is for has a free buffer. Completer and
// responder of requests alternate: one accepts packets only while the other is idle.
func (n *node) acceptsRMA(class int, h uint32) bool {
	r := &n.rma
	c := &r.completer[class]
	held, buffers := r.in[class].n, writeBuffers
	if r.freed[class] == n.p.now {
		held++
	}
	answered := n.p.packets.at(h).answered()
	if answered {
		buffers = answerBuffers
	}
	return held < buffers && (answered == c.answers || held+c.ends.n == 0 && c.idle <= n.p.now)
}

func (n *node) collectedRMA(class int, h uint32) {
	n.shared = true
	*n.rma.in[class].grow() = h
	n.rma.arrived[class] = n.p.now
	n.rma.completer[class].answers = n.p.packets.at(h).answered()
	n.rma.wrong = n.rma.wrong || n.discardReason(n.p.packets.at(h)) != regs.DropReasonNone
	n.wake(unitRMA, 0)
}

// submit queues a job of a sender. Its buffer has been reserved (promised).
func (n *node) submit(class int, j job) {
	q := &n.rma.senders[class].jobs
	*q.grow() = j
	if q.n == 1 {
		n.beginJob(class, n.p.now)
	}
}

// beginJob sends the first job, or reports its error, from a cycle on.
func (n *node) beginJob(class int, from drivers.Cycle) {
	s := &n.rma.senders[class]
	switch j := s.jobs.first(); {
	case j.sends:
		n.push(sourceOf(class), j.packet)
	case j.note.wanted:
		n.tell(class, j.note, from)
	default: // it was dead, and is served alone
		s.enter(phaseTold, from)
		n.wake(unitRMA, s.due())
	}
}

// sentRMA handles a packet of a sender that has left.
func (n *node) sentRMA(class int) {
	n.rma.txPackets++
	s := &n.rma.senders[class]
	if note := s.jobs.first().note; note.wanted {
		n.tell(class, note, n.p.now+1)
		return
	}
	n.endJob(class, n.p.now+1)
}

// endJob removes the first job of a sender. Its buffer is free from a cycle on.
func (n *node) endJob(class int, free drivers.Cycle) {
	s := &n.rma.senders[class]
	s.enter(phaseIdle, 0)
	s.jobs.drop()
	if class == ofRequests && !s.room() && n.rma.requester.phase == phaseIdle {
		n.rma.requester.notBefore(free + behind)
	}
	if c := &n.rma.completer[ofRequests]; class == ofAnswers && !s.room() && c.ends.n > 0 && c.phase == phaseIdle && !c.ends.first().answer {
		c.notBefore(free) // a refusal may have waited for the buffer
	}
	s.promised--
	if s.jobs.n > 0 {
		n.beginJob(class, free)
	}
	n.wake(unitRMA, 0) // there is room
}
