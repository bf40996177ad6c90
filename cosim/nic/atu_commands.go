package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// An atuCommand writes its completion to doneAddr if ATU_DONE was set when it was queued.
type atuCommand struct {
	value    uint64
	tells    bool
	doneAddr uint64
	put      drivers.Cycle
}

type commandStep uint8

const (
	commandNext   commandStep = iota
	commandWait               // for the accesses that were under way when it began
	commandWrite              // asks for the write channel
	commandAnswer             // of the memory
)

// commands is the command queue of the translation unit. Commands are performed in order.
type commands struct {
	queue    queue[atuCommand]
	now      atuCommand // the one under way
	step     commandStep
	at       drivers.Cycle // the next step, when it is known
	begun    drivers.Cycle
	ended    drivers.Cycle // accesses from before, as far as is known
	told     uint64        // of refused, as the command will tell it
	failed   bool          // its write
	doneSet  bool          // doneAddr was written
	doneAddr uint64

	done, refused, errors uint32
}

func (c *commands) busy() bool { return c.queue.n > 0 || c.step != commandNext }

func (c *commands) status() uint64 {
	v := uint64(c.done) | uint64(c.queue.n)<<regs.ATUStatusQueued.LSB()
	if c.busy() {
		v |= regs.ATUStatusBusy
	}
	return v
}

// put queues a command, or refuses it if the queue is full. An entry that is freed in this cycle
// does not count as free yet.
func (c *commands) put(now drivers.Cycle, v uint64) {
	held := c.queue.n
	if c.step == commandWait && c.begun == now {
		held++
	}
	if held >= regs.ATUCommands {
		c.refused++
		return
	}
	*c.queue.grow() = atuCommand{value: v, tells: c.doneSet, doneAddr: c.doneAddr, put: now}
}

// commandDue is the cycle of the next step of a command. A fence waits for the accesses that were
// in flight when it began; if their end is not known yet, the result is Forever and the fence is
// looked at again.
func (n *node) commandDue() drivers.Cycle {
	c := &n.atu.commands
	switch {
	case c.step == commandNext && c.queue.n == 0:
		return drivers.Forever
	case c.step == commandNext:
		return max(c.queue.first().put+1, c.at)
	case c.step == commandWait && c.now.op() == regs.ATUOpFence:
		end := n.rma.accessed(c.begun)
		if end == drivers.Forever {
			return end
		}
		c.ended = max(c.ended, end)
		return max(c.begun, c.ended) + 1
	}
	return c.at
}

func (a *atuCommand) op() regs.ATUOp { return regs.ATUOp(regs.ATUCommandCommand.Of(a.value)) }

// command performs the next step of a command.
func (n *node) command(now drivers.Cycle) {
	c := &n.atu.commands
	switch c.step {
	case commandNext:
		c.now = *c.queue.first()
		c.queue.drop()
		c.step, c.begun, c.ended, c.at = commandWait, now, 0, now+1
		n.atu.flush(now, &c.now)
	case commandWait:
		if !c.now.tells {
			c.end(now)
			return
		}
		c.told = uint64(c.refused)
		c.step, c.at = commandWrite, drivers.Forever // until granted
		n.askWrite(writeCommands, now+1, c.now.doneAddr, 1)
	case commandAnswer:
		if c.failed {
			c.errors++
		}
		c.end(now)
	}
}

func (c *commands) end(now drivers.Cycle) {
	c.done++
	c.step, c.at = commandNext, now+1
}

// commandWritten stores the completion of a command when it enters the write channel.
func (n *node) commandWritten(now drivers.Cycle) {
	c := &n.atu.commands
	c.step, c.at = commandAnswer, now+n.m.cfg.Timing.HostWrite
	addr := c.now.doneAddr
	if c.failed = !n.inMemory(span{addr, 8}); c.failed {
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: addr, Bytes: 8, Memory: uint64(len(n.mem))})
		return
	}
	putWord(n.dma(span{addr, 8}), uint64(regs.ATUCompletionFields{Done: c.done + 1, Refused: uint32(c.told)}.Pack()))
	n.written(span{addr, 8})
}

// flush invalidates the translations that a command names. A page flush invalidates the TLB entry
// of the page whatever it holds.
func (u *atu) flush(now drivers.Cycle, a *atuCommand) {
	if a.op() != regs.ATUOpFence {
		u.flushes(now)
	}
	table, vpid := uint8(regs.ATUCommandTable.Of(a.value)), uint8(regs.ATUCommandVPID.Of(a.value))
	for i := range u.tlb {
		e := &u.tlb[i]
		switch a.op() {
		case regs.ATUOpFlushPage:
			e.valid = e.valid && uint64(i) != tlbIndex(table, regs.ATUCommandPage.Of(a.value))
		case regs.ATUOpFlushVPID:
			e.valid = e.valid && e.translation.VPID() != vpid
		case regs.ATUOpFlushAll:
			e.valid = false
		}
	}
}

// accessed returns when all accesses that began up to a cycle have ended, or Forever if that is not
// known.
func (r *rma) accessed(upTo drivers.Cycle) (end drivers.Cycle) {
	if r.frag.mem.done && r.frag.asked <= upTo && (r.requester.phase == phaseAct ||
		r.requester.phase == phaseMove && !r.closed[r.frag.vpid].seen(r.frag.asked)) {
		return drivers.Forever
	}
	left := r.sent // they end in order, one in a cycle
	for i := range r.begun.n {
		b := r.begun.at(i)
		left = max(after(left), b.ready)
		if b.reads && b.asked <= upTo {
			end = max(end, left)
		}
	}
	for class := range r.completer {
		c := &r.completer[class]
		if c.judge.phase == phaseAct && c.outcome.touches() && c.outcome.asked <= upTo {
			return drivers.Forever
		}
		end = max(end, c.accessed(upTo))
	}
	return end
}

// after returns the next cycle; Forever stays Forever.
func after(at drivers.Cycle) drivers.Cycle {
	if at == drivers.Forever {
		return at
	}
	return at + 1
}

// accessed is the same for a completer. Its answers leave in order, one per cycle.
func (c *completer) accessed(upTo drivers.Cycle) (end drivers.Cycle) {
	left := c.free
	for i := range c.ends.n {
		e := c.ends.at(i)
		if e.answer {
			left = after(max(left, e.ready))
		} else {
			left = e.ready
		}
		if e.touches() && e.asked <= upTo {
			end = max(end, left)
		}
	}
	return end
}
