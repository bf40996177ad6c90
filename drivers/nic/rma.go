package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	descBytes  = 24
	sendDepth  = 2 // packets that a sender holds
	rmaBuffers = 2 // packets that a completer holds
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
	phaseMove                // move its bytes to or from memory, a burst at a time
	phaseAct                 // do what follows: packet, answer, counters
	phaseNotify              // write the notification
	phaseTold                // it is acknowledged
)

// A unit works on one thing at a time. When it cannot go on it waits for room in
// a ring, in a sender or on the write channel; until then it has nothing to do.
type unit struct {
	owner  int
	phase  phase
	free   drivers.Cycle // the present phase may be done
	ring   *notiRing     // waits for this ring
	sender *sender       // or for this sender
	moved  int           // bytes that went to memory
	asks   bool          // for the write channel
	note   notice        // to be written in phaseNotify
}

func (u *unit) blocked() bool {
	return u.ring != nil && u.ring.full() || u.sender != nil && u.sender.jobs.n >= sendDepth
}

// enter a phase at a cycle.
func (u *unit) enter(p phase, at drivers.Cycle) { u.phase, u.free, u.ring, u.sender = p, at, nil, nil }

// A sender is the sending end of the requester or the responder. It sends its jobs in order,
// and notifies of each before the next.
type sender struct {
	unit
	jobs queue[job]
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
	waiting   int // descriptors of all processes
	progress  [regs.VPIDs]uint32
	turn      int // process whose fragment is next
	requester unit
	frag      fragment // the one that it works on

	in        [2]queue[uint32] // packets in the completers, by class
	freed     [2]drivers.Cycle // one left
	completer [2]unit
	outcome   [2]outcome
	answer    Packet // is made here

	senders  [2]sender     // by class
	notiFree drivers.Cycle // the notifier is

	txPackets, rxPackets, rxDropped, refused, errors, notis, notiOff uint64
}

func (r *rma) empty() bool {
	return r.in[0].n+r.in[1].n+r.senders[0].jobs.n+r.senders[1].jobs.n+r.waiting == 0
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
	t := n.atu.commandDue()
	if r.waiting > 0 || r.requester.phase != phaseIdle {
		t = min(t, r.requester.due())
	}
	for class := range r.in {
		if r.in[class].n > 0 {
			t = min(t, r.completer[class].due())
		}
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

// stepRMA does what is due now, answers first, and comes back for what is due later.
func (n *node) stepRMA() {
	r, now := &n.rma, n.m.now
	for n.atu.commandDue() <= now {
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
		for r.in[class].n > 0 && r.completer[class].due() <= now {
			n.complete(now, class)
		}
	}
	for (r.waiting > 0 || r.requester.phase != phaseIdle) && r.requester.due() <= now {
		n.request(now)
	}
	if t := n.nextRMA(); t != drivers.Forever {
		n.wake(unitRMA, t)
	}
}

// acceptsRMA: a completer has a buffer for another packet.
func (n *node) acceptsRMA(class int) bool {
	held := n.rma.in[class].n
	if n.rma.freed[class] == n.m.now {
		held++
	}
	return held < rmaBuffers
}

func (n *node) collectedRMA(class int, h uint32) {
	*n.rma.in[class].grow() = h
	n.wake(unitRMA, 0)
}

// room tells whether a sender takes one more job; if not, u waits for it.
func (n *node) room(u *unit, class int) bool {
	u.sender = &n.rma.senders[class]
	return !u.blocked()
}

// submit gives a sender a job, for which there is room.
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
		n.tell(&s.unit, j.note, n.m.now+1)
	}
}

// sentRMA: the packet of a sender's job has left.
func (n *node) sentRMA(class int) {
	n.rma.txPackets++
	s := &n.rma.senders[class]
	if note := s.jobs.first().note; note.wanted {
		n.tell(&s.unit, note, n.m.now+1)
		return
	}
	n.endJob(class)
}

func (n *node) endJob(class int) {
	s := &n.rma.senders[class]
	s.enter(phaseIdle, 0)
	s.jobs.drop()
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
