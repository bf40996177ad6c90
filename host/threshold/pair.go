package threshold

import (
	"math/bits"
	"slices"
)

// A pair is the channel to a peer.
type pair struct {
	step       step
	generation uint16
	threshold  int          // of what is sent
	there      []peerBuffer // buffers of the peer that are empty; of those of one length the one used last is taken first
	taken      peerBuffer   // the last that was taken
	here       []buffer     // for what the peer sends
	recalled   uint64       // a buffer that was asked for
	refused    bool         // the peer has said no: it is not asked again

	// Of a change under way.
	wanted, agreed int
	next           []peerBuffer // the peer's buffers of the next generation
	since          Time
	asked          bool // this rank is the initiator
	stopped        bool // partial: nothing may be sent

	profile
	longest int // message of the peer that the last profile had
}

// A peerBuffer is a buffer of the peer.
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
	full       bool // a message names it, and was not read
	old        bool // the peer does not use it again: it goes when it is read
}

func (p *pair) find(at uint64) *buffer {
	for i := range p.here {
		if p.here[i].at == at {
			return &p.here[i]
		}
	}
	return nil
}

// room is what the buffers here hold.
func (p *pair) room() (n int) {
	for _, b := range p.here {
		n += b.bytes
	}
	return n
}

// best is the shortest buffer of the peer for a message of n bytes; -1: there is none.
func (p *pair) best(n int) int {
	at := -1
	for i, s := range p.there {
		if s.bytes >= n && (at < 0 || s.bytes <= p.there[at].bytes) {
			at = i
		}
	}
	return at
}

// ---- memory ----

// steps is how many lengths of buffers there are from one power of two to the next.
const steps = 8

// spare is the part of a message that the next one may be longer.
const spare = 8

// cut is the length of a buffer for messages like one of n bytes: the next step above it, not more
// than the threshold, or if there are lengths enough, one that there is. A fixed threshold is the
// length of all.
func (c *Core) cut(n, threshold int) int {
	if c.cfg.Fixed > 0 {
		return threshold
	}
	n = min(n+n/spare, threshold)
	step := max(1<<bits.Len(uint(n-1))/2/steps, 1)
	bytes := min((n+step-1)/step*step, threshold)
	if c.has(bytes) || c.stats.Stocks < c.cfg.Stocks {
		return bytes
	}
	bytes = threshold
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.here {
			if b.bytes >= n {
				bytes = min(bytes, b.bytes)
			}
		}
	}
	return bytes
}

const align = 64

func roundUp(n int) int { return (n + align - 1) &^ (align - 1) }

// allocate finds room for count buffers of n bytes each, one behind the other: first fit between
// those that there are.
func (c *Core) allocate(n, count int) (uint64, bool) {
	need := count * roundUp(n)
	if c.stats.Bytes+need > c.cfg.Cap || !c.has(n) && c.stats.Stocks >= c.cfg.Stocks {
		return 0, false
	}
	type taken struct{ at, end uint64 }
	var all []taken
	for _, p := range c.pairs {
		if p == nil {
			continue
		}
		for _, b := range p.here {
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

// has tells whether there are buffers of n bytes.
func (c *Core) has(n int) bool {
	for _, p := range c.pairs {
		if p != nil && slices.ContainsFunc(p.here, func(b buffer) bool { return b.bytes == n }) {
			return true
		}
	}
	return false
}

// adopt makes buffers of what was allocated.
func (c *Core) adopt(p *pair, at uint64, n, count int, generation uint16) {
	for i := range count {
		p.here = append(p.here, buffer{at: at + uint64(i*roundUp(n)), bytes: n, generation: generation, used: c.now})
	}
	c.account(count * roundUp(n))
}

// drop gives a buffer back.
func (c *Core) drop(p *pair, at uint64) {
	i := slices.IndexFunc(p.here, func(b buffer) bool { return b.at == at })
	n := roundUp(p.here[i].bytes)
	p.here = slices.Delete(p.here, i, i+1)
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
		for _, b := range p.here {
			if !slices.Contains(lengths, b.bytes) {
				lengths = append(lengths, b.bytes)
			}
		}
	}
	c.stats.Stocks = len(lengths)
}

// list gives the addresses of buffers that follow one another.
func (m Message) list() (all []peerBuffer) {
	for i := range int(m.Count) {
		all = append(all, peerBuffer{m.Address + uint64(i*roundUp(m.Bytes)), m.Bytes})
	}
	return all
}
