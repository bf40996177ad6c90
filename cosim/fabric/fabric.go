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

// A Chooser routes packet by packet. Choose is called when a packet's head can be
// seen at a router, and gives the port and the head as it shall go on; what it
// writes into the note is all that later calls know of the packet. Port NoPort
// discards the packet. The VC follows from Topology.VC, so freedom from deadlock
// does too.
type Chooser interface {
	Choose(f *Fabric, router, in int, vc uint8, head Flit) (port int, onward Flit)
}

// An Ejection is a flit that left the network.
type Ejection struct {
	Node int32
	VC   uint8
	Flit Flit
}

// A Fabric is a network. It is not safe for concurrent use.
type Fabric struct {
	cfg      Config
	vcs      int
	laneBits uint // lanes of one output: 1 << laneBits
	routers  []router
	outs     []output
	lanes    []lane // by output, then by NIC for injection
	queues   []queue
	pools    []pool
	byPort   []uint32 // per pool: the queue for every output
	routes   []uint8  // per router and node: the output
	where    []place  // per node

	firstNIC uint32 // lanes from here on are those of NICs

	now     uint64
	active  []uint64 // outputs with a lane that can move
	flits   []Flit   // by slot
	next    []uint32 // by slot: the ref behind in the same queue, or the next free slot
	free    uint32
	inside  int
	leaving []uint64 // room for send
	ejected []Ejection
	dropped []Ejection

	injected, sent        pipe // pool << 32 | ref
	credits               wheel
	linkDelay, localDelay uint64
}

type router struct {
	ports, firstOut, firstPool, firstRoute uint32
	errors                                 uint64
}

// place is where a NIC stands.
type place struct {
	pool uint32 // of VC 0; VC v is stride * v further
	step uint32
	inj  uint32 // lane that counts the credits of injection on VC 0
	out  uint32 // lane of ejection on VC 0
}

// output is one port, sending.
type output struct {
	ready  uint8  // lanes that can move
	after  uint8  // lanes behind the one served last
	waited uint64 // by lanes that could move and were not in turn
}

// lane is one VC of an output, and of the wire from a NIC; one cache line.
type lane struct {
	req     uint64 // queues that hold a flit
	may     uint64 // queues that may send: all, or the one whose packet has the output
	after   uint64 // queues behind the one served last
	credit  uint32
	first   uint32 // its queue 0
	to      uint32 // the pool it feeds, a NIC, or nowhere
	sent    uint64
	starved uint64 // cycles without credit while a flit could go, up to since
	since   uint64 // credit became 0, or a flit came that can go
}

// queue is what one input VC holds for one output; lane.req says whether it is empty.
type queue struct {
	head, tail   uint32 // refs
	lane, source uint32 // source: the lane to which a freed place is told
}

// pool is one VC of an input. Its places are counted by the sender's credits.
type pool struct {
	turn   uint64 // of the packet that comes in: its bit in lane.req
	queue  uint32 // its queue
	lane   uint32 // its lane
	queues uint32 // index into byPort
	source uint32
	router uint32
	in     uint16
	vc     uint8
}

const (
	noSource = ^uint32(0)
	noQueue  = 0
	// lane.to names a pool, or NIC and VC, or nothing.
	toNIC    = 1 << 31
	nicShift = 3
	nicVCs   = 1<<nicShift - 1
	nowhere  = 1<<31 - 1
	// A ref names a slot and says what every hop must know of the flit in it.
	refHead  = 1
	refTail  = 2
	refShift = 2
)

// Now is the cycle that the next Step will carry out.
func (f *Fabric) Now() uint64 { return f.now }

// Inside counts the flits between Inject and Ejected.
func (f *Fabric) Inside() int { return f.inside }

// Busy tells whether anything moves or is under way, a credit included. What waits
// for a NIC to Release a place does not count.
func (f *Fabric) Busy() bool { return f.NextEvent() != Forever }

// CanInject tells whether node may inject on vc in this cycle.
func (f *Fabric) CanInject(node int, vc uint8) bool { return f.Credits(node, vc) > 0 }

// Credits is the number of flits that node may inject on vc before one comes back.
func (f *Fabric) Credits(node int, vc uint8) int {
	return int(f.lanes[f.where[node].inj+uint32(vc)].credit)
}

// Inject puts a flit on the wire from the NIC to its router, at most one per node
// and cycle. Without a credit it panics: a NIC that does that loses flits.
func (f *Fabric) Inject(node int, vc uint8, flit Flit) {
	w := &f.where[node]
	l := &f.lanes[w.inj+uint32(vc)]
	if l.credit == 0 {
		panic(fmt.Sprintf("fabric: node %d injects on VC %d without credit in cycle %d", node, vc, f.now))
	}
	l.credit--
	slot := f.free
	f.free = f.next[slot]
	f.flits[slot] = flit
	ref := slot<<refShift | uint32(flit>>63)*refHead | uint32(flit>>62&1)*refTail
	f.injected.put(f.now, uint64(w.pool+uint32(vc)*w.step)<<32|uint64(ref))
	f.inside++
}

// Release tells that node's NIC took a flit out of its buffer of vc in this cycle.
func (f *Fabric) Release(node int, vc uint8) {
	f.credits.put(f.now, f.localDelay, f.where[node].out+uint32(vc))
}

// Ejected are the flits that reach their NICs in this cycle, in order of the
// routers' ports. The slice is good until the next Step or SkipTo.
func (f *Fabric) Ejected() []Ejection { return f.ejected }

// Dropped are the flits that routers discard in this cycle; Node is the router.
func (f *Fabric) Dropped() []Ejection { return f.dropped }

// SetRoute makes router send what is for dst by port; NoPort, or a port that leads
// nowhere, discards it. Packets whose head has been seen go on as they were.
func (f *Fabric) SetRoute(router, dst, port int) {
	f.routes[int(f.routers[router].firstRoute)+dst] = uint8(port)
}

// Backlog counts the places of router's port that are taken: flits that wait for
// it here, and places behind it for which no credit has come back.
func (f *Fabric) Backlog(router, port int) int {
	n := 0
	first := (f.routers[router].firstOut + uint32(port)) << f.laneBits
	for v := range uint32(f.vcs) {
		l := &f.lanes[first+v]
		n += f.cfg.VCDepth - int(l.credit) + f.waiting(l)
	}
	return n
}

func (f *Fabric) waiting(l *lane) int {
	n := 0
	for req, q := l.req, l.first; req != 0; req, q = req>>1, q+1 {
		if req&1 == 0 {
			continue
		}
		n++
		for ref := f.queues[q].head; ref != f.queues[q].tail; ref = f.next[ref>>refShift] {
			n++
		}
	}
	return n
}
