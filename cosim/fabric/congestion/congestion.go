// Package congestion implements congestion control of nodes: FECN/BECN as in the RDRP paper.
//
// A router marks packets that enter a queue that is more than half full (FECN). A node that
// receives such a packet marks a packet that it sends back (BECN). A node that receives that
// increments a counter, and reduces its rate with it. Time and unmarked packets decrement the
// counter.
package congestion

import "fmt"

// ECN are the parameters of FECN/BECN.
type ECN struct {
	From  float64 // occupancy of a queue above which packets are marked
	Slope float64 // slope of the marking probability above it
	Up    int     // increment of the counter by a marked packet
	Down  int     // decrement by another packet
	Most  int     // counter value at which nothing is sent
	Every int     // cycles per decrement of the counter
}

// Parameter sets of the RDRP paper, section 4.1.
var (
	Default    = ECN{From: 0.5, Slope: 2, Up: 8, Down: 1, Most: 20, Every: 4}
	Aggressive = ECN{From: 0.5, Slope: 4, Up: 8, Down: 1, Most: 20, Every: 50}
)

func (e ECN) String() string {
	return fmt.Sprintf("FECN above %g with slope %g, BECN +%d -%d of %d, -1 every %d cycles", e.From, e.Slope, e.Up, e.Down, e.Most, e.Every)
}

// Chance is the probability that a packet is marked, given the occupancy of its next queue.
func (e *ECN) Chance(share float64) float64 {
	return min(1, max(0, (share-e.From)*e.Slope))
}

// A Throttle is a node's counter, and the resulting share of its link. The caller provides the
// time, which must not decrease.
type Throttle struct {
	count  int
	now    int64
	credit int // for the next packet, in flits times Most
}

// Received counts a received packet.
func (t *Throttle) Received(e *ECN, now int64, marked bool, flits int) {
	t.advance(e, now, flits)
	if marked {
		t.count = min(e.Most, t.count+e.Up)
	} else {
		t.count = max(0, t.count-e.Down)
	}
}

// Wait is 0 if a packet may be sent now, otherwise a number of cycles in which it certainly may
// not.
func (t *Throttle) Wait(e *ECN, now int64, flits int) int64 {
	t.advance(e, now, flits)
	return int64(flits*e.Most-t.credit+e.Most-1) / int64(e.Most)
}

// Sent counts a packet that Wait has allowed.
func (t *Throttle) Sent(e *ECN, flits int) { t.credit -= flits * e.Most }

// advance earns Most minus the counter in every cycle, up to one packet.
func (t *Throttle) advance(e *ECN, now int64, flits int) {
	full := flits * e.Most
	for t.now < now && t.count > 0 {
		every := int64(e.Every)
		step := min(every-t.now%every, now-t.now)
		t.credit = min(full, t.credit+int(step)*(e.Most-t.count))
		if t.now += step; t.now%every == 0 {
			t.count--
		}
	}
	if t.now < now {
		t.credit = min(full, t.credit+int(min(now-t.now, int64(flits)))*e.Most)
		t.now = now
	}
}
