package vm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"

	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

var logged = logrus.WithField("layer", "vm")

// A server is the other end of QEMU's proxy: one NIC as a PCI device.
type server struct {
	sys  drivers.System
	dev  drivers.Device
	node int
	conn *net.UnixConn
	chip *qtest
	mem  *guestMemory

	first func() // called at the first read of a register, once
	mu    sync.Mutex
	space *configSpace // written by serve alone
	table msixTable
	up    bool // the NIC's interrupt line
	wire  bool // what the guest's interrupt controller sees of it
	// acked wakes interrupts when software has changed what holds the line up.
	acked chan struct{}
}

// serve answers QEMU until it is gone, or the device is.
func (s *server) serve() error {
	for {
		r, files, err := receive(s.conn)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET):
			return nil
		case err != nil:
			return err
		}
		v, err := s.perform(r, &files)
		closeFiles(files)
		if err != nil {
			return err
		}
		if !r.command.answered() {
			continue
		}
		if err := reply(s.conn, v); err != nil {
			return nil // it is gone: whoever waits for QEMU tells
		}
	}
}

// perform does what a request asks for. An error ends the server.
func (s *server) perform(r request, files *[]file) (uint64, error) {
	switch r.command {
	case syncMemory:
		return 0, s.mem.take(r.regions, files)
	case configRead:
		return s.configRead(r), nil
	case configWrite:
		return 0, s.configWrite(r)
	case barRead:
		return s.barRead(r)
	case barWrite:
		return 0, s.barWrite(r)
	case deviceReset:
		s.mu.Lock()
		s.space.clear()
		s.mu.Unlock()
		return 0, errors.Join(s.mem.reach(false), s.reset())
	}
	return 0, nil
}

func (s *server) configRead(r request) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.space.read(r.address, r.bytes)
	if at := uint64(atStatus); s.up && r.address <= at && r.address+uint64(r.bytes) > at {
		v |= intxIsUp << (8 * (at - r.address))
	}
	return v
}

func (s *server) configWrite(r request) error {
	s.mu.Lock()
	was := s.space.has(atCommand, busMaster)
	reset := s.space.write(r.address, r.bytes, r.value)
	is := s.space.has(atCommand, busMaster)
	s.signal()
	s.mu.Unlock()
	var err error
	if was != is {
		err = s.mem.reach(is)
	}
	if reset {
		s.mu.Lock()
		s.space.set16(atCommand, 0, memorySpace|busMaster|1<<6|1<<8|noINTx)
		s.space.set16(atMSIX+2, vectors-1, msixEnable|msixMask)
		s.mu.Unlock()
		err = errors.Join(err, s.mem.reach(false), s.reset())
	}
	return err
}

// reset is that of the function: software's settings are gone.
func (s *server) reset() error {
	_, err := drivers.Reset(s.dev, false)
	s.mu.Lock()
	s.table = newMSIXTable()
	s.mu.Unlock()
	s.wake()
	return err
}

func (s *server) barRead(r request) (uint64, error) {
	s.mu.Lock()
	bar, off, ok := s.space.bar(r.address)
	on := s.space.has(atCommand, memorySpace)
	table := s.table
	s.mu.Unlock()
	switch {
	case !ok || !on || int(off)%r.bytes != 0:
	case bar == msixBAR:
		return table.read(off, r.bytes), nil
	case bar == registerBAR:
		if s.first != nil {
			s.first()
			s.first = nil
		}
		v, err := s.dev.ReadReg(off &^ 7)
		var bus *drivers.BusError
		if errors.As(err, &bus) {
			break // a read that is refused is all ones
		}
		return v >> (8 * (off & 7)), err
	}
	return ^uint64(0), nil
}

// barWrite posts. What is no whole quadword is dropped, but for the table of messages: the NIC's
// registers are written whole.
func (s *server) barWrite(r request) error {
	s.mu.Lock()
	bar, off, ok := s.space.bar(r.address)
	on := s.space.has(atCommand, memorySpace)
	if ok && on && bar == msixBAR {
		s.table.write(off, r.bytes, r.value)
		s.signal()
	}
	s.mu.Unlock()
	if !ok || !on || bar == msixBAR {
		return nil
	}
	if r.bytes != 8 || off%8 != 0 {
		logged.WithFields(logrus.Fields{"bar": bar, "offset": off, "bytes": r.bytes}).Debug("a write that is no quadword is dropped")
		return nil
	}
	if err := s.mem.follow(); err != nil {
		return err
	}
	if bar == windowBAR {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], r.value)
		return s.sys.(drivers.Lender).Post(s.node, off, b[:])
	}
	if err := s.dev.WriteReg(off, r.value); err != nil {
		return err
	}
	if off == regs.IRQStatus || off == regs.IRQMask {
		s.wake()
	}
	return nil
}

// interrupts waits for the NIC's line, and tells the guest.
func (s *server) interrupts(ctx context.Context) error {
	w, err := s.dev.Await(drivers.Interrupt)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		if err := w.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		up, err := s.line()
		if err != nil {
			return err
		}
		if !up { // once too often
			continue
		}
		s.mu.Lock()
		s.up = true
		s.table.pending |= 1
		s.signal()
		s.mu.Unlock()
		select {
		case <-s.acked:
		case <-ctx.Done():
			return nil
		}
		if up, err = s.line(); err != nil {
			return err
		}
		s.mu.Lock()
		s.up = up
		s.signal()
		s.mu.Unlock()
	}
}

// line reads whether the NIC's line is up.
func (s *server) line() (bool, error) {
	status, err := s.dev.ReadReg(regs.IRQStatus)
	if err != nil {
		return false, fmt.Errorf("looking at interrupts: %w", err)
	}
	mask, err := s.dev.ReadReg(regs.IRQMask)
	return status&mask != 0, err
}

func (s *server) wake() {
	select {
	case s.acked <- struct{}{}:
	default:
	}
}

// intxInput is where INTA of slot 2 of a q35 ends.
const intxInput = 22

// signal tells the guest what it is to know of interrupts now, under the lock. QEMU that is gone
// hears nothing.
func (s *server) signal() {
	messages := s.space.has(atMSIX+2, msixEnable)
	if messages && s.table.pending&1 != 0 && !s.space.has(atMSIX+2, msixMask) && s.space.has(atCommand, busMaster) {
		if address, data, ok := s.table.message(0); ok {
			s.table.pending &^= 1
			_ = s.message(address, data)
		}
	}
	wire := s.up && !messages && !s.space.has(atCommand, noINTx)
	if wire != s.wire {
		s.wire = wire
		_ = s.chip.line(intxInput, wire)
	}
}

// message sends one.
func (s *server) message(address uint64, data uint32) error {
	address, data, err := s.mem.message(address, data)
	if err != nil || address == 0 {
		return err
	}
	return s.chip.store(address, data)
}
