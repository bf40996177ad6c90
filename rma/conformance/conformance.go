// Package conformance verifies that a machine implements RMA as rma/README.md specifies. The same
// cases run on every implementation of the NIC: the ideal model, RTL, a board.
//
// A case leaves no state that a later case on a fresh machine could observe. The same seed gives
// the same operations. A failure states what was expected. The caller opens a machine with the
// nodes and memory that a [Case] requires, and prints the seed of a failure.
package conformance

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/rma"
)

// A Case tests one property.
type Case struct {
	Name   string
	Doc    string
	Nodes  int
	Memory int  // bytes per node
	Slow   bool // takes over a million cycles
	run    func(r *rig)
}

// Cases returns all cases.
func Cases() []Case {
	return []Case{
		{"operations", "every operation moves its bytes and raises the requested events", 2, 2 << 20, false, operations},
		{"sizes", "puts and gets of all sizes at all alignments move exactly their bytes", 2, 2 << 20, false, func(r *rig) { sizes(r, 1<<16) }},
		{"large", "puts and gets of up to 8 MB", 2, 20 << 20, true, func(r *rig) { sizes(r, rma.MaxBytes) }},
		{"boundaries", "every operation at the borders of pages, segments and tables, at every alignment", 2, 2 << 20, false, boundaries},
		{"outstanding", "the number of outstanding operations is bounded, and they never fill the own ring", 2, 2 << 20, false, outstanding},
		{"full-ring", "a ring that peers fill stalls them and loses nothing", 3, 2 << 20, false, fullRing},
		{"faults", "each fault is reported once, at the origin, and no byte moves", 2, 2 << 20, false, faults},
		{"protection", "a process reaches its own memory and what is registered for it, nothing else", 2, 2 << 20, false, protection},
		{"unmap", "a page is unreachable after unmap and fence, and can be mapped again", 2, 2 << 20, false, unmap},
		{"traffic", "random operations among six processes leave memory as their order implies", 3, 2 << 20, false, traffic},
	}
}

// Run runs the case on a fresh machine.
func (c Case) Run(sys drivers.Timed, seed uint64) (err error) {
	defer func() {
		if f, ok := recover().(failure); ok {
			err = fmt.Errorf("rma/%s: %w", c.Name, f.error)
		}
	}()
	r := &rig{Timed: sys, seed: seed}
	for node := range c.Nodes {
		a, err := rma.NewATU(sys.Device(node), atuAt, atuBytes)
		r.must(err)
		r.atus = append(r.atus, a)
	}
	c.run(r)
	return nil
}

// A failure is the panic value that ends a case.
type failure struct{ error }

const (
	ringsAt  = 0x1000 // ring of VPID v: one page each
	atuAt    = 0x20000
	atuBytes = 0x10000
	dataAt   = 1 << 20 // memory from here on belongs to the cases
)

// rig is a machine with an ATU per node and ports for some VPIDs.
type rig struct {
	drivers.Timed
	seed  uint64
	stop  drivers.Stop
	atus  []*rma.ATU
	ports []*rma.Port
}

func (r *rig) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func (r *rig) check(ok bool, format string, args ...any) {
	if !ok {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// open opens a port with the given number of outstanding operations and of ring entries.
func (r *rig) open(at rma.Peer, outstanding, slots int) *rma.Port {
	p, err := rma.Open(r.Device(at.Node), at.VPID, at.Node, rma.Config{
		NotiSlots: slots, Outstanding: outstanding, NotiBase: ringsAt + uint64(at.VPID)<<12, ATU: r.atus[at.Node],
	})
	r.must(err)
	r.ports = append(r.ports, p)
	return p
}

// quiet runs the machine until it is quiescent.
func (r *rig) quiet() {
	r.must(r.Run(drivers.Forever, &r.stop))
	r.check(r.stop.Quiet, "the machine stopped at cycle %d, expected to be quiescent", r.stop.Now)
}

func (r *rig) mem(node int) []byte { return r.Device(node).Memory() }

func (r *rig) reg(node int, off uint32) uint64 {
	v, err := r.Device(node).ReadReg(off)
	r.must(err)
	return v
}

func (r *rig) region(p *rma.Port, off, n uint64, want rma.Rights) *rma.Region {
	g, err := p.Register(off, n, want)
	r.must(err)
	return g
}

// event returns the next event; none is a failure.
func (r *rig) event(p *rma.Port, what string) rma.Event {
	var ev rma.Event
	ok, err := p.Poll(&ev)
	r.must(err)
	r.check(ok, "%s: expected an event, found none", what)
	return ev
}

func (r *rig) nothing(p *rma.Port, what string) {
	var ev rma.Event
	ok, err := p.Poll(&ev)
	r.must(err)
	r.check(!ok, "%s: expected no event, found %+v", what, ev)
}

// fault requires err to be the given FaultError.
func (r *rig) fault(err error, want rma.FaultError, what string) {
	var f *rma.FaultError
	r.check(errors.As(err, &f), "%s: expected a fault, found %v", what, err)
	r.check(*f == want, "%s: expected fault %+v, found %+v", what, want, *f)
}

// same requires equal bytes and reports the first difference.
func (r *rig) same(want, got []byte, what string) {
	if bytes.Equal(want, got) {
		return
	}
	for i := range want {
		r.check(want[i] == got[i], "%s: byte %d of %d is 0x%02x, expected 0x%02x", what, i, len(want), got[i], want[i])
	}
}

// pattern fills b with bytes that depend on their offset and on salt.
func pattern(b []byte, salt int) {
	for i := range b {
		b[i] = byte(i*7+i>>8*13+salt*31) | 1
	}
}
