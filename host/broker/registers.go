package broker

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
)

// Per-process registers are grouped in pages: privileged ones, and those that a process may access
// itself.
var (
	systemPages = regs.MboxBase(0)
	ownPages    = regs.MboxRP(0)
	tablePages  = regs.ATUBase(0)
)

const pageShift = 12

// processOf returns the client's process that owns a register, or nil for a global register.
func (c *client) processOf(n int, off uint64) (*process, uint8, error) {
	if off > 1<<32-1 {
		return nil, 0, fmt.Errorf("%w: broker: a register at 0x%x", drivers.ErrProtocol, off)
	}
	r, _, ok := regs.ByAddress(uint32(off))
	if !ok {
		return nil, 0, fmt.Errorf("%w: no register at 0x%x", wire.ErrForbidden, off)
	}
	if at := uint32(off); at < systemPages || at >= tablePages {
		if r.Count > 1 {
			return nil, 0, fmt.Errorf("%w: register %s of node %d", wire.ErrForbidden, regs.Describe(at), n)
		}
		return nil, 0, nil
	}
	vpid := uint8(off>>pageShift) % regs.VPIDs
	p := c.procs[wire.Process{Node: n, VPID: int(vpid)}]
	if p == nil {
		return nil, 0, fmt.Errorf("%w: register %s of node %d", wire.ErrForbidden, regs.Describe(uint32(off)), n)
	}
	return p, vpid, nil
}

// readReg reads a register of the client's processes, or a global register that describes the NIC.
func (c *client) readReg(f *wire.Frame) (uint64, error) {
	if _, _, err := c.processOf(int(f.Node), f.A); err != nil {
		return 0, err
	}
	return c.b.nodes[f.Node].dev.ReadReg(uint32(f.A))
}

// writeReg writes a register of the client's processes after checking the value.
func (c *client) writeReg(f *wire.Frame) error {
	n, off := int(f.Node), uint32(f.A)
	p, v, err := c.processOf(n, f.A)
	if err != nil {
		return err
	}
	r, _, _ := regs.ByAddress(off)
	refused := fmt.Errorf("%w: 0x%x into register %s of node %d", wire.ErrForbidden, f.B, regs.Describe(off), n)
	if p == nil || r.Access == regs.RO {
		return refused
	}
	allowed := off >= ownPages
	switch off {
	case regs.MboxBase(v):
		allowed = p.mailbox.move(&p.mailbox.base, f.B)
	case regs.MboxSlots(v):
		allowed = p.mailbox.move(&p.mailbox.slots, f.B)
	case regs.MboxCtrl(v):
		allowed = c.switches(n, &p.mailbox, f.B, regs.MboxCtrlEnable, regs.MboxCtrlWindow)
	case regs.NotiBase(v):
		allowed = p.notis.move(&p.notis.base, f.B)
	case regs.NotiSlots(v):
		allowed = p.notis.move(&p.notis.slots, f.B)
	case regs.NotiCtrl(v):
		allowed = c.switches(n, &p.notis, f.B, regs.NotiCtrlEnable, regs.NotiCtrlWindow)
	case regs.PDID(v):
		allowed = f.B == 0 || f.B == uint64(c.claim.Domain)
		p.mailbox.on, p.notis.on = false, false
	}
	if !allowed {
		return refused
	}
	return c.b.nodes[n].dev.WriteReg(off, f.B)
}

// move records base or size of a ring, which may not change while the ring is enabled.
func (r *ring) move(field *uint64, v uint64) bool {
	if r.on {
		return false
	}
	*field = v
	return true
}

// switches records the control register of a ring. A ring may be enabled only if all of it lies in
// the client's memory.
func (c *client) switches(n int, r *ring, v, enable, window uint64) bool {
	if v&^(enable|window) != 0 || v&enable != 0 && !r.on && !c.owns(n, r) {
		return false
	}
	r.on = v&enable != 0
	return true
}

func (c *client) owns(n int, r *ring) bool {
	p, dev := c.pieces[n], c.b.nodes[n].dev
	if p == nil || r.slots == 0 || r.slots > p.n/r.slotBytes || r.base%r.slotBytes != 0 {
		return false
	}
	bytes := r.slots * r.slotBytes
	off, ok := drivers.Offset(dev, r.base)
	if !ok || off < p.off || off-p.off > p.n || bytes > p.n-(off-p.off) {
		return false
	}
	addr, err := drivers.Address(dev, off, bytes) // contiguous, within one segment
	return err == nil && addr == r.base
}

// windowBytes is the size of the send windows: VELO, and RMA above it.
const windowBytes = 1 << 29

// writePIO stores to a send window of the client.
func (c *client) writePIO(f *wire.Frame) error {
	if f.A >= windowBytes || f.A%8 != 0 || len(f.Data) > regs.LineBytes {
		return fmt.Errorf("%w: broker: a line of %d bytes at 0x%x", drivers.ErrProtocol, len(f.Data), f.A)
	}
	at := wire.Process{Node: int(f.Node), VPID: int(regs.Pio(f.A).SrcVPID())}
	if c.procs[at] == nil {
		return fmt.Errorf("%w: the send window of %v", wire.ErrForbidden, at)
	}
	return c.b.sys.Post(at.Node, uint32(f.A), f.Data)
}
