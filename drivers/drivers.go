package drivers

// Cycle counts clock cycles since reset.
type Cycle uint64

// Forever is a deadline that never comes.
const Forever = ^Cycle(0)

// A Device is one NIC as the software of its node sees it. Offsets are those of
// package regs. It is small on purpose: what a board can do, and no more.
type Device interface {
	// ReadReg reads a 64-bit register. In a Timed system simulated time passes
	// until the answer. A bad offset gives a *BusError.
	ReadReg(off uint32) (uint64, error)
	// WriteReg posts a write to a 64-bit register.
	WriteReg(off uint32, v uint64) error
	// WritePIO posts a write to the send windows at the byte address off (regs.Pio, regs.Descriptors), a multiple of 8: a line,
	// or a piece of one, of at most 64 bytes, in whole quadwords. It waits for nothing: a line for which its process has no free entry
	// is refused (register VELO_WINDOW; see [Window]). It keeps no reference to line.
	WritePIO(off uint32, line []byte) error
	// Memory is the node's DMA memory, as software sees it: whatever Device and Timed call an offset of it is an index.
	Memory() []byte
	// Segments say at which device addresses the NIC finds Memory: what registers, tables and descriptors take are these
	// (see Address). nil: an address is an index.
	Segments() []Segment
	// Capabilities never change.
	Capabilities() Capabilities
	// Await makes what waits for a cause, which software need not poll for then. Without CanAwait or CanInterrupt it gives
	// ErrNotSupported, and never later.
	Await(c Cause) (Waiter, error)
}

// Info says what a System is, for reports and for reproducing a result.
type Info struct {
	URI     string `json:"uri"`
	Backend string `json:"backend"`
	Nodes   int    `json:"nodes"`
	VPIDs   int    `json:"vpids"`
	Dims    [3]int `json:"dims"`
	// Torus: the mesh's rows, columns and pillars of more than two nodes are closed.
	Torus bool `json:"torus,omitempty"`
	// Topology is that of a network that is no mesh or torus, as cosim/fabric/topology reads it; Dims is then a row of all nodes.
	Topology string `json:"topology,omitempty"`
	ClockPS  int    `json:"clock_ps"`
	// DescHash is the hash of the register and packet description that the
	// hardware was built from; Hash that of everything it was built from.
	DescHash uint64 `json:"desc_hash,string"`
	Hash     string `json:"hash"`
	Tool     string `json:"tool"`
}

// A System is what a URI opens.
type System interface {
	Info() Info
	// Device returns node's NIC; node must be below Info().Nodes.
	Device(node int) Device
	Close() error
}

// A WatchID names a watched range of DMA memory.
type WatchID int

// Timed is a System whose clock its caller owns. Posted writes carry the first
// cycle at which they may reach the NIC's bus; those of one node and port are
// performed in order of (cycle, order of the calls).
type Timed interface {
	System
	Now() Cycle
	PostReg(node int, at Cycle, off uint32, v uint64)
	PostPIO(node int, at Cycle, off uint32, line []byte)
	// PIOTaken counts the writes to a process's windows that need no entry any more: a write that makes a line or descriptor whole
	// counts when that has left the window, others when the NIC has taken or refused them. Whoever has no more than
	// regs.VELOLines lines that do not count yet, and regs.RMADepth descriptors, is never refused.
	PIOTaken(node, vpid int) uint64

	// Watch names the range [off, off+n) of node's DMA memory.
	Watch(node int, off, n uint64) (WatchID, error)
	// Arm makes the next DMA write that touches the range stop Run, once.
	Arm(WatchID)
	// ArmPIO makes Run stop, once, when PIOTaken(node, vpid) reaches count.
	ArmPIO(node, vpid int, count uint64)
	// ArmIRQ makes Run stop, once, while node's interrupt line is up.
	ArmIRQ(node int)

	// Run lets time pass until something armed happens or the deadline comes.
	// With the deadline Forever it also stops when nothing more can happen
	// without software (Stop.Quiet); a finite deadline is always reached. What
	// fired during a ReadReg is reported by the next Run. The reasons of one
	// cycle come together, in a fixed order. stop is reused by the caller.
	Run(deadline Cycle, stop *Stop) error
}

// A Parted is a Timed whose nodes are cut into parts that threads may simulate side by
// side, one thread each; Threads of [Options] asks for it. What a part does in cycle t is seen
// in another in t + Lookahead at the earliest. So when a part has what the others sent in the
// cycles before n (Exchange), it may do those before n + Lookahead by itself (Open, Run);
// the same if nobody has an event before n + 1. All end their windows with the same cycles. While threads have
// the parts, what Timed has for one node may be called by the thread of its part, and nothing else; Join ends that.
type Parted interface {
	Timed
	Parts() []Part
	Lookahead() Cycle
	Join()
}

// A Part is nodes of a Parted.
type Part interface {
	// Nodes are the part's: first up to, but not including, past.
	Nodes() (first, past int)
	Now() Cycle
	// NextEvent is the first cycle in which something happens by itself, or Forever.
	NextEvent() Cycle
	// Exchange is called once at the end of each window, when Run has come there. It takes what the other
	// parts have sent up to the same end, or that of the window before if late is 1; they must have
	// come to it.
	Exchange(late uint)
	// Open lets Run perform the cycles before past.
	Open(past Cycle)
	// Run is that of Timed for the part alone. It also comes back when all that is left to do
	// lies behind the window; time stands at what was done last then. Of stop it sets Now and Fired.
	Run(deadline Cycle, stop *Stop) error
	// Events counts what the hardware of the part has done, so that the time that it takes can be compared.
	Events() uint64
}

// Fired says which armed condition stopped a run.
type Fired struct {
	Kind  FiredKind
	Node  int
	Watch WatchID // FiredWatch
	VPID  int     // FiredPIO
}

// FiredKind tells the armed conditions apart.
type FiredKind uint8

// The armed conditions.
const (
	FiredWatch FiredKind = iota
	FiredPIO
	FiredIRQ
)

// Stop says when and why Run came back.
type Stop struct {
	Now   Cycle
	Fired []Fired
	// Quiet: nothing moves in the hardware and nothing posted is due later, so
	// only software can change anything. Idle tells whether everything is empty
	// too; Quiet without Idle is a stall (a full mailbox holds packets back, and
	// with them perhaps posted lines).
	Quiet, Idle bool
}

// A TraceEvent is something seen inside the hardware, at one of the trace
// points; rtl/sim/nic_trace.sv says what each means there.
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
	PointPIO     = 8  // a line accepted from the bus; Data is its address
	PointSlot    = 9  // a slot written by DMA; Data is its header
	PointDropped = 10 // a packet refused or discarded

	PointPIOAddr   = 11 // address of a burst to the send windows taken; Data is it
	PointPIOLast   = 12 // its last beat
	PointReadAddr  = 13 // address of a DMA read taken; Data is it
	PointReadLast  = 14 // its last beat
	PointWriteAddr = 15 // address of a DMA write taken; Data is it
	PointWriteLast = 16 // its last beat: memory has it
	PointWriteDone = 17 // its acknowledgement
	PointArrive1   = 18 // head flit arrives from the first link; the others up to 23

	// With PCIe alone: two dwords of a TLP, head and tail marked. Bit 0 of VC: the upper one counts; bits 3:1: the BAR that it hits.
	PointTLPDown = 24 // to the NIC
	PointTLPUp   = 25 // from it

	// Where routers are not the nodes' (Info.Topology): a flit on the wire from port p of a router, which is Node then, is at PointPort+p.
	PointPort = 64
)

// A TraceSink takes trace events in order of time. It must not keep them.
type TraceSink interface {
	Trace(events []TraceEvent) error
}

// WaveWindow asks for waveforms of the cycles [From, To) in File (FST): of the inside of
// some nodes, of all if Nodes is empty.
type WaveWindow struct {
	File     string
	From, To Cycle
	Nodes    []int
	// Maybe: that the system ends before From is no error of Close.
	Maybe bool
}

// Checkpoints asks a Timed to keep states of itself, so that the end of a run that went wrong can be repeated with
// waveforms: see [Repeater].
type Checkpoints struct {
	Every Cycle  // from one to the next
	Last  Cycle  // how many cycles before the end Repeat shows
	File  string // FST, written by Repeat
	Nodes []int  // as of WaveWindow
}

// A Repeater is a Timed that may have been opened with Checkpoints.
type Repeater interface {
	// Repeat writes the waveforms of the last cycles, up to now. It begins at the last checkpoint before them, not at
	// cycle 0. A failing assertion of the hardware has been repeated already when it is told.
	Repeat() (Repeated, error)
}

// Repeated says what a repeat shows.
type Repeated struct {
	File       string
	Checkpoint Cycle // where it began
	From, To   Cycle // what File shows
}

// Options are what every backend may be asked for; one that cannot do a thing
// refuses with ErrNotSupported. Backend-specific settings are keys of the URI.
type Options struct {
	Nodes int
	// MemoryBytes of DMA memory per node. If that lies in segments, there is one more, and twice as much: so whatever fits
	// into a segment can be laid out, one thing behind the other.
	MemoryBytes int
	// Segments say at which addresses the NIC of each node shall find that memory, as that of a board did; nil: where the backend
	// lays it. Simulated NICs can; Open tells if others cannot.
	Segments [][]Segment
	// Needs are what the devices must be able to do; Open tells if they cannot.
	Needs       Capabilities
	Trace       TraceSink
	Waves       *WaveWindow
	Checkpoints *Checkpoints
	LogFile     string // where the simulator's own output goes
	// Threads may simulate one system; 0: one. The result does not depend on it. A backend
	// that cannot use so many uses fewer (see Parted), and one thread if there is a Trace.
	Threads int
	// Progress is told what takes long while a system opens ("building …").
	Progress func(what string)
}
