package regress

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// overLine makes a board behind a serial line what directed tests take: a system in which time can
// be let pass. It passes by itself there, and much more of it than a packet needs while a register
// is read; so Run looks at what the NICs hold until that is twice the same. What NICs have written
// to mailboxes since is fetched then. Nothing happens at a cycle that anybody has asked for, so it
// is for tests tagged [Line] alone.
type overLine struct {
	drivers.System
	ctx     context.Context
	now     drivers.Cycle
	refused error  // by the last window or register that was written
	depth   uint64 // entries of a channel
	boxes   map[box]*fetched
	posted  [maxLineNodes][regs.VPIDs]uint64 // lines
	entries []takenEntries
	irqs    []int // nodes whose interrupt line somebody waits for
}

// takenEntries is that a process has had so many lines taken.
type takenEntries struct {
	node, vpid int
	count      uint64
}

// A box is one mailbox.
type box struct {
	node int
	vpid uint8
}

// fetched is how far it was read out of the board.
type fetched struct{ base, slots, wp uint64 }

// memoryReader is a device whose Memory is a copy.
type memoryReader interface {
	ReadMemory(ctx context.Context, off, n uint64) error
}

var errNoCycles = fmt.Errorf("%w: nothing happens at a cycle that was asked for", drivers.ErrNotSupported)

// openLine is that of a system whose devices keep their memory to themselves; ok is false of any
// other.
func openLine(ctx context.Context, sys drivers.System) (drivers.Timed, bool) {
	if sys.Info().Nodes > maxLineNodes {
		return nil, false
	}
	for n := range sys.Info().Nodes {
		if _, ok := sys.Device(n).(memoryReader); !ok {
			return nil, false
		}
	}
	params, err := sys.Device(0).ReadReg(regs.Params)
	o := &overLine{System: sys, ctx: ctx, boxes: map[box]*fetched{}, depth: regs.ParamsVCDepth.Of(params)}
	o.keep(err)
	return o, true
}

func (o *overLine) Now() drivers.Cycle { return o.now }

// Device is one node's NIC; what its registers say of mailboxes is noted.
func (o *overLine) Device(node int) drivers.Device { return lineDevice{o.System.Device(node), o, node} }

func (o *overLine) PostReg(node int, _ drivers.Cycle, off uint32, v uint64) {
	o.keep(o.Device(node).WriteReg(off, v))
}

func (o *overLine) PostPIO(node int, _ drivers.Cycle, off uint32, line []byte) {
	o.posted[node][regs.Pio(off).SrcVPID()]++
	o.keep(o.System.Device(node).WritePIO(off, line))
}

// keep has the next Run report what a posted write came to, as elsewhere.
func (o *overLine) keep(err error) {
	if err != nil && o.refused == nil {
		o.refused = err
	}
}

// PIOTaken: what was refused needs no entry, and of the rest LEVEL says what waits.
func (o *overLine) PIOTaken(node, vpid int) uint64 {
	level, err := o.System.Device(node).ReadReg(regs.Level(uint8(vpid)))
	o.keep(err)
	return o.posted[node][vpid] - regs.LevelLines.Of(level)
}

func (o *overLine) Watch(int, uint64, uint64) (drivers.WatchID, error) { return 0, errNoCycles }
func (o *overLine) Arm(drivers.WatchID)                                {}
func (o *overLine) ArmIRQ(node int)                                    { o.irqs = append(o.irqs, node) }
func (o *overLine) ArmPIO(node, vpid int, count uint64) {
	o.entries = append(o.entries, takenEntries{node, vpid, count})
}

// Run lets time pass until something that was armed is so, or nothing changes any more. A posted
// access that was refused is its error.
func (o *overLine) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Fired: stop.Fired[:0]}
	if deadline != drivers.Forever {
		return errNoCycles
	}
	var before levels
	for !stop.Quiet && len(stop.Fired) == 0 && o.refused == nil {
		now, err := o.look()
		if err != nil {
			return err
		}
		stop.Quiet, stop.Idle = now == before, now.idle(o.Info().Nodes, o.depth)
		before = now
		if err := o.fire(stop); err != nil {
			return err
		}
	}
	if err := o.refused; err != nil {
		o.refused = nil
		return err
	}
	cycles, err := o.System.Device(0).ReadReg(regs.Cycles)
	o.now, stop.Now = drivers.Cycle(cycles), drivers.Cycle(cycles)
	return errors.Join(err, o.fetch())
}

// levels are what two NICs hold and have had.
type levels [maxLineNodes]struct{ tx, rx, came uint64 }

const maxLineNodes = 2

// idle: nothing waits in them, nor holds entries of their routers, which are depth per channel.
func (l *levels) idle(nodes int, depth uint64) bool {
	for _, n := range l[:nodes] {
		full := regs.TXLevelCredits0.Of(n.tx) == depth && regs.TXLevelCredits1.Of(n.tx) == depth && regs.TXLevelCredits2.Of(n.tx) == depth
		if !full || regs.TXLevelLines.Of(n.tx) != 0 || n.rx != 0 {
			return false
		}
	}
	return true
}

func (o *overLine) look() (l levels, err error) {
	for n := range o.Info().Nodes {
		for _, r := range []struct {
			off  uint32
			into *uint64
		}{{regs.TXLevel, &l[n].tx}, {regs.RXLevel, &l[n].rx}, {regs.RXPackets, &l[n].came}} {
			if *r.into, err = o.System.Device(n).ReadReg(r.off); err != nil {
				return l, err
			}
		}
	}
	return l, nil
}

// fire tells what of the armed is so.
func (o *overLine) fire(stop *drivers.Stop) (err error) {
	o.entries = slices.DeleteFunc(o.entries, func(e takenEntries) bool {
		there := o.PIOTaken(e.node, e.vpid) >= e.count
		if there {
			stop.Fired = append(stop.Fired, drivers.Fired{Kind: drivers.FiredPIO, Node: e.node, VPID: e.vpid})
		}
		return there
	})
	o.irqs = slices.DeleteFunc(o.irqs, func(node int) bool {
		status, e1 := o.System.Device(node).ReadReg(regs.IRQStatus)
		mask, e2 := o.System.Device(node).ReadReg(regs.IRQMask)
		err = errors.Join(err, e1, e2)
		up := status&mask != 0
		if up {
			stop.Fired = append(stop.Fired, drivers.Fired{Kind: drivers.FiredIRQ, Node: node})
		}
		return up
	})
	return err
}

// fetch brings what has come into mailboxes to the copy of memory, the oldest first.
func (o *overLine) fetch() error {
	for b, f := range o.boxes {
		dev := o.System.Device(b.node)
		wp, err := dev.ReadReg(regs.MboxWP(b.vpid))
		if err != nil {
			return err
		}
		for n := max(f.wp, wp-min(wp, f.slots)); n < wp; n++ {
			if err := dev.(memoryReader).ReadMemory(o.ctx, f.base+n%f.slots*regs.SlotBytes, regs.SlotBytes); err != nil {
				return err
			}
		}
		f.wp = wp
	}
	return nil
}

// A lineDevice notes where mailboxes are.
type lineDevice struct {
	drivers.Device
	o    *overLine
	node int
}

func (d lineDevice) WriteReg(off uint32, v uint64) error {
	if err := d.Device.WriteReg(off, v); err != nil {
		return err
	}
	for vpid := range uint8(regs.VPIDs) {
		if off == regs.PDID(vpid) { // which switches it off
			delete(d.o.boxes, box{d.node, vpid})
		}
		if off != regs.MboxCtrl(vpid) {
			continue
		}
		b := box{d.node, vpid}
		if v&regs.MboxCtrlEnable == 0 {
			delete(d.o.boxes, b)
			return nil
		}
		if d.o.boxes[b] != nil {
			return nil
		}
		base, e1 := d.ReadReg(regs.MboxBase(vpid))
		slots, e2 := d.ReadReg(regs.MboxSlots(vpid))
		d.o.boxes[b] = &fetched{base: base, slots: slots}
		return errors.Join(e1, e2)
	}
	return nil
}

func (d lineDevice) WritePIO(off uint32, line []byte) error {
	d.o.PostPIO(d.node, 0, off, line)
	return nil
}
