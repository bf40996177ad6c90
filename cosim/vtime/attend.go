package vtime

import "github.com/nicloop/nicloop/drivers"

// A Worker does what a process does while it waits: it tells whether that is done and, if
// not, until when there is nothing to do unless something arrives.
type Worker = interface {
	Work() (done bool, until drivers.Time)
}

// Attend is what a process does that waits for something in a loop of its own:
//
//	for {
//		done, until := w.Work()
//		switch {
//		case done:
//			return
//		case !p.Sync():
//			p.WaitArrival(until)
//			p.Spend(look)
//		}
//	}
//
// but the loop of its node has w work, and the process is resumed only when that is done: a
// switch to a process and back costs more than most of what there is to do. Hence Work
// must not wait: it may post (Room says how much), spend and wake.
func (p *Proc) Attend(w Worker, look drivers.Time) {
	if p.aborted {
		return
	}
	p.worker, p.look, p.slept = w, look, false
	if !p.attend() {
		p.suspend()
	}
	p.worker = nil
}

// attend goes on with what the process attends to. It tells whether that is done; if
// not, the process is parked.
func (p *Proc) attend() bool {
	if p.slept {
		p.slept = false
		p.now += p.look
	}
	for {
		p.attends = true
		done, until := p.worker.Work()
		p.attends = false
		switch {
		case done:
			return true
		case !p.behind():
			p.sleep(until)
			p.slept = true
			return false
		case !p.pass():
			return false
		}
	}
}

// Room reports whether that many lines can be posted to the send window without waiting.
func (p *Proc) Room(lines int) bool {
	return p.entries.HasRoom(p.k.sys, p.node, p.vpid, uint64(lines), uint64(p.k.cfg.PIODepth))
}
