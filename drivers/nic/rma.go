package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	descBytes     = 24
	underWay      = 4 // fragments, answers or writes that a unit has begun
	writeBuffers  = 4 // packets that a completer holds
	answerBuffers = 2 // packets that the responder holds
)

// Virtual channels: answers never wait for requests.
const (
	vcRequest = 0
	vcAnswer  = 1
)

// Who owns the DMA write channel.
const (
	ownerVELO = iota
	ownerRequester
	ownerRequests
	ownerAnswers
)

type descriptor struct {
	w0     regs.RMADesc
	w1, w2 uint64
}

// A phase is what a unit does next, once its time has come.
type phase uint8

const (
	phaseIdle   phase = iota // take the next piece of work, if there is one
	phaseMove                // move its bytes to memory, a burst at a time
	phaseAct                 // hand it on
	phaseNotify              // write the notification
	phaseTold                // it is acknowledged
)

// A unit works on one thing at a time. A full ring holds it; until there is room it
// has nothing to do.
type unit struct {
	phase phase
	free  drivers.Cycle // the present phase may be done
	ring  *notiRing     // waits for this ring
	note  notice        // to be written in phaseNotify
}

func (u *unit) blocked() bool { return u.ring != nil && u.ring.full() }

// enter a phase at a cycle.
func (u *unit) enter(p phase, at drivers.Cycle) { u.phase, u.free, u.ring = p, at, nil }

// notBefore keeps a unit that waited for something from going on before a cycle.
func (u *unit) notBefore(at drivers.Cycle) { u.free = max(u.free, at) }

// A sender is the sending end of the requester or the responder. It sends its jobs in order,
// and notifies of each before the next.
type sender struct {
	unit
	jobs     queue[job]
	promised int // buffers: of jobs, and of those that are not here yet
}

func (s *sender) room() bool { return s.promised < underWay }

type job struct {
	packet uint32
	sends  bool // false: an error was found before anything was sent
	note   notice
}

// rma is a node's RMA engine.
type rma struct {
	rings [regs.VPIDs]notiRing

	descs     [regs.VPIDs]queue[descriptor]
	waiting   int // descriptors of all processes
	progress  [regs.VPIDs]uint32
	turn      int // process whose fragment is next
	requester unit
	frag      fragment      // the one that it works on
	begun     queue[begun]  // those that are read, in order
	readFree  drivers.Cycle // the DMA read channel is

	in        [2]queue[uint32] // packets in the completers, by class
	freed     [2]drivers.Cycle // one left
	completer [2]completer
	answer    Packet // is made here

	senders  [2]sender     // by class
	notiFree drivers.Cycle // the notifier is

	txPackets, rxPackets, rxDropped, refused, errors, notis, notiOff uint64
}

func (r *rma) empty() bool {
	return r.in[0].n+r.in[1].n+r.completer[0].ends.n+r.completer[1].ends.n+r.senders[0].promised+r.senders[1].promised+r.waiting == 0
}

// pick finds the process whose turn it is: the next with a descriptor.
func (r *rma) pick() (vpid int) {
	for r.descs[r.turn].n == 0 {
		r.turn = (r.turn + 1) % regs.VPIDs
	}
	return r.turn
}

// nextRMA is the first cycle at which the engine does something by itself.
func (n *node) nextRMA() drivers.Cycle {
	r := &n.rma
	t := min(n.commandDue(), r.requestDue(), r.begunDue())
	for class := range r.in {
		t = min(t, n.judgeDue(class), r.completer[class].write.due(), n.endDue(class))
		if r.senders[class].phase != phaseIdle {
			t = min(t, r.senders[class].due())
		}
	}
	return t
}

func (u *unit) due() drivers.Cycle {
	if u.blocked() {
		return drivers.Forever
	}
	return u.free
}

// stepRMA does what is due now, what is nearest to its end first, and comes back for
// what is due later.
func (n *node) stepRMA() {
	r, now := &n.rma, n.p.now
	for n.commandDue() <= now {
		n.execute(now)
	}
	for class := range r.senders {
		for s := &r.senders[class]; s.phase != phaseIdle && s.due() <= now; {
			if n.tellStep(now, &s.unit) {
				n.endJob(class)
			}
		}
	}
	for _, class := range [...]int{vcAnswer, vcRequest} {
		n.complete(now, class)
	}
	for r.begunDue() <= now {
		n.sendFragment(now)
	}
	for r.requestDue() <= now {
		n.request(now)
	}
	if t := n.nextRMA(); t != drivers.Forever {
		n.wake(unitRMA, t)
	}
}

// read has the read channel fetch a span that is asked for at a cycle, and tells when all
// of it is here. Reads of a unit follow each other, a cycle apart; bursts do without a gap.
func (n *node) read(s span, at, before drivers.Cycle) drivers.Cycle {
	r := &n.rma
	quads := drivers.Cycle(s.addr%8+s.n+7) / 8
	r.readFree = max(at+n.m.cfg.Timing.HostRead, r.readFree, before+1) + quads
	return r.readFree
}

// acceptsRMA: the unit that a packet is for has a buffer for it. Completer and responder
// of requests take turns: a packet goes to one while the other has nothing to do.
func (n *node) acceptsRMA(class int, h uint32) bool {
	r := &n.rma
	c := &r.completer[class]
	held, buffers := r.in[class].n, writeBuffers
	if r.freed[class] == n.p.now {
		held++
	}
	answered := n.p.pool.at(h).answered()
	if answered {
		buffers = answerBuffers
	}
	return held < buffers && (answered == c.answers || held+c.ends.n == 0 && c.ended < n.p.now)
}

func (n *node) collectedRMA(class int, h uint32) {
	*n.rma.in[class].grow() = h
	n.rma.completer[class].answers = n.p.pool.at(h).answered()
	n.wake(unitRMA, 0)
}

// submit gives a sender a job, for which a buffer was promised.
func (n *node) submit(class int, j job) {
	q := &n.rma.senders[class].jobs
	*q.grow() = j
	if q.n == 1 {
		n.beginJob(class)
	}
}

func sourceOf(class int) Source { return SourceRequest + Source(class) }

func (n *node) beginJob(class int) {
	s := &n.rma.senders[class]
	if j := s.jobs.first(); j.sends {
		n.push(sourceOf(class), j.packet)
	} else {
		n.tell(&s.unit, j.note, n.p.now+1)
	}
}

// sentRMA: the packet of a sender's job has left.
func (n *node) sentRMA(class int) {
	n.rma.txPackets++
	s := &n.rma.senders[class]
	if note := s.jobs.first().note; note.wanted {
		n.tell(&s.unit, note, n.p.now+1)
		return
	}
	n.endJob(class)
}

func (n *node) endJob(class int) {
	s := &n.rma.senders[class]
	s.enter(phaseIdle, 0)
	s.jobs.drop()
	s.promised--
	if s.jobs.n > 0 {
		n.beginJob(class)
	}
	n.wake(unitRMA, 0) // there is room
}

// tell has the notifier write a notification that the unit shows it from a cycle on.
func (n *node) tell(u *unit, note notice, from drivers.Cycle) {
	t := &n.m.cfg.Timing
	at := max(from, n.rma.notiFree) + t.Notify
	n.rma.notiFree = at + t.HostWrite + 1
	u.note = note
	u.enter(phaseNotify, at)
	n.wake(unitRMA, at)
}

// tellStep goes on with a notification and tells whether it is done.
func (n *node) tellStep(now drivers.Cycle, u *unit) bool {
	if u.phase == phaseTold {
		return true
	}
	waited := u.ring != nil
	u.ring = &n.rma.rings[u.note.vpid]
	switch {
	case u.blocked():
		u.ring.stall.begin(now)
	case waited: // the notifier looks again
		u.ring.stall.end(now)
		n.tell(u, u.note, now)
	default:
		n.writeNotice(&u.note)
		u.enter(phaseTold, now+n.m.cfg.Timing.HostWrite)
	}
	return false
}
