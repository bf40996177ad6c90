package vm

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
)

// A server is the counterpart of QEMU's proxy: one NIC as a PCI device.
type server struct {
	sys  drivers.System
	dev  drivers.Device
	hw   hardware
	node int
	conn *net.UnixConn
	chip *qtest
	mem  *guestMemory
	log  *logrus.Logger

	first func() // called once, at the first register read
	mu    sync.Mutex
	space *configSpace // written by serve only
	table msixTable
	up    uint64 // vectors with a pending cause
	wire  bool   // the level of INTA
	// acked wakes interrupts when software has changed the state that asserts the line.
	acked chan struct{}
}

// serve answers QEMU until it, or the device, is gone.
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
			return nil // QEMU has exited, which is reported by its waiter
		}
	}
}

// perform executes a request. An error ends the server.
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
	if at := uint64(atStatus); s.up != 0 && r.address <= at && r.address+uint64(r.bytes) > at {
		v |= intxIsUp << (8 * (at - r.address))
	}
	return v
}

func (s *server) configWrite(r request) error {
	s.mu.Lock()
	was := s.space.bitSet(atCommand, busMaster)
	reset := s.space.write(r.address, r.bytes, r.value)
	is := s.space.bitSet(atCommand, busMaster)
	s.signal()
	s.mu.Unlock()
	var err error
	if was != is {
		err = s.mem.reach(is)
	}
	if reset {
		s.mu.Lock()
		s.space.set16(atCommand, 0, memorySpace|busMaster|1<<6|1<<8|noINTx)
		s.space.set16(atMSIX+2, uint16(s.space.function.Vectors-1), msixEnable|msixMask)
		s.mu.Unlock()
		err = errors.Join(err, s.mem.reach(false), s.reset())
	}
	return err
}

// reset is the function level reset: all settings of software are lost.
func (s *server) reset() error {
	err := s.hw.reset()
	s.mu.Lock()
	s.table = newMSIXTable(s.space.function.Vectors)
	s.mu.Unlock()
	s.wake()
	return err
}

func (s *server) barRead(r request) (uint64, error) {
	s.mu.Lock()
	bar, off, ok := s.space.bar(r.address)
	on := s.space.bitSet(atCommand, memorySpace)
	var ofTable uint64
	if bar == msixBAR {
		ofTable = s.table.read(off, r.bytes)
	}
	s.mu.Unlock()
	switch {
	case !ok || !on || int(off)%r.bytes != 0:
	case bar == msixBAR:
		return ofTable, nil
	case bar == registerBAR:
		if s.first != nil {
			s.first()
			s.first = nil
		}
		v, err := s.hw.read(off, r.bytes)
		var bus *drivers.BusError
		if errors.As(err, &bus) {
			break // a refused read returns all ones
		}
		return v, err
	}
	return ^uint64(0), nil
}

// barWrite posts a write to registers, or to the table of messages.
func (s *server) barWrite(r request) error {
	s.mu.Lock()
	bar, off, ok := s.space.bar(r.address)
	on := s.space.bitSet(atCommand, memorySpace)
	if ok && on && bar == msixBAR {
		s.table.write(off, r.bytes, r.value)
		s.signal()
	}
	s.mu.Unlock()
	if !ok || !on || bar == msixBAR {
		return nil
	}
	if bar == windowBAR && (r.bytes != 8 || off%8 != 0) {
		logDropped(s.log, off, r.bytes)
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
	if err := s.hw.write(off, r.bytes, r.value); err != nil {
		return err
	}
	if s.hw.acknowledges(off) {
		s.wake()
	}
	return nil
}

// pollInterval is how often the causes are read while one is asserted: the simulation has one line
// for all of them, which does not show that of another vector.
const pollInterval = time.Millisecond

// interrupts waits for the NIC's line and sends the messages of its vectors to the guest.
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
		if err := s.followCauses(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// followCauses raises vectors until no cause is set.
func (s *server) followCauses(ctx context.Context) error {
	select { // a write before the cause was asserted acknowledges nothing
	case <-s.acked:
	default:
	}
	for acked := true; ; {
		up, pulses, err := s.hw.causes()
		if err != nil {
			return err
		}
		s.mu.Lock()
		if acked { // a cause that is still set, or set again, raises its vector again
			s.up = 0
		}
		s.table.pending |= up&^s.up | pulses
		if s.space.function.Design == nil {
			s.table.pending &= up // nic_pcie withdraws a message whose cause has gone
		}
		s.up = up
		s.signal()
		s.mu.Unlock()
		if up == 0 {
			return nil
		}
		select {
		case <-s.acked:
			acked = true
		case <-time.After(pollInterval):
			acked = false
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *server) wake() {
	select {
	case s.acked <- struct{}{}:
	default:
	}
}

// intxInput is the interrupt input of INTA of slot 2 of a q35.
const intxInput = 22

// signal updates the guest's interrupt state. The lock is held. Errors are ignored, because QEMU
// may have exited.
func (s *server) signal() {
	messages := s.space.bitSet(atMSIX+2, msixEnable)
	if messages && !s.space.bitSet(atMSIX+2, msixMask) && s.space.bitSet(atCommand, busMaster) {
		s.sendPending()
	}
	wire := s.up != 0 && !messages && !s.space.bitSet(atCommand, noINTx)
	if wire != s.wire {
		s.wire = wire
		_ = s.chip.line(intxInput, wire)
	}
}

// sendPending sends the messages of the vectors that are pending and not masked.
func (s *server) sendPending() {
	for v := range s.space.function.Vectors {
		if s.table.pending>>v&1 == 0 {
			continue
		}
		if address, data, ok := s.table.message(v); ok {
			s.table.pending &^= 1 << v
			_ = s.message(address, data)
		}
	}
}

// message sends an interrupt message.
func (s *server) message(address uint64, data uint32) error {
	address, data, err := s.mem.message(address, data)
	if err != nil || address == 0 {
		return err
	}
	return s.chip.store(address, data)
}
