package nic

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Config says what to build.
type Config struct {
	Info    drivers.Info // Nodes and Dims count
	VCDepth int          // as PARAMS shows it
	Ports   int
	Torus   bool
	Memory  int // bytes per node
	Trace   drivers.TraceSink
	Timing  Timing
}

// A Machine is the NICs of all nodes. It implements drivers.Timed once it has a
// network (Connect).
type Machine struct {
	info    drivers.Info
	cfg     Config
	net     Network
	now     drivers.Cycle // the last cycle that was performed
	nodes   []node
	wheel   wheel
	pool    pool
	watches []watch
	fired   []drivers.Fired // since the last report
	errs    []error
	closed  bool
	tracer
}

var _ drivers.Timed = (*Machine)(nil)

// A unitID names what works in a cycle; within a cycle in this order: what is read
// was there before, what is written counts from the next cycle on.
type unitID uint8

const (
	unitRead   unitID = iota // register read
	unitPIO                  // send windows
	unitSlot                 // a slot is in memory
	unitCommit               // and acknowledged
	unitCheck                // the completer looks at its packet
	unitRMA
	unitWrite // register write
	units
)

// New makes a machine; it needs a network before time may pass.
func New(cfg Config) *Machine {
	m := &Machine{info: cfg.Info, cfg: cfg, nodes: make([]node, cfg.Info.Nodes), wheel: newWheel(cfg.Info.Nodes), tracer: tracer{sink: cfg.Trace}}
	for i := range m.nodes {
		n := &m.nodes[i]
		*n = node{m: m, id: i, mem: make([]byte, cfg.Memory), regFree: cfg.Timing.Clear}
		for v := range n.armPIO {
			n.armPIO[v] = unarmed
		}
		n.reset()
	}
	return m
}

// Connect gives the machine its network.
func (m *Machine) Connect(net Network) { m.net = net }

// Info says what this is.
func (m *Machine) Info() drivers.Info { return m.info }

// SetURI says what opens the same again.
func (m *Machine) SetURI(uri string) { m.info.URI = uri }

// Now is the current cycle.
func (m *Machine) Now() drivers.Cycle { return m.now }

// Device returns node's NIC.
func (m *Machine) Device(node int) drivers.Device { return &device{&m.nodes[node]} }

// Close ends the use of the machine.
func (m *Machine) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	return m.flush(drivers.Forever)
}

// PostReg posts a register write.
func (m *Machine) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	m.nodes[node].postReg(regOp{at: at, off: off, v: v})
}

// PostPIO posts a line to the send window.
func (m *Machine) PostPIO(node int, at drivers.Cycle, off uint32, data []byte) {
	h := m.pool.get()
	p := m.pool.at(h)
	n := copy(p.body[:], data)
	clear(p.body[n : (n+7)&^7])
	m.nodes[node].postLine(line{at: max(at, m.now), off: off, packet: h, n: uint16(len(data))})
}

// PIOTaken counts lines that the NIC took or refused.
func (m *Machine) PIOTaken(node, vpid int) uint64 { return m.nodes[node].taken[vpid] }

// Run lets time pass; see drivers.Timed.
func (m *Machine) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: m.now, Fired: stop.Fired[:0]}
	if m.closed {
		return drivers.ErrClosed
	}
	for len(m.fired) == 0 && len(m.errs) == 0 && m.advance(deadline) {
	}
	stop.Now = m.now
	shown := m.now // more may come in this cycle
	if stop.Quiet = m.next() == drivers.Forever; stop.Quiet {
		shown++
	}
	if err := m.flush(shown); err != nil {
		return err
	}
	if len(m.fired) > 1 {
		slices.SortFunc(m.fired, func(a, b drivers.Fired) int {
			return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Watch, b.Watch), cmp.Compare(a.VPID, b.VPID))
		})
	}
	stop.Fired = append(stop.Fired, m.fired...)
	m.fired = m.fired[:0]
	stop.Idle = stop.Quiet && m.empty()
	return m.refusals()
}

// empty: nothing is posted, under way or buffered.
func (m *Machine) empty() bool {
	if m.pool.used > 0 {
		return false
	}
	for i := range m.nodes {
		if !m.nodes[i].empty() {
			return false
		}
	}
	return true
}

// next is the first cycle in which anything happens by itself.
func (m *Machine) next() drivers.Cycle {
	return min(m.wheel.next(m.now), m.net.NextEvent(m.now))
}

// advance performs the next cycle in which something happens, if that is not behind
// the deadline; otherwise it moves time to the deadline.
func (m *Machine) advance(deadline drivers.Cycle) bool {
	t := m.next()
	if t > deadline || t == drivers.Forever {
		if deadline == drivers.Forever {
			deadline = m.drained()
		}
		m.now = max(m.now, deadline)
		return false
	}
	m.now = t
	due := m.wheel.take(t)
	for i := range due {
		for set := due[i]; set != 0; set &= set - 1 {
			m.nodes[i%m.wheel.words<<6+bits.TrailingZeros64(set)].work(unitID(i / m.wheel.words))
		}
		due[i] = 0
	}
	m.net.Step(t)
	return true
}

// drained is when the last write buffer of a limiter is empty; before that the
// hardware is not quiet.
func (m *Machine) drained() (at drivers.Cycle) {
	for i := range m.nodes {
		for k := range m.nodes[i].nvm {
			at = max(at, m.nodes[i].nvm[k].empty())
		}
	}
	return at
}

func (n *node) work(u unitID) {
	switch u {
	case unitRead, unitWrite:
		n.access(u)
	case unitPIO:
		n.stepPIO()
	case unitSlot:
		n.slotWritten()
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
	n.m.wheel.wake(n.m.now, max(at, n.m.now+1), u, n.id)
}

// read performs a register read and lets its time pass.
func (m *Machine) read(n *node, off uint32) (uint64, error) {
	if m.closed {
		return 0, drivers.ErrClosed
	}
	n.answer = answer{}
	n.postReg(regOp{at: m.now, off: off, read: true})
	for !n.answer.done {
		m.advance(drivers.Forever)
	}
	for end := m.now + 1; m.advance(end); { // the answer crosses the bus
	}
	if err := m.flush(m.now); err != nil {
		return 0, err
	}
	return n.answer.v, errors.Join(m.refusals(), n.answer.err)
}

// refusals are the errors since the last report.
func (m *Machine) refusals() error {
	if len(m.errs) == 0 {
		return nil
	}
	err := errors.Join(m.errs...)
	m.errs = m.errs[:0]
	return err
}

func (m *Machine) fail(err error) { m.errs = append(m.errs, err) }

// params is what PARAMS reads.
func (m *Machine) params() uint64 {
	set := func(b regs.Bits, v int) uint64 { return uint64(v) << b.LSB() & b.Mask() }
	d, torus := m.info.Dims, uint64(0)
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
	if d.n.m.closed {
		return drivers.ErrClosed
	}
	d.n.m.PostReg(d.n.id, d.n.m.now, off, v)
	return nil
}

func (d *device) WritePIO(off uint32, data []byte) error {
	if d.n.m.closed {
		return drivers.ErrClosed
	}
	d.n.m.PostPIO(d.n.id, d.n.m.now, off, data)
	return nil
}

func (d *device) Memory() []byte { return d.n.mem }
