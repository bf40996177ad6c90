// Package designtest is for tests of hardware designs: registers by name, memory, interrupts.
//
//	func testCopy(t *regress.T) error {
//		sys, err := designtest.Open(t, 1, 1<<20)
//		if err != nil {
//			return err
//		}
//		dma := sys.Node(0)
//		t.Rand.Read(dma.Memory()[:4096])
//		dma.Set("SRC_LO", 0).Set("DST_LO", 0x2000).Set("LENGTH", 4096).Set("CTRL.START", 1)
//		if err := sys.Until(dma.Interrupt(), 100_000); err != nil {
//			return err
//		}
//		return t.Same(dma.Memory()[0x2000:0x3000], dma.Memory()[:4096])
//	}
//
// Set and Get return no error, so that a sequence of accesses reads like the one in the data sheet.
// The first error of an access fails the test (see [regress.T.Fail]); accesses after it do nothing.
package designtest

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regmap"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A System is the design in simulated time: some nodes, joined by its network.
type System struct {
	drivers.Timed
	t *regress.T
	m *regmap.Map
	// posted has the nodes of this project's NIC with writes that Interrupt must wait for. A design
	// behind design: orders them itself.
	posted map[int]bool
}

// Open opens the device of the test. The runner closes it.
func Open(t *regress.T, nodes, memory int) (*System, error) {
	sys, err := t.Open(nodes, memory, nil)
	if err != nil {
		return nil, err
	}
	s := &System{Timed: sys, t: t, m: sys.Info().Registers}
	if s.m == nil {
		s.m, s.posted = regs.Map(), map[int]bool{}
	}
	return s, nil
}

// Node returns one instance of the design.
func (s *System) Node(n int) *Node { return &Node{sys: s, dev: s.Device(n), n: n} }

// A Node is one instance of the design as its software sees it.
type Node struct {
	sys *System
	dev drivers.Device
	n   int
}

// Device gives access by offset, and in the cases that Set and Get do not cover.
func (d *Node) Device() drivers.Device { return d.dev }

// Memory is the memory that the design reads and writes.
func (d *Node) Memory() []byte { return d.dev.Memory() }

// Set posts a write of a register by its name. With REGISTER.FIELD the other bits are written as
// they are read.
func (d *Node) Set(name string, v uint64) *Node {
	if d.sys.t.Failed() == nil {
		d.check(name, d.set(name, v))
	}
	return d
}

func (d *Node) set(name string, v uint64) error {
	off, field, err := d.sys.m.Find(name)
	if err != nil {
		return err
	}
	if field != 0 {
		old, err := d.dev.ReadReg(off)
		if err != nil {
			return err
		}
		v = field.In(old, v)
	}
	if d.sys.posted != nil {
		d.sys.posted[d.n] = true
	}
	return d.dev.WriteReg(off, v)
}

// flush waits until the NIC has performed the writes that were posted: a read is behind them.
func (d *Node) flush() error {
	if !d.sys.posted[d.n] {
		return nil
	}
	delete(d.sys.posted, d.n)
	_, err := d.dev.ReadReg(regs.Magic)
	return err
}

// Get reads a register or REGISTER.FIELD. After an error it returns 0.
func (d *Node) Get(name string) uint64 {
	if d.sys.t.Failed() != nil {
		return 0
	}
	v, err := d.get(name)
	d.check(name, err)
	return v
}

func (d *Node) get(name string) (uint64, error) {
	off, field, err := d.sys.m.Find(name)
	if err != nil {
		return 0, err
	}
	v, err := d.dev.ReadReg(off)
	if err == nil && field != 0 {
		v = field.Of(v)
	}
	return v, err
}

// Expect compares a register or field with a value.
func (d *Node) Expect(name string, expected uint64) error {
	found := d.Get(name)
	if err := d.sys.t.Failed(); err != nil {
		return err
	}
	if found != expected {
		return fmt.Errorf("node %d: %s is %#x, expected %#x", d.n, name, found, expected)
	}
	return nil
}

func (d *Node) check(name string, err error) {
	if err != nil {
		d.sys.t.Fail(fmt.Errorf("node %d: %s: %w", d.n, name, err))
	}
}

// A Condition is what Until waits for.
type Condition struct {
	text string
	wait func(end drivers.Cycle) (bool, error)
}

// Interrupt is true while an interrupt output of the node is asserted. It is ordered behind earlier
// writes: one that clears the interrupt has been performed before.
func (d *Node) Interrupt() Condition {
	return Condition{fmt.Sprintf("node %d: interrupt", d.n), func(end drivers.Cycle) (bool, error) {
		if err := d.flush(); err != nil {
			return false, err
		}
		var stop drivers.Stop
		for d.sys.ArmIRQ(d.n); d.sys.Now() < end; {
			if err := d.sys.Run(end, &stop); err != nil {
				return false, err
			}
			for _, f := range stop.Fired {
				if f.Kind == drivers.FiredIRQ && f.Node == d.n {
					return true, nil
				}
			}
		}
		return false, nil
	}}
}

// Equals is true when a register or field has a value. It reads the register again and again.
func (d *Node) Equals(name string, v uint64) Condition {
	return Condition{fmt.Sprintf("node %d: %s = %#x", d.n, name, v), func(end drivers.Cycle) (bool, error) {
		for {
			found, err := d.get(name)
			if err != nil || found == v || d.sys.Now() >= end {
				return err == nil && found == v, err
			}
		}
	}}
}

// Until lets time pass until a condition is true. It is an error if that takes more than most
// cycles, or if an access before it failed.
func (s *System) Until(c Condition, most drivers.Cycle) error {
	if err := s.t.Failed(); err != nil {
		return err
	}
	begin := s.Now()
	switch met, err := c.wait(begin + most); {
	case err != nil:
		return fmt.Errorf("%s: %w", c.text, err)
	case !met:
		return fmt.Errorf("%w: %s: not within %d cycles (cycle %d to %d)", ErrTimeout, c.text, most, begin, s.Now())
	}
	return nil
}

// ErrTimeout is the error of a condition that was not met in time.
var ErrTimeout = errors.New("timeout")

// Wait lets some cycles pass.
func (s *System) Wait(cycles drivers.Cycle) error {
	if err := s.t.Failed(); err != nil {
		return err
	}
	var stop drivers.Stop
	for end := s.Now() + cycles; s.Now() < end; {
		if err := s.Run(end, &stop); err != nil {
			return err
		}
	}
	return nil
}
