package mixed

import (
	"fmt"

	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Latencies between the two sides of a link. The network counts from t, the cycle in which a flit
// is sent, or leaves an input buffer:
//
//	to the RTL    the flit or the credit is at the neighbour's end of the link in t + 1 (border.h)
//	to the model  the word leaves in t + 1 with the flit, in t + 2 with the credit
const (
	toLink     = 1
	flitWord   = 1
	creditWord = 2
)

const (
	maxVCs   = regs.TorusVCs
	maxPorts = 7
)

// border translates the traffic between nodes of the RTL and of the model.
type border struct {
	s                 *System
	hop, link, credit drivers.Cycle // of the network
	vcs               int
	edges             []edge
	byPort            []*edge     // by router and port, of either end of a link
	post              bridge.Edge // a buffer
	inside            int         // packets that have not arrived completely
	departed          []departure
}

// departure is a packet whose tail leaves for the RTL in a cycle. Runs of flits are known before
// they leave, and the packet must stay available until then.
type departure struct {
	at     drivers.Cycle
	packet uint32
}

// edge is a link between a node of the RTL and one of the model.
type edge struct {
	node, port         int // of the RTL
	router, routerPort int // of the model
	out                [maxVCs]passage
	in                 [maxVCs]passage
}

// passage is the progress of a packet on a VC.
type passage struct {
	packet uint32
	at     int // flits that have passed
	flits  int // of the packet; 0: none is passing
}

func (b *border) init(s *System, r *request) {
	t := r.params.Topology()
	b.s, b.vcs = s, t.VCs()
	b.link = drivers.Cycle(r.params.Fabric.LinkCycles)
	b.hop = drivers.Cycle(r.params.Fabric.RouterCycles) + b.link
	b.credit = drivers.Cycle(r.params.Fabric.CreditCycles)
	b.byPort = make([]*edge, t.Routers()*maxPorts)
	b.edges = make([]edge, 0, len(r.nodes)*maxPorts)
	for _, node := range r.nodes {
		for port := 1; port < t.Ports(node); port++ {
			router, back, ok := t.Link(node, port)
			if !ok || s.isRTL[router] {
				continue
			}
			b.edges = append(b.edges, edge{node: node, port: port, router: router, routerPort: back})
			b.byPort[node*maxPorts+port] = &b.edges[len(b.edges)-1]
		}
	}
}

// empty reports whether no packet is in flight between the sides.
func (b *border) empty() bool { return b.inside == 0 && len(b.departed) == 0 }

// forget frees the packets that have left.
func (b *border) forget() {
	n := 0
	for n < len(b.departed) && b.departed[n].at <= b.s.now {
		b.s.part.Discarded(b.departed[n].packet)
		n++
	}
	b.departed = b.departed[:copy(b.departed, b.departed[n:])]
}

// ---- to the RTL ----

// send sends the flits that have left the model's routers.
func (b *border) send() {
	if len(b.departed) > 0 {
		b.forget()
	}
	if b.s.fabric.Leaving() {
		b.s.fabric.HandOver(b)
	}
}

// Flits implements fabric.Outside.
func (b *border) Flits(router, port int, vc uint8, f fabric.Flit, n int, at uint64) {
	e := b.byPort[router*maxPorts+port]
	p := &e.out[vc]
	packet := b.s.part.Packet(f.Packet())
	b.post = bridge.Edge{At: drivers.Cycle(at) - b.hop + toLink, Node: router, Link: uint8(port - 1), VC: vc, Flit: true}
	for i := range n {
		b.post.Head = p.at == 0
		b.post.Tail = f.Tail() && i == n-1
		b.post.Data = packet.Flit(p.at)
		if b.post.Head {
			b.post.Data |= uint64(regs.HeaderFields{Mark: uint8(f.Note())}.Pack())
		}
		b.s.rtl.PostEdge(&b.post)
		p.at++
		b.post.At++
	}
	if f.Tail() {
		p.at = 0
		b.departed = append(b.departed, departure{drivers.Cycle(at) - b.hop + drivers.Cycle(n), f.Packet()})
	}
	b.s.wake(drivers.Cycle(at) - b.hop + toLink)
}

// Credits implements fabric.Outside.
func (b *border) Credits(router, port int, vc uint8, n int, at uint64) {
	b.post = bridge.Edge{At: drivers.Cycle(at) - b.credit + toLink, Node: router, Link: uint8(port - 1), Freed: 1 << vc}
	first := b.post.At
	for range n {
		b.s.rtl.PostEdge(&b.post)
		b.post.At++
	}
	b.s.wake(first)
}

// ---- to the model ----

// take passes the flits that have left the RTL to the model's routers.
func (b *border) take(list []bridge.Edge) error {
	for i := range list {
		w := &list[i]
		e := b.byPort[w.Node*maxPorts+int(w.Link)+1]
		if e == nil || int(w.VC) >= b.vcs || int(w.Freed)>>b.vcs != 0 {
			return b.wrong(w, "no link to a node of the model, or no virtual channel")
		}
		for vc := range uint8(b.vcs) {
			if w.Freed>>vc&1 == 0 {
				continue
			}
			if b.s.fabric.Owed(e.router, e.routerPort, vc) == 0 {
				return b.wrong(w, "a credit that nothing was sent for")
			}
			b.s.fabric.Restore(e.router, e.routerPort, vc, uint64(w.At-creditWord+b.credit))
		}
		if w.Flit {
			if err := b.takeFlit(e, w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *border) takeFlit(e *edge, w *bridge.Edge) error {
	p, at := &e.in[w.VC], w.At-flitWord+b.hop
	if w.Head != (p.flits == 0) {
		return b.wrong(w, "a head inside a packet, or a packet without head")
	}
	if !b.s.fabric.MayArrive(w.VC, uint64(at)) {
		return b.wrong(w, "an answer without a request")
	}
	hops := 0
	if w.Head {
		h := regs.Header(w.Data)
		hops = int(h.Mark())
		h &^= regs.HeaderFields{Mark: 0xff}.Pack()
		n, err := b.s.part.Receive(h)
		if err != nil {
			return b.wrong(w, err.Error())
		}
		*p = passage{packet: n, flits: flit.Total(h)}
		b.inside++
	}
	packet := b.s.part.Packet(p.packet)
	if p.at++; w.Tail != (p.at == p.flits) {
		return b.wrong(w, fmt.Sprintf("a packet of another length than its header says, %d flits", p.flits))
	}
	marks := fabric.Flit(0)
	switch {
	case w.Head:
		marks = fabric.Head
		if b.s.trace != nil {
			b.s.part.TraceFlit(w.At-flitWord+toLink+b.link, e.router, drivers.PointArrive1+uint8(e.routerPort-1), w.VC, p.packet, 0)
		}
	case !w.Tail:
		packet.SetWord(p.at-2, w.Data)
	}
	if w.Tail {
		packet.SetTail(w.Data)
		marks |= fabric.Tail
		p.at, p.flits = 0, 0
		b.inside--
	}
	b.s.fabric.Arrive(e.router, e.routerPort, w.VC, fabric.NewFlit(p.packet, int(packet.Header.DstNode()), marks).WithNote(hops), uint64(at))
	return nil
}

func (b *border) wrong(w *bridge.Edge, what string) error {
	return fmt.Errorf("%w: node %d, link %d, VC %d: in cycle %d the RTL sends %s", drivers.ErrProtocol, w.Node, w.Link, w.VC, w.At, what)
}
