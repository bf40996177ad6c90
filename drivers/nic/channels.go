package nic

import "github.com/nicloop/nicloop/drivers"

// lineBytes: bursts of RMA end with their line.
const lineBytes = 64

// Those who write memory, in the order in which they have their turn.
const (
	writeVELO     = iota
	writeRequests // the completer of requests
	writeAnswers  // and that of answers
	writeLocks
	writeNotices
	writers
)

// A writeChannel is the DMA write channel, which one burst at a time has to itself, writers in turn; answers
// come while the next ones leave.
type writeChannel struct {
	free  drivers.Cycle // the burst has left
	asks  [writers]burst
	turn  int           // the writer who comes first
	held  bool          // a burst waits for a limiter; all others wait behind it
	owner int           // whose
	since drivers.Cycle // since when
	until drivers.Cycle // and until when, as far as is known
}

// A burst is what a writer asks for from a cycle on; at 0 it does not.
type burst struct {
	at          drivers.Cycle
	addr, quads uint64
}

// askWrite has a burst enter the write channel at a cycle or later; granted tells when.
func (n *node) askWrite(writer int, at drivers.Cycle, addr, quads uint64) {
	n.writes.asks[writer] = burst{at, addr, quads}
	n.wake(unitRMA, at)
}

// writeAlone is when a burst enters the channel that nobody else asks for.
func (n *node) writeAlone(writer int, at drivers.Cycle, quads uint64) drivers.Cycle {
	w := &n.writes
	at = max(at, w.free)
	w.free, w.turn = at+drivers.Cycle(quads), writer+1
	return at
}

func (w *writeChannel) due() drivers.Cycle {
	if w.held {
		return w.until
	}
	first := drivers.Forever
	for i := range w.asks {
		if at := w.asks[i].at; at != 0 {
			first = min(first, at)
		}
	}
	return max(first, w.free)
}

// grantWrite lets the writer whose turn it is have the channel, when its burst fits into the
// buffers of slow memory.
func (n *node) grantWrite(now drivers.Cycle) {
	w := &n.writes
	if !w.held {
		i := w.turn
		for i == writers || w.asks[i].at == 0 || w.asks[i].at > now {
			i = (i + 1) % (writers + 1)
		}
		w.turn, w.held, w.owner, w.since = i+1, true, i, now
	}
	b := &w.asks[w.owner]
	if w.until = n.fits(now, b.addr, b.quads*8); w.until > now {
		return
	}
	if n.nvmInUse {
		n.enterNVM(now, now-w.since, b.addr, b.quads*8)
	}
	w.held, w.free, b.at = false, now+drivers.Cycle(b.quads), 0
	n.granted(w.owner, now)
}

// granted: the burst of a writer enters the channel now.
func (n *node) granted(writer int, now drivers.Cycle) {
	switch writer {
	case writeVELO:
		n.wake(unitSlot, n.writes.free-1)
	case writeRequests:
		n.moved(now, vcRequest)
	case writeAnswers:
		n.moved(now, vcAnswer)
	case writeLocks:
		n.lockWritten(now)
	case writeNotices:
		n.rma.notifier.step, n.rma.notifier.at = notifierLand, n.writes.free-1
	}
}

// Those who read memory, in the order in which they have their turn.
const (
	readRequester = iota
	readResponder
	readATU
	readers
)

// readDepth is how many bursts of reads may be under way.
const readDepth = 16

// A readChannel is the DMA read channel: an address per cycle, readers in turn, and data in the
// order of the addresses.
type readChannel struct {
	asks [readers]fetch
	turn int                      // the reader who comes first
	free drivers.Cycle            // the next address may go out
	ends [readDepth]drivers.Cycle // the data of the last bursts is here, in a ring
	last int                      // of them
}

// A fetch is what a reader asks for from a cycle on, up to the end of a line at a time; at 0 it does not.
type fetch struct {
	at          drivers.Cycle
	addr, quads uint64
	begun       bool
}

// askRead has a span read; fetched tells when it is here.
func (n *node) askRead(reader int, at drivers.Cycle, s span) {
	n.rma.reads.asks[reader] = fetch{at: at, addr: s.addr, quads: (s.addr%8 + s.n + 7) / 8}
	n.wake(unitRMA, at)
}

func (c *readChannel) due() drivers.Cycle {
	first := drivers.Forever
	for i := range c.asks {
		if at := c.asks[i].at; at != 0 {
			first = min(first, at)
		}
	}
	return max(first, c.free)
}

// grantRead sends the next address of the reader whose turn it is.
func (n *node) grantRead(now drivers.Cycle) {
	const line = lineBytes / 8
	c := &n.rma.reads
	i := c.turn
	for c.asks[i].at == 0 || c.asks[i].at > now {
		i = (i + 1) % readers
	}
	c.turn = (i + 1) % readers
	f := &c.asks[i]
	quads := min(f.quads, line-f.addr/8%line)
	data := max(now+n.m.cfg.Timing.HostRead, c.ends[c.last])
	if !f.begun {
		f.begun, data = true, max(data, n.readsBefore(i)+1)
	}
	end := data + drivers.Cycle(quads)
	c.last = (c.last + 1) % readDepth
	c.ends[c.last] = end
	c.free = max(now+1, c.ends[(c.last+1)%readDepth])
	f.at, f.addr, f.quads = now+1, f.addr&^7+quads*8, f.quads-quads
	if f.quads == 0 {
		f.at = 0
		n.fetched(i, now, end)
	}
}

// readsBefore is when what a reader has asked for before is handed on: it takes no data before that.
func (n *node) readsBefore(reader int) drivers.Cycle {
	switch reader {
	case readRequester:
		return n.rma.readBefore()
	case readResponder:
		return n.rma.completer[vcRequest].readBefore()
	}
	return 0
}

// fetched: the last address of a reader has gone out; the last data is here before a cycle.
func (n *node) fetched(reader int, now, data drivers.Cycle) {
	switch reader {
	case readRequester:
		n.rma.fetched(now, data)
	case readResponder:
		n.rma.completer[vcRequest].fetched(now, data)
	case readATU:
		n.translated(n.atu.server.client, data+1)
	}
}
