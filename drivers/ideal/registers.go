package ideal

import (
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// AXI responses.
const (
	slverr = 2
	decerr = 3
)

// answer is what the bus said to the last read.
type answer struct {
	done bool
	v    uint64
	err  error
}

// access performs the first access of the register port.
func (n *node) access(now drivers.Cycle) {
	op := *n.regs.first()
	n.regs.drop()
	n.regFree = now + 1
	r, i, ok := regs.ByAddress(op.off)
	resp := 0
	switch {
	case !ok || !modelled(r):
		resp = decerr
	case !op.read && r.Access == regs.RO:
		resp = slverr
	}
	var err error
	if resp != 0 {
		n.badAccess++
		err = &drivers.BusError{Node: n.id, Port: "register", Off: op.off, Write: !op.read, Resp: resp}
	}
	switch {
	case op.read:
		n.answer = answer{done: true, err: err}
		if err == nil {
			n.answer.v = n.readReg(now, op.off, uint8(i))
		}
	case err != nil:
		n.s.fail(err)
	default:
		n.writeReg(now, op.off, uint8(i), op.v)
	}
}

// modelled: this NIC's memory has no write rate and its network no links; their
// registers are outside its map.
func modelled(r *regs.Register) bool {
	for _, unit := range [...]string{"NVM_", "LINK_", "WIRE_"} {
		if strings.HasPrefix(r.Name, unit) {
			return false
		}
	}
	return true
}

func (n *node) readReg(now drivers.Cycle, off uint32, i uint8) uint64 {
	switch {
	case off < regs.RMATXPackets:
		return n.readGlobal(now, off)
	case off < regs.MboxBase(0):
		return n.readRMA(off)
	}
	if v, ok := n.readRMAPages(now, off, i); ok {
		return v
	}
	m := &n.mbox[i]
	switch off {
	case regs.MboxBase(i):
		return m.base
	case regs.MboxSlots(i):
		return uint64(m.slots)
	case regs.MboxCtrl(i):
		return m.ctrl
	case regs.MboxWP(i):
		return uint64(m.wp)
	case regs.MboxStall(i):
		return m.stall.count(now)
	case regs.MboxRP(i):
		return uint64(m.rp)
	}
	panic("ideal: no such register: " + regs.Describe(off))
}

func (n *node) readGlobal(now drivers.Cycle, off uint32) uint64 {
	switch off {
	case regs.Magic:
		return regs.MagicValue
	case regs.Version:
		return regs.VersionValue
	case regs.Params:
		return n.s.params()
	case regs.DescHash:
		return regs.DescHashValue
	case regs.Scratch:
		return n.scratch
	case regs.NodeID:
		return uint64(n.id)
	case regs.Cycles:
		return uint64(now)
	case regs.IRQStatus:
		return n.irqStatus
	case regs.IRQMask:
		return n.irqMask
	case regs.ErrorInfo:
		return n.errorInfo
	case regs.BadAccess:
		return n.badAccess
	case regs.TXPackets:
		return n.txPackets
	case regs.RXPackets:
		return n.rxPackets
	case regs.TXDropped:
		return n.txDropped
	case regs.RXDropped:
		return n.rxDropped
	case regs.RXCRCErrors, regs.RouteErrors:
		return 0 // this network neither corrupts nor misroutes
	case regs.TXStall:
		return n.txStall.count(now)
	case regs.RXStall:
		return n.rxStall.count(now)
	case regs.RXStallVPID:
		v := uint64(n.stalled)
		if n.rxStall.on {
			v |= regs.RXStallVPIDStalled
		}
		return v
	case regs.TXLevel:
		return uint64(n.lines.n)
	case regs.RXLevel:
		return n.waiting(now)
	}
	panic("ideal: no such register: " + regs.Describe(off))
}

// waiting counts the flits of packets that arrived and were not completed.
func (n *node) waiting(now drivers.Cycle) (flits uint64) {
	for i := range n.rx.n {
		if p := n.rx.at(i); p.ready <= now {
			flits += uint64(flit.Total(p.header))
		}
	}
	return flits
}

const irqCauses = 1<<34 - 1 // arrival, error, stall and noti

func (n *node) writeReg(now drivers.Cycle, off uint32, i uint8, v uint64) {
	if n.writeRMA(now, off, i, v) {
		return
	}
	m := &n.mbox[i]
	switch off {
	case regs.Scratch:
		n.scratch = v
	case regs.IRQStatus:
		n.irqStatus &^= v
	case regs.IRQMask:
		n.irqMask = v & irqCauses
		n.checkIRQ()
	case regs.ErrorInfo:
		if v&regs.ErrorInfoValid != 0 {
			n.errorInfo = 0
		}
	case regs.MboxBase(i):
		m.base = v &^ (regs.SlotBytes - 1)
	case regs.MboxSlots(i):
		m.slots = uint32(v & (1<<24 - 1))
	case regs.MboxCtrl(i):
		m.control(v)
	case regs.MboxRP(i):
		m.rp = uint32(v)
	default:
		panic("ideal: not writable: " + regs.Describe(off))
	}
}

// control sets the switches; switching a mailbox on starts it empty.
func (m *mailbox) control(v uint64) {
	if v&^m.ctrl&regs.MboxCtrlEnable != 0 {
		m.wp, m.rp, m.idx = 0, 0, 0
	}
	m.ctrl = v & (regs.MboxCtrlEnable | regs.MboxCtrlWindow | regs.MboxCtrlIRQArrival)
}

// params is what PARAMS reads; a machine without a topology is a row.
func (s *System) params() uint64 {
	set := func(b regs.Bits, v int) uint64 { return uint64(v) << b.LSB() & b.Mask() }
	return set(regs.ParamsNodes, len(s.nodes)) | set(regs.ParamsVPIDs, regs.VPIDs) |
		set(regs.ParamsDimX, len(s.nodes)) | set(regs.ParamsDimY, 1) | set(regs.ParamsDimZ, 1) |
		set(regs.ParamsVCDepth, s.depth) | set(regs.ParamsPorts, 1)
}
