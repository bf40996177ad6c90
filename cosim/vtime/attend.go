package vtime

import "github.com/nicloop/nicloop/drivers"

// A Worker performs a process's work while it waits. Work reports whether the wait is over and, if
// not, until when there is nothing to do unless something arrives.
type Worker = interface {
	Work() (done bool, until drivers.Time)
}

// Attend is equivalent to this loop in a waiting process:
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
// However, the loop of its node calls w.Work, and the process is resumed only when the work is
// done: a coroutine switch costs more than most of the work. Work must therefore not wait. It may
// post (Room reports how much), spend and wake.
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

// attend continues the work of an attending process. It reports whether the work is done; if not,
// the process is parked.
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
