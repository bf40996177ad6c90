package fabric

import "errors"

// Config says what to build. Zero values mean the RTL's.
type Config struct {
	Topology Topology
	VCDepth  int // flits per input and VC; the NIC's buffers have as many
	// RouterCycles is from the wire of one port to the wire of another, LinkCycles
	// from one router's wire to the next one's, InjectCycles from the NIC to its router's wire.
	RouterCycles, LinkCycles, InjectCycles int
	// CreditCycles is from a flit leaving its queue to the cycle in which the
	// sender can use the buffer's entry again, over a link; LocalCreditCycles next to a NIC.
	// Of one VC one entry per cycle is told, further ones follow.
	CreditCycles, LocalCreditCycles int
	Chooser                         Chooser // nil: the routes of the topology
	// HopMax is how many routers a packet may come to; the next discards it. 0: any number. Not with a
	// Chooser.
	HopMax int
	// Run is how many flits of a packet may be moved at once where nothing can come
	// between them, which is for speed and changes no cycle. Above 1 all packets are
	// on VC 0 until Mix is called, and stay on it. 0: flit by flit.
	Run int
	// Parts cuts the routers into shares of consecutive numbers, which is for speed and
	// changes no cycle. 0: one.
	Parts int
	// PartOf gives the part of a router; nil: shares of consecutive numbers.
	PartOf func(router int) int
	// Outside tells which routers are simulated elsewhere, with the nodes at them; nil: none. Then
	// Parts is 1.
	Outside func(router int) bool
}

// What the RTL has: two registers per router, three per link, one behind the NIC; a credit is
// registered by the input (1), counted and sent by link_tx (2), taken by link (1) and link_rx (1),
// handed on by link_tx (1) and counted by the output (1); without a link only the first and the
// last.
const (
	DefaultVCDepth           = 16
	DefaultRouterCycles      = 2
	DefaultLinkCycles        = 3
	DefaultInjectCycles      = 1
	DefaultCreditCycles      = 7
	DefaultLocalCreditCycles = 2
)

// ErrConfig is why New refuses.
var ErrConfig = errors.New("fabric: bad configuration")

// A Chooser routes packet by packet. Choose is called when a packet's head is sent to a router, a
// hop before it can be seen there, and gives the port and the head as it shall go on; what it
// writes into the note is all that later calls know of the packet. Port NoPort discards the packet.
// The VC follows from Topology.VC, so freedom from deadlock does too.
type Chooser interface {
	Choose(f *Fabric, router, in int, vc uint8, head Flit) (port int, onward Flit)
}

// A Fabric is a network, whose time passes in its parts.
type Fabric struct {
	cfg       Config
	vcs       int
	hop       uint64
	routers   []router
	outputVCs []outputVC // by output, VC; outputs to NICs are numbered from exits on
	exits     int
	arbiters  []arbiter // by output
	inputVCs  []inputVC
	voqs      []*voq       // by input VC and port
	routes    []uint8      // by router and node: the port
	where     []attachment // by node
	parts     []*Part
	watch     func(router, port int, vc uint8, flit Flit)
	arrives   func(router, port int, vc uint8, flit Flit, at uint64)
}

// An arbiter chooses among the VCs of an output, round-robin.
type arbiter struct {
	after  uint8  // VCs behind the one served last
	waited uint64 // VCs that could send, for another
}

type router struct {
	outs   []uint32 // by port
	errors uint64

	part       uint8
	firstInput int
}

// An attachment is where a NIC stands.
type attachment struct {
	wire   []outputVC // into the router, by VC
	buffer []inputVC  // of the NIC
}

// Part is one of Config.Parts; part 0 of a network in one part is the whole of it.
func (f *Fabric) Part(i int) *Part { return f.parts[i] }

// Lookahead is how many cycles pass before another part can notice anything. Expose may shorten it.
func (f *Fabric) Lookahead() uint64 {
	ahead := min(f.hop, uint64(f.cfg.CreditCycles))
	if f.hop == uint64(f.cfg.CreditCycles) { // the credit of a flit that is discarded counts from the cycle before it came
		ahead--
	}
	for _, p := range f.parts {
		if len(p.crossing) > 0 { // a carrier that is lost needs no time on the wire
			return min(ahead, crossingAhead)
		}
	}
	return ahead
}

// Watch has f told of every flit that is on the wire of a link in the cycle after Now: the router
// and port that it goes to. What comes over an exposed link is told to arrives besides, with the
// cycle from which the router can send it on. For that Config.Run and Parts must be 1.
func (f *Fabric) Watch(tell func(router, port int, vc uint8, flit Flit), arrives func(router, port int, vc uint8, flit Flit, at uint64)) {
	if f.cfg.Run > 1 || f.cfg.Parts > 1 {
		panic("fabric: Watch with runs of flits or several parts")
	}
	f.watch, f.arrives = tell, arrives
	f.Remember()
}

// SetRoute makes router send what is for dst by port; NoPort, or a port that leads
// nowhere, discards it. Packets whose head has been seen go on as they were.
func (f *Fabric) SetRoute(router, dst, port int) {
	f.routes[router*len(f.where)+dst] = uint8(port)
}

// Backlog counts the entries of the buffer behind router's port that are taken: flits that wait for
// it here or are on their way to it, and entries whose credit has not come
// back.
func (f *Fabric) Backlog(router, port int) int {
	n, now := 0, f.parts[f.routers[router].part].now
	for v := range f.vcs {
		l := f.outputVC(router, port, v)
		if l.to == nil {
			continue
		}
		n += f.cfg.VCDepth - l.credits(now)
		for q := range l.queues {
			n += int(l.queues[q].length())
		}
	}
	return n
}
