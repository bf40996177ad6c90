package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// BudgetConfig configures the measurement of one packet.
type BudgetConfig struct {
	Device   string
	Size     int // bytes of the packet
	Hops     int // links between the two nodes
	Cold     bool
	Cost     host.Cost
	Building func(what string)
}

// A Budget is the time of one packet on an idle network, stage by stage.
type Budget struct {
	Device  string `json:"device"`
	Hops    int    `json:"hops"`
	Bytes   int    `json:"bytes"`
	Cold    bool   `json:"cold"` // no translation is cached
	ClockPS int    `json:"clock_ps"`
	Hash    string `json:"rtl_hash"`
	Trips   []Trip `json:"trips"`
}

// A Trip is the latency of one packet. Its stages add up to Total, and so do its classes.
type Trip struct {
	Name    string          `json:"name"`
	Stages  []capture.Stage `json:"stages"`
	Classes []ClassTime     `json:"classes"`
	Total   drivers.Time    `json:"total_ps"`
}

// ClassTime is the sum of the stages of a class.
type ClassTime struct {
	Class capture.Class `json:"class"`
	Time  drivers.Time  `json:"ps"`
}

func (c *BudgetConfig) validate() error {
	switch {
	case c.Size < 1 || c.Size > regs.RMAMTU:
		return fmt.Errorf("%w: packet of %d bytes: expected 1 to %d, one fragment of an RMA put (VELO: up to %d)",
			drivers.ErrConfig, c.Size, regs.RMAMTU, regs.VELOPayload)
	case c.Hops < 1 || c.Hops >= regs.NodeMax:
		return fmt.Errorf("%w: %d hops: expected 1 to %d", drivers.ErrConfig, c.Hops, regs.NodeMax-1)
	}
	return nil
}

// uri returns the device with its nodes in a row of the requested number of hops.
func (c *BudgetConfig) uri() string {
	if c.Hops == 1 { // two nodes always form a row
		return c.Device
	}
	sep := "?"
	if strings.Contains(c.Device, "?") {
		sep = "&"
	}
	return fmt.Sprintf("%s%sdims=%dx1", c.Device, sep, c.Hops+1)
}

// MeasureBudget sends one VELO packet, unless it is too long for one, and one RMA put on an idle
// network, and divides their latency into stages.
func MeasureBudget(ctx context.Context, c BudgetConfig) (b *Budget, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	r := &budgetRig{c: c, flight: &capture.Flight{}}
	sys, err := registry.Open(ctx, c.uri(), drivers.Options{
		Nodes: c.Hops + 1, MemoryBytes: budgetMemory, Trace: r.flight, Progress: c.Building,
	})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { sys.Close() })
	defer func() {
		stop()
		err = errors.Join(err, sys.Close())
	}()
	if err := r.open(sys); err != nil {
		return nil, err
	}
	info := sys.Info()
	b = &Budget{Device: info.URI, Hops: c.Hops, Bytes: c.Size, Cold: c.Cold, ClockPS: info.ClockPS, Hash: info.Hash}
	for _, way := range []struct {
		name string
		most int
		rma  bool
	}{{"VELO packet", regs.VELOPayload, false}, {"RMA put", regs.RMAMTU, true}} {
		if c.Size > way.most {
			continue
		}
		t, err := r.measure(way.name, way.rma)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		b.Trips = append(b.Trips, *t)
	}
	return b, nil
}

// Layout of a node's memory.
const (
	budgetMailbox = 0x0000
	budgetSlots   = 16
	budgetRing    = 0x1000
	budgetNotis   = 16
	budgetWatched = 0x2000 // mailbox and ring are below
	budgetData    = 0x2000
	budgetATU     = 0x4000
	budgetMemory  = 0x10000
)

// budgetRig is a process on the first and one on the last node.
type budgetRig struct {
	c      BudgetConfig
	flight *capture.Flight
	sys    drivers.Timed
	kernel *vtime.Kernel
	proc   [2]*vtime.Proc
	ep     [2]*velo.Endpoint
	port   [2]*rma.Port
	nla    [2]rma.NLA
	at     [2]velo.Addr
	stop   drivers.Stop
}

func (r *budgetRig) open(sys drivers.System) error {
	timed, ok := sys.(drivers.Timed)
	if !ok {
		return fmt.Errorf("%w: %s has no simulated time, which the measurement needs", drivers.ErrNotSupported, r.c.Device)
	}
	cost := r.c.Cost
	r.sys = timed
	r.kernel = vtime.New(timed, vtime.Config{PIOWrite: cost.PIOWrite, RegWrite: cost.RegWrite, Wake: cost.Wake, PIODepth: cost.PIODepth})
	r.at = [2]velo.Addr{{Node: 0, VPID: 0}, {Node: r.c.Hops, VPID: 0}}
	for i, a := range r.at {
		p := r.kernel.Add(a.Node, a.VPID)
		r.proc[i] = p
		if err := p.WatchArrivals(budgetMailbox, budgetWatched); err != nil {
			return err
		}
		ep, err := velo.Open(p.Device(), budgetMailbox, i, velo.NewDirectory(r.at[:]), velo.Config{Flow: velo.None, Slots: budgetSlots})
		if err != nil {
			return err
		}
		r.ep[i] = ep
		if err := r.openRMA(i, a); err != nil {
			return err
		}
	}
	return r.settle()
}

func (r *budgetRig) openRMA(i int, a velo.Addr) error {
	dev := r.proc[i].Device()
	atu, err := rma.NewATU(dev, budgetATU, budgetMemory-budgetATU)
	if err != nil {
		return err
	}
	r.port[i], err = rma.Open(dev, a.VPID, a.Node, rma.Config{NotiSlots: budgetNotis, Outstanding: 4, NotiBase: budgetRing, ATU: atu})
	if err != nil {
		return err
	}
	region, err := r.port[i].Register(budgetData, regs.RMAMTU, rma.ReadWrite)
	if err != nil {
		return err
	}
	r.nla[i] = region.NLA(budgetData)
	return nil
}

// settle waits until the network is idle.
func (r *budgetRig) settle() error {
	for {
		if err := r.sys.Run(drivers.Forever, &r.stop); err != nil || len(r.stop.Fired) == 0 {
			return err
		}
	}
}

// measure sends two packets, the first as warm-up, and measures the second.
func (r *budgetRig) measure(name string, isRMA bool) (*Trip, error) {
	t := capture.Trip{RMA: isRMA, Src: r.at[0].Node, Dst: r.at[1].Node, ClockPS: r.sys.Info().ClockPS}
	send := r.packet
	t.Ring = capture.Range{From: budgetMailbox, Bytes: budgetSlots * regs.SlotBytes}
	if isRMA {
		send = r.put
		t.Ring = capture.Range{From: budgetRing, Bytes: budgetNotis * regs.NotiBytes}
		t.Source = capture.Range{From: budgetData, Bytes: regs.RMAMTU}
		t.Target = t.Source
	}
	if !r.c.Cold {
		if err := r.send(&t, send); err != nil {
			return nil, err
		}
	}
	r.flight.Keep()
	if err := r.send(&t, send); err != nil {
		return nil, err
	}
	stages, err := r.flight.Stages(t)
	if err != nil {
		return nil, err
	}
	return newTrip(name, stages, t.End-t.Start), nil
}

// send runs one packet from call to receipt and records both times.
func (r *budgetRig) send(t *capture.Trip, how func(t *capture.Trip, i int) error) error {
	if err := r.kernel.Run(func(i int) error { return how(t, i) }); err != nil {
		return err
	}
	return r.settle()
}

// payload returns the packet's bytes, different for each packet.
func (r *budgetRig) payload() []byte {
	b := make([]byte, r.c.Size)
	for i := range b {
		b[i] = byte(i) ^ byte(r.sys.Now())
	}
	return b
}

func (r *budgetRig) packet(t *capture.Trip, i int) error {
	if i == 0 {
		t.Start = r.proc[0].Now()
		return r.ep[0].Send(1, r.payload())
	}
	var pkt velo.Packet
	return r.await(t, func() (bool, error) {
		ok, err := r.ep[1].Poll(&pkt)
		if ok && len(pkt.Payload) != r.c.Size {
			err = fmt.Errorf("a packet of %d bytes arrived, expected %d", len(pkt.Payload), r.c.Size)
		}
		return ok, err
	}, r.c.Cost.Take+r.c.Cost.CopyByte*drivers.Time(r.c.Size))
}

func (r *budgetRig) put(t *capture.Trip, i int) error {
	from, to := r.proc[0].Device().Memory()[budgetData:][:r.c.Size], r.proc[1].Device().Memory()[budgetData:][:r.c.Size]
	var ev rma.Event
	if i == 0 {
		copy(from, r.payload())
		t.Start = r.proc[0].Now()
		_, err := r.port[0].Put(rma.Peer{Node: r.at[1].Node, VPID: r.at[1].VPID}, r.nla[0], r.nla[1], r.c.Size, rma.Completer)
		return err
	}
	return r.await(t, func() (bool, error) {
		ok, err := r.port[1].Poll(&ev)
		switch {
		case !ok || err != nil:
			return ok, err
		case ev.Err != nil:
			return true, ev.Err
		case !bytes.Equal(from, to):
			return true, errors.New("the bytes at the target differ from those at the origin")
		}
		return true, nil
	}, r.c.Cost.Take)
}

// await polls as a rank does: it sleeps while there is nothing to receive.
func (r *budgetRig) await(t *capture.Trip, poll func() (bool, error), take drivers.Time) error {
	p := r.proc[1]
	for {
		ok, err := poll()
		if err != nil {
			return err
		}
		if ok {
			p.Spend(take)
			t.End = p.Now()
			return nil
		}
		if err := p.Err(); err != nil {
			return err
		}
		if p.Sync() {
			continue
		}
		p.WaitArrival(drivers.Never)
		p.Spend(r.c.Cost.Poll)
	}
}

func newTrip(name string, stages []capture.Stage, total drivers.Time) *Trip {
	t := &Trip{Name: name, Stages: stages, Total: total}
	for _, c := range capture.Classes {
		sum := ClassTime{Class: c}
		for _, s := range stages {
			if s.Class == c {
				sum.Time += s.Time
			}
		}
		t.Classes = append(t.Classes, sum)
	}
	return t
}
