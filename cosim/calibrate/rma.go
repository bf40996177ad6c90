package calibrate

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/cosim/nic"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a node for RMA: a ring, a translation table, pages.
const (
	ringAt = 0x1000
	rings  = 16
	table  = 0x2000
	pages  = 4
	dataAt = 0x10000
)

// rma lets process 0 of every node register pages of its memory.
func (p *probe) rma() error {
	p.join()
	for n := range p.m.Info().Nodes {
		mem := p.m.Device(n).Memory()
		for i := range uint64(pages) {
			e := regs.ATUEntryFields{Rights: regs.ATURightsRw, Page: (dataAt >> 12) + i}
			binary.LittleEndian.PutUint64(mem[table+8*i:], uint64(e.Pack()))
		}
		for _, r := range [][2]uint64{{uint64(regs.NotiBase(0)), ringAt}, {uint64(regs.NotiSlots(0)), rings},
			{uint64(regs.NotiCtrl(0)), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
			{uint64(regs.ATUBase(0)), table}, {uint64(regs.ATUPages(0)), pages}} {
			p.m.PostReg(n, 0, uint32(r[0]), r[1])
		}
	}
	var stop drivers.Stop
	return p.m.Run(drivers.Forever, &stop)
}

// An operation is when one descriptor was posted, when its packet entered and left the
// network, and when memory had the completer's notification.
type operation struct{ posted, sent, arrived, told drivers.Cycle }

// do runs one operation from node 0 to node 1 from start to end.
func (p *probe) do(c regs.RMACommand, bytes uint32, w1, w2 uint64) (op operation, err error) {
	p.events = p.events[:0]
	watch, err := p.m.Watch(1, ringAt, rings*regs.NotiBytes)
	if err != nil {
		return op, err
	}
	p.m.Arm(watch)
	d := regs.RMADescFields{Command: c, NotiCompleter: true, DstNode: 1, BytesMinus1: bytes - 1}
	var line [24]byte
	binary.LittleEndian.PutUint64(line[0:], uint64(d.Pack()))
	binary.LittleEndian.PutUint64(line[8:], w1)
	binary.LittleEndian.PutUint64(line[16:], w2)
	op.posted = p.m.Now()
	p.m.PostPIO(0, op.posted, regs.Descriptors(0), line[:])
	for stop := (drivers.Stop{}); !stop.Quiet; {
		if err := p.m.Run(drivers.Forever, &stop); err != nil {
			return op, err
		}
		if len(stop.Fired) > 0 {
			op.told = stop.Now
		}
	}
	sent, arrived := p.at(tracePoint{0, drivers.PointInject}), p.at(tracePoint{1, drivers.PointEject})
	if len(sent) == 0 || len(arrived) == 0 || op.told == 0 {
		return op, fmt.Errorf("%w: expected a packet sent, received and told of, found %d flits sent, %d received", ErrTrace, len(sent), len(arrived))
	}
	op.sent, op.arrived = sent[0], arrived[0]
	return op, nil
}

// operations times a notification, a put whose translations miss, and one whose
// translations hit.
func operations(ctx context.Context, c *Config, p *nic.Params) error {
	return onProbe(ctx, c, "", func(b *probe) error {
		if err := b.rma(); err != nil {
			return err
		}
		note, err := b.do(regs.RMACommandNotiPut, 1, 0, 0)
		if err != nil {
			return err
		}
		miss, err := b.do(regs.RMACommandPut, 8, 0, 0x1000)
		if err != nil {
			return err
		}
		hit, err := b.do(regs.RMACommandPut, 8, 0, 0x1000)
		if err != nil {
			return err
		}
		const bus, beats, read, channel = 9, 7, 2, 2 // channel: its registers, and a cycle because another wrote last
		t := &p.NIC
		t.Descriptor = note.sent - note.posted - bus
		t.Notify = note.told - note.arrived - channel - beats - (nic.CollectShows - 1) - (nic.TellShows - 1)
		t.HostRead = miss.sent - miss.posted - (hit.sent - hit.posted) - 1
		t.Translate = hit.sent - hit.posted - (note.sent - note.posted) - t.HostRead - read
		return nil
	})
}
