package rtl

import (
	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System is the mesh. Time and conditions are those of the session.
type System struct {
	*bridge.Session
	info    drivers.Info
	devices []device
	waiters drivers.Waiters
	pcie    bool // bus=pcie
	// segments is the placement of each node's memory; nil: at address 0.
	segments [][]drivers.Segment
}

var _ drivers.Timed = (*System)(nil)

func newSystem(session *bridge.Session, r *request, model *build.Model) *System {
	nodes := r.cfg.Dims[0] * r.cfg.Dims[1] * r.cfg.Dims[2]
	s := &System{
		Session: session,
		info: drivers.Info{
			URI: machine.URI("rtl", r.cfg.Dims, r.keys), Backend: "rtl", Nodes: nodes, VPIDs: machine.VPIDs, Dims: r.cfg.Dims, Torus: r.spec.Torus, ClockPS: regs.ClockPS,
			DescHash: model.DescHash, Hash: model.HashText(), Tool: model.Tool,
		},
		devices: make([]device, nodes),
		pcie:    r.spec.PCIe, segments: r.cfg.Segments,
	}
	for n := range s.devices {
		s.devices[n] = device{s, n}
	}
	return s
}

// Info says what was opened.
func (s *System) Info() drivers.Info { return s.info }

// Device is one node's NIC. Accesses are posted for the current cycle.
func (s *System) Device(node int) drivers.Device { return s.devices[node] }

// Run advances time; see drivers.Timed.
func (s *System) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	err := s.Session.Run(deadline, stop)
	s.waiters.NoteStop(stop)
	return err
}

type device struct {
	sys  *System
	node int
}

func (d device) ReadReg(off uint32) (uint64, error) { return d.sys.ReadReg(d.node, off) }

func (d device) WriteReg(off uint32, v uint64) error {
	d.sys.PostReg(d.node, d.sys.Now(), off, v)
	return d.sys.Err()
}

func (d device) WritePIO(off uint32, line []byte) error {
	if err := d.sys.CheckPIO(d.node, off, line); err != nil {
		return err
	}
	d.sys.PostPIO(d.node, d.sys.Now(), off, line)
	return d.sys.Err()
}

func (d device) Memory() []byte { return d.sys.Memory(d.node) }

// Now lets a poller detect whether the clock advances (drivers/stall).
func (d device) Now() drivers.Cycle { return d.sys.Now() }

func (d device) Segments() []drivers.Segment {
	if d.sys.segments == nil {
		return nil
	}
	return d.sys.segments[d.node]
}

func (d device) Capabilities() drivers.Capabilities {
	can := drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanSimulate
	if d.sys.pcie {
		return can // writes are posted
	}
	return can | drivers.CanAnswerWrites
}

func (d device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return d.sys.waiters.Await(d.sys, d.node, c)
}
