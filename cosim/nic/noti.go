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

// full rings hold the unit that wants to notify. One that is off takes all and
// forgets it.
func (r *notiRing) full() bool { return r.on() && r.filled(r.slots) }

// enabled: the process can be reached; that a ring without places takes nothing is another matter.
func (r *notiRing) enabled() bool { return r.ctrl&regs.NotiCtrlEnable != 0 }

// mayStart: the process may start operations.
func (r *notiRing) mayStart() bool { return r.enabled() && r.ctrl&regs.NotiCtrlWindow != 0 }

func (r *notiRing) control(v uint64) {
	if v&^r.ctrl&regs.NotiCtrlEnable != 0 {
		r.pointers, r.overflowed = pointers{}, false
	}
	r.ctrl = v & (regs.NotiCtrlEnable | regs.NotiCtrlWindow | regs.NotiCtrlIRQ)
}

// A notifier writes the notices of several units, clients in turn. A full ring holds its unit and
// nobody else.
type notifier struct {
	rota                 // from when on units show their notices
	waits  [tellers]bool // for a full ring, and does not ask
	client int           // that it works for
	step   notifierStep
	at     drivers.Cycle // when the step is done, or the next unit may be picked

	vpid     uint8         // whose ring it looked at
	looked   drivers.Cycle // when
	addr     uint64        // where the notice goes
	seq      uint32        // its number
	lost     bool          // the ring was switched off since
	failed   bool          // the write
	answered drivers.Cycle // the last write was
	extra    bool          // it tells of dropped notices; that of the client comes after it
	found    uint8         // the ring that was found full last

	// Of the rings that hold units, that of the first unit pays (hold).
	pays     bool
	payer    uint8
	first    int
	paysFrom drivers.Cycle
	spent    drivers.Cycle // it may hold units no longer; Forever: not foreseen
}

// writing: a notification is being written into the ring of a process.
func (f *notifier) writing(now drivers.Cycle, vpid uint8) bool {
	return f.step >= notifierWrite && f.looked < now && f.vpid == vpid
}

// writes is the same for one that will count.
func (f *notifier) writes(now drivers.Cycle, vpid uint8) bool { return f.writing(now, vpid) && !f.lost }

// switched: NOTI_CTRL of a process is written.
func (f *notifier) switched(vpid uint8, ctrl uint64) {
	f.lost = f.lost || ctrl&regs.NotiCtrlEnable == 0 && f.step >= notifierWrite && f.vpid == vpid
}

type notifierStep uint8

const (
	notifierPick notifierStep = iota
	notifierLook              // at the ring
	notifierWrite
	notifierLand // the last beat reaches memory
	notifierAck  // the memory answers
)

// The units that tell, in the order in which they have their turn, by class of a sender and of a
// completer.
const tellers = 4

func (r *rma) teller(i int) *unit {
	return [...]*unit{&r.senders[0].unit, &r.senders[1].unit, &r.completer[0].unit, &r.completer[1].unit}[i]
}

const completers = 2 // the first of them among those who tell

// tell has the notifier write a notice that a unit shows it from a cycle on.
func (n *node) tell(teller int, note notice, from drivers.Cycle) {
	u := n.rma.teller(teller)
	u.note = note
	u.enter(phaseNotify, drivers.Forever)
	n.rma.notifier.asks[teller] = from
	n.wake(unitRMA, from)
}

// notifyDue is when the notifier does something.
func (n *node) notifyDue() drivers.Cycle {
	f := &n.rma.notifier
	if f.step != notifierPick {
		return f.at
	}
	return max(f.rota.due(), f.at)
}

func (n *node) ringOf(teller int) *notiRing { return &n.rma.rings[n.rma.teller(teller).note.vpid] }

// notify does the notifier's next step.
func (n *node) notify(now drivers.Cycle) {
	f, t := &n.rma.notifier, &n.m.cfg.Timing
	switch f.step {
	case notifierPick:
		f.client, f.step, f.at = f.pick(now), notifierLook, now+1
	case notifierLook:
		r, note := n.ringOf(f.client), &n.rma.teller(f.client).note
		mine := note.stamp == n.procs[note.vpid].stamp
		f.step, f.at = notifierWrite, now+t.Notify-2
		f.vpid, f.looked, f.lost = note.vpid, now, false
		f.addr, f.seq = r.base+uint64(r.idx)*regs.NotiBytes, r.wp+1
		switch {
		case !r.on() || !mine:
			n.rma.notiOff++
			n.discarded(now)
		case r.full() && n.ringSpent(now, note.vpid):
			r.hold.drop()
			n.noteHere(note.vpid, regs.DropReasonOverflow)
			n.discarded(now)
		case r.full():
			f.waits[f.client], f.found = true, note.vpid
			r.stall.begin(now + 1)
			n.interrupt(regs.IRQStatusStall)
			n.payers(now + 1)
			f.step, f.at = notifierPick, now+1
		default:
			f.extra = r.overflowed
		}
	case notifierWrite:
		f.at = drivers.Forever // until granted
		n.askWrite(writeNotices, now, f.addr, regs.NotiBytes/8)
	case notifierLand:
		n.writeNotice(&n.rma.teller(f.client).note)
		f.step, f.at = notifierAck, now+t.HostWrite
		if !f.extra {
			n.told(f.at)
		}
	case notifierAck:
		f.answered = now
		f.step, f.at = notifierPick, now+1
		n.countNotice(&n.rma.rings[f.vpid])
		if f.extra { // the client shows its notice still
			f.asks[f.client] = now + 1
		}
	}
}

// ringChanged has all units that wait for a full ring ask again.
func (n *node) ringChanged(now drivers.Cycle) {
	f := &n.rma.notifier
	for i := range f.waits {
		if f.waits[i] {
			f.waits[i], f.asks[i] = false, now+1
			n.ringOf(i).stall.end(now + 1)
		}
	}
	n.payers(now + 1)
	n.wake(unitRMA, now+1)
}

// ringSpent: the ring of a process may hold nobody any more.
func (n *node) ringSpent(now drivers.Cycle, vpid uint8) bool {
	f, r := &n.rma.notifier, &n.rma.rings[vpid]
	if f.pays && f.payer == vpid && now > f.paysFrom {
		return r.after(now-f.paysFrom) == 0
	}
	return r.left == 0
}

// discarded: a notice that was looked at is not written.
func (n *node) discarded(now drivers.Cycle) {
	f := &n.rma.notifier
	n.told(now)
	f.step, f.at = notifierPick, now+1
	if f.client >= completers { // the packet leaves in this cycle
		n.complete(now, f.client-completers)
	}
}

// told: a unit learns that its notice is written, or that nobody wants it.
func (n *node) told(at drivers.Cycle) {
	n.rma.teller(n.rma.notifier.client).enter(phaseTold, at)
}

// A notice is a notification on its way to a ring.
type notice struct {
	wanted bool
	vpid   uint8
	stamp  stamp // of that process when it was judged; it may be another one by now
	w0     uint64
	w1     regs.RMANotiFields
}

// writeNotice writes a notification, second word last.
func (n *node) writeNotice(m *notice) {
	f := &n.rma.notifier
	at := span{f.addr, regs.NotiBytes}
	if f.failed = !n.inMemory(at); f.failed {
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: f.addr, Bytes: regs.NotiBytes, Memory: uint64(len(n.mem))})
		return
	}
	w0, w1 := m.w0, m.w1
	if f.extra {
		w0, w1 = uint64(n.rma.rings[f.vpid].overflows), regs.RMANotiFields{Error: regs.RMAErrorOverflow, Last: true}
	}
	w1.Seq = uint16(f.seq & (1<<14 - 1))
	mem := n.dma(at)
	binary.LittleEndian.PutUint64(mem, w0)
	putWord(mem[8:], uint64(w1.Pack()))
	n.written(at)
}

// countNotice: the write of a notification is acknowledged.
func (n *node) countNotice(r *notiRing) {
	f := &n.rma.notifier
	if f.failed || f.lost {
		n.rma.notiOff++
		return
	}
	if f.extra {
		r.overflowed = false
	}
	r.wp++
	if r.idx++; r.idx >= r.slots {
		r.idx = 0
	}
	n.rma.notis++
	if r.ctrl&regs.NotiCtrlIRQ != 0 {
		n.interrupt(1 << (regs.IRQStatusNoti.LSB() + int(f.vpid)))
	}
}
