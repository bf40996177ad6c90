package nic

import "github.com/nicloop/nicloop/drivers"

// lineBytes is the alignment at which bursts of RMA end.
const lineBytes = 64

// Those who write memory, in the arbiter's order.
const (
	writeVELO     = iota
	writeRequests // the completer of requests; by the number of its class
	writeAnswers  // and that of answers
	writeLocks
	writeNotices
	writeCommands
	writers
)

// A writeChannel is the DMA write channel, which one burst at a time has to itself, writers
// round-robin; answers come while the next ones leave. A burst leaves a cycle after it was chosen,
// by registers that hold an address and two beats; the next is chosen when the address has left
// them, and all but one of the beats. Whoever wrote last keeps the channel until another one asks,
// to whom it goes with the last beat, or in a cycle in which the keeper does not ask.
type writeChannel struct {
	arbiter
	bursts [writers]burst // that they ask for
	free   drivers.Cycle  // the next burst may be chosen
	held   bool           // a burst is chosen and has not left
	burst  burst          // that one: its unit may ask for the next already
	taken  bool           // but its unit knows no more of it
	owner  int            // whose; or who keeps the channel
	ended  drivers.Cycle  // the last beat of the burst before was taken
	since  drivers.Cycle  // when it may leave at the earliest
	limits bool           // its ranges are looked at
	until  drivers.Cycle  // and until when, as far as is known
}

type burst struct {
	addr, quads uint64
	data        []byte // of a completer: what it writes
}

// askWrite requests the write channel for a burst from a cycle on.
func (n *node) askWrite(writer int, at drivers.Cycle, addr, quads uint64) {
	n.askWriteOf(writer, at, burst{addr: addr, quads: quads})
}

func (n *node) askWriteOf(writer int, at drivers.Cycle, b burst) {
	n.writes.asks[writer], n.writes.bursts[writer] = at, b
	n.wake(unitRMA, at)
}

// writeAlone sends a burst through a channel that no other unit uses, and returns when its last
// beat reaches memory.
func (n *node) writeAlone(writer int, at drivers.Cycle, addr, quads uint64) drivers.Cycle {
	w := &n.writes
	begins := max(at, w.free) + 1
	last := w.leaves(begins, drivers.Cycle(quads))
	w.ended = last - 1
	n.traceWrite(begins, last, writer, addr)
	return last
}

// traceWrite records a burst at the write port of memory.
func (n *node) traceWrite(at, last drivers.Cycle, writer int, addr uint64) {
	n.m.traceBus(at, n.id, drivers.PointWriteAddr, writer, addr)
	n.m.traceBus(last, n.id, drivers.PointWriteLast, writer, 0)
}

// leaves sends the address of a burst in a cycle and returns the cycle in which its last beat
// reaches memory.
func (w *writeChannel) leaves(at, quads drivers.Cycle) (last drivers.Cycle) {
	w.free = at + max(quads-1, 1)
	return at + quads - 1
}

func (w *writeChannel) due() drivers.Cycle {
	if w.held {
		return w.until
	}
	_, at := w.choice()
	return at
}

// choice returns the next owner of the channel, as far as is known, and the cycle in which its
// burst may be granted.
func (w *writeChannel) choice() (writer int, at drivers.Cycle) {
	own, other := w.asks[w.owner], drivers.Forever
	for i, asks := range w.asks {
		if i != w.owner && asks != 0 {
			other = min(other, asks)
		}
	}
	if other > w.ended && own != 0 && own <= other {
		return w.owner, max(own, w.free)
	}
	if other == drivers.Forever {
		return w.owner, drivers.Forever
	}
	given := max(other, w.ended)
	for writer = (w.owner + 1) % writers; w.asks[writer] == 0 || w.asks[writer] > given; {
		writer = (writer + 1) % writers
	}
	return writer, max(given+1, w.free)
}

// grantWrite selects the next writer and sends its burst if it fits into the write buffers of slow
// memory.
func (n *node) grantWrite(now drivers.Cycle) {
	w := &n.writes
	chosen := !w.held
	if chosen {
		w.owner, _ = w.choice()
		w.asks[w.owner] = 0
		w.held, w.since, w.limits = true, now+1, n.nvmInUse
		w.ended = now + drivers.Cycle(w.bursts[w.owner].quads) - 1
		if w.limits {
			w.since++
		}
		w.burst = w.bursts[w.owner]
		if w.owner == writeNotices { // which the registers take
			n.noticeSent(now + 1)
		}
	}
	b := w.burst
	if w.until = max(now, w.since); w.limits {
		w.until = n.fits(w.until, b.addr, b.quads*8)
	}
	switch {
	case w.until <= now:
		n.leave(now, now)
	case chosen && w.until == now+1 && w.owner != writeLocks && w.owner != writeCommands: // which act when it leaves
		n.leave(now, now+1)
	case chosen && b.quads <= 2 && w.completes(): // the registers take it
		w.taken = true
		n.sent(now, now+drivers.Cycle(b.quads)-1, w.owner-writeRequests, drivers.Forever)
	}
}

// completes reports whether the burst belongs to a completer, which continues when its last beat is
// taken.
func (w *writeChannel) completes() bool { return w.owner == writeRequests || w.owner == writeAnswers }

// leave sends the address of the granted burst to memory, with its beats.
func (n *node) leave(now, at drivers.Cycle) {
	w := &n.writes
	b := w.burst
	if w.limits {
		n.enterNVM(at, at-w.since, b.addr, b.quads*8)
	}
	w.held = false
	last := w.leaves(at, drivers.Cycle(b.quads))
	if b.quads > 2 { // the registers take two beats while the address waits
		w.ended = last - 1
	}
	n.traceWrite(at, last, w.owner, b.addr)
	switch w.owner {
	case writeVELO:
		n.slotLeaves(last)
	case writeRequests, writeAnswers:
		n.landings.add(last, &b)
		if !w.taken {
			n.sent(now, last-1, w.owner-writeRequests, last)
		} else {
			n.landed(w.owner-writeRequests, last)
		}
		w.taken = false
	case writeLocks:
		n.lockWritten(at)
	case writeNotices:
		n.rma.notifier.lands = last
	case writeCommands:
		n.commandWritten(at)
	}
}

// Those who read memory, in the arbiter's order.
const (
	readRequester = iota
	readResponder
	readATU
	readers
)

// A readChannel is the DMA read channel: one address per cycle, readers round-robin. Data return in
// the order of the addresses.
type readChannel struct {
	arbiter
	fetches [readers]fetch // that they ask for
	free    drivers.Cycle  // the next address may go out
	end     drivers.Cycle  // the data of the last burst is here
}

// A fetch is a read that a unit has requested. It is split at the ends of 64-byte lines.
type fetch struct {
	addr, quads uint64
	begun       bool
	into        []byte // what has not been asked for; nil: nobody wants it
}

// askRead requests a read of a span; fetched reports its completion.
func (n *node) askRead(reader int, at drivers.Cycle, s span, into []byte) {
	c := &n.rma.reads
	c.asks[reader], c.fetches[reader] = at, fetch{addr: s.addr, quads: (s.addr%8 + s.n + 7) / 8, into: into}
	n.wake(unitRMA, at)
}

func (c *readChannel) due() drivers.Cycle { return max(c.arbiter.due(), c.free) }

// grantRead sends the next address of the granted reader.
func (n *node) grantRead(now drivers.Cycle) {
	const line = lineBytes / 8
	c := &n.rma.reads
	i := c.grant(now)
	f := &c.fetches[i]
	n.m.traceBus(now, n.id, drivers.PointReadAddr, i, f.addr)
	quads := min(f.quads, line-f.addr/8%line)
	data := max(now+n.m.cfg.Timing.HostRead, c.end)
	if !f.begun {
		f.begun, data = true, max(data, n.readsBefore(i)+1)
	}
	end := data + drivers.Cycle(quads)
	c.end, c.free = end, now+1
	if bytes := min(quads*8-f.addr%8, uint64(len(f.into))); bytes > 0 {
		copy(f.into, n.dma(span{f.addr, bytes}))
		f.into = f.into[bytes:]
	}
	if f.addr, f.quads = f.addr&^7+quads*8, f.quads-quads; f.quads > 0 {
		c.asks[i] = now + 1
	} else {
		n.fetched(i, now, end)
	}
}

// readsBefore is the cycle in which the previous read of a reader is passed on. The reader takes no
// data before.
func (n *node) readsBefore(reader int) drivers.Cycle {
	switch reader {
	case readRequester:
		_, before := n.rma.reading()
		return before
	case readResponder:
		_, before := n.rma.completer[ofRequests].reading()
		return before
	}
	return 0
}

// fetched handles the last address of a read. Its last beat arrives in the cycle before data.
func (n *node) fetched(reader int, now, data drivers.Cycle) {
	switch reader {
	case readRequester:
		n.rma.fetched(now, data)
	case readResponder:
		n.rma.completer[ofRequests].fetched(now, data)
	case readATU:
		n.atu.filled = data - 1 // and judged a cycle later
		n.entryRead()
		n.translated(data + 1)
	}
}
