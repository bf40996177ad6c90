package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/lockstep"
)

// Layout of the sequence diagram.
const (
	seqLeft   = 230 // columns of cycles
	seqColumn = 200 // distance of lifelines
	seqRight  = 70  // space for the text of an arrow that ends nowhere
	seqTop    = 62
	seqRow    = 30
)

// writePath writes the path of the packet as a sequence diagram: a lifeline for each node, an arrow
// for each link. Time runs downwards, but distances are not to scale; cycles stand at the left.
func writePath(b *strings.Builder, d *lockstep.Divergence) {
	s := sequence{d: d, path: d.Drawing.Path}
	for i := range s.path {
		if !slices.Contains(s.nodes, s.path[i].Node) {
			s.nodes = append(s.nodes, s.path[i].Node)
		}
	}
	b.WriteString(`<figure class="drawing"><div class="scroll" tabindex="0">`)
	s.write(b)
	b.WriteString(`</div><figcaption>`)
	if p := d.Drawing.Packet; p != nil {
		fmt.Fprintf(b, `Path of the packet: %s, %d bytes, from process %d of node %d `+
			`to process %d of node %d. `, esc(p.Type), p.Bytes, p.Source[1], p.Source[0], p.Target[1], p.Target[0])
	}
	b.WriteString(`Cycles are those in which its head passed. A dashed arrow is on the reference only.</figcaption></figure>`)
}

// A sequence is the diagram of a path.
type sequence struct {
	d     *lockstep.Divergence
	path  []lockstep.Hop
	nodes []int // in order of their lifelines
}

func (s *sequence) x(node int) int {
	return seqLeft + seqColumn/2 + seqColumn*slices.Index(s.nodes, node)
}

func (s *sequence) y(hop int) int { return seqTop + 18 + seqRow*hop }

func (s *sequence) write(b *strings.Builder) {
	width, height := seqLeft+seqColumn*len(s.nodes)+seqRight, s.y(len(s.path))+4
	fmt.Fprintf(b, `<svg class="sequence" viewBox="0 0 %d %d" width="%d" role="img" `+
		`aria-label="path of the packet over %d nodes">`,
		width, height, width, len(s.nodes))
	for i, title := range []string{"device", "reference", "VC"} {
		fmt.Fprintf(b, `<text class="tick" x="%d" y="44">%s</text>`, []int{45, 125, 195}[i], title)
	}
	for _, n := range s.nodes {
		fmt.Fprintf(b, `<line class="life" x1="%d" x2="%d" y1="%d" y2="%d"/>`+
			`<rect class="node" x="%d" y="6" width="170" height="44" rx="4"/>`+
			`<text class="nodename" x="%d" y="24">node %d</text><text class="tick" x="%d" y="42">%s</text>`,
			s.x(n), s.x(n), 50, height-6, s.x(n)-85, s.x(n), n, s.x(n), s.role(n))
	}
	for i := range s.path {
		s.hop(b, i, width)
	}
	b.WriteString(`</svg>`)
}

// role is what a node is for the packet.
func (s *sequence) role(node int) string {
	p := s.d.Drawing.Packet
	switch {
	case p == nil:
		return ""
	case node == p.Source[0] && node == p.Target[0]:
		return "source and destination"
	case node == p.Source[0]:
		return fmt.Sprintf("source, process %d", p.Source[1])
	case node == p.Target[0]:
		return fmt.Sprintf("destination, process %d", p.Target[1])
	}
	return "router"
}

// differs reports whether the head passed differently, or on one device only.
func differs(h *lockstep.Hop) bool {
	a, b := h.Heads[0], h.Heads[1]
	return a == nil || b == nil || *a != *b
}

// hop draws a row: when the head passed, and what it did.
func (s *sequence) hop(b *strings.Builder, i, width int) {
	h, y := &s.path[i], s.y(i)
	class := ""
	if differs(h) {
		class = " differs"
	}
	if h.Diverges {
		fmt.Fprintf(b, `<rect class="mark" x="0" y="%d" width="%d" height="%d"><title>first difference</title></rect>`,
			y-14, width, seqRow-4)
	}
	channels := ""
	for side, head := range h.Heads {
		text := "–"
		if head != nil {
			text = fmt.Sprint(head.Cycle)
			if vc := fmt.Sprint(head.VC); channels == "" {
				channels = vc
			} else if channels != vc {
				channels += " / " + vc
			}
		}
		fmt.Fprintf(b, `<text class="cycle%s" x="%d" y="%d">%s</text>`, class, []int{45, 125}[side], y+4, text)
	}
	fmt.Fprintf(b, `<text class="cycle" x="195" y="%d">%s</text>`, y+4, channels)
	if h.Heads[0] == nil {
		class += " absent"
	}
	x := s.x(h.Node)
	switch to := s.arrival(i); {
	case h.What == lockstep.HopDeparts && to >= 0:
		s.arrow(b, class, x, y, s.x(s.path[to].Node), s.y(to))
		mid, side := (x+s.x(s.path[to].Node))/2, (y+s.y(to))/2
		fmt.Fprintf(b, `<text class="value" x="%d" y="%d">link %s</text>`, mid, side-5, esc(h.Link))
	case h.What == lockstep.HopDeparts:
		s.arrow(b, class, x, y, x+seqColumn/3, y+seqRow/3)
		fmt.Fprintf(b, `<text class="note" x="%d" y="%d">link %s: no arrival</text>`, x+8, y-5, esc(h.Link))
	case h.What == lockstep.HopEnters:
		s.arrow(b, class, x-70, y, x, y)
		fmt.Fprintf(b, `<text class="value" x="%d" y="%d">injected</text>`, x-40, y-5)
	case h.What == lockstep.HopLeaves:
		s.arrow(b, class, x, y, x+70, y)
		fmt.Fprintf(b, `<text class="value" x="%d" y="%d">delivered</text>`, x+38, y-5)
	default:
		fmt.Fprintf(b, `<circle class="arrival%s" cx="%d" cy="%d" r="3.5"/>`, class, x, y)
	}
}

// arrival is the hop at which a head arrives that departs in hop i; -1: none follows.
func (s *sequence) arrival(i int) int {
	for k := i + 1; k < len(s.path); k++ {
		switch h := &s.path[k]; {
		case h.What == lockstep.HopArrives && h.Node != s.path[i].Node:
			return k
		case h.What == lockstep.HopDeparts && h.Node != s.path[i].Node:
			return -1
		}
	}
	return -1
}

// arrow draws a line with a head.
func (s *sequence) arrow(b *strings.Builder, class string, x0, y0, x1, y1 int) {
	back := 8
	if x1 < x0 {
		back = -8
	}
	fmt.Fprintf(b, `<path class="arrow%s" d="M%d %dL%d %dM%d %dL%d %dL%d %d"/>`,
		class, x0, y0, x1, y1, x1-back, y1-5, x1, y1, x1-back, y1+4)
}
