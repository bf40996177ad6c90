package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A stamp is what hardware knows of a process beside its number: its protection domain, and which
// life it lives.
type stamp uint32

func (s stamp) pdid() uint16 { return uint16(s) }
func (s stamp) life() uint16 { return uint16(s >> 16) }

func (s stamp) tail() regs.Tail { return regs.TailFields{PDID: s.pdid(), Life: s.life()}.Pack() }

func stampOf(t regs.Tail) stamp { return stamp(t.PDID()) | stamp(t.Life())<<16 }

// in gives the stamp of a process of the same domain in another life.
func (s stamp) in(life uint16) stamp { return stamp(s.pdid()) | stamp(life)<<16 }

// A process is what the NIC knows of one beside its rings.
type process struct {
	stamp
	was     standing // before the last write of its switches or domain
	windows [windows]sendWindow
}

// A standing is what decides whether a process may send.
type standing struct {
	stamp  stamp
	window bool          // of VELO
	starts bool          // the window of RMA is on
	until  drivers.Cycle // to the end of this one
}

// standing is how a process stood a cycle ago: units that work a cycle behind their hardware see it
// so.
func (n *node) standing(vpid uint8) standing {
	if p := &n.procs[vpid]; p.was.until == n.p.now-1 {
		return p.was
	}
	return n.stands(vpid)
}

func (n *node) stands(vpid uint8) standing {
	return standing{n.procs[vpid].stamp, n.mbox[vpid].ctrl&regs.MboxCtrlWindow != 0, n.rma.rings[vpid].mayStart(), n.p.now}
}

// serves tells whether a request is of its destination's domain.
func (n *node) serves(p *Packet) bool {
	d := p.stamp.pdid()
	return d != 0 && d == n.procs[p.Header.DstVPID()].pdid()
}

// served tells the same as of a cycle ago: the VELO completer compares the domains of what waits
// before it looks at it.
func (n *node) served(p *Packet) bool {
	d := p.stamp.pdid()
	return d != 0 && d == n.standing(p.Header.DstVPID()).stamp.pdid()
}

// domains counts packets of other domains.
type domains struct{ refused, last uint64 }

// countForeign counts a request of another domain.
func (n *node) countForeign(p *Packet) {
	h := p.Header
	n.domains.refused++
	n.domains.last = regs.DomainLastValid | uint64(h.Type())<<regs.DomainLastType.LSB() | uint64(h)>>32&0xffff<<regs.DomainLastSrc.LSB() |
		uint64(h)>>48<<regs.DomainLastDst.LSB() | uint64(p.stamp.pdid())<<regs.DomainLastPDID.LSB()
}

// setDomain gives a process another domain, which shuts it.
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

// setRing writes the switches of a ring. A life begins when it goes on; a window that goes off
// leaves what stands in it dead.
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

// keepStanding notes how a process stands, before its switches or its domain are written.
func (n *node) keepStanding(i uint8) { n.procs[i].was = n.stands(i) }

// A closing is a window that went off: how many of the oldest descriptors are dead, and since when;
// some were before.
type closing struct {
	dead, before int
	at           drivers.Cycle
}

// seen: hardware knows in a cycle that a process's oldest descriptor is dead.
func (c *closing) seen(in drivers.Cycle) bool { return c.before > 0 || c.dead > 0 && c.at < in }

// popped: the oldest descriptor is gone.
func (c *closing) popped() { c.dead, c.before = max(c.dead-1, 0), max(c.before-1, 0) }

// closeWindow: the window of a process goes off.
func (n *node) closeWindow(now drivers.Cycle, i uint8) {
	n.rma.closed[i] = closing{dead: n.rma.descs[i].n, before: n.rma.closed[i].dead, at: now}
}

// levelOf counts what waits of a process in its own NIC.
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
	return uint64(waiting)<<regs.LevelDescriptors.LSB() | fragments<<regs.LevelFragments.LSB() | lines<<regs.LevelLines.LSB()
}

// note records the first error; the caller counts it.
func (n *node) note(h regs.Header, reason regs.DropReason) {
	if n.errorInfo&regs.ErrorInfoValid == 0 {
		n.errorInfo = regs.ErrorInfoValid | uint64(reason)<<regs.ErrorInfoReason.LSB() |
			uint64(h)>>32&0xffff<<regs.ErrorInfoSrc.LSB() | uint64(h)>>48<<regs.ErrorInfoDst.LSB() |
			uint64(h.Length())<<regs.ErrorInfoLength.LSB()
	}
	n.interrupt(regs.IRQStatusError)
}

// noteHere is note for what RMA discards, of which it tells the node and, of a descriptor, the
// process alone.
func (n *node) noteHere(vpid uint8, reason regs.DropReason) {
	n.note(regs.HeaderFields{SrcNode: uint16(n.id), SrcVPID: vpid}.Pack(), reason)
}
