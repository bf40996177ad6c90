package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A stamp is the protection domain (PDID) and life of a process.
type stamp uint32

func (s stamp) pdid() uint16 { return uint16(s) }
func (s stamp) life() uint16 { return uint16(s >> 16) }

func (s stamp) tail() regs.Tail { return regs.TailFields{PDID: s.pdid(), Life: s.life()}.Pack() }

func stampOf(t regs.Tail) stamp { return stamp(t.PDID()) | stamp(t.Life())<<16 }

// in returns the stamp with another life.
func (s stamp) in(life uint16) stamp { return stamp(s.pdid()) | stamp(life)<<16 }

// A process is the state of a process apart from its rings.
type process struct {
	stamp
	was     standing // before the last write of its switches or domain
	windows [windows]sendWindow
}

// A standing is the state that decides whether a process may send.
type standing struct {
	stamp  stamp
	window bool          // of VELO
	starts bool          // the window of RMA is on
	until  drivers.Cycle // to the end of this one
}

// standing returns the state of a process one cycle ago. Units that run one cycle behind their
// hardware need it.
func (n *node) standing(vpid uint8) standing {
	if p := &n.procs[vpid]; p.was.until == n.p.now-1 {
		return p.was
	}
	return n.stands(vpid)
}

func (n *node) stands(vpid uint8) standing {
	return standing{n.procs[vpid].stamp, n.mbox[vpid].ctrl&regs.MboxCtrlWindow != 0, n.rma.rings[vpid].mayStart(), n.p.now}
}

// serves reports whether a request belongs to the domain of its destination.
func (n *node) serves(p *Packet) bool {
	d := p.stamp.pdid()
	return d != 0 && d == n.procs[p.Header.DstVPID()].pdid()
}

// served is serves as of the previous cycle: the VELO completer compares the domains of a waiting
// packet one cycle before it looks at it.
func (n *node) served(p *Packet) bool {
	d := p.stamp.pdid()
	return d != 0 && d == n.standing(p.Header.DstVPID()).stamp.pdid()
}

// domains counts packets that were refused because of their domain.
type domains struct{ refused, last uint64 }

// countForeign counts a packet of another domain.
func (n *node) countForeign(p *Packet) {
	h := p.Header
	n.domains.refused++
	n.domains.last = regs.DomainLastValid | uint64(h.Type())<<regs.DomainLastType.LSB() |
		uint64(h)>>32&0xffff<<regs.DomainLastSrc.LSB() |
		uint64(h)>>48<<regs.DomainLastDst.LSB() | uint64(p.stamp.pdid())<<regs.DomainLastPDID.LSB()
}

// setDomain writes PDID of a process, which switches off its mailbox, ring and windows.
func (n *node) setDomain(now drivers.Cycle, i uint8, v uint64) {
	n.procs[i].stamp = n.procs[i].stamp&^0xffff | stamp(v&0xffff)
	m, ring := &n.mbox[i], &n.rma.rings[i]
	n.setMailbox(i, m.ctrl&regs.MboxCtrlIRQArrival)
	n.setRing(now, i, ring.ctrl&regs.NotiCtrlIRQ)
}

// setMailbox writes the switches of a mailbox.
func (n *node) setMailbox(i uint8, v uint64) {
	if v&regs.MboxCtrlEnable == 0 {
		for k := range n.slots.n {
			if w := n.slots.at(k); w.vpid == i {
				w.lost = true
			}
		}
	}
	n.mbox[i].control(v)
	if v&regs.MboxCtrlWindow == 0 {
		n.procs[i].windows[windowVELO].shut()
	}
	n.mailboxChanged()
}

// setRing writes the switches of a ring. A life begins when the ring is switched on. Descriptors in
// a window that is switched off are dead.
func (n *node) setRing(now drivers.Cycle, i uint8, v uint64) {
	ring := &n.rma.rings[i]
	if v&^ring.ctrl&regs.NotiCtrlEnable != 0 {
		n.procs[i].stamp += 1 << 16
	}
	started := ring.mayStart()
	n.rma.notifier.switched(i, v)
	ring.control(v)
	if started && !ring.mayStart() {
		n.closeWindow(now, i)
	}
	if !started || !ring.mayStart() {
		n.procs[i].windows[windowRMA].shut()
	}
	n.ringChanged(now)
}

// keepStanding saves the state of a process before its switches or domain are written.
func (n *node) keepStanding(i uint8) { n.procs[i].was = n.stands(i) }

// A closing is a window that was switched off: the number of its oldest descriptors that are dead,
// the cycle, and how many were dead before.
type closing struct {
	dead, before int
	at           drivers.Cycle
}

// seen reports whether hardware knows in a cycle that the oldest descriptor of a process is dead.
func (c *closing) seen(in drivers.Cycle) bool { return c.before > 0 || c.dead > 0 && c.at < in }

// popped handles the removal of the oldest descriptor.
func (c *closing) popped() { c.dead, c.before = max(c.dead-1, 0), max(c.before-1, 0) }

// closeWindow marks the descriptors of a process as dead.
func (n *node) closeWindow(now drivers.Cycle, i uint8) {
	n.rma.closed[i] = closing{dead: n.rma.descs[i].n, before: n.rma.closed[i].dead, at: now}
}

// levelOf returns register LEVEL of a process: what it has waiting in its own NIC.
func (n *node) levelOf(i uint8) uint64 {
	r := &n.rma
	waiting := n.descriptors(i)
	begun, _ := n.passing(i)
	fragments := uint64(begun)
	for k := range r.begun.n {
		if r.begun.at(k).job.note.vpid == i {
			fragments++
		}
	}
	sender := &r.senders[ofRequests]
	jobs := &sender.jobs
	if jobs.n > 0 && jobs.first().note.vpid == i && sender.due() <= n.p.now { // hardware has ended it
		fragments--
	}
	for k := range jobs.n {
		if jobs.at(k).note.vpid == i {
			fragments++
		}
	}
	lines := uint64(n.procs[i].windows[windowVELO].waiting)
	return uint64(waiting)<<regs.LevelDescriptors.LSB() | fragments<<regs.LevelFragments.LSB() |
		lines<<regs.LevelLines.LSB()
}

// note stores the first error in ERROR_INFO and raises the interrupt. The caller counts it.
func (n *node) note(h regs.Header, reason regs.DropReason) {
	if n.errorInfo&regs.ErrorInfoValid == 0 {
		n.errorInfo = regs.ErrorInfoValid | uint64(reason)<<regs.ErrorInfoReason.LSB() |
			uint64(h)>>32&0xffff<<regs.ErrorInfoSrc.LSB() | uint64(h)>>48<<regs.ErrorInfoDst.LSB() |
			uint64(h.Length())<<regs.ErrorInfoLength.LSB()
	}
	n.interrupt(regs.IRQStatusError)
}

// noteHere is note for errors of RMA, which report the node and, for descriptors, the process only.
func (n *node) noteHere(vpid uint8, reason regs.DropReason) {
	n.note(regs.HeaderFields{SrcNode: uint16(n.id), SrcVPID: vpid}.Pack(), reason)
}
