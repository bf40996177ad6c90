package threshold

import (
	"cmp"
	"math/bits"
)

// A Trigger is the condition under which a message has lost overlap (section 3.1).
type Trigger uint8

// The triggers. Both compare with the time from the post of a message to the Wait for it.
const (
	// Remaining: that time is at least Policy.Share percent of the part of the transfer that remained
	// at the Wait. A transfer that completed before the Wait has lost nothing.
	Remaining Trigger = iota
	// Estimated: that time is at least Policy.Share percent of the estimated time of the whole
	// transfer. This is the condition of the paper.
	Estimated
)

// A Policy decides when a channel changes its threshold (section 3.1) and to which value (section
// 3.2).
type Policy struct {
	Window  int // messages of a channel evaluated together; 0: 4
	Trigger Trigger
	PerByte Time // estimated transfer time of a byte, for Estimated
	Share   int  // percentage of the trigger; 0: 50
	Losing  int  // percentage of messages in a window that must have lost overlap; 0: 50
	Header  int  // bytes of the packet header that the equation adds to every message
	Offset  int  // bytes added to the power of two; 0: 1024
	// SentOnly averages only the messages that this rank sends to the peer, as in the paper. The
	// channel has one threshold for both directions, so the default averages each direction and takes
	// the larger threshold.
	SentOnly bool
}

func (p Policy) withDefaults() Policy {
	p.Window, p.Share, p.Losing, p.Offset = cmp.Or(p.Window, 4), cmp.Or(p.Share, 50), cmp.Or(p.Losing, 50), cmp.Or(p.Offset, 1024)
	return p
}

// A Sample is a message that used a rendezvous.
type Sample struct {
	Bytes int
	Sent  bool // by this rank
	// Beside is the time from the post to the Wait, Left the time from the Wait to completion, i.e.
	// the part of the transfer that was not overlapped.
	Beside, Left Time
}

// A profile accumulates samples of a channel since the last evaluation.
type profile struct {
	messages, losing int
	sent, received   sum
}

type sum struct{ messages, bytes, longest int }

func (s *sum) add(n int) { s.messages, s.bytes, s.longest = s.messages+1, s.bytes+n, max(s.longest, n) }

// Ended records a message that used a rendezvous, and requests a new threshold if overlap was lost.
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
	lost, judged := p.judge(&c.cfg.Policy, s)
	if judged {
		p.longest = longest
	}
	if lost {
		c.want(peer, wish)
	}
}

// judge counts a message. At the end of a window it reports whether overlap was lost, and starts
// the next window.
func (p *profile) judge(policy *Policy, s Sample) (lost, judged bool) {
	p.messages++
	if policy.hasLost(s) {
		p.losing++
	}
	if p.messages < policy.Window {
		return false, false
	}
	lost = 100*p.losing >= policy.Losing*p.messages
	*p = profile{}
	return lost, true
}

// hasLost applies the trigger. Blocking calls have Beside = 0, and never lose overlap.
func (p *Policy) hasLost(s Sample) bool {
	transfer := s.Left
	if p.Trigger == Estimated {
		transfer = Time(s.Bytes) * p.PerByte
	}
	return transfer > 0 && 100*s.Beside >= Time(p.Share)*transfer
}

// wish is the threshold that a profile suggests. 0: none.
func (c *Core) wish(p *pair) int {
	if c.cfg.SentOnly {
		return c.threshold(p.sent)
	}
	return max(c.threshold(p.sent), c.threshold(p.received))
}

// threshold is the equation of section 3.2. With Header = 0 a mean that is a power of two is not
// rounded up to the next one.
func (c *Core) threshold(s sum) int {
	if s.messages == 0 {
		return 0
	}
	mean := (s.bytes+s.messages-1)/s.messages + c.cfg.Header
	return 1<<bits.Len(uint(mean-1)) + c.cfg.Offset
}
