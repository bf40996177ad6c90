package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A writer writes a packet's bytes.
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

// move has a burst written. When the last beat leaves, so does the packet.
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

// answered is when a write is known to be done whose last beat lands in a cycle.
func (n *node) answered(lands drivers.Cycle) drivers.Cycle {
	return lands + 1 + n.m.cfg.Timing.HostWrite
}

// sent: the last beat of a burst is handed on in a cycle, and lands in another one, if that is
// known.
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

// landed: the last beat of a burst that was handed on before lands in a cycle.
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
