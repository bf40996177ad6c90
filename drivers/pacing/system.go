package pacing

import (
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System is a Timed whose callers may post any number of whole lines to the send windows. Lines
// of one process keep their order; as many as have entries are posted to the system below, the
// others wait here, so the NIC refuses none for want of an entry. Everything else is passed
// through, and the same calls give the same cycles. Callers must not use ArmPIO, nor the system
// below.
type System struct {
	drivers.Timed
	procs [][regs.VPIDs]process // by node
}

type process struct {
	Entries
	waiting []line
	depth   uint64 // entries of the window in use
	isArmed bool
}

type line struct {
	at   drivers.Cycle
	off  uint32
	data []byte
}

// NewSystem paces a system to which nothing was posted yet.
func NewSystem(sys drivers.Timed) *System {
	s := &System{Timed: sys, procs: make([][regs.VPIDs]process, sys.Info().Nodes)}
	for n := range s.procs {
		for v := range s.procs[n] {
			s.procs[n][v].depth = regs.VELOLines
		}
	}
	return s
}

// PostPIO posts a line, now or when there is an entry for it.
func (s *System) PostPIO(node int, at drivers.Cycle, off uint32, data []byte) {
	vpid := int(regs.Pio(off).SrcVPID())
	p := &s.procs[node][vpid]
	if regs.ForDescriptors(off) {
		p.depth = regs.RMADepth
	}
	p.waiting = append(p.waiting, line{at, off, slices.Clone(data)})
	s.feed(node, vpid)
}

// feed posts what has entries.
func (s *System) feed(node, vpid int) {
	p := &s.procs[node][vpid]
	for len(p.waiting) > 0 && p.HasRoom(s.Timed, node, vpid, 1, p.depth) {
		l := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.Posted++
		s.Timed.PostPIO(node, max(l.at, s.Now()), l.off, l.data)
	}
	if len(p.waiting) > 0 && !p.isArmed {
		p.isArmed = true
		p.Arm(s.Timed, node, vpid, 1, p.depth)
	}
}

// Run lets time pass; see drivers.Timed.
func (s *System) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	for {
		err := s.Timed.Run(deadline, stop)
		fed := false
		stop.Fired = slices.DeleteFunc(stop.Fired, func(f drivers.Fired) bool {
			if f.Kind != drivers.FiredPIO {
				return false
			}
			fed = true
			s.procs[f.Node][f.VPID].isArmed = false
			s.feed(f.Node, f.VPID)
			return true
		})
		if err != nil || len(stop.Fired) > 0 || !fed {
			stop.Idle = stop.Idle && !s.waits()
			return err
		}
	}
}

// waits: a line has no entry.
func (s *System) waits() bool {
	for n := range s.procs {
		for v := range s.procs[n] {
			if len(s.procs[n][v].waiting) > 0 {
				return true
			}
		}
	}
	return false
}

// Device is one node's NIC.
func (s *System) Device(node int) drivers.Device { return device{s.Timed.Device(node), s, node} }

type device struct {
	drivers.Device
	s    *System
	node int
}

func (d device) WritePIO(off uint32, line []byte) error {
	d.s.PostPIO(d.node, d.s.Now(), off, line)
	return nil
}

// PacesPIO: lines wait here.
func (d device) PacesPIO() bool { return true }
