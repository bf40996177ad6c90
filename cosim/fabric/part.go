package fabric

import "fmt"

// A Part is a subset of the routers with their nodes. Usually a network has one part. Several parts
// may be stepped concurrently, each by one goroutine, as long as none gets ahead of the traffic
// that it has received by more than Lookahead: see Exchange. Nodes are numbered as in the whole
// network; a part accepts those of its own.
type Part struct {
	*Fabric
	id         uint8
	now        uint64
	run        uint64
	mixed      uint64 // first cycle in which VCs other than 0 may be used
	calendar   Calendar
	freeRuns   *flitRun // the free list
	inside     int
	drops      agenda[drop]
	ejected    []Ejection
	dropped    []Ejection
	credited   []int32
	boxes      [rounds][]outbox // by destination part; empty with a single part
	round      uint
	remembers  bool     // record the traffic over links
	since      uint64   // start of the record
	joints     []*joint // exposed links, by output; nil: none
	wake       Calendar // of exposed links, by the output of their first end
	crossing   []*joint // exposed links to other parts
	stood      uint64   // cycle of the last exchange
	knownUntil uint64   // actions of other parts before this cycle are known
	failures   []LinkFailure
	ended      []Ended
	taken      uint      // rounds taken from the others
	_          [128]byte // avoids false sharing with the next part
}

type drop struct {
	from *inputVC
	flit Flit
}

// An Ejection is a run of flits of one packet that leave the network. Flit has the Head mark if the
// first of them is the packet's head, and Tail if the last is its tail.
type Ejection struct {
	Node int32
	VC   uint8
	Flit Flit
	Run  int32
}

// Now is the cycle that the next Step will execute.
func (p *Part) Now() uint64 { return p.now }

// Inside counts the flits between Inject and Ejected.
func (p *Part) Inside() int { return p.inside }

// Busy reports whether events will occur without Inject or Release. Flits that wait for a NIC to
// release an entry do not count.
func (p *Part) Busy() bool { return p.NextEvent() != Forever }

// CanInject reports whether node may inject on vc in this cycle.
func (p *Part) CanInject(node int, vc uint8) bool { return p.InjectAt(node, vc) <= p.now }

// InjectAt is the first cycle in which node may inject on vc, according to known credits, or
// Forever, in which case Credited will report the node.
func (p *Part) InjectAt(node int, vc uint8) uint64 {
	l := &p.where[node].wire[vc]
	return max(l.opens(), l.free)
}

// Credits is the number of flits that node may inject on vc without further credits.
func (p *Part) Credits(node int, vc uint8) int { return p.where[node].wire[vc].credits(p.now) }

// PortLevel returns the credits of the output and the flits in the input buffer of a router's port
// on vc.
func (p *Part) PortLevel(router, port, vc int) (credits, flits int) {
	in := p.Fabric.inputVC(router, port, vc)
	for out := range p.routers[router].outs {
		if q := p.voqs[int(in.voqs)+out]; q != nil {
			flits += int(q.length())
		}
	}
	return p.creditsAt(p.Fabric.outputVC(router, port, vc)), flits
}

// Inject puts a flit on the wire from the NIC to its router, at most one per node and cycle. It
// panics without a credit, because such a NIC would lose flits.
func (p *Part) Inject(node int, vc uint8, flit Flit) { p.InjectRun(node, vc, flit, 1) }

// InjectRun puts up to n flits of a packet on the wire, one per cycle from this one on, and returns
// their number, which is limited by the known credits and Config.Run. A Head mark of flit applies
// to the first, a Tail mark to the last of the n.
func (p *Part) InjectRun(node int, vc uint8, flit Flit, n int) int {
	if !p.CanInject(node, vc) {
		panic(fmt.Sprintf("fabric: node %d injects on VC %d without credit in cycle %d", node, vc, p.now))
	}
	if vc != 0 && (p.run > 1 || p.now < p.mixed) {
		panic(fmt.Sprintf("fabric: node %d injects on VC %d in cycle %d; before Mix only VC 0 may be used", node, vc, p.now))
	}
	l := &p.where[node].wire[vc]
	sent := l.lasts(p.now, min(uint64(n), p.run))
	if int(sent) < n {
		flit &^= Tail
	}
	p.inside += int(sent)
	l.sent += sent
	l.free = p.now + sent
	p.enter(l.to, flit, sent, p.now+uint64(p.cfg.InjectCycles+p.cfg.RouterCycles)-1)
	return int(sent)
}

// Mix announces packets on VCs other than 0, which may follow Config.Run cycles later; in other
// parts the same number of cycles after the next Exchange, which informs them.
func (p *Part) Mix() {
	if p.run > 1 {
		p.endRuns()
		for i := range p.boxes[0] {
			p.box(uint8(i)).mix = true
		}
	}
}

func (p *Part) endRuns() {
	p.mixed = p.now + p.run
	p.run = 1
	for id := range p.arbiters { // runs do not advance the arbiters
		if l := &p.outputVCs[id*p.vcs]; l.to != nil && l.to.from == p.id && l.sent > 0 {
			p.arbiters[id].after = 0xfe
		}
	}
}

// Credited returns the nodes whose InjectAt was Forever and no longer is, for some VC. The slice is
// valid until the next Step or SkipTo.
func (p *Part) Credited() []int32 { return p.credited }

// Release reports that node's NIC takes a flit from its buffer of vc in this cycle.
func (p *Part) Release(node int, vc uint8) { p.ReleaseRun(node, vc, p.now, 1) }

// ReleaseRun reports that it takes a flit in cycle from, and further ones in the n-1 next cycles.
// The flits of a VC are taken in order.
func (p *Part) ReleaseRun(node int, vc uint8, from uint64, n int) {
	p.vacate(&p.where[node].buffer[vc], from, uint64(n))
}

// Ejected returns the runs of flits of which the first reaches its NIC in this cycle and the others
// in the following ones, in order of nodes. The slice is valid until the next Step or SkipTo.
func (p *Part) Ejected() []Ejection { return p.ejected }

// Dropped returns the flits that routers discard in this cycle; Node is the router.
func (p *Part) Dropped() []Ejection { return p.dropped }
