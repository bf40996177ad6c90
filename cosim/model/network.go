package model

import (
	"math/bits"

	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/nic"
)

const classes = 2

// A network joins the NICs with the fabric: what rtl/core/inject and rtl/core/eject
// do. Only nodes that send and buffers that can be emptied are looked at.
type network struct {
	m        *nic.Machine
	f        *fabric.Fabric
	topology fabric.Topology
	in       []injector
	out      []ejector // node * classes + class
	sending  set       // nodes with an offer
	draining set       // ejectors whose next flit is taken in the next cycle
	resumed  []int     // ejectors to look at again from the next cycle on
}

// A set holds small numbers.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int)    { s[i>>6] |= 1 << (i & 63) }
func (s set) remove(i int) { s[i>>6] &^= 1 << (i & 63) }
func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func newNetwork(m *nic.Machine, f *fabric.Fabric, cfg fabric.Config) *network {
	nodes := cfg.Topology.Nodes()
	n := &network{
		m: m, f: f, topology: cfg.Topology, in: make([]injector, nodes), out: make([]ejector, nodes*classes),
		sending: newSet(nodes), draining: newSet(nodes * classes),
	}
	for i := range n.in {
		n.in[i] = injector{owner: none, served: 1, class: 1}
	}
	for i := range n.out {
		n.out[i].flits = make([]fabric.Flit, cfg.VCDepth)
	}
	return n
}

// Step implements nic.Network.
func (n *network) Step(now drivers.Cycle) {
	if n.sending.empty() && n.draining.empty() && len(n.resumed) == 0 && !n.f.Busy() && len(n.f.Ejected()) == 0 && len(n.f.Dropped()) == 0 {
		return // the fabric catches up when there is something to do
	}
	for n.f.Now() < uint64(now) {
		n.f.SkipTo(uint64(now))
	}
	for w, word := range n.draining {
		for ; word != 0; word &= word - 1 {
			n.drain(w<<6 + bits.TrailingZeros64(word))
		}
	}
	for _, e := range n.f.Ejected() {
		n.eject(now, e)
	}
	for _, d := range n.f.Dropped() {
		if d.Flit.Tail() {
			n.m.Discarded(d.Flit.Packet())
		}
	}
	for w, word := range n.sending {
		for ; word != 0; word &= word - 1 {
			n.inject(now, w<<6+bits.TrailingZeros64(word))
		}
	}
	for _, i := range n.resumed {
		if n.out[i].held > 0 {
			n.draining.add(i)
		}
	}
	n.resumed = n.resumed[:0]
	n.f.Step()
}

// NextEvent implements nic.Network.
func (n *network) NextEvent(now drivers.Cycle) drivers.Cycle {
	if !n.draining.empty() || len(n.f.Ejected()) > 0 || len(n.f.Dropped()) > 0 {
		return now + 1
	}
	for w, word := range n.sending {
		for ; word != 0; word &= word - 1 {
			if n.canSend(w<<6 + bits.TrailingZeros64(word)) {
				return now + 1
			}
		}
	}
	if !n.f.Busy() {
		return drivers.Forever
	}
	return max(drivers.Cycle(n.f.NextEvent()), now+1)
}

// ---- injection ----

const none = -1

// An injector is a node's way into its router: whole packets of VELO and of the
// RMA requester in turn on class 0, those of the RMA responder on class 1, a flit
// per cycle of the class whose turn it is.
type injector struct {
	offered uint8 // sources with a packet
	owner   int8  // source whose packet is on its way on class 0
	served  int8  // source that owned class 0 last
	class   int8  // that sent last
	source  [nic.Sources]sending
}

// sending is how far a source's packet has gone.
type sending struct {
	packet uint32
	dst    uint16
	at     uint16 // flits gone
	flits  uint16 // 0: the packet is not looked up yet
}

// Offer implements nic.Network.
func (n *network) Offer(node int, s nic.Source) {
	n.in[node].offered |= 1 << s
	n.sending.add(node)
}

// first is the source whose turn it is on class 0.
func (i *injector) first() int8 {
	switch {
	case i.owner != none:
		return i.owner
	case i.offered&3 == 3:
		return 1 - i.served
	case i.offered&3 == 0:
		return none
	}
	return int8(i.offered&3) - 1
}

func (n *network) canSend(node int) bool {
	i := &n.in[node]
	return i.offered&3 != 0 && n.f.CanInject(node, 0) || i.offered&4 != 0 && n.f.CanInject(node, 1)
}

// inject sends a flit, if there is a credit for it.
func (n *network) inject(now drivers.Cycle, node int) {
	i := &n.in[node]
	s := i.first()
	want0 := s != none && n.f.CanInject(node, 0)
	want1 := i.offered&(1<<nic.SourceAnswer) != 0 && n.f.CanInject(node, 1)
	switch {
	case want0 && !(want1 && i.class == 0):
		i.class = 0
		if i.owner == none {
			i.served = s
		}
		i.owner = s
		if n.send(now, node, i, nic.Source(s)) {
			i.owner = none
		}
	case want1:
		i.class = 1
		n.send(now, node, i, nic.SourceAnswer)
	}
}

// send sends the next flit of a source's packet and tells whether it was the last.
func (n *network) send(now drivers.Cycle, node int, i *injector, s nic.Source) bool {
	p := &i.source[s]
	if p.flits == 0 {
		h, _ := n.m.Next(node, s)
		packet := n.m.Packet(h)
		*p = sending{packet: h, dst: packet.Header.DstNode(), flits: uint16(packet.Flits())}
	}
	var marks fabric.Flit
	if p.at == 0 {
		marks = fabric.Head
	}
	if p.at == p.flits-1 {
		marks |= fabric.Tail
	}
	n.f.Inject(node, uint8(s.Class()), fabric.NewFlit(p.packet, int(p.dst), marks))
	if n.m.Tracing() {
		n.m.TraceFlit(now, node, drivers.PointInject, uint8(s.Class()), p.packet, int(p.at))
	}
	p.at++
	if p.at < p.flits {
		return false
	}
	p.flits = 0
	n.m.Sent(node, s)
	if _, more := n.m.Next(node, s); !more {
		i.offered &^= 1 << s
		if i.offered == 0 {
			n.sending.remove(node)
		}
	}
	return true
}

// ---- ejection ----

// An ejector is a NIC's buffer of one class, and the unit that takes from it.
type ejector struct {
	flits      []fabric.Flit // a ring
	head, held uint16
	taking     bool   // a packet's head has been taken, its tail has not
	seen       uint16 // flits of the packet that comes in, for the trace
}

func (n *network) eject(now drivers.Cycle, e fabric.Ejection) {
	i := int(e.Node)*classes + int(e.VC)
	o := &n.out[i]
	at := o.head + o.held
	if int(at) >= len(o.flits) {
		at -= uint16(len(o.flits))
	}
	o.flits[at] = e.Flit
	o.held++
	n.draining.add(i)
	if n.m.Tracing() {
		n.m.TraceFlit(now, int(e.Node), drivers.PointEject, e.VC, e.Flit.Packet(), int(o.seen))
		if o.seen++; e.Flit.Tail() {
			o.seen = 0
		}
	}
}

// drain hands a flit to its unit. When the unit has no buffer for a packet it is not
// asked again before it says so.
func (n *network) drain(i int) {
	o := &n.out[i]
	node, class := i/classes, i%classes
	flit := o.flits[o.head]
	if !o.taking && !n.m.Accepts(node, class, flit.Packet()) {
		n.draining.remove(i)
		return
	}
	o.taking = !flit.Tail()
	if o.head++; int(o.head) == len(o.flits) {
		o.head = 0
	}
	if o.held--; o.held == 0 {
		n.draining.remove(i)
	}
	n.f.Release(node, uint8(class))
	if flit.Tail() {
		n.m.Collected(node, class, flit.Packet())
	}
}

// Resume implements nic.Network.
func (n *network) Resume(node, class int) { n.resumed = append(n.resumed, node*classes+class) }

// Waiting implements nic.Network.
func (n *network) Waiting(node, class int) int { return int(n.out[node*classes+class].held) }

// Credits implements nic.Network.
func (n *network) Credits(node, class int) int { return n.f.Credits(node, uint8(class)) }

// Route implements nic.Network.
func (n *network) Route(node, dst, port int) {
	if port < 0 {
		port = n.topology.Port(node, dst)
	}
	n.f.SetRoute(node, dst, port)
}

// RouteErrors implements nic.Network.
func (n *network) RouteErrors(node int) uint64 { return n.f.RouteErrors(node) }

// Link implements nic.Network.
func (n *network) Link(node, link int) (connected, ok bool) {
	if link+1 >= n.topology.Ports(node) {
		return false, false
	}
	_, _, connected = n.topology.Link(node, link+1)
	return connected, true
}
