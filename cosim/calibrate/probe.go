package calibrate

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	memory   = 1 << 17
	boxSlots = 64
)

// A probe is an idle system of two nodes, and what its trace has shown since.
type probe struct {
	joined bool // see join
	m      drivers.Timed
	events []drivers.TraceEvent
}

// A tracePoint is where trace events come from.
type tracePoint struct {
	node  int
	point uint8
}

var pointNames = map[uint8]string{
	drivers.PointPIO: "a line taken", drivers.PointInject: "a flit sent", drivers.PointEject: "a flit received", drivers.PointSlot: "a slot written",
}

func (p tracePoint) String() string { return fmt.Sprintf("%s at node %d", pointNames[p.point], p.node) }

// Trace implements drivers.TraceSink.
func (p *probe) Trace(events []drivers.TraceEvent) error {
	p.events = append(p.events, events...)
	return nil
}

// onProbe runs an experiment on the device with a further key.
func onProbe(ctx context.Context, c *Config, key string, run func(*probe) error) error {
	p, uri := &probe{}, c.Device
	switch {
	case key == "":
	case strings.Contains(uri, "?"):
		uri += "&" + key
	default:
		uri += "?" + key
	}
	sys, err := registry.Open(ctx, uri, drivers.Options{Nodes: 2, MemoryBytes: memory, Trace: p, Progress: c.Building, Log: c.Log})
	if err != nil {
		return err
	}
	defer sys.Close()
	m, ok := sys.(drivers.Timed)
	if !ok {
		return fmt.Errorf("%w: %s has no clock to measure with, which rtl: and model: have", drivers.ErrNotSupported, c.Device)
	}
	p.m = m
	if err := run(p); err != nil {
		return err
	}
	return sys.Close()
}

// join puts process 0 of all nodes into one domain, once: to write it again would shut the process.
func (p *probe) join() {
	if p.joined {
		return
	}
	p.joined = true
	for n := range p.m.Info().Nodes {
		p.m.PostReg(n, 0, regs.PDID(0), process.DefaultDomain)
	}
}

// send posts n packets of so many bytes from node 0 to mailbox 0 of a node, which has
// so many slots, and lets everything come to rest.
func (p *probe) send(dst, n, bytes, slots int) error {
	p.join()
	for i := range p.m.Info().Nodes {
		p.m.PostReg(i, 0, regs.MboxBase(0), 0)
		p.m.PostReg(i, 0, regs.MboxSlots(0), uint64(slots))
		p.m.PostReg(i, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
	}
	var stop drivers.Stop
	if err := p.m.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	pio := regs.PioFields{DstNode: uint8(dst), Length: uint8(bytes)}
	for range n {
		p.m.PostPIO(0, p.m.Now(), uint32(pio.Pack()), make([]byte, bytes))
	}
	return p.m.Run(drivers.Forever, &stop)
}

// at lists the cycles of the events at a trace point, in order.
func (p *probe) at(at tracePoint) (cycles []drivers.Cycle) {
	for i := range p.events {
		if e := &p.events[i]; e.Point == at.point && int(e.Node) == at.node {
			cycles = append(cycles, e.Cycle)
		}
	}
	return cycles
}
