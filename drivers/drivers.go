package drivers

import (
	"github.com/nicloop/nicloop/drivers/regmap"

	"github.com/sirupsen/logrus"
)

// Cycle counts clock cycles since reset.
type Cycle uint64

// A Device is one NIC as the software of its node sees it. Offsets are those of package regs. The
// interface has only what a board can do.
type Device interface {
	// ReadReg reads a 64-bit register. In a Timed system, simulated time advances until the answer
	// arrives. An invalid offset gives a *BusError.
	ReadReg(off uint32) (uint64, error)
	// WriteReg posts a write to a 64-bit register.
	WriteReg(off uint32, v uint64) error
	// WritePIO posts a write to the send windows at byte address off (regs.Pio, regs.Descriptors),
	// a multiple of 8. line is a line or a part of one: whole quadwords, at most 64 bytes. WritePIO
	// does not block: the NIC refuses a line for which its process has no free entry (register
	// VELO_WINDOW; see [Window]). It keeps no reference to line.
	WritePIO(off uint32, line []byte) error
	// Memory is the node's DMA memory as software sees it. What Device and Timed call an offset is
	// an index into it.
	Memory() []byte
	// Segments give the device addresses of Memory. Registers, tables and descriptors take device
	// addresses (see Address). nil: a device address equals the offset.
	Segments() []Segment
	// Capabilities do not change during the life of a device.
	Capabilities() Capabilities
	// Await returns a Waiter for a cause, so that software need not poll. A device without CanAwait
	// or CanInterrupt returns ErrNotSupported here, never later.
	Await(c Cause) (Waiter, error)
}

// Info describes a System, for reports and for reproducing a result.
type Info struct {
	URI     string `json:"uri"`
	Backend string `json:"backend"`
	Nodes   int    `json:"nodes"`
	VPIDs   int    `json:"vpids"`
	Dims    [3]int `json:"dims"`
	// Torus: every row, column and pillar of more than two nodes is closed to a ring.
	Torus bool `json:"torus,omitempty"`
	// Topology is set for networks other than meshes and tori, in the syntax of
	// cosim/fabric/topology; Dims is then a row of all nodes.
	Topology string `json:"topology,omitempty"`
	ClockPS  int    `json:"clock_ps"`
	// DescHash is the hash of the register and packet description that the hardware was built from.
	// Hash covers all sources that it was built from.
	DescHash uint64 `json:"desc_hash,string"`
	Hash     string `json:"hash"`
	Tool     string `json:"tool"`
	// Registers is the register map of a design that is not this project's NIC; DescHash is its hash
	// then. nil: the map of package regs.
	Registers *regmap.Map `json:"-"`
}

// A System is what a URI opens: a board or a simulated machine.
type System interface {
	Info() Info
	// Device returns the NIC of a node; node must be less than Info().Nodes.
	Device(node int) Device
	Close() error
}

// A WatchID identifies a watched range of DMA memory.
type WatchID int

// A SizedDevice is a Device whose caller chooses the width of an access, 4 or 8 bytes.
type SizedDevice interface {
	Device
	Read(off uint32, bytes int) (uint64, error)
	Write(off uint32, bytes int, v uint64) error
}

// Timed is a System whose caller controls the clock. A posted write carries the first cycle at
// which it may reach the NIC's bus. Writes of one node and port are performed in order of (cycle,
// order of the calls).
type Timed interface {
	System
	Now() Cycle
	PostReg(node int, at Cycle, off uint32, v uint64)
	PostPIO(node int, at Cycle, off uint32, line []byte)
	// PIOTaken counts the writes to a process's windows that no longer occupy an entry. A write
	// that completes a line or descriptor counts when that has left the window; any other counts
	// when the NIC has accepted or refused it. A process with at most regs.VELOLines lines and
	// regs.RMADepth descriptors not yet counted is never refused.
	PIOTaken(node, vpid int) uint64

	// Watch registers the range [off, off+n) of node's DMA memory.
	Watch(node int, off, n uint64) (WatchID, error)
	// Arm makes the next DMA write that touches the range stop Run once.
	Arm(WatchID)
	// ArmPIO makes Run stop once when PIOTaken(node, vpid) reaches count.
	ArmPIO(node, vpid int, count uint64)
	// ArmIRQ makes Run stop once while node's interrupt line is asserted.
	ArmIRQ(node int)

	// Run advances time until an armed condition fires or the deadline is reached. With the
	// deadline Forever it also returns when only software can cause a further event (Stop.Quiet); a
	// finite deadline is always reached. A condition that fires during ReadReg is reported by the
	// next Run. Conditions that fire in one cycle are reported together, in a fixed order. Run
	// overwrites *stop, so a caller can reuse it.
	Run(deadline Cycle, stop *Stop) error
}

// A Partitioned system is a Timed whose nodes are split into partitions, each of which one thread
// can simulate (Options.Threads). What a partition does in cycle t is visible to others in t +
// Lookahead at the earliest. A partition that has received what the others sent in cycles before n
// (Exchange) may therefore simulate the cycles before n + Lookahead on its own (Open, Run); the
// same holds if no partition has an event before n + 1. All partitions end their windows with the
// same cycle. While threads own the partitions, only the thread of a node's partition may call
// methods of Timed, and only for that node. Join ends this phase.
type Partitioned interface {
	Timed
	Partitions() []Partition
	Lookahead() Cycle
	Join()
}

// A Partition is the part of a Partitioned system that one thread simulates.
type Partition interface {
	// Nodes returns the half-open range [first, past) of the partition's nodes.
	Nodes() (first, past int)
	Now() Cycle
	// NextEvent is the first cycle in which something happens without a call, or Forever.
	NextEvent() Cycle
	// Exchange must be called once at the end of each window, when Run has reached that end. It
	// receives what the other partitions have sent up to the same end, or up to the end of the
	// previous window if late is 1. The others must have reached that cycle.
	Exchange(late uint)
	// Open lets Run simulate the cycles before past.
	Open(past Cycle)
	// Run is Timed.Run for this partition alone. It also returns when the next event lies beyond
	// the window; time then stands at the last cycle with an event. It sets only Now and Fired of
	// stop.
	Run(deadline Cycle, stop *Stop) error
	// Events counts the events that the partition has simulated, a measure of its load.
	Events() uint64
}

// Fired identifies an armed condition that stopped a run.
type Fired struct {
	Kind  FiredKind
	Node  int
	Watch WatchID // of FiredWatch
	VPID  int     // of FiredPIO
}

// FiredKind is the kind of an armed condition.
type FiredKind uint8

// Kinds of armed conditions.
const (
	FiredWatch FiredKind = iota
	FiredPIO
	FiredIRQ
)

// Stop reports when and why Run returned.
type Stop struct {
	Now   Cycle
	Fired []Fired
	// Quiet: no event is scheduled in the hardware and no posted write is due, so only software can
	// change the state. Idle: in addition, every buffer is empty. Quiet without Idle is a stall: a
	// full mailbox blocks packets, and possibly posted lines behind them.
	Quiet, Idle bool
}

// A TraceEvent is one event at a trace point inside the hardware. rtl/sim/nic_trace.sv defines the
// trace points.
type TraceEvent struct {
	Cycle Cycle
	Data  uint64
	Node  uint16
	Point uint8
	Flags uint8 // 1 head, 2 tail
	VC    uint8
}

// Trace flags.
const (
	TraceHead = 1
	TraceTail = 2
)

// Trace points.
const (
	PointInject  = 0  // flit from the NIC into its router
	PointLink1   = 1  // first link port; ports 1..6 are the points 1..6
	PointEject   = 7  // flit from the router into the NIC
	PointPIO     = 8  // line accepted from the bus; Data is its address
	PointSlot    = 9  // slot written by DMA; Data is its header
	PointDropped = 10 // packet refused or discarded

	PointPIOAddr   = 11 // address of a burst to the send windows accepted; Data is the address
	PointPIOLast   = 12 // last beat of that burst
	PointReadAddr  = 13 // address of a DMA read accepted; Data is the address
	PointReadLast  = 14 // last beat of a DMA read
	PointWriteAddr = 15 // address of a DMA write accepted; Data is the address
	PointWriteLast = 16 // last beat of a DMA write: the data are in memory
	PointWriteDone = 17 // write response
	PointArrive1   = 18 // head flit arrives on link port 1; ports 2..6 are the points 19..23

	// Only with PCIe: two dwords of a TLP, with head and tail flags. VC bit 0: the upper dword is
	// valid; bits 3:1: the BAR that the TLP hits.
	PointTLPDown = 24 // TLP to the NIC
	PointTLPUp   = 25 // TLP from the NIC

	// Only of a design: device. A DMA write is an address, its 64 strobes and the quadwords that they
	// select, with other bytes 0; VC is the number of the master, and of the quadword. A beat of a
	// stream is one or more parts of 64 bits, lowest first, with head and tail flags; VC is the
	// number of the part.
	PointDMAAddress = 32
	PointDMAStrobes = 33
	PointDMAData    = 34
	PointStreamOut  = 35 // accepted from the design
	PointStreamIn   = 36 // accepted by the design
	PointLines      = 37 // the interrupt outputs have changed; Data has a bit for each

	// For topologies with separate routers (Info.Topology): a flit on the wire of output port p of
	// router Node is at point PointPort+p.
	PointPort = 64
)

// A TraceSink receives trace events in order of time. It must not retain the slice.
type TraceSink interface {
	Trace(events []TraceEvent) error
}

// WaveWindow requests waveforms (FST) of the cycles [From, To) of some nodes; of all nodes if Nodes
// is empty.
type WaveWindow struct {
	File     string
	From, To Cycle
	Nodes    []int
	// Maybe suppresses the error of Close if the system ends before From.
	Maybe bool
}

// Checkpoints asks a Timed to save its state periodically, so that the last cycles of a failed run
// can be simulated again with waveforms: see [Repeater].
type Checkpoints struct {
	Every Cycle  // interval between checkpoints
	Last  Cycle  // number of cycles that Repeat shows
	File  string // FST, written by Repeat
	Nodes []int  // as in WaveWindow
}

// A Repeater is a Timed that can be opened with Checkpoints.
type Repeater interface {
	// Repeat writes waveforms of the last cycles before the current one. It starts at the last
	// checkpoint before them instead of cycle 0. If an RTL assertion failed, the system has called
	// Repeat before it returns the error.
	Repeat() (Repeated, error)
}

// Repeated describes the waveforms that a repetition wrote.
type Repeated struct {
	File       string
	Checkpoint Cycle // where the repetition started
	From, To   Cycle // range of cycles in File
}

// Options are the settings that all backends have in common. A backend that does not support one
// returns ErrNotSupported. Settings of one backend are keys of its URI.
type Options struct {
	Nodes int
	// MemoryBytes is the DMA memory per node. If the memory is segmented, there is one segment more
	// and twice the memory, so that everything that fits into a segment can be laid out
	// consecutively.
	MemoryBytes int
	// Segments prescribes the device addresses of each node's memory, to reproduce those of a
	// board. nil: the backend chooses. Simulated NICs support it; Open returns an error for others.
	Segments [][]Segment
	// Needs are the capabilities that the caller requires; Open returns an error if one is missing.
	Needs       Capabilities
	Trace       TraceSink
	Waves       *WaveWindow
	Checkpoints *Checkpoints
	LogFile     string         // for the simulator's own output
	Log         *logrus.Logger // of the layers below; nil: the standard logger
	// Threads is the number of threads that may simulate one system; 0 means one. The result does
	// not depend on it. A backend may use fewer (see Partitioned), and uses one if there is a
	// Trace.
	Threads int
	// Progress reports slow steps of opening a system ("building …").
	Progress func(what string)
}
