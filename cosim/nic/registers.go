package nic

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// answer is the result of the last register read.
type answer struct {
	done bool
	v    uint64
	err  error
}

func (n *node) postReg(op regOp) {
	op.asked, op.at = op.at, max(op.at, n.p.now)
	if n.mayOrder(&op) {
		n.touch(&op)
	}
	post(&n.regs, op)
	n.wakeRegs()
}

// Cycles of the register file (rtl/core/regfile.sv): an access is done that many after it was
// taken, being decoded in between. A write is judged before it is done, which takes one more; what
// a read found is there one later.
const (
	RegDecode drivers.Cycle = 2
	regJudge  drivers.Cycle = 1
	regAnswer drivers.Cycle = 1
)

// dueAt is the cycle in which an access may be performed. After reset, reads and writes of
// mailboxes, rings and domains wait until their tables are cleared.
func (n *node) dueAt(op *regOp) drivers.Cycle {
	at := max(op.at+1, n.regFree) + 1
	if !n.besides(op.off) {
		at += RegDecode
		if !op.read {
			at += regJudge
		}
	}
	if clear := n.m.cfg.Timing.Clear + 1; at < clear &&
		(op.read || op.off >= regs.MboxBase(0) && op.off < regs.ATUBase(0)) {
		at = clear
	}
	return at
}

// wakeRegs schedules the first access.
func (n *node) wakeRegs() {
	if n.regs.n == 0 {
		return
	}
	op := n.regs.first()
	at := n.dueAt(op)
	if n.mayOrder(op) && !n.ordered {
		at = max(at, n.p.now+1)
		if at > n.p.now+1 { // announced in the cycle before
			n.wake(unitWrite, at-1)
		} else {
			n.announce(op, at)
		}
	}
	if op.read {
		n.wake(unitRead, at)
	} else {
		n.wake(unitWrite, at)
	}
}

// access performs the first access of the register port if it is due. It may not be: an access
// posted later can be due earlier.
func (n *node) access(u unitID) {
	now := n.p.now
	if n.regs.n == 0 {
		return
	}
	op := *n.regs.first()
	if op.read != (u == unitRead) {
		return
	}
	if due := n.dueAt(&op); due > now {
		if due == now+1 && !n.ordered && n.mayOrder(&op) {
			n.announce(&op, due)
		}
		return
	}
	if v := uint8(op.off>>12) % regs.VPIDs; !op.read && op.off == regs.MboxRP(v) && !n.held(op.off, v) { // most accesses; see ByAddress
		n.regs.drop()
		n.regFree = now + 1
		n.wakeRegs()
		m := &n.mbox[v]
		if n.moveRP(&m.pointers, uint32(op.v), m.slots, n.slotBegins(v)) {
			n.mailboxChanged()
		}
		return
	}
	r, i, ok := regs.ByAddress(op.off)
	resp := 0
	switch {
	case !ok || !n.has(r, i):
		resp = drivers.RespDECERR
	case !op.read && (r.Access == regs.RO || n.locked(op.off, uint8(i))):
		resp = drivers.RespSLVERR
	}
	if resp == 0 && !op.read && n.held(op.off, uint8(i)) {
		n.wake(unitWrite, now+1)
		return
	}
	n.regs.drop()
	besides := n.besides(op.off)
	switch n.ordered, n.regFree = false, now+1; {
	case besides:
		n.regFree = now
	case op.read:
		n.regFree += regAnswer
	}
	n.wakeRegs()
	var err error
	if resp != 0 {
		if !besides {
			n.badAccess++
		}
		err = &drivers.BusError{Node: n.id, Port: "register", Off: op.off, Write: !op.read, Resp: resp}
		if ok && resp == drivers.RespDECERR && n.m.cfg.Shared {
			err = fmt.Errorf("%w: %s belongs to a router, and those of %s are no node's: use a mesh (dims=) for it",
				err, regs.Describe(op.off), n.m.info.Topology)
		}
	}
	switch {
	case op.read:
		n.answer = answer{done: true, err: err}
		if err == nil {
			n.answer.v = n.readReg(now, op.off, uint8(i))
		}
	case err != nil:
		n.p.fail(err)
	default:
		n.writeReg(now, op.off, uint8(i), op.v)
	}
}

// has reports whether the network has the register. Some networks have no wire faults, no links, or
// routers that do not belong to NICs.
func (n *node) has(r *regs.Register, i int) bool {
	switch {
	case n.m.cfg.Shared && r.Name == "ROUTE":
		return false
	case n.p.wires != nil:
		return true
	case strings.HasPrefix(r.Name, "WIRE_"):
		return false
	case strings.HasPrefix(r.Name, "LINK_"):
		_, ok := n.p.net.Link(n.id, i)
		return ok
	}
	return true
}

// locked reports whether a register is read-only now: base and size of a ring that is on.
func (n *node) locked(off uint32, i uint8) bool {
	if i >= regs.VPIDs { // an entry of a longer table than that of processes
		return false
	}
	switch off {
	case regs.MboxBase(i), regs.MboxSlots(i):
		return n.mbox[i].ctrl&regs.MboxCtrlEnable != 0
	case regs.NotiBase(i), regs.NotiSlots(i):
		return n.rma.rings[i].ctrl&regs.NotiCtrlEnable != 0
	}
	return false
}

// held reports whether a write has to wait: registers of a ring do not change in the cycles in
// which a write to it begins or is answered, nor its read pointer in the two cycles behind the one
// in which a write begins.
func (n *node) held(off uint32, i uint8) bool {
	if i >= regs.VPIDs {
		return false
	}
	switch off {
	case regs.MboxBase(i), regs.MboxSlots(i), regs.MboxCtrl(i):
		return n.rxEnded == n.p.now || n.rxBegan == n.p.now-1
	case regs.MboxRP(i):
		return n.rxBegan >= n.p.now-2 && n.rxBegan < n.p.now
	case regs.NotiRP(i):
		return n.rma.notifier.began >= n.p.now-2 && n.rma.notifier.began < n.p.now
	case regs.NotiBase(i), regs.NotiSlots(i), regs.NotiCtrl(i):
		return n.rma.notifier.ended == n.p.now || n.rma.notifier.began == n.p.now-1
	}
	return false
}

// writesNow reports whether a register write follows in this cycle.
func (n *node) writesNow() bool {
	return n.regs.n > 0 && !n.regs.first().read && n.dueAt(n.regs.first()) <= n.p.now
}

func (n *node) readReg(now drivers.Cycle, off uint32, i uint8) uint64 {
	switch {
	case off < regs.RMATXPackets:
		return n.readGlobal(now, off)
	case off < regs.MboxBase(0):
		return n.readRMA(off)
	case isRoute(off):
		return n.routes[i]
	}
	if v, ok := n.readRMAPages(now, off, i); ok {
		return v
	}
	if v, ok := n.readNVM(now, off, i); ok {
		return v
	}
	if v, ok := n.readLink(off, i); ok {
		return v
	}
	m := &n.mbox[i]
	switch off {
	case regs.MboxBase(i):
		return m.base
	case regs.MboxSlots(i):
		return uint64(m.slots)
	case regs.MboxCtrl(i):
		if n.slotUnderWay(i) {
			return m.ctrl | regs.MboxCtrlBusy
		}
		return m.ctrl
	case regs.MboxWP(i):
		return uint64(m.wp)
	case regs.MboxStall(i):
		return m.stall.count(now)
	case regs.MboxRP(i):
		return m.readRP()
	case regs.VELOWindow(i):
		if n.stands(i).window {
			w := &n.procs[i].windows[windowVELO]
			return w.read(w.waiting)
		}
		return 0
	case regs.RMAWindow(i):
		waiting := n.descriptors(i)
		if n.stands(i).starts {
			return n.procs[i].windows[windowRMA].read(waiting)
		}
		return 0
	case regs.PDID(i):
		return uint64(n.procs[i].pdid())
	case regs.Hold(i):
		return n.readHold(now, i)
	case regs.Overflow(i):
		return n.readOverflow(i)
	case regs.Level(i):
		return n.levelOf(i)
	case regs.Life(i):
		return uint64(n.procs[i].life())
	}
	panic("nic: no such register: " + regs.Describe(off))
}

func (n *node) readGlobal(now drivers.Cycle, off uint32) uint64 {
	switch off {
	case regs.Magic:
		return regs.MagicValue
	case regs.Version:
		return regs.VersionValue
	case regs.Params:
		return n.m.params()
	case regs.DescHash:
		return regs.DescHashValue
	case regs.Scratch:
		return n.scratch
	case regs.NodeID:
		return uint64(n.id)
	case regs.Cycles:
		return uint64(now - 1) // it counts at the end of the cycle
	case regs.IRQStatus:
		return n.irqStatus
	case regs.IRQMask:
		return n.irqMask
	case regs.ErrorInfo:
		return n.errorInfo
	case regs.BadAccess:
		return n.badAccess
	case regs.RPRefused:
		return n.rpRefused
	case regs.DomainRefused:
		return n.domains.refused
	case regs.DomainLast:
		return n.domains.last
	case regs.TXPackets:
		return n.txPackets
	case regs.RXPackets:
		return n.rxPackets
	case regs.TXDropped:
		return n.txDropped
	case regs.RXDropped:
		return n.rxDropped
	case regs.RXCRCErrors:
		return n.rxCRCErrors
	case regs.RouteErrors:
		return n.p.net.RouteErrors(n.id)
	case regs.TXStall:
		return n.txStalled()
	case regs.RXStall:
		return n.rxStall.count(now)
	case regs.RXStallVPID:
		v := uint64(n.stalled)
		if n.rxStall.on {
			v |= regs.RXStallVPIDStalled
		}
		return v
	case regs.TXLevel:
		return uint64(n.lines) | n.byClass(n.p.net.Credits, regs.TXLevelCredits0)
	case regs.RXLevel:
		return n.byClass(n.p.net.Waiting, regs.RXLevelVC0)
	}
	panic("nic: no such register: " + regs.Describe(off))
}

func isRoute(off uint32) bool { return off >= regs.Route(0) && off <= regs.Route(regs.NodeMax-1) }

// setRoute writes an entry of the route table and passes it to the network.
func (n *node) setRoute(i uint8, v uint64) {
	if int(i) >= len(n.m.nodes) {
		return
	}
	port := int(regs.RoutePort.Of(v))
	if v&regs.RouteOverride == 0 {
		v, port = 0, -1
	}
	n.routes[i] = v & (regs.RoutePort.Mask() | regs.RouteOverride)
	n.p.net.Route(n.id, int(i), port)
}

const irqCauses = 1<<34 - 1 // arrival, error, stall and noti

func (n *node) writeReg(now drivers.Cycle, off uint32, i uint8, v uint64) {
	if isRoute(off) {
		n.setRoute(i, v)
		return
	}
	switch off {
	case regs.MboxCtrl(i), regs.NotiCtrl(i), regs.PDID(i):
		n.keepStanding(i)
	}
	if n.writeRMA(now, off, i, v) || n.writeNVM(now, off, i, v) || n.writeWire(off, v) {
		return
	}
	m := &n.mbox[i]
	switch off {
	case regs.Scratch:
		n.scratch = v
	case regs.IRQStatus:
		n.irqStatus &^= v
		if v&regs.IRQStatusError != 0 {
			n.errorCleared = now
		}
	case regs.IRQMask:
		n.irqMask = v & irqCauses
		n.checkIRQ()
	case regs.ErrorInfo:
		if v&regs.ErrorInfoValid != 0 {
			n.errorInfo = 0
		}
	case regs.MboxBase(i):
		m.base = v &^ (regs.SlotBytes - 1)
	case regs.MboxSlots(i):
		m.slots = uint32(v & (1<<24 - 1))
		n.mailboxChanged()
	case regs.MboxCtrl(i):
		n.setMailbox(i, v)
	case regs.VELOWindow(i):
		n.acknowledge(i, windowVELO)
	case regs.RMAWindow(i):
		n.acknowledge(i, windowRMA)
	case regs.PDID(i):
		n.setDomain(now, i, v)
	case regs.Hold(i):
		n.setHold(now, i, v)
	default:
		panic("nic: not writable: " + regs.Describe(off))
	}
}

// control writes the switches. A mailbox that is switched on starts empty.
func (m *mailbox) control(v uint64) {
	if v&^m.ctrl&regs.MboxCtrlEnable != 0 {
		m.pointers, m.overflowed = pointers{}, false
	}
	m.ctrl = v & (regs.MboxCtrlEnable | regs.MboxCtrlWindow | regs.MboxCtrlIRQArrival)
}

// byClass packs one number per traffic class into adjacent fields, beginning with first.
func (n *node) byClass(number func(node, class int) int, first regs.Bits) (v uint64) {
	for class := range regs.VCs {
		v |= uint64(number(n.id, class)) << (first.LSB() + class*first.Width())
	}
	return v
}
