package nic

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Config describes the machine to build.
type Config struct {
	Info    drivers.Info // Nodes and Dims count
	VCDepth int          // as PARAMS shows it
	Ports   int
	Torus   bool
	// Shared: routers have several nodes, or none, and are none of the NIC's: it has no registers
	// of routes and links.
	Shared bool
	Memory int // bytes per node
	// Segments say where the NIC of each node finds its memory, see drivers.Device; nil: at address
	// 0.
	Segments [][]drivers.Segment
	// Lent memory can be shared with other processes (Lend). It stays mapped until nobody has the
	// machine.
	Lent   bool
	Trace  drivers.TraceSink
	Timing Timing
	// Parts is how many threads may simulate side by side, each some of the nodes; 0: one.
	// Nothing that a part does in a cycle is seen in another before Lookahead cycles have
	// passed. What is traced has one part.
	Parts int
	// Cuts are the first nodes of the parts, and how many there are at all; nil: as many for each
	// part, or one more.
	Cuts      []int
	Lookahead drivers.Cycle
}

// A Machine is the NICs of all nodes. It implements drivers.Timed once its networks are connected
// (Connect).
type Machine struct {
	info    drivers.Info
	cfg     Config
	nodes   []node
	parts   []Part
	watches []watch
	closed  atomic.Bool // set by whoever stops a run, from a goroutine of its own
	run     sync.Mutex  // while there is a sink: Close flushes what a run has traced
	waiters drivers.Waiters
	tracer

	creditsChecked drivers.Cycle // when an idle network was last checked
}

var _ drivers.Partitioned = (*Machine)(nil)

// A unitID identifies a unit of a node. In a cycle units work in this order, so that reads see the
// state before the cycle and writes take effect after it.
type unitID uint8

const (
	unitRead   unitID = iota // register read
	unitPIO                  // send windows
	unitSlot                 // a slot has left, or is in memory
	unitCheck                // the completer looks at its packet
	unitCommit               // a slot is acknowledged
	unitRMA
	unitWrite // register write
	units
)

// New builds a machine. Connect must be called before time advances.
func New(cfg Config) *Machine {
	m := &Machine{info: cfg.Info, cfg: cfg, nodes: make([]node, cfg.Info.Nodes), tracer: tracer{sink: cfg.Trace}}
	for i := range m.nodes {
		n := &m.nodes[i]
		*n = node{m: m, id: i, mem: m.newMemory()}
		if cfg.Segments != nil {
			n.segments = cfg.Segments[i]
		}
		for v := range n.armPIO {
			n.armPIO[v] = unarmed
		}
		n.reset()
	}
	m.divide(max(1, cfg.Parts))
	return m
}

// divide assigns the nodes to parts.
func (m *Machine) divide(parts int) {
	m.parts = make([]Part, parts)
	var all *store
	if parts > 1 {
		all = &store{}
		all.chunks.Store(new([][]Packet))
	}
	for i := range m.parts {
		p := &m.parts[i]
		first, past := share(i, parts, len(m.nodes)), share(i+1, parts, len(m.nodes))
		if m.cfg.Cuts != nil {
			first, past = m.cfg.Cuts[i], m.cfg.Cuts[i+1]
		}
		*p = Part{m: m, nodes: m.nodes, first: first, past: past, wheel: newWheel(past - first), packets: freeList{all: all}}
		for k := first; k < past; k++ {
			m.nodes[k].p = p
		}
	}
}

// share is the first of n nodes that belongs to a part: the first k with k*parts/n == i.
func share(i, parts, n int) int { return (i*n + parts - 1) / parts }

// Connect gives each part its network, in order.
func (m *Machine) Connect(networks ...Network) {
	for i := range m.parts {
		m.parts[i].net = networks[i]
		if w, ok := networks[i].(Wires); ok && w.Lookahead() > 0 {
			m.parts[i].wires = w
		}
	}
}

// Part returns a part, for its network.
func (m *Machine) Part(i int) *Part { return &m.parts[i] }

// Partitions implements drivers.Partitioned.
func (m *Machine) Partitions() []drivers.Partition {
	list := make([]drivers.Partition, len(m.parts))
	for i := range m.parts {
		list[i] = &m.parts[i]
	}
	return list
}

// Lookahead implements drivers.Partitioned.
func (m *Machine) Lookahead() drivers.Cycle { return m.cfg.Lookahead }

// Info implements drivers.System.
func (m *Machine) Info() drivers.Info { return m.info }

// SetURI sets the URI that Info returns.
func (m *Machine) SetURI(uri string) { m.info.URI = uri }

// Now implements drivers.Timed.
func (m *Machine) Now() drivers.Cycle { return m.parts[0].now }

// Device implements drivers.System.
func (m *Machine) Device(node int) drivers.Device { return &device{&m.nodes[node]} }

// Close ends the use of the machine. It may be called while another goroutine runs it; the run then
// ends with drivers.ErrClosed.
func (m *Machine) Close() error {
	if m.closed.Swap(true) || m.sink == nil {
		return nil
	}
	m.run.Lock()
	defer m.run.Unlock()
	return m.flush(drivers.Forever)
}

// PostReg implements drivers.Timed.
func (m *Machine) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	m.nodes[node].postReg(regOp{at: at, off: off, v: v})
}

// PostPIO implements drivers.Timed.
func (m *Machine) PostPIO(node int, at drivers.Cycle, off uint32, data []byte) {
	to := &m.nodes[node]
	h := to.p.packets.get()
	p := to.p.packets.at(h)
	n := copy(p.body[:], data)
	clear(p.body[n:max(8, (n+7)&^7)])
	off, dst := m.sent(off)
	to.postLine(line{at: max(at, to.p.now), asked: at, off: off, packet: h, n: uint16(len(data)), node: dst})
}

// sent splits an address of the send windows. If the node field of the address can name all nodes,
// bits above it are ignored as in the RTL.
func (m *Machine) sent(off uint32) (in uint32, node uint16) {
	if len(m.nodes) <= regs.NodeMax {
		return off, uint16(regs.Pio(off).DstNode())
	}
	w, n := regs.Sent(off)
	return uint32(w), uint16(n)
}

// PIOTaken implements drivers.Timed.
func (m *Machine) PIOTaken(node, vpid int) uint64 { return m.nodes[node].taken[vpid] }

// Run implements drivers.Timed.
func (m *Machine) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: m.Now(), Fired: stop.Fired[:0]}
	if m.closed.Load() {
		return drivers.ErrClosed
	}
	if m.sink != nil {
		m.run.Lock()
		defer m.run.Unlock()
	}
	for !m.stops() && m.advance(deadline) {
	}
	stop.Now = m.Now()
	shown := m.Now() // more may come in this cycle
	if stop.Quiet = m.next() == drivers.Forever; stop.Quiet {
		shown++
	}
	if err := m.flush(shown); err != nil {
		return err
	}
	for i := range m.parts {
		stop.Fired = m.parts[i].report(stop.Fired)
	}
	stop.Idle = stop.Quiet && m.empty()
	m.waiters.NoteStop(stop)
	return errors.Join(m.refusals(), m.checkCredits(stop.Idle))
}

// checkCredits asserts that an idle network has all its credits. A network of n channels is checked
// at most once in n cycles, so that checking never costs more than simulating.
func (m *Machine) checkCredits(idle bool) error {
	every := drivers.Cycle(len(m.nodes) * max(1, m.cfg.Ports) * regs.VCs)
	c, checks := m.parts[0].net.(CreditChecker)
	if !idle || !checks || m.Now() < m.creditsChecked+every {
		return nil
	}
	m.creditsChecked = m.Now()
	return c.CheckCredits()
}

func (m *Machine) stops() bool {
	for i := range m.parts {
		if m.parts[i].stops() {
			return true
		}
	}
	return false
}

// empty: nothing is posted, under way or buffered.
func (m *Machine) empty() bool {
	used := 0
	for i := range m.parts {
		p := &m.parts[i]
		if used += p.packets.used; !p.empty() {
			return false
		}
	}
	return used == 0
}

// next is the first cycle in which anything happens by itself.
func (m *Machine) next() drivers.Cycle {
	t := drivers.Forever
	for i := range m.parts {
		p := &m.parts[i]
		p.upcoming = p.NextEvent()
		t = min(t, p.upcoming)
	}
	return t
}

// advance performs the next cycle in which something happens, if that is not behind
// the deadline; otherwise it moves time to the deadline. All parts do the same cycle
// before any does the next, so that what each sends the others have in time.
func (m *Machine) advance(deadline drivers.Cycle) bool {
	t := m.next()
	if t > deadline || t == drivers.Forever {
		m.setNow(deadline)
		return false
	}
	for i := range m.parts {
		if p := &m.parts[i]; p.upcoming == t {
			p.perform(t)
		} else {
			p.now = t
		}
	}
	if len(m.parts) > 1 {
		m.exchange(t + 1)
	}
	return true
}

// exchange has all parts, which have done what they do before a cycle, tell each other.
func (m *Machine) exchange(at drivers.Cycle) {
	for i := range m.parts {
		m.parts[i].finish(at)
	}
	for i := range m.parts {
		m.parts[i].Exchange(0)
	}
}

// setNow moves time to a deadline; for Forever, to when the hardware is quiet.
func (m *Machine) setNow(deadline drivers.Cycle) {
	if deadline == drivers.Forever {
		deadline = m.drained()
	}
	for i := range m.parts {
		m.parts[i].now = max(m.parts[i].now, deadline)
	}
}

// drained is when the last write buffer of a limiter is empty; before that the
// hardware is not quiet.
func (m *Machine) drained() (at drivers.Cycle) {
	for i := range m.parts {
		at = max(at, m.parts[i].drained())
	}
	return at
}

// Join ends a time in which threads had the parts: all stand at the same cycle again.
func (m *Machine) Join() {
	var t drivers.Cycle
	for i := range m.parts {
		t = max(t, m.parts[i].now)
	}
	for i := range m.parts {
		p := &m.parts[i]
		for next := p.NextEvent(); next <= t; next = p.NextEvent() { // all lie in the last window
			p.perform(next)
		}
		p.now, p.opened = t, 0
	}
	m.exchange(t + 1)
}

func (n *node) work(u unitID) {
	switch u {
	case unitRead, unitWrite:
		n.access(u)
	case unitPIO:
		n.stepPIO()
	case unitSlot:
		n.stepSlot()
	case unitCommit:
		n.commit()
	case unitCheck:
		n.recheck()
	case unitRMA:
		n.stepRMA()
	}
}

// wake lets a unit of the node work at a cycle, or at the next if that has come.
func (n *node) wake(u unitID, at drivers.Cycle) {
	n.p.wheel.wake(n.p.now, max(at, n.p.now+1), u, n.id-n.p.first)
}

// read performs a register read and lets its time pass.
func (m *Machine) read(n *node, off uint32) (uint64, error) {
	if m.closed.Load() {
		return 0, drivers.ErrClosed
	}
	if m.sink != nil {
		m.run.Lock()
		defer m.run.Unlock()
	}
	n.answer = answer{}
	n.postReg(regOp{at: m.Now(), off: off, read: true})
	for !n.answer.done {
		m.advance(drivers.Forever)
	}
	for end := m.Now() + n.p.AnswerTime(n.id, off); m.Now() < end && m.advance(end); {
	}
	if err := m.flush(m.Now()); err != nil {
		return 0, err
	}
	return n.answer.v, errors.Join(m.refusals(), n.answer.err)
}

// refusals are the errors since the last report.
func (m *Machine) refusals() error {
	var errs []error
	for i := range m.parts {
		if err := m.parts[i].refusals(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// params is what PARAMS reads.
func (m *Machine) params() uint64 {
	set := func(b regs.Bits, v int) uint64 { return uint64(v) << b.LSB() & b.Mask() }
	d, torus := m.info.Dims, uint64(0)
	if m.cfg.Shared { // no mesh
		d = [3]int{}
	}
	if m.cfg.Torus {
		torus = regs.ParamsTorus
	}
	return torus | set(regs.ParamsNodes, len(m.nodes)) | set(regs.ParamsVPIDs, regs.VPIDs) |
		set(regs.ParamsDimX, d[0]) | set(regs.ParamsDimY, d[1]) | set(regs.ParamsDimZ, d[2]) |
		set(regs.ParamsVCDepth, m.cfg.VCDepth) | set(regs.ParamsPorts, m.cfg.Ports)
}

// device is the view of one node's software.
type device struct{ n *node }

func (d *device) ReadReg(off uint32) (uint64, error) { return d.n.m.read(d.n, off) }

func (d *device) WriteReg(off uint32, v uint64) error {
	if d.n.m.closed.Load() {
		return drivers.ErrClosed
	}
	d.n.m.PostReg(d.n.id, d.n.m.Now(), off, v)
	return nil
}

func (d *device) WritePIO(off uint32, data []byte) error {
	if d.n.m.closed.Load() {
		return drivers.ErrClosed
	}
	d.n.m.PostPIO(d.n.id, d.n.m.Now(), off, data)
	return nil
}

func (d *device) Memory() []byte { return d.n.mem }

// Now tells a poller whether the clock advances (drivers/stall).
func (d *device) Now() drivers.Cycle { return d.n.m.Now() }

func (d *device) Segments() []drivers.Segment { return d.n.segments }

func (d *device) Capabilities() drivers.Capabilities {
	return drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt |
		drivers.CanSimulate | drivers.CanAnswerWrites
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return d.n.m.waiters.Await(d.n.m, d.n.id, c)
}
