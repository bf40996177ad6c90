package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A writer writes the bytes of one packet to memory.
type writer struct {
	busy  bool
	free  drivers.Cycle // the next burst may begin, or the last beat leaves
	moved int           // bytes that went to memory
	asked int           // those of the burst that asks for the channel
	lands drivers.Cycle // the last beat of the last burst that was sent reaches memory; Forever: that is not known yet
}

func (w *writer) due() drivers.Cycle {
	if !w.busy {
		return drivers.Forever
	}
	return w.free
}

// move requests the write of the next burst. After the last one it frees the packet's buffer.
func (n *node) move(now drivers.Cycle, class int) {
	c := &n.rma.completer[class]
	w, e := &c.write, c.ends.at(c.ends.n-1)
	if w.moved == e.bytes {
		if w.lands == drivers.Forever {
			e.lands = true
		} else {
			e.ready = n.answered(w.lands)
		}
		w.busy = false
		c.mayAct(now + 1)
		if n.rma.wrong && c.judge.phase == phaseIdle && n.rma.in[class].n > 1 && n.discardReason(n.p.packets.at(*n.rma.in[class].at(1))) != regs.DropReasonNone {
			c.judge.notBefore(now + 1)
		}
		n.freeBuffer(now, class)
		return
	}
	addr := e.mem.span.addr + uint64(w.moved)
	w.asked = min(e.bytes-w.moved, lineBytes-int(addr%lineBytes))
	w.free = drivers.Forever // until moved
	n.askWriteOf([...]int{writeRequests, writeAnswers}[class], now,
		burst{addr, (addr%8 + uint64(w.asked) + 7) / 8, n.p.packets.at(e.packet).bytes()[w.moved : w.moved+w.asked]})
}

// answered is the cycle in which the answer of a write takes effect whose last beat lands in a
// cycle.
func (n *node) answered(lands drivers.Cycle) drivers.Cycle {
	return lands + 1 + n.m.cfg.Timing.HostWrite
}

// sent handles a burst whose last beat is taken in cycle at. lands is when it reaches memory, or
// Forever if that is not known yet.
func (n *node) sent(now, at drivers.Cycle, class int, lands drivers.Cycle) {
	c := &n.rma.completer[class]
	w := &c.write
	w.moved, w.free, w.lands = w.moved+w.asked, at+1, lands
	if w.moved == c.ends.at(c.ends.n-1).bytes {
		if w.free--; w.free <= now {
			n.move(now, class)
		}
	}
}

// landed supplies that cycle later.
func (n *node) landed(class int, last drivers.Cycle) {
	c := &n.rma.completer[class]
	if c.write.busy && c.write.lands == drivers.Forever {
		c.write.lands = last
		return
	}
	for i := range c.ends.n {
		if e := c.ends.at(i); e.lands {
			e.lands, e.ready = false, n.answered(last)
			return
		}
	}
}
