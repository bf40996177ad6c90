package bench

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// heldLinks is a trace sink that measures congestion: a link is held while a packet occupies it
// partly transmitted. The flits of a packet follow each other without gaps unless the next buffer
// is full (or another VC uses the wire for a cycle), so gaps inside packets show the congestion
// tree.
type heldLinks struct {
	on    bool
	links []heldLink // indexed by node, point, class
	ports []heldLink // routers without nodes: indexed by router, port, class
}

// A heldLink is one class of one link, or of the connection from a NIC into its router.
type heldLink struct {
	last drivers.Cycle
	open bool // a head has passed, its tail has not
	held uint64
	// flits counts flits: a link that is never held may still be in use.
	flits uint64
}

const (
	heldPoints = 7        // injection and six links
	heldPorts  = 128      // maximum, of a router without nodes
	classes    = regs.VCs // tori and Dragonflies have several VCs per class
)

func newHeldLinks(nodes int) *heldLinks {
	return &heldLinks{links: make([]heldLink, nodes*heldPoints*classes)}
}

// link returns the link of an event, or nil.
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

// Trace implements drivers.TraceSink.
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

// A HeldLink is a link that packets occupied while they were blocked.
type HeldLink struct {
	// From is a node or, on a topology with routers apart from nodes, a router (except for links from
	// a node into its router).
	From int `json:"from"`
	// Link is 0 for the connection from a node into its router, else a port: 1 +X, 2 -X, 3 +Y, 4 -Y,
	// 5 +Z, 6 -Z where each node has a router.
	Link  int     `json:"link"`
	Class string  `json:"class"`      // of packets: velo, requests or answers
	Held  float64 `json:"held_share"` // share of the time
	Flits uint64  `json:"flits"`
}

// list returns all used links, the most held first. A packet also counts as held while a flit of
// another VC uses the wire, so the sum is limited to the elapsed time.
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

// Wires returns a function that names the ends of a link: nodes, or routers apart from nodes.
func (c *Congestion) Wires() func(HeldLink) string {
	w, err := routesOf(c.Info) // computed once, because routes of a network take long
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
