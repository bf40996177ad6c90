package bench

import (
	"cmp"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// heldLinks is a trace sink that finds where a network stands: a link is held
// while a packet stands half way across it. A packet's flits come one a cycle
// unless the buffer ahead of it is full (or another virtual channel takes the
// wire for a cycle), so gaps between the flits of a packet are the congestion
// tree, seen from the wires.
type heldLinks struct {
	on    bool
	links []heldLink // by node, point, class
}

// A heldLink is one class of one link, or of the way into a router.
type heldLink struct {
	last drivers.Cycle
	open bool // a head has passed, its tail has not
	held uint64
	// flits show that a link which is never held is in use.
	flits uint64
}

const (
	heldPoints = 7        // injection and six links
	classes    = regs.VCs // a torus has more channels of each
)

func newHeldLinks(nodes int) *heldLinks {
	return &heldLinks{links: make([]heldLink, nodes*heldPoints*classes)}
}

func (h *heldLinks) link(node, point, class int) *heldLink {
	return &h.links[(node*heldPoints+point)*classes+class]
}

// Trace takes events.
func (h *heldLinks) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		e := &events[i]
		if e.Point >= heldPoints {
			continue
		}
		l := h.link(int(e.Node), int(e.Point), int(e.VC)%classes)
		if h.on {
			l.flits++
			if l.open && e.Flags&drivers.TraceHead == 0 {
				l.held += uint64(e.Cycle - l.last - 1)
			}
		}
		l.last, l.open = e.Cycle, e.Flags&drivers.TraceTail == 0
	}
	return nil
}

// A HeldLink is a link on which packets stood.
type HeldLink struct {
	From int `json:"from"`
	// Link is 0 for the way into the node's own router, else 1 +X, 2 -X, 3 +Y, 4 -Y, 5 +Z, 6 -Z.
	Link  int     `json:"link"`
	Class string  `json:"class"`      // of packets: velo, requests or answers
	Held  float64 `json:"held_share"` // share of the time
	Flits uint64  `json:"flits"`
}

// list gives all links that were used, the most held first. Where a packet
// counts as held for another channel's flit, both share the wire: what is left
// over the time itself is cut.
func (h *heldLinks) list(cycles uint64) (list []HeldLink) {
	for i := range h.links {
		l := &h.links[i]
		if l.flits == 0 || cycles == 0 {
			continue
		}
		list = append(list, HeldLink{
			From: i / classes / heldPoints, Link: i / classes % heldPoints, Class: [...]string{"velo", "requests", "answers"}[i%classes],
			Held: min(1, float64(l.held)/float64(cycles)), Flits: l.flits,
		})
	}
	slices.SortStableFunc(list, func(a, b HeldLink) int { return cmp.Compare(b.Held, a.Held) })
	return list
}
