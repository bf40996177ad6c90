package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// The two windows of a process.
const (
	windowVELO = iota
	windowRMA
	windows
)

// A sendWindow is the state of one send window of a process (rtl/core/pio_window.sv).
type sendWindow struct {
	line    uint32 // address of the one that has come in part, without the offset in it
	node    uint16 // that it is for
	here    uint8  // quadwords of it; 0: none
	wrong   uint8
	retry   bool
	taken   uint16
	refused uint16
	waiting int // lines of VELO that have not left
	parts   [regs.LineBytes]byte
}

// shut resets the window, except for the lines that wait for the network.
func (w *sendWindow) shut() { *w = sendWindow{waiting: w.waiting} }

// acknowledge ends the refusal of lines.
func (w *sendWindow) acknowledge() { w.here, w.refused, w.retry = 0, 0, false }

// read returns the value of the window's register.
func (w *sendWindow) read(waiting int) uint64 {
	v := uint64(w.taken) | uint64(waiting)<<regs.VELOWindowWaiting.LSB() | uint64(w.refused)<<regs.VELOWindowRefused.LSB() |
		uint64(w.wrong)<<regs.VELOWindowWrong.LSB()
	if w.here != 0 {
		v |= regs.VELOWindowBegun
	}
	if w.retry {
		v |= regs.VELOWindowRetry
	}
	return v
}

// windowOf returns the window that an address belongs to.
func windowOf(off uint32) int {
	if regs.ForDescriptors(off) {
		return windowRMA
	}
	return windowVELO
}

// A line is a write to a send window: a whole line, or a part of one. Its bytes are at the
// beginning of the body of a packet.
type line struct {
	at     drivers.Cycle
	asked  drivers.Cycle // what was asked for: it may be in the past, and orders lines
	off    uint32
	packet uint32
	n      uint16
	node   uint16 // that off names, or could name if its field were wider: see regs.Sent
}

func (l line) due() drivers.Cycle { return l.asked }

// address is the address that software has written to.
func (l *line) address() uint32 { return regs.Pio(l.off).To(int(l.node)) }

func (l *line) rma() bool { return windowOf(l.off) == windowRMA }

// beats is the length of the burst that carries the line.
func (l *line) beats() drivers.Cycle {
	return drivers.Cycle(max(1, (int(l.n)+regs.FlitBytes-1)/regs.FlitBytes))
}

// quads is the set of quadwords of the line that this write contains.
func (l *line) quads() uint8 { return uint8((1<<l.beats() - 1) << (l.off % regs.LineBytes / 8)) }

// misplaced reports a write that is not aligned to 4 bytes or exceeds its line.
func (l *line) misplaced() bool {
	return l.off%4 != 0 || l.off%regs.LineBytes/8+uint32(l.beats()) > regs.LineBytes/8
}

// announced is the set of quadwords that a line with this address must have.
func announced(off uint32) uint8 {
	if windowOf(off) == windowRMA {
		return 7
	}
	p := regs.Pio(off)
	bytes := int(p.Length())
	if p.Piggyback() {
		bytes += 2
	}
	return uint8(1<<min(8, max(1, (bytes+7)/8)) - 1)
}

// collect adds a valid write to its line. If the line is then complete (whole), its bytes are in
// the packet of the write. If a part of an earlier line is lost, the window refuses lines from then
// on.
func (n *node) collect(w *sendWindow, l *line) (whole, lost bool) {
	need := announced(l.off)
	quads := l.quads() & need
	if quads == 0 {
		return false, false
	}
	name := l.off &^ (regs.LineBytes - 1)
	same := w.here != 0 && w.line == name && w.node == l.node && w.here&quads == 0
	if w.here != 0 && !same {
		lost, w.retry = true, true
	}
	if !same {
		w.here = 0
	}
	body := &n.p.packets.at(l.packet).body
	if quads == need {
		w.here = 0
		return true, lost
	}
	w.line, w.node = name, l.node
	w.here |= quads
	copy(w.parts[l.off%regs.LineBytes&^7:], body[:l.beats()*regs.FlitBytes])
	if w.here != need {
		return false, lost
	}
	w.here = 0
	copy(body[:], w.parts[:])
	return true, lost
}

// judge accepts, refuses or discards a complete line.
func (w *sendWindow) judge(lost, full bool, wrong regs.DropReason) (taken bool, reason regs.DropReason) {
	switch {
	case lost || w.retry:
		w.refused++
	case wrong != regs.DropReasonNone:
		w.taken++
		w.wrong++
		return false, wrong
	case full:
		w.refused++
		w.retry = true
	default:
		w.taken++
		return true, regs.DropReasonNone
	}
	return false, regs.DropReasonNone
}

// ---- the bus of the windows ----

func (n *node) postLine(l line) {
	post(&n.pio, l)
	if n.pioState == pioIdle {
		n.wake(unitPIO, max(n.pio.first().at+1, n.pioFetch))
	}
}

// stepPIO handles the write on the bus and fetches the next one.
func (n *node) stepPIO() {
	now := n.p.now
	if n.pioState == pioOpen && n.pioDone-1 <= now {
		n.pioState = pioJudged
		if !n.onBus.rma() { // the requester of RMA works a cycle behind its hardware
			n.pioKept, n.pioReason = n.judgeLine(&n.onBus)
		}
		n.wake(unitPIO, n.pioDone)
	}
	if n.pioState == pioJudged && n.pioDone <= now {
		n.answerLine()
	}
	if n.pioState != pioIdle || n.pio.n == 0 {
		return
	}
	l := n.pio.first()
	fetch := max(l.at+1, n.pioFetch)
	if fetch > now {
		n.wake(unitPIO, fetch)
		return
	}
	n.onBus = *l
	n.pio.drop()
	n.p.packets.want(n.onBus.packet)
	if n.onBus.rma() {
		n.p.net.Announce()
	}
	end := fetch + 1 + n.onBus.beats()
	n.pioState, n.pioFetch, n.pioDone = pioOpen, end, end+2
	n.wake(unitPIO, n.pioDone-1)
}

// answerLine answers the write on the bus. A line accepted with it is offered to the network.
func (n *node) answerLine() {
	l := &n.onBus
	vpid := regs.Pio(l.off).SrcVPID()
	if l.rma() && !n.pioEarly {
		n.takeDescriptor(l)
	}
	n.pioState, n.pioEarly = pioIdle, false
	if n.pioReason != regs.DropReasonNone {
		n.p.fail(&drivers.BusError{Node: n.id, Port: "pio", Off: l.address(), Write: true, Resp: drivers.RespSLVERR})
		n.pioReason = regs.DropReasonNone
	}
	kept := n.pioKept
	n.pioKept = false
	if kept && !l.rma() {
		n.push(SourceVELO, l.packet)
		return
	}
	n.p.packets.put(l.packet)
	if !kept {
		n.entryFree(vpid)
	}
}

// entryFree counts a write that occupies no entry, or whose line has left.
func (n *node) entryFree(vpid uint8) {
	n.taken[vpid]++
	n.checkPIO(int(vpid))
}

// judgeLine reports whether a write completes a line of VELO that is accepted, or why it is
// discarded.
func (n *node) judgeLine(l *line) (kept bool, reason regs.DropReason) {
	p := regs.Pio(l.off)
	h := n.header(p, l.node)
	w := &n.procs[p.SrcVPID()].windows[windowVELO]
	s := n.stands(p.SrcVPID())
	switch {
	case !s.window:
		reason = regs.DropReasonWindowOff
	case s.stamp.pdid() == 0:
		reason = regs.DropReasonDomain
	case l.misplaced():
		reason, w.here = regs.DropReasonBadLength, 0
	default:
		if whole, lost := n.collect(w, l); whole {
			kept, reason = w.judge(lost, w.waiting >= n.m.cfg.Timing.Lines, n.wrong(h))
		}
	}
	if reason != regs.DropReasonNone {
		n.txDropped++
		n.drop(n.p.now, h, reason)
	}
	if kept {
		pk := n.p.packets.at(l.packet)
		pk.Header, pk.stamp = h, s.stamp
		w.waiting++
		n.lines++
		n.m.trace(n.p.now, n.id, drivers.PointPIO, uint64(l.address()))
	}
	return kept, reason
}

// wrong checks a complete line of VELO.
func (n *node) wrong(h regs.Header) regs.DropReason {
	switch {
	case flit.Bytes(h) > regs.VELOPayload:
		return regs.DropReasonBadLength
	case int(h.DstNode()) >= len(n.m.nodes):
		return regs.DropReasonNoSuchNode
	}
	return regs.DropReasonNone
}

// seeDescriptor judges the descriptor on the bus before a register that depends on it is read.
// Hardware has judged it by then, one cycle before the requester of the model does.
func (n *node) seeDescriptor() {
	if n.pioState == pioJudged && n.onBus.rma() && !n.pioEarly && n.pioDone <= n.p.now {
		n.takeDescriptor(&n.onBus)
		n.pioEarly = true
	}
}

// acknowledge handles a write to the register of a window.
func (n *node) acknowledge(vpid uint8, window int) {
	w := &n.procs[vpid].windows[window]
	if l := &n.onBus; window == windowRMA && n.pioState == pioJudged && l.rma() && regs.RMAPio(l.off).SrcVPID() == vpid {
		n.pioAck = true // hardware has judged what is on the bus in this cycle, before the write
		return
	}
	w.acknowledge()
}
