package fabric

import (
	"errors"
	"fmt"
)

// Config says what to build. Zero values mean the RTL's.
type Config struct {
	Topology Topology
	VCDepth  int // flits per input and VC; the NIC's buffers have as many
	// RouterCycles is from the wire of one port to the wire of another, LinkCycles
	// from one router's wire to the next one's.
	RouterCycles, LinkCycles int
	// CreditCycles is from a flit leaving its queue to the cycle in which the
	// sender can use the place again, over a link; LocalCreditCycles next to a NIC.
	// Of one VC one place per cycle is told, further ones follow.
	CreditCycles, LocalCreditCycles int
	Chooser                         Chooser // nil: the routes of the topology
	// Run is how many flits of a packet may be moved at once where nothing can come
	// between them, which is for speed and changes no cycle. Above 1 all packets are
	// on VC 0 until Mix is called, and stay on it. 0: flit by flit.
	Run int
}

// What the RTL has: two registers per router and per link; a credit is registered
// by the input (1), counted and sent by link_tx (2), taken by link_rx (1), handed
// on by link_tx (1) and counted by the output (1); without a link only the first
// and the last.
const (
	DefaultVCDepth           = 16
	DefaultRouterCycles      = 2
	DefaultLinkCycles        = 2
	DefaultCreditCycles      = 6
	DefaultLocalCreditCycles = 2
)

// ErrConfig is why New refuses.
var ErrConfig = errors.New("fabric: bad configuration")

// A Chooser routes packet by packet. Choose is called when a packet's head is sent
// to a router, a hop before it can be seen there, and gives the port and the head as it shall go on; what it
// writes into the note is all that later calls know of the packet. Port NoPort
// discards the packet. The VC follows from Topology.VC, so freedom from deadlock
// does too.
type Chooser interface {
	Choose(f *Fabric, router, in int, vc uint8, head Flit) (port int, onward Flit)
}

// An Ejection is a run of flits of one packet that leave the network. Flit has the
// packet's Head mark if the first of them is its head, Tail if the last is its tail.
type Ejection struct {
	Node int32
	VC   uint8
	Flit Flit
	Run  int32
}

// A Fabric is a network. It is not safe for concurrent use.
type Fabric struct {
	cfg     Config
	vcs     int
	hop     uint64
	routers []router
	outs    []output
	waited  []uint64 // by output: lanes that could move, for the turn
	pools   []pool
	routes  []uint8 // by router and node: the port
	where   []place // by node

	now      uint64
	active   []uint64 // outputs that can send; those to NICs from word exits on
	exits    int
	free     *cell
	inside   int
	run      int
	reach    uint64         // cycles by which the last credit told of lies ahead
	mixed    uint64         // the first cycle in which other VCs than 0 may be used
	shows    agenda[*queue] // their first flit can be seen
	wakes    agenda[*lane]  // they have credit again
	drops    agenda[drop]
	ejected  []Ejection
	dropped  []Ejection
	credited []int32
	watch    func(router, port int, vc uint8, flit Flit)
}

type router struct {
	firstPool, firstRoute uint32
	outs                  []uint32 // by port
	errors                uint64
}

// place is where a NIC stands.
type place struct {
	wire   []lane  // into the router, by VC
	in     []*pool // behind the wire
	buffer []pool  // of the NIC
}

type drop struct {
	from *pool
	flit Flit
}

// Now is the cycle that the next Step will carry out.
func (f *Fabric) Now() uint64 { return f.now }

// Inside counts the flits between Inject and Ejected.
func (f *Fabric) Inside() int { return f.inside }

// Busy tells whether anything will happen without Inject or Release. Flits that
// wait for a NIC to release a place do not make it busy.
func (f *Fabric) Busy() bool { return f.NextEvent() != Forever }

// CanInject tells whether node may inject on vc in this cycle.
func (f *Fabric) CanInject(node int, vc uint8) bool {
	l := &f.where[node].wire[vc]
	if l.credit <= 0 {
		l.settle(f.now)
	}
	return l.credit > 0 && l.free <= f.now
}

// Credits is the number of flits that node may inject on vc before one comes back.
func (f *Fabric) Credits(node int, vc uint8) int {
	l := &f.where[node].wire[vc]
	l.settle(f.now)
	return int(l.credit) + int(l.decided(f.now))
}

// Inject puts a flit on the wire from the NIC to its router, at most one per node
// and cycle. Without a credit it panics: a NIC that does that loses flits.
func (f *Fabric) Inject(node int, vc uint8, flit Flit) { f.InjectRun(node, vc, flit, 1) }

// InjectRun puts up to n flits of a packet on the wire, one per cycle from this one
// on, and tells how many: as long as the credits last that are known, and no more than
// Config.Run. A Head mark of flit belongs to the first, a Tail mark to the last of the n.
func (f *Fabric) InjectRun(node int, vc uint8, flit Flit, n int) int {
	w := &f.where[node]
	l := &w.wire[vc]
	if !f.CanInject(node, vc) {
		panic(fmt.Sprintf("fabric: node %d injects on VC %d without credit in cycle %d", node, vc, f.now))
	}
	if vc != 0 && (f.run > 1 || f.now < f.mixed) {
		panic(fmt.Sprintf("fabric: node %d injects on VC %d in cycle %d; before Mix only VC 0 may be used", node, vc, f.now))
	}
	sent := l.lasts(f.now, min(n, f.run))
	if sent < n {
		flit &^= Tail
	}
	f.inside += sent
	f.enter(w.in[vc], flit, uint32(sent), f.now+uint64(f.cfg.RouterCycles)-1)
	l.credit -= int32(sent)
	l.free = f.now + uint64(sent)
	if l.credit <= 0 {
		if l.settle(f.now); l.credit <= 0 {
			f.await(l)
		}
	}
	return sent
}

// Mix announces packets on other VCs than 0, which may follow Config.Run cycles later.
func (f *Fabric) Mix() {
	if f.run > 1 {
		f.mixed = f.now + uint64(f.run)
		f.run = 1
	}
}

// Watch has f told of every flit that is on the wire of a link in the cycle after Now:
// the router and port that it goes to. For that Config.Run must be 1.
func (f *Fabric) Watch(tell func(router, port int, vc uint8, flit Flit)) {
	if f.cfg.Run > 1 {
		panic("fabric: Watch with runs of flits")
	}
	f.watch = tell
}

// Credited are the nodes that may have credit again in this cycle. The slice is good
// until the next Step or SkipTo.
func (f *Fabric) Credited() []int32 { return f.credited }

// Release tells that node's NIC took a flit out of its buffer of vc in this cycle.
func (f *Fabric) Release(node int, vc uint8) { f.vacate(&f.where[node].buffer[vc], f.now, 1) }

// ReleaseRun is Release in this cycle and in the n-1 next ones.
func (f *Fabric) ReleaseRun(node int, vc uint8, n int) {
	f.vacate(&f.where[node].buffer[vc], f.now, uint32(n))
}

// Ejected are the runs of flits of which the first reaches its NIC in this cycle and
// the others in those that follow, in order of the nodes. The slice is good until the next Step or SkipTo.
func (f *Fabric) Ejected() []Ejection { return f.ejected }

// Dropped are the flits that routers discard in this cycle; Node is the router.
func (f *Fabric) Dropped() []Ejection { return f.dropped }

// SetRoute makes router send what is for dst by port; NoPort, or a port that leads
// nowhere, discards it. Packets whose head has been seen go on as they were.
func (f *Fabric) SetRoute(router, dst, port int) {
	f.routes[int(f.routers[router].firstRoute)+dst] = uint8(port)
}

// Backlog counts the places of router's port that are taken: flits that wait for
// it here or are on their way to it, and places behind it whose credit has not come
// back.
func (f *Fabric) Backlog(router, port int) int {
	n := 0
	lanes := f.outs[f.routers[router].outs[port]].lanes
	for v := range lanes {
		l := &lanes[v]
		if l.to == nil {
			continue
		}
		l.settle(f.now)
		n += f.cfg.VCDepth - int(l.credit)
		for q := range l.queues {
			n += l.queues[q].length()
		}
	}
	return n
}

func (q *queue) length() int {
	if q.tail == nil {
		return 0
	}
	n := int(q.tail.n)
	for c := q.head; c != q.tail; c = c.next {
		n += int(c.n)
	}
	return n
}
