package model

import (
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/nic"
)

const classes = 2

// A network joins the NICs with the fabric: what rtl/core/inject and rtl/core/eject
// do. A node and a buffer are looked at in the cycles in which they may go on. While
// VELO has the network to itself, packets move in runs of flits.
type network struct {
	m        *nic.Machine
	f        *fabric.Fabric
	topology fabric.Topology
	in       []injector
	out      []ejector     // node * classes + class
	sending  plan          // nodes
	draining plan          // ejectors
	further  []int32       // nodes that may send in the next cycle, if they have credit then
	injected drivers.Cycle // the last cycle in which nodes have had their turn
}

func newNetwork(m *nic.Machine, f *fabric.Fabric, cfg fabric.Config) *network {
	nodes := cfg.Topology.Nodes()
	n := &network{
		m: m, f: f, topology: cfg.Topology, in: make([]injector, nodes), out: make([]ejector, nodes*classes),
		sending: newPlan(nodes), draining: newPlan(nodes * classes), further: make([]int32, 0, nodes),
	}
	for i := range n.in {
		n.in[i] = injector{owner: none, served: 1, class: 1}
	}
	for i := range n.out {
		n.out[i].runs = make([]run, cfg.VCDepth)
	}
	if m.Tracing() {
		n.traceLinks(cfg)
	}
	return n
}

// Step implements nic.Network.
func (n *network) Step(now drivers.Cycle) {
	if n.NextEvent(now-1) > now {
		return // the fabric catches up when there is something to do
	}
	n.catchUp(now)
	n.draining.each(now, n.drain)
	for _, e := range n.f.Ejected() {
		n.eject(now, e)
	}
	for _, d := range n.f.Dropped() {
		if d.Flit.Head() {
			n.m.RouteError(int(d.Node))
		}
		if d.Flit.Tail() {
			n.m.Discarded(d.Flit.Packet())
		}
	}
	n.injected = now
	n.sending.each(now, n.inject)
	n.f.Step()
	n.credited()
	for _, node := range n.further {
		if n.canSend(int(node)) {
			n.sending.add(now+1, int(node))
		}
	}
	n.further = n.further[:0]
}

func (n *network) catchUp(now drivers.Cycle) {
	for n.f.Now() < uint64(now) {
		n.f.SkipTo(uint64(now))
		n.credited()
	}
}

// credited has nodes looked at that have credit again.
func (n *network) credited() {
	for _, node := range n.f.Credited() {
		if n.in[node].offered != 0 {
			n.sending.add(drivers.Cycle(n.f.Now()), int(node))
		}
	}
}

// NextEvent implements nic.Network.
func (n *network) NextEvent(now drivers.Cycle) drivers.Cycle {
	next := min(n.draining.next(now), n.sending.next(now))
	if next == now+1 || len(n.f.Ejected()) > 0 || len(n.f.Dropped()) > 0 {
		return now + 1
	}
	return min(next, max(drivers.Cycle(n.f.NextEvent()), now+1))
}

// ---- injection ----

const none = -1

// An injector is a node's way into its router: whole packets of VELO and of the
// RMA requester in turn on class 0, those of the RMA responder on class 1, a flit
// per cycle of the class whose turn it is.
type injector struct {
	offered uint8         // sources with a packet
	owner   int8          // source whose packet is on its way on class 0
	served  int8          // source that owned class 0 last
	class   int8          // that sent last
	busy    drivers.Cycle // flits up to here are on their way
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
	if s != nic.SourceVELO {
		n.f.Mix() // answers come many cycles after the first request
	}
	n.in[node].offered |= 1 << s
	n.sending.add(max(n.m.Now(), n.injected+1), node)
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

// inject sends flits, if there are credits for them. Without one the node is looked
// at again when one comes.
func (n *network) inject(now drivers.Cycle, node int) {
	i := &n.in[node]
	switch {
	case i.busy > now:
		return
	case i.busy == now:
		if i.source[i.owner].done() {
			n.sent(now, node, i, nic.Source(i.owner))
		} else {
			n.further = append(n.further, int32(node))
		}
		return
	}
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
		n.send(now, node, i, nic.Source(s))
	case want1:
		i.class = 1
		n.send(now, node, i, nic.SourceAnswer)
	}
}

func (p *sending) done() bool { return p.flits > 0 && p.at == p.flits }

// send sends the next flits of a source's packet.
func (n *network) send(now drivers.Cycle, node int, i *injector, s nic.Source) {
	p := &i.source[s]
	if p.flits == 0 {
		h, _ := n.m.Next(node, s)
		packet := n.m.Packet(h)
		*p = sending{packet: h, dst: packet.Header.DstNode(), flits: uint16(packet.Flits())}
	}
	marks := fabric.Tail
	if p.at == 0 {
		marks |= fabric.Head
	}
	sent := n.f.InjectRun(node, uint8(s.Class()), fabric.NewFlit(p.packet, int(p.dst), marks), int(p.flits-p.at))
	if n.m.Tracing() {
		n.m.TraceFlit(now, node, drivers.PointInject, uint8(s.Class()), p.packet, int(p.at))
	}
	p.at += uint16(sent)
	i.busy = now + drivers.Cycle(sent) - 1
	switch {
	case i.busy > now:
		n.sending.add(i.busy, node)
	case p.done():
		n.sent(now, node, i, s)
	default:
		n.further = append(n.further, int32(node))
	}
}

// sent: the tail of a source's packet leaves now.
func (n *network) sent(now drivers.Cycle, node int, i *injector, s nic.Source) {
	i.source[s].flits = 0
	if s != nic.SourceAnswer {
		i.owner = none
	}
	n.m.Sent(node, s)
	if _, more := n.m.Next(node, s); !more {
		i.offered &^= 1 << s
	}
	if i.offered != 0 {
		n.further = append(n.further, int32(node))
	}
}

// ---- ejection ----

// An ejector is a NIC's buffer of one class, and the unit that takes from it.
type ejector struct {
	runs       []run // a ring
	head, held uint16
	taking     bool          // a packet's head has been taken, its tail has not
	busy       drivers.Cycle // flits up to here are taken
	last       run           // that was taken last: in cycles up to busy
	seen       uint16        // flits of the packet that comes in, for the trace
}

// A run is flits that can be taken from a cycle on, each in one of its own.
type run struct {
	at   drivers.Cycle
	n    uint16
	flit fabric.Flit
}

// at is the run at a place of those that wait.
func (o *ejector) at(i uint16) *run {
	if i += o.head; int(i) >= len(o.runs) {
		i -= uint16(len(o.runs))
	}
	return &o.runs[i]
}

func (n *network) eject(now drivers.Cycle, e fabric.Ejection) {
	i := int(e.Node)*classes + int(e.VC)
	o := &n.out[i]
	if r := o.at(max(o.held, 1) - 1); o.held > 0 && r.at+drivers.Cycle(r.n) == now+1 && !e.Flit.Head() {
		r.n += uint16(e.Run)
		r.flit |= e.Flit & fabric.Tail
	} else {
		*o.at(o.held) = run{at: now + 1, n: uint16(e.Run), flit: e.Flit}
		o.held++
	}
	if o.held == 1 {
		n.draining.add(max(now, o.busy)+1, i)
	}
	if n.m.Tracing() {
		n.m.TraceFlit(now, int(e.Node), drivers.PointEject, e.VC, e.Flit.Packet(), int(o.seen))
		if o.seen++; e.Flit.Tail() {
			o.seen = 0
		}
	}
}

// drain hands flits to their unit. When the unit has no buffer for a packet it is not
// asked again before it says so.
func (n *network) drain(now drivers.Cycle, i int) {
	o := &n.out[i]
	node, class := i/classes, i%classes
	if o.busy >= now {
		if o.busy == now && o.last.flit.Tail() {
			n.m.Collected(node, class, o.last.flit.Packet())
		}
		return
	}
	if o.held == 0 {
		return
	}
	r := *o.at(0)
	if !o.taking && !n.m.Accepts(node, class, r.flit.Packet()) {
		return
	}
	if o.head++; int(o.head) == len(o.runs) {
		o.head = 0
	}
	o.held--
	o.last, o.taking, o.busy = r, !r.flit.Tail(), now+drivers.Cycle(r.n)-1
	n.f.ReleaseRun(node, uint8(class), int(r.n))
	if o.held > 0 {
		n.draining.add(max(o.busy+1, o.at(0).at), i)
	}
	switch {
	case r.n > 1:
		n.draining.add(o.busy, i)
	case !o.taking:
		n.m.Collected(node, class, r.flit.Packet())
	}
}

// Resume implements nic.Network.
func (n *network) Resume(node, class int) {
	if i := node*classes + class; n.out[i].held > 0 {
		n.draining.add(n.m.Now()+1, i)
	}
}

// Waiting implements nic.Network: what has come before the present cycle and has not
// been taken before it.
func (n *network) Waiting(node, class int) int {
	o := &n.out[node*classes+class]
	now := n.m.Now()
	arrived := func(r run) int { return int(min(max(now+1, r.at)-r.at, drivers.Cycle(r.n))) }
	count := arrived(o.last) - int(o.last.n)
	if o.busy >= now {
		count += int(o.busy - now + 1)
	}
	for k := range int(o.held) {
		count += arrived(*o.at(uint16(k)))
	}
	return count
}

// Credits implements nic.Network.
func (n *network) Credits(node, class int) int {
	n.catchUp(n.m.Now())
	return n.f.Credits(node, uint8(class))
}

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
