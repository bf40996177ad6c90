package bench

import (
	"cmp"
	"fmt"
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
	ports []heldLink // of routers that are not the nodes': by router, port, class
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
	heldPorts  = 128      // of a router that is not a node's, at most
	classes    = regs.VCs // tori and Dragonflies have more channels of each
)

func newHeldLinks(nodes int) *heldLinks {
	return &heldLinks{links: make([]heldLink, nodes*heldPoints*classes)}
}

// link is that of an event, or nil.
func (h *heldLinks) link(e *drivers.TraceEvent) *heldLink {
	switch port := int(e.Point) - drivers.PointPort; {
	case e.Point < heldPoints:
		return &h.links[(int(e.Node)*heldPoints+int(e.Point))*classes+int(e.VC)%classes]
	case port >= 0 && port < heldPorts:
		i := (int(e.Node)*heldPorts+port)*classes + int(e.VC)%classes
		if i >= len(h.ports) {
			h.ports = append(h.ports, make([]heldLink, i+1-len(h.ports))...)
		}
		return &h.ports[i]
	}
	return nil
}

// Trace takes events.
func (h *heldLinks) Trace(events []drivers.TraceEvent) error {
	for i := range events {
		e := &events[i]
		l := h.link(e)
		if l == nil {
			continue
		}
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
	// From is a node; on a topology whose routers are not the nodes', of all but the ways into them, a
	// router.
	From int `json:"from"`
	// Link is 0 for the way from a node into its router, else a port: 1 +X, 2 -X, 3 +Y, 4 -Y, 5 +Z, 6
	// -Z where routers are the nodes'.
	Link  int     `json:"link"`
	Class string  `json:"class"`      // of packets: velo, requests or answers
	Held  float64 `json:"held_share"` // share of the time
	Flits uint64  `json:"flits"`
}

// list gives all links that were used, the most held first. Where a packet
// counts as held for another channel's flit, both share the wire: what is left
// over the time itself is cut.
func (h *heldLinks) list(cycles uint64) (list []HeldLink) {
	if cycles == 0 {
		return nil
	}
	for _, of := range []struct {
		links  []heldLink
		points int
	}{{h.links, heldPoints}, {h.ports, heldPorts}} {
		for i := range of.links {
			l := &of.links[i]
			if l.flits == 0 {
				continue
			}
			list = append(list, HeldLink{
				From: i / classes / of.points, Link: i / classes % of.points, Class: [...]string{"velo", "requests", "answers"}[i%classes],
				Held: min(1, float64(l.held)/float64(cycles)), Flits: l.flits,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b HeldLink) int { return cmp.Compare(b.Held, a.Held) })
	return list
}

// Wires gives what writes a link as what it joins: nodes, or routers that are not the nodes'.
func (c *Congestion) Wires() func(HeldLink) string {
	w, err := routesOf(c.Info) // a network's routes take long to find
	format := "%d>%d"
	if c.Info.Topology != "" {
		format = "router %d>%d"
	}
	return func(l HeldLink) string {
		if err != nil || l.Link == 0 {
			return fmt.Sprintf("into %d", l.From)
		}
		peer, _, _ := w.Link(l.From, l.Link)
		return fmt.Sprintf(format, l.From, peer)
	}
}
