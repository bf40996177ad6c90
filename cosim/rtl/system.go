package rtl

import (
	"github.com/nicloop/nicloop/cosim/bridge"
	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System is the mesh; time and conditions are the session's.
type System struct {
	*bridge.Session
	info    drivers.Info
	devices []device
}

var _ drivers.Timed = (*System)(nil)

func newSystem(session *bridge.Session, r *request, model *build.Model) *System {
	nodes := r.cfg.Dims[0] * r.cfg.Dims[1] * r.cfg.Dims[2]
	s := &System{
		Session: session,
		info: drivers.Info{
			URI: r.uri(), Backend: "rtl", Nodes: nodes, VPIDs: build.VPIDs, Dims: r.cfg.Dims, ClockPS: regs.ClockPS,
			DescHash: model.DescHash, Hash: model.HashText(), Tool: model.Tool,
		},
		devices: make([]device, nodes),
	}
	for n := range s.devices {
		s.devices[n] = device{session, n}
	}
	return s
}

// Info says what was opened.
func (s *System) Info() drivers.Info { return s.info }

// Device is one node's NIC: accesses are posted for now.
func (s *System) Device(node int) drivers.Device { return s.devices[node] }

type device struct {
	session *bridge.Session
	node    int
}

func (d device) ReadReg(off uint32) (uint64, error) { return d.session.ReadReg(d.node, off) }

func (d device) WriteReg(off uint32, v uint64) error {
	d.session.PostReg(d.node, d.session.Now(), off, v)
	return d.session.Err()
}

func (d device) WritePIO(off uint32, line []byte) error {
	if err := d.session.CheckPIO(d.node, off, line); err != nil {
		return err
	}
	d.session.PostPIO(d.node, d.session.Now(), off, line)
	return d.session.Err()
}

func (d device) Memory() []byte { return d.session.Memory(d.node) }
