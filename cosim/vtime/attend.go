package vtime

import "github.com/nicloop/nicloop/drivers"

// Attend is what a process does that waits for something in a loop of its own:
//
//	for {
//		done, until := work()
//		switch {
//		case done:
//			return
//		case !p.Sync():
//			p.WaitArrival(until)
//			p.Spend(look)
//		}
//	}
//
// but the loop of its node runs work, and the process is resumed only when that is done: a
// switch to a process and back costs more than most of what work finds to do. Hence work
// must not wait: it may post (Room says how much), spend and wake.
func (p *Proc) Attend(work func() (done bool, until drivers.Time), look drivers.Time) {
	p.work, p.look, p.slept = work, look, false
	if !p.attend() {
		p.suspend()
	}
	p.work = nil
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
		done, until := p.work()
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

// Room tells whether so many lines can be posted to the send window without waiting.
func (p *Proc) Room(lines int) bool {
	most := p.k.cfg.PIODepth - lines
	if int(p.issued-p.taken) > most {
		p.taken = p.k.sys.PIOTaken(p.node, p.vpid)
	}
	return int(p.issued-p.taken) <= most
}
