package model

import (
	"github.com/nicloop/nicloop/cosim/fabric"
	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const classes = regs.VCs

// A network connects the NICs of a part to the fabric, like rtl/core/inject and rtl/core/eject.
// Nodes and buffers are examined only in cycles in which they may make progress. While VELO has the
// network to itself, packets move in runs of flits.
type network struct {
	m        *nic.Part
	f        *fabric.Part
	topology fabric.Topology
	in       []injector
	out      []ejector     // node * classes + class
	shared   bool          // see Params.Shared: routers do not belong to nodes
	sending  plan          // nodes
	draining plan          // ejectors
	injected drivers.Cycle // last cycle in which nodes could inject
	_        [128]byte     // avoids false sharing with the next allocation
}

func newNetwork(m *nic.Part, f *fabric.Part, cfg fabric.Config) *network {
	nodes := cfg.Topology.Nodes()
	n := &network{
		m: m, f: f, topology: cfg.Topology, in: make([]injector, nodes), out: make([]ejector, nodes*classes),
		sending: newPlan(nodes), draining: newPlan(nodes * classes),
	}
	for i := range n.in {
		n.in[i] = injector{last: nic.Sources - 1}
	}
	for i := range n.out {
		n.out[i].runs = make([]run, cfg.VCDepth)
	}
	_, n.shared = cfg.Topology.(*Shared)
	if m.Tracing() {
		n.traceLinks(cfg)
	}
	return n
}

// Step implements nic.Network.
func (n *network) Step(now drivers.Cycle) {
	if n.NextEvent(now-1) > now {
		return // the fabric catches up when there is work
	}
	n.catchUp(now)
	n.draining.each(now, n.drain)
	for _, e := range n.f.Ejected() {
		n.eject(now, e)
	}
	for _, d := range n.f.Dropped() {
		if d.Flit.Head() && !n.shared {
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
	n.heed()
}

func (n *network) catchUp(now drivers.Cycle) {
	for n.f.Now() < uint64(now) {
		n.f.SkipTo(uint64(now))
		n.credited()
		n.heed()
	}
}

// credited examines nodes that had no credit and will get one.
func (n *network) credited() {
	for _, node := range n.f.Credited() {
		n.look(drivers.Cycle(n.f.Now()), int(node))
	}
}

// NextEvent implements nic.Network.
func (n *network) NextEvent(now drivers.Cycle) drivers.Cycle {
	now = max(now, drivers.Cycle(n.f.Now())-1) // Finish has skipped cycles without work
	next := min(n.draining.next(now), n.sending.next(now))
	if next == now+1 || len(n.f.Ejected()) > 0 || len(n.f.Dropped()) > 0 {
		return now + 1
	}
	return min(next, max(drivers.Cycle(n.f.NextEvent()), now+1))
}

// Finish implements nic.Exchanger.
func (n *network) Finish(at drivers.Cycle) { n.catchUp(at) }

// Exchange implements nic.Exchanger.
func (n *network) Exchange(late uint) {
	n.f.Exchange(late)
	n.heed()
}

// CheckCredits implements nic.CreditChecker.
func (n *network) CheckCredits() error { return n.f.Fabric.CheckCredits() }

// ---- injection ----

// An injector connects a node to its router. Each source uses the channel of its class; one flit
// per cycle is sent, round-robin.
type injector struct {
	offered uint8         // sources with a packet
	last    nic.Source    // source of the last flit
	busy    drivers.Cycle // flits up to this cycle have been sent
	source  [nic.Sources]sending
}

// sending is the progress of a source's packet.
type sending struct {
	packet uint32
	dst    uint16
	at     uint16 // flits sent
	flits  uint16 // 0: the packet has not been looked up
}

// Announce implements nic.Network. The time from the first piece of a descriptor to its first flit
// exceeds the length of a run.
func (n *network) Announce() { n.f.Mix() }

// Offer implements nic.Network.
func (n *network) Offer(node int, s nic.Source) {
	n.in[node].offered |= 1 << s
	n.sending.add(max(n.m.Now(), n.injected+1), node)
}

// look schedules a node for the first cycle in which it can send, from a given cycle on. Credits
// that are not known yet are reported by the fabric.
func (n *network) look(from drivers.Cycle, node int) {
	i, at := &n.in[node], drivers.Forever
	for s := range nic.Sources {
		if i.offered>>s&1 != 0 {
			at = min(at, drivers.Cycle(n.f.InjectAt(node, uint8(s))))
		}
	}
	if at != drivers.Forever {
		n.sending.add(min(max(at, from), from+planned/2), node) // earlier, if it is far ahead
	}
}

// inject sends flits if there are credits for them.
func (n *network) inject(now drivers.Cycle, node int) {
	i := &n.in[node]
	if i.busy >= now { // only VELO sends several at once
		if i.busy == now && i.source[nic.SourceVELO].done() {
			n.sent(now, node, i, nic.SourceVELO)
		} else {
			n.look(i.busy+1, node)
		}
		return
	}
	s := i.last
	for range nic.Sources {
		if s++; s == nic.Sources {
			s = 0
		}
		if i.offered>>s&1 != 0 && n.f.CanInject(node, uint8(s)) {
			i.last = s
			n.send(now, node, i, s)
			return
		}
	}
	n.look(now+1, node)
}

func (p *sending) done() bool { return p.flits > 0 && p.at == p.flits }

// send sends the next flits of a source's packet.
func (n *network) send(now drivers.Cycle, node int, i *injector, s nic.Source) {
	p := &i.source[s]
	if p.flits == 0 {
		packet, _ := n.m.Next(node, s)
		*p = sending{packet: packet.Packet, dst: packet.Dst, flits: packet.Flits}
	}
	marks := fabric.Tail
	if p.at == 0 {
		marks |= fabric.Head
	}
	sent := n.f.InjectRun(node, uint8(s), fabric.NewFlit(p.packet, int(p.dst), marks), int(p.flits-p.at))
	if n.m.Tracing() {
		n.m.TraceFlit(now, node, drivers.PointInject, uint8(s), p.packet, int(p.at))
	}
	p.at += uint16(sent)
	i.busy = now + drivers.Cycle(sent) - 1
	switch {
	case !p.done():
		n.look(i.busy+1, node)
	case i.busy > now:
		n.sending.add(i.busy, node)
	default:
		n.sent(now, node, i, s)
	}
}

// sent handles the departure of the tail of a source's packet.
func (n *network) sent(now drivers.Cycle, node int, i *injector, s nic.Source) {
	i.source[s].flits = 0
	n.m.Sent(node, s)
	if _, more := n.m.Next(node, s); !more {
		i.offered &^= 1 << s
	}
	n.look(now+1, node)
}

// ---- ejection ----

// An ejector is a NIC's buffer of one class with the unit that reads it. Both counts include flits
// of future cycles that are known already.
type ejector struct {
	runs           []run // a ring
	head, held     uint16
	taking         bool // a packet's head has been taken, but not its tail
	ends           bool // its tail is taken at cycle busy
	packet         uint32
	arrived, taken uint64
	until          drivers.Cycle // arrival of the last known flit
	busy           drivers.Cycle // cycle in which the last known flit is taken
	seen           uint16        // flits of the arriving packet, for the trace
}

// A run is a sequence of flits that can be taken from a cycle on, one per cycle.
type run struct {
	at   drivers.Cycle
	n    uint16
	flit fabric.Flit
}

// at returns the i-th waiting run.
func (o *ejector) at(i uint16) *run {
	if i += o.head; int(i) >= len(o.runs) {
		i -= uint16(len(o.runs))
	}
	return &o.runs[i]
}

// eject receives a run whose first flit arrives now.
func (n *network) eject(now drivers.Cycle, e fabric.Ejection) {
	i := int(e.Node)*classes + int(e.VC)
	o := &n.out[i]
	r := run{at: now + 1, n: uint16(e.Run), flit: e.Flit}
	if int(e.VC) == nic.SourceVELO.Class() && e.Flit.Head() {
		n.m.Coming(e.Flit.Packet())
	}
	o.arrived, o.until = o.arrived+uint64(e.Run), now+drivers.Cycle(e.Run)-1
	switch last := o.at(max(o.held, 1) - 1); {
	case o.held == 0 && o.taking:
		n.take(now, i, o, r)
		n.collected(now, i, o)
	case o.held > 0 && last.at+drivers.Cycle(last.n) == r.at && !e.Flit.Head():
		last.n += r.n
		last.flit |= r.flit & fabric.Tail
	default:
		*o.at(o.held) = r
		if o.held++; o.held == 1 {
			n.visit(now, i, max(now, o.busy)+1)
		}
	}
	if n.m.Tracing() {
		n.m.TraceFlit(now, int(e.Node), drivers.PointEject, e.VC, e.Flit.Packet(), int(o.seen))
		if o.seen++; e.Flit.Tail() {
			o.seen = 0
		}
	}
}

// drain passes flits to their unit. A unit without a buffer for a packet is asked again only after
// Resume.
func (n *network) drain(now drivers.Cycle, i int) {
	o := &n.out[i]
	if o.busy >= now {
		n.collected(now, i, o)
		if o.held > 0 {
			n.visit(now, i, o.busy+1)
		}
		return
	}
	if o.held == 0 {
		return
	}
	r := o.at(0)
	if o.packet = r.flit.Packet(); !n.m.Accepts(i/classes, i%classes, o.packet) {
		return
	}
	n.take(now, i, o, o.pop())
	for o.held > 0 && o.taking {
		n.take(now, i, o, o.pop())
	}
	if o.held > 0 {
		n.visit(now, i, max(o.busy+1, o.at(0).at))
	}
	n.collected(now, i, o)
}

// pop removes the first waiting run.
func (o *ejector) pop() run {
	r := *o.at(0)
	if o.head++; int(o.head) == len(o.runs) {
		o.head = 0
	}
	o.held--
	return r
}

// take takes a run as soon as it has arrived and the previous one has been taken.
func (n *network) take(now drivers.Cycle, i int, o *ejector, r run) {
	from := max(now, r.at, o.busy+1)
	n.f.ReleaseRun(i/classes, uint8(i%classes), uint64(from), int(r.n))
	o.busy, o.taken = from+drivers.Cycle(r.n)-1, o.taken+uint64(r.n)
	o.taking, o.ends = !r.flit.Tail(), r.flit.Tail()
}

// collected passes on a packet when its tail is taken.
func (n *network) collected(now drivers.Cycle, i int, o *ejector) {
	switch {
	case !o.ends:
	case o.busy > now:
		n.visit(now, i, o.busy)
	default:
		o.ends = false
		n.m.Collected(i/classes, i%classes, o.packet)
	}
}

// visit schedules an ejector for a cycle, or earlier if that is far ahead.
func (n *network) visit(now drivers.Cycle, i int, at drivers.Cycle) {
	n.draining.add(min(at, now+planned-1), i)
}

// Resume implements nic.Network.
func (n *network) Resume(node, class int, from drivers.Cycle) {
	if i := node*classes + class; n.out[i].held > 0 {
		n.draining.add(from, i)
	}
}

// Waiting implements nic.Network: the flits that arrived before the current cycle and were not
// taken before it.
func (n *network) Waiting(node, class int) int {
	o, now := &n.out[node*classes+class], n.m.Now()
	come := o.arrived - uint64(max(o.until+1, now)-now)
	gone := o.taken - uint64(max(o.busy+1, now)-now)
	return int(come - gone)
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
func (n *network) RouteErrors(node int) uint64 {
	if s, ok := n.topology.(*Shared); ok {
		node, _ = s.At(node)
	}
	return n.f.RouteErrors(node)
}

// Link implements nic.Network.
func (n *network) Link(node, link int) (connected, ok bool) {
	if n.shared || link+1 >= n.topology.Ports(node) {
		return false, false
	}
	_, _, connected = n.topology.Link(node, link+1)
	return connected, true
}
