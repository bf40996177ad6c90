package threshold

import (
	"cmp"
	"math/bits"
)

// A Policy says when a channel gets another threshold (section 3.1) and which (section 3.2).
type Policy struct {
	Window int // messages of a channel that are judged together; 0: 4
	Share  int // percent of the rest of a message that computation must have lasted beside it for overlap to be lost; 0: 50
	Losing int // percent of the messages of a window that must have lost overlap; 0: 50
	Offset int // bytes that a threshold is above its power of two; 0: 1024
}

func (p Policy) withDefaults() Policy {
	p.Window, p.Share, p.Losing, p.Offset = cmp.Or(p.Window, 4), cmp.Or(p.Share, 50), cmp.Or(p.Losing, 50), cmp.Or(p.Offset, 1024)
	return p
}

// A Sample is a message that went by a rendezvous.
type Sample struct {
	Bytes int
	Sent  bool // by this rank
	// Beside is what passed from its post until its Wait, Left from then until its end: what of it was
	// left to do.
	Beside, Left Time
}

// A profile is what a channel has seen since it was last judged.
type profile struct {
	messages, losing int
	sent, received   sum
}

type sum struct{ messages, bytes, longest int }

func (s *sum) add(n int) { s.messages, s.bytes, s.longest = s.messages+1, s.bytes+n, max(s.longest, n) }

// Ended profiles a message that went by a rendezvous, and changes the threshold if overlap was
// lost.
func (c *Core) Ended(peer int, s Sample) {
	if c.cfg.Fixed > 0 || s.Bytes <= c.cfg.Least {
		return
	}
	p := c.pair(peer)
	if s.Sent {
		p.sent.add(s.Bytes)
	} else {
		p.received.add(s.Bytes)
	}
	wish, longest := c.wish(p), p.received.longest
	lost, judged := p.judge(c.cfg.Policy, s)
	if judged {
		p.longest = longest
	}
	if lost {
		c.want(peer, wish)
	}
}

// judge counts a message and, if it is the last of a window, tells whether overlap was lost and
// begins anew.
func (p *profile) judge(policy Policy, s Sample) (lost, judged bool) {
	p.messages++
	if s.Left > 0 && 100*s.Beside >= Time(policy.Share)*s.Left {
		p.losing++
	}
	if p.messages < policy.Window {
		return false, false
	}
	lost = 100*p.losing >= policy.Losing*p.messages
	*p = profile{}
	return lost, true
}

// wish is the threshold that a profile asks for: that of what is sent or, if that is longer, of
// what is received, as the channel has one for both. 0: it asks for none.
func (c *Core) wish(p *pair) int {
	return max(c.threshold(p.sent), c.threshold(p.received))
}

// threshold is the equation of section 3.2. The header of a message has no part in it: here it does
// not travel with the bytes.
func (c *Core) threshold(s sum) int {
	if s.messages == 0 {
		return 0
	}
	mean := (s.bytes + s.messages - 1) / s.messages
	return 1<<bits.Len(uint(mean-1)) + c.cfg.Offset
}
