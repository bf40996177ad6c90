// Package paced is a host whose processes wait for entries in their send windows: lines may be
// posted to a [System] without count, as software that knows how many it may post would bring them
// to the NIC.
//
// # What it promises
//
//   - Lines of one process keep their order. As many of them as have entries are with the NIC, the
//     others wait here, so none is refused for want of an entry, and those of one process wait for
//     no other's.
//   - All else is as in the drivers.Timed below; the same calls give the same cycles.
//
// # What the caller must do
//
// Post to the send windows through this System alone, and whole lines. ArmPIO is not for the
// caller.
package paced

import (
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System paces what is posted to the windows of another.
type System struct {
	drivers.Timed
	procs [][regs.VPIDs]process // by node
}

type process struct {
	lines  []line // that wait here
	posted uint64 // to the NIC
	limit  uint64 // lines that may be there at once
	armed  bool
}

type line struct {
	at   drivers.Cycle
	off  uint32
	data []byte
}

// New paces a system to which nothing was posted yet.
func New(sys drivers.Timed) *System {
	s := &System{Timed: sys, procs: make([][regs.VPIDs]process, sys.Info().Nodes)}
	for n := range s.procs {
		for v := range s.procs[n] {
			s.procs[n][v].limit = regs.VELOLines
		}
	}
	return s
}

// PostPIO posts a line, now or when there is an entry for it.
func (s *System) PostPIO(node int, at drivers.Cycle, off uint32, data []byte) {
	vpid := int(regs.Pio(off).SrcVPID())
	p := &s.procs[node][vpid]
	if regs.ForDescriptors(off) {
		p.limit = regs.RMADepth
	}
	p.lines = append(p.lines, line{at, off, slices.Clone(data)})
	s.feed(node, vpid)
}

// feed posts what has entries.
func (s *System) feed(node, vpid int) {
	p := &s.procs[node][vpid]
	for len(p.lines) > 0 && p.posted-s.PIOTaken(node, vpid) < p.limit {
		l := p.lines[0]
		p.lines = p.lines[1:]
		p.posted++
		s.Timed.PostPIO(node, max(l.at, s.Now()), l.off, l.data)
	}
	if len(p.lines) > 0 && !p.armed {
		p.armed = true
		s.ArmPIO(node, vpid, p.posted-p.limit+1)
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
			s.procs[f.Node][f.VPID].armed = false
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
			if len(s.procs[n][v].lines) > 0 {
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
