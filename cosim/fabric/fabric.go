package fabric

import "errors"

// Config describes a network. Zero values select those of the RTL.
type Config struct {
	Topology Topology
	VCDepth  int // flits per input and VC; the NIC's buffers have as many
	// RouterCycles is the latency from the wire of one port to that of another, LinkCycles from one
	// router's wire to the next one's, InjectCycles from the NIC to its router's wire.
	RouterCycles, LinkCycles, InjectCycles int
	// CreditCycles is the time from a flit leaving its queue to the cycle in which the sender can
	// reuse the entry, over a link; LocalCreditCycles next to a NIC. One credit per VC and cycle is
	// returned; further ones follow.
	CreditCycles, LocalCreditCycles int
	Chooser                         Chooser // nil: the routes of the topology
	// HopMax is the maximum number of routers that a packet may pass; the next one discards it. 0:
	// unlimited. Not with a Chooser.
	HopMax int
	// Run is the maximum number of flits of a packet moved at once if nothing can come between
	// them. It affects speed only, no cycle. Above 1 all packets use VC 0 until Mix is called, and
	// do not change it. 0: flit by flit.
	Run int
	// Parts divides the routers into ranges of consecutive numbers. It affects speed only, no
	// cycle. 0: one.
	Parts int
	// PartOf returns the part of a router; nil: ranges of consecutive numbers.
	PartOf func(router int) int
	// Outside selects routers that are simulated elsewhere, with their nodes; nil: none. It
	// requires one part.
	Outside func(router int) bool
}

// Values of the RTL: two registers per router, three per link, one behind the NIC. A credit is
// registered by the input (1), counted and sent by link_tx (2), received by link (1) and link_rx
// (1), passed on by link_tx (1) and counted by the output (1); without a link only the first and
// the last apply.
const (
	DefaultVCDepth           = 16
	DefaultRouterCycles      = 2
	DefaultLinkCycles        = 3
	DefaultInjectCycles      = 1
	DefaultCreditCycles      = 7
	DefaultLocalCreditCycles = 2
)

// ErrConfig is the class of errors of New.
var ErrConfig = errors.New("fabric: bad configuration")

// A Chooser routes packet by packet. Choose is called when a packet's head is sent to a router, a
// hop before it is visible there, and returns the port and the modified head. The note in the head
// is the only state available to later calls for the packet. Port NoPort discards the packet. The
// VC follows from Topology.VC, which guarantees freedom from deadlock.
type Chooser interface {
	Choose(f *Fabric, router, in int, vc uint8, head Flit) (port int, onward Flit)
}

// A Fabric is a network whose time advances in its parts.
type Fabric struct {
	cfg       Config
	vcs       int
	hop       uint64
	routers   []router
	outputVCs []outputVC // by output and VC; outputs to NICs are numbered from exits on
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

// An arbiter selects among the VCs of an output, round-robin.
type arbiter struct {
	after  uint8  // VCs behind the last one served
	waited uint64 // cycles in which VCs could send but waited for another
}

type router struct {
	outs   []uint32 // by port
	errors uint64

	part       uint8
	firstInput int
}

// An attachment is the connection of a NIC.
type attachment struct {
	wire   []outputVC // into the router, by VC
	buffer []inputVC  // of the NIC
}

// Part returns part i of Config.Parts; with one part, part 0 is the whole network.
func (f *Fabric) Part(i int) *Part { return f.parts[i] }

// Lookahead is the number of cycles before another part can be affected. Expose may shorten it.
func (f *Fabric) Lookahead() uint64 {
	ahead := min(f.hop, uint64(f.cfg.CreditCycles))
	if f.hop == uint64(f.cfg.CreditCycles) { // the credit of a discarded flit counts from the cycle before its arrival
		ahead--
	}
	for _, p := range f.parts {
		if len(p.crossing) > 0 { // a lost carrier needs no time on the wire
			return min(ahead, crossingAhead)
		}
	}
	return ahead
}

// Watch calls tell for every flit that is on the wire of a link in the cycle after Now, with the
// router and port that it goes to. Flits that arrive over an exposed link are also reported to
// arrives, with the cycle from which the router can forward them. Watch requires Config.Run and
// Parts of 1.
func (f *Fabric) Watch(tell func(router, port int, vc uint8, flit Flit), arrives func(router, port int, vc uint8, flit Flit, at uint64)) {
	if f.cfg.Run > 1 || f.cfg.Parts > 1 {
		panic("fabric: Watch with runs of flits or several parts")
	}
	f.watch, f.arrives = tell, arrives
	f.Remember()
}

// SetRoute makes router forward packets for dst to port; NoPort, or an unconnected port, discards
// them. Packets whose head has been seen are not affected.
func (f *Fabric) SetRoute(router, dst, port int) {
	f.routes[router*len(f.where)+dst] = uint8(port)
}

// Backlog counts the occupied entries of the buffer behind router's port: flits that wait for it
// here or are on their way to it, and entries whose credit has not returned.
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
