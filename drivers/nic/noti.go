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
