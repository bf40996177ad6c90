package bridge

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	windowBytes = 1 << 29 // send windows of all processes: VELO, and RMA above it
	maxLine     = regs.LineBytes
)

// put adds a command to the batch; a full batch is sent.
func (s *Session) put(c command) {
	if len(s.out)+commandBytes+lineBytes > maxMessage {
		_ = s.flush() // stores its error in s.broken
	}
	s.out = c.append(s.out)
}

// post is put for calls of software, which may use an ended session.
func (s *Session) post(c command) {
	s.mu.Lock()
	if !s.closing.Load() && s.broken == nil {
		s.put(c)
	}
	s.mu.Unlock()
}

func (s *Session) checkNode(node int) error {
	if node < 0 || node >= s.nodes {
		return fmt.Errorf("%w: node %d: expected 0..%d", drivers.ErrConfig, node, s.nodes-1)
	}
	return nil
}

// misused stores the first invalid call for the next Run or ReadReg.
func (s *Session) misused(err error) {
	if s.misuse == nil {
		s.misuse = err
	}
}

// Now is the current cycle of the simulation.
func (s *Session) Now() drivers.Cycle { return s.now }

// PostReg posts a register write; see drivers.Timed.
func (s *Session) PostReg(node int, at drivers.Cycle, off uint32, v uint64) {
	if err := s.checkNode(node); err != nil {
		s.misused(err)
		return
	}
	s.post(command{typ: cmdPostReg, node: uint16(node), at: at, addr: uint64(off), value: v})
}

// PostPIO posts a line to the send window; see drivers.Timed.
func (s *Session) PostPIO(node int, at drivers.Cycle, off uint32, line []byte) {
	if err := s.CheckPIO(node, off, line); err != nil {
		s.misused(err)
		return
	}
	// An empty send still needs a quadword on the bus.
	quads := max(1, (len(line)+7)/8)
	c := command{
		typ: cmdPostPIO, node: uint16(node), id: uint32(regs.Pio(off).SrcVPID()), at: at,
		addr: uint64(off), value: uint64(quads),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() || s.broken != nil {
		return
	}
	s.put(c)
	n := len(s.out)
	s.out = s.out[:n+lineBytes]
	clear(s.out[n+copy(s.out[n:], line):])
}

// CheckPIO validates a line before it is posted.
func (s *Session) CheckPIO(node int, off uint32, line []byte) error {
	if err := s.checkNode(node); err != nil {
		return err
	}
	if off >= windowBytes || off%8 != 0 {
		return fmt.Errorf("%w: PIO address 0x%x: expected a multiple of 8 below 0x%x", drivers.ErrConfig, off, windowBytes)
	}
	if len(line) > maxLine {
		return fmt.Errorf("%w: PIO line of %d bytes: expected at most %d", drivers.ErrConfig, len(line), maxLine)
	}
	return nil
}

// PIOTaken counts the lines that no longer occupy a window entry; see drivers.Timed.
func (s *Session) PIOTaken(node, vpid int) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	return s.mem.pioTaken(node, vpid)
}

// Watch registers a range of a node's memory; see drivers.Timed.
func (s *Session) Watch(node int, off, n uint64) (drivers.WatchID, error) {
	if err := s.checkNode(node); err != nil {
		return 0, err
	}
	if size := s.mem.layout.memoryBytes; n == 0 || off > size || n > size-off {
		return 0, fmt.Errorf("%w: node %d: watch of 0x%x bytes at 0x%x: expected a range that is not empty and lies below 0x%x",
			drivers.ErrConfig, node, n, off, size)
	}
	id := s.watches
	s.watches++
	s.post(command{typ: cmdWatch, node: uint16(node), id: uint32(id), addr: off, value: n})
	return drivers.WatchID(id), nil
}

// Arm makes the next DMA write to a watched range stop Run.
func (s *Session) Arm(id drivers.WatchID) {
	if id < 0 || int(id) >= s.watches {
		s.misused(fmt.Errorf("%w: Arm(%d): there are %d watches", drivers.ErrConfig, id, s.watches))
		return
	}
	s.post(command{typ: cmdArm, id: uint32(id)})
}

// ArmPIO makes Run stop when PIOTaken reaches count.
func (s *Session) ArmPIO(node, vpid int, count uint64) {
	err := s.checkNode(node)
	if err == nil && (vpid < 0 || vpid >= s.cfg.VPIDs) {
		err = fmt.Errorf("%w: ArmPIO: VPID %d: expected 0..%d", drivers.ErrConfig, vpid, s.cfg.VPIDs-1)
	}
	if err != nil {
		s.misused(err)
		return
	}
	s.post(command{typ: cmdArmPIO, node: uint16(node), id: uint32(vpid), value: count})
}

// ArmIRQ makes Run stop while the node's interrupt line is asserted.
func (s *Session) ArmIRQ(node int) {
	if err := s.checkNode(node); err != nil {
		s.misused(err)
		return
	}
	s.post(command{typ: cmdArmIRQ, node: uint16(node)})
}

// Memory is a node's DMA memory, shared with the simulator; nil after Close.
func (s *Session) Memory(node int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	return s.mem.memory(node)
}
