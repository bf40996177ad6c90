package nic

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A notiRing is the notification ring of one process.
type notiRing struct {
	base        uint64
	slots       uint32
	ctrl        uint64
	wp, rp, idx uint32
	stall       stall
}

func (r *notiRing) on() bool { return r.ctrl&regs.NotiCtrlEnable != 0 && r.slots != 0 }

// full rings hold the unit that wants to notify. One that is off takes all and
// forgets it.
func (r *notiRing) full() bool { return r.on() && r.wp-r.rp >= r.slots }

// mayStart: the process may start operations.
func (r *notiRing) mayStart() bool { return r.on() && r.ctrl&regs.NotiCtrlWindow != 0 }

func (r *notiRing) control(v uint64) {
	if v&^r.ctrl&regs.NotiCtrlEnable != 0 {
		r.wp, r.rp, r.idx = 0, 0, 0
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
}

type notifierStep uint8

const (
	notifierPick notifierStep = iota
	notifierLook              // at the ring
	notifierWrite
	notifierLand // the last beat reaches memory
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
		r := n.ringOf(f.client)
		f.step, f.at = notifierWrite, now+t.Notify-2
		switch {
		case !r.on():
			n.rma.notiOff++
			n.told(now)
		case r.full():
			f.waits[f.client] = true
			r.stall.begin(now + 1)
			f.step, f.at = notifierPick, now+1
		}
	case notifierWrite:
		r := n.ringOf(f.client)
		f.at = drivers.Forever // until granted
		n.askWrite(writeNotices, now, r.base+uint64(r.idx)*regs.NotiBytes, regs.NotiBytes/8)
	case notifierLand:
		n.writeNotice(&n.rma.teller(f.client).note)
		n.told(now + t.HostWrite)
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
	n.wake(unitRMA, now+1)
}

// told: a unit learns that its notice is written, or that nobody wants it.
func (n *node) told(at drivers.Cycle) {
	f := &n.rma.notifier
	n.rma.teller(f.client).enter(phaseTold, at)
	f.step, f.at = notifierPick, at+1
}

// A notice is a notification on its way to a ring.
type notice struct {
	wanted bool
	vpid   uint8
	w0     uint64
	w1     regs.RMANotiFields
}

// writeNotice writes a notification into a ring that has room, second word last.
func (n *node) writeNotice(m *notice) {
	r := &n.rma.rings[m.vpid]
	off := r.base + uint64(r.idx)*regs.NotiBytes
	if !r.on() || !n.inMemory(span{off, regs.NotiBytes}) {
		if r.on() {
			n.p.fail(&drivers.DMAError{Node: n.id, Addr: off, Bytes: regs.NotiBytes, Memory: uint64(len(n.mem))})
		}
		n.rma.notiOff++
		return
	}
	r.wp++
	if r.idx++; r.idx >= r.slots {
		r.idx = 0
	}
	m.w1.Seq = uint16(r.wp & (1<<14 - 1))
	binary.LittleEndian.PutUint64(n.mem[off:], m.w0)
	binary.LittleEndian.PutUint64(n.mem[off+8:], uint64(m.w1.Pack()))
	n.rma.notis++
	n.written(off, regs.NotiBytes)
	if r.ctrl&regs.NotiCtrlIRQ != 0 {
		n.interrupt(1 << (regs.IRQStatusNoti.LSB() + int(m.vpid)))
	}
}
