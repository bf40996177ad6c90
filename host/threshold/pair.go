package threshold

import (
	"math/bits"
	"slices"
)

// A pair is the channel to a peer.
type pair struct {
	step        step
	generation  uint16
	threshold   int          // for sends
	peerBuffers []peerBuffer // empty buffers at the peer; of several with one length, the one used last is taken first
	taken       peerBuffer   // result of the last Take
	recvBuffers []buffer     // for the peer's messages
	recalled    uint64       // address of a recalled buffer
	refused     bool         // the peer refused a change; it is not asked again

	// State of a change in progress.
	wanted, agreed int
	next           []peerBuffer // the peer's buffers of the next generation
	since          Time
	asked          bool // this rank is the initiator
	stopped        bool // partial: nothing may be sent

	profile
	longest int // longest message of the peer in the last profile
	weight  int // of the next buffer for the peer's messages; 0: 1
}

// A peerBuffer is a buffer at the peer.
type peerBuffer struct {
	at    uint64
	bytes int
}

// A buffer holds one message of a peer.
type buffer struct {
	at         uint64
	bytes      int
	generation uint16
	used       Time
	weight     int
	full       bool // named by a message that has not been read
	old        bool // not used by the peer again; freed when read
}

func (p *pair) find(at uint64) *buffer {
	for i := range p.recvBuffers {
		if p.recvBuffers[i].at == at {
			return &p.recvBuffers[i]
		}
	}
	return nil
}

// room is the total size of the buffers at this rank.
func (p *pair) room() (n int) {
	for _, b := range p.recvBuffers {
		n += b.bytes
	}
	return n
}

// best is the shortest buffer at the peer for a message of n bytes; -1: none.
func (p *pair) best(n int) int {
	at := -1
	for i, s := range p.peerBuffers {
		if s.bytes >= n && (at < 0 || s.bytes <= p.peerBuffers[at].bytes) {
			at = i
		}
	}
	return at
}

// ---- memory ----

// steps is the number of buffer lengths per power of two.
const steps = 8

// spare is the reciprocal of the headroom that a buffer has above the longest message.
const spare = 8

// cut is the buffer length for messages of up to n bytes: the next step with headroom, limited to
// the threshold. If the maximum number of lengths is in use, it is one of those. Buffers of a pool,
// and all buffers with a fixed threshold, are as long as the threshold.
func (c *Core) cut(n, threshold int) int {
	if c.cfg.Fixed > 0 || c.cfg.Pool > 0 {
		return threshold
	}
	n = min(n+n/spare, threshold)
	step := max(1<<bits.Len(uint(n-1))/2/steps, 1)
	bytes := min((n+step-1)/step*step, threshold)
	if c.hasLength(bytes) || c.stats.Stocks < c.cfg.Stocks {
		return bytes
	}
	bytes = threshold
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.recvBuffers {
			if b.bytes >= n {
				bytes = min(bytes, b.bytes)
			}
		}
	}
	return bytes
}

const align = 64

func roundUp(n int) int { return (n + align - 1) &^ (align - 1) }

// allocate finds memory for count contiguous buffers of n bytes each (first fit).
func (c *Core) allocate(n, count int) (uint64, bool) {
	if count == 0 {
		return 0, true
	}
	need := count * roundUp(n)
	if c.stats.Bytes+need > c.cfg.Cap || !c.hasLength(n) && c.stats.Stocks >= c.cfg.Stocks {
		return 0, false
	}
	type taken struct{ at, end uint64 }
	var all []taken
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.recvBuffers {
			all = append(all, taken{b.at, b.at + uint64(roundUp(b.bytes))})
		}
	}
	slices.SortFunc(all, func(a, b taken) int { return int(int64(a.at - b.at)) })
	at := c.cfg.Base
	for _, t := range all {
		if t.at-at >= uint64(need) {
			return at, true
		}
		at = t.end
	}
	return at, c.cfg.Base+uint64(c.cfg.Cap)-at >= uint64(need)
}

// hasLength reports whether there are buffers of n bytes.
func (c *Core) hasLength(n int) bool {
	for _, p := range c.pairs {
		if p != nil && slices.ContainsFunc(p.recvBuffers, func(b buffer) bool { return b.bytes == n }) {
			return true
		}
	}
	return false
}

// count is the number of buffers of n bytes.
func (c *Core) count(n int) (count int) {
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.recvBuffers {
			if b.bytes == n {
				count++
			}
		}
	}
	return count
}

// initial is the number of buffers of n bytes that a change reserves for a peer's messages.
func (c *Core) initial(p *pair, n int) int {
	switch {
	case c.cfg.Fixed > 0:
		return c.cfg.First
	case c.cfg.OneWay && max(p.longest, p.received.longest) == 0:
		return 0
	case c.cfg.Pool > 0:
		return min(c.cfg.First, max(c.cfg.Pool-c.count(n), 0))
	}
	return c.cfg.First
}

// adopt creates buffers in allocated memory.
func (c *Core) adopt(p *pair, at uint64, n, count int, generation uint16) {
	for i := range count {
		p.recvBuffers = append(p.recvBuffers, buffer{at: at + uint64(i*roundUp(n)), bytes: n, generation: generation, used: c.now, weight: max(p.weight, 1)})
	}
	c.account(count * roundUp(n))
}

// drop frees a buffer.
func (c *Core) drop(p *pair, at uint64) {
	i := slices.IndexFunc(p.recvBuffers, func(b buffer) bool { return b.at == at })
	n := roundUp(p.recvBuffers[i].bytes)
	p.recvBuffers = slices.Delete(p.recvBuffers, i, i+1)
	c.account(-n)
}

func (c *Core) account(n int) {
	c.stats.Bytes += n
	c.stats.MostBytes = max(c.stats.MostBytes, c.stats.Bytes)
	var lengths []int
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.recvBuffers {
			if !slices.Contains(lengths, b.bytes) {
				lengths = append(lengths, b.bytes)
			}
		}
	}
	c.stats.Stocks = len(lengths)
}

// list returns the contiguous buffers in a message.
func (m Message) list() (all []peerBuffer) {
	for i := range int(m.Count) {
		all = append(all, peerBuffer{m.Address + uint64(i*roundUp(m.Bytes)), m.Bytes})
	}
	return all
}
