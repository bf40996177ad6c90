package nic

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A notiRing is the notification ring of one process.
type notiRing struct {
	base  uint64
	slots uint32
	ctrl  uint64
	pointers
	hold
	stall stall
}

func (r *notiRing) on() bool { return r.ctrl&regs.NotiCtrlEnable != 0 && r.slots != 0 }

// full reports whether the ring blocks the unit that wants to notify. A ring that is off blocks
// none; its notifications are discarded.
func (r *notiRing) full() bool { return r.on() && r.filled(r.slots) }

// enabled reports whether the process can be reached. A ring with 0 entries is enabled, but accepts
// no notification.
func (r *notiRing) enabled() bool { return r.ctrl&regs.NotiCtrlEnable != 0 }

// mayStart reports whether the process may start operations.
func (r *notiRing) mayStart() bool { return r.enabled() && r.ctrl&regs.NotiCtrlWindow != 0 }

func (r *notiRing) control(v uint64) {
	if v&^r.ctrl&regs.NotiCtrlEnable != 0 {
		r.pointers, r.overflowed = pointers{}, false
	}
	r.ctrl = v & (regs.NotiCtrlEnable | regs.NotiCtrlWindow | regs.NotiCtrlIRQ)
}

// A notifier writes the notifications of several units; the unit that was served longest ago comes
// first. A full ring blocks its own unit only.
type notifier struct {
	lrsArbiter                      // from when on units show their notices
	waits      [notifyingUnits]bool // for a full ring, and does not ask
	client     int                  // that it works for
	step       notifierStep
	at         drivers.Cycle // when the step is done, or the next unit may be picked

	extra  bool // it writes one that tells of dropped notices; that of the client comes after it
	flying queue[noticeWrite]
	landed int           // of them, in memory
	lands  drivers.Cycle // the next one is; Forever: that is not known
	began  drivers.Cycle // it looked last at a ring that it then wrote to
	ended  drivers.Cycle // the last answer counted
	found  uint8         // the ring that was found full last

	// Of the rings that hold units, that of the first unit pays (hold).
	pays     bool
	payer    uint8
	first    int
	paysFrom drivers.Cycle
	spent    drivers.Cycle // it may hold units no longer; Forever: not foreseen
}

// A noticeWrite is the DMA write of a notification in flight.
type noticeWrite struct {
	vpid   uint8
	lost   bool // its ring was switched off
	failed bool
	addr   uint64
	w0, w1 uint64
	began  drivers.Cycle // the ring was looked at
	ends   drivers.Cycle // its answer counts, once it is in memory
}

// writing reports whether a notification is being written into the ring of a process.
func (f *notifier) writing(now drivers.Cycle, vpid uint8) bool {
	for i := range f.flying.n {
		if w := f.flying.at(i); w.vpid == vpid && w.began < now-1 {
			return true
		}
	}
	return false
}

// begins reports whether such a write has begun that the pointers of the ring do not show yet.
func (f *notifier) begins(now drivers.Cycle, vpid uint8) bool {
	if f.flying.n == 0 {
		return false
	}
	w := f.flying.at(f.flying.n - 1)
	return w.vpid == vpid && w.began >= now-2
}

// switched handles a write to NOTI_CTRL: notifications in flight for a ring that goes off are lost.
func (f *notifier) switched(vpid uint8, ctrl uint64) {
	if ctrl&regs.NotiCtrlEnable != 0 {
		return
	}
	for i := range f.flying.n {
		if w := f.flying.at(i); w.vpid == vpid {
			w.lost = true
		}
	}
}

// dropsNow reports whether a write is answered in this cycle that failed or whose ring is off.
func (f *notifier) dropsNow(now drivers.Cycle) bool {
	return f.landed > 0 && f.flying.first().ends == now && (f.flying.first().failed || f.flying.first().lost)
}

type notifierStep uint8

const (
	notifierPick notifierStep = iota
	notifierLook              // at the ring
	notifierWrite
)

// The units that notify, in the order of the arbiter: by class of a sender, then of a completer.
const notifyingUnits = 4

func (r *rma) notifyingUnit(i int) *unit {
	return [...]*unit{&r.senders[0].unit, &r.senders[1].unit, &r.completer[0].unit, &r.completer[1].unit}[i]
}

const completers = 2 // the first of them among those who tell

// tell asks the notifier to write a notification, from a cycle on.
func (n *node) tell(notifyingUnit int, note notice, from drivers.Cycle) {
	u := n.rma.notifyingUnit(notifyingUnit)
	u.note = note
	u.enter(phaseNotify, drivers.Forever)
	n.rma.notifier.asks[notifyingUnit] = from
	n.wake(unitRMA, from)
}

// notifyDue is the cycle of the notifier's next step.
func (n *node) notifyDue() drivers.Cycle {
	f := &n.rma.notifier
	switch {
	case f.step != notifierPick:
		return f.at
	case f.flying.n == regs.DMAWrites:
		return drivers.Forever
	}
	return max(f.due(), f.at)
}

// noticesDue is the cycle in which a notification reaches memory or is answered.
func (f *notifier) noticesDue() drivers.Cycle {
	t := drivers.Forever
	if f.landed < f.flying.n {
		t = f.lands
	}
	if f.landed > 0 {
		t = min(t, f.flying.first().ends)
	}
	return t
}

func (n *node) ringOf(notifyingUnit int) *notiRing {
	return &n.rma.rings[n.rma.notifyingUnit(notifyingUnit).note.vpid]
}

// notify performs the notifier's next step.
func (n *node) notify(now drivers.Cycle) {
	f, t := &n.rma.notifier, &n.m.cfg.Timing
	switch f.step {
	case notifierPick:
		f.client, f.step, f.at = f.grant(now), notifierLook, now+2
	case notifierLook:
		r, note := n.ringOf(f.client), &n.rma.notifyingUnit(f.client).note
		mine := note.stamp == n.procs[note.vpid].stamp
		switch {
		case !(r.on() && mine) && f.dropsNow(now): // one is discarded at a time
			f.at = now + 1
		case !r.on() || !mine:
			n.rma.notiOff++
			n.discarded(now)
		case r.full() && n.ringSpent(now, note.vpid):
			r.hold.drop()
			n.noteHere(note.vpid, regs.DropReasonOverflow)
			n.discarded(now)
		case r.full():
			f.waits[f.client], f.found = true, note.vpid
			n.interrupt(regs.IRQStatusStall)
			n.payers(now + 1)
			f.step, f.at = notifierPick, now+1
		default:
			n.beginNotice(now, r, note)
			f.step, f.at = notifierWrite, now+t.Notify-3
		}
	case notifierWrite:
		f.at = drivers.Forever // until granted
		n.askWrite(writeNotices, now, f.flying.at(f.flying.n-1).addr, regs.NotiBytes/8)
	}
}

// beginNotice starts to write a notification into a ring that has room. If notifications were
// dropped, one that reports the overflow is written first.
func (n *node) beginNotice(now drivers.Cycle, r *notiRing, m *notice) {
	f := &n.rma.notifier
	w := f.flying.grow()
	*w = noticeWrite{vpid: m.vpid, addr: r.base + uint64(r.idx)*regs.NotiBytes, w0: m.w0, began: now}
	w1 := m.w1
	if f.extra = r.overflowed; f.extra {
		w.w0, w1 = uint64(r.overflows), regs.RMANotiFields{Error: regs.RMAErrorOverflow, Last: true}
	}
	w1.Seq = uint16((r.ahead + 1) & (1<<14 - 1))
	w.w1, w.failed = uint64(w1.Pack()), !n.inMemory(span{w.addr, regs.NotiBytes})
	r.begin(r.slots)
	r.overflowed = false // the one that tells it is on its way
	f.began = now
	if f.flying.n == f.landed+1 {
		f.lands = drivers.Forever
	}
}

// noticeSent records the cycle in which the last beat leaves the notifier.
func (n *node) noticeSent(at drivers.Cycle) {
	f := &n.rma.notifier
	f.step, f.at = notifierPick, at+1
	if f.extra { // the client shows its notice still
		f.asks[f.client] = at + 1
	} else {
		n.noticeTaken(at)
	}
}

// settleNotices stores a notification that reaches memory, and handles the answer of the oldest
// one.
func (n *node) settleNotices(now drivers.Cycle) {
	f := &n.rma.notifier
	if f.landed < f.flying.n && f.lands <= now {
		f.lands = drivers.Forever
		n.writeNotice(f.flying.at(f.landed))
		f.landed++
	}
	if f.landed > 0 && f.flying.first().ends <= now {
		w := *f.flying.first()
		f.flying.drop()
		f.landed--
		f.ended = now
		n.countNotice(now, &w)
	}
}

// ringChanged makes all units that wait for a full ring ask again.
func (n *node) ringChanged(now drivers.Cycle) {
	f := &n.rma.notifier
	for i := range f.waits {
		if f.waits[i] {
			f.waits[i], f.asks[i] = false, now+1
		}
	}
	n.payers(now + 1)
	n.wake(unitRMA, now+1)
}

// ringSpent reports whether the hold of a ring is used up.
func (n *node) ringSpent(now drivers.Cycle, vpid uint8) bool {
	f, r := &n.rma.notifier, &n.rma.rings[vpid]
	if f.pays && f.payer == vpid && now > f.paysFrom {
		return r.after(now-f.paysFrom) == 0
	}
	return r.left == 0
}

// discarded ends a notification that is not written.
func (n *node) discarded(now drivers.Cycle) {
	f := &n.rma.notifier
	n.noticeTaken(now)
	f.step, f.at = notifierPick, now+1
}

// noticeTaken releases the unit in the next cycle: its notification is written or discarded.
func (n *node) noticeTaken(at drivers.Cycle) {
	n.rma.notifier.serve(n.rma.notifier.client)
	n.rma.notifyingUnit(n.rma.notifier.client).enter(phaseTold, at+1)
}

// A notice is a notification that a unit wants to send.
type notice struct {
	wanted bool
	vpid   uint8
	stamp  stamp // of that process when it was judged; it may be another one by now
	w0     uint64
	w1     regs.RMANotiFields
}

// writeNotice stores a notification, the second quadword last. Its answer takes effect one cycle
// after it arrives.
func (n *node) writeNotice(w *noticeWrite) {
	w.ends = n.p.now + n.m.cfg.Timing.HostWrite + 1
	if w.failed {
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: w.addr, Bytes: regs.NotiBytes, Memory: uint64(len(n.mem))})
		return
	}
	at := span{w.addr, regs.NotiBytes}
	mem := n.dma(at)
	binary.LittleEndian.PutUint64(mem, w.w0)
	putWord(mem[8:], w.w1)
	n.written(at)
}

// countNotice handles the answer of a notification.
func (n *node) countNotice(now drivers.Cycle, w *noticeWrite) {
	r := &n.rma.rings[w.vpid]
	switch {
	case w.lost:
		n.rma.notiOff++
	case w.failed: // those behind it may be under way
		n.rma.notiOff++
		n.keepStanding(w.vpid)
		n.setRing(now, w.vpid, r.ctrl&^regs.NotiCtrlEnable)
	default:
		r.wp++
		n.rma.notis++
		if r.ctrl&regs.NotiCtrlIRQ != 0 {
			n.interrupt(1 << (regs.IRQStatusNoti.LSB() + int(w.vpid)))
		}
	}
}
