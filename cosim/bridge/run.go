package bridge

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// readLimit bounds the cycles of a register read. No bus needs more than a few dozen, so a NIC that
// exceeds it never answers.
const readLimit = 1 << 20

// enter acquires the session for a call that uses the simulator; leave releases it.
func (s *Session) enter() error {
	s.mu.Lock()
	err := s.broken
	if s.closing.Load() {
		err = drivers.ErrClosed
	} else if err == nil && s.misuse != nil {
		err, s.misuse = s.misuse, nil
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// Err is the reason why the session ended, ErrClosed after Close, or nil.
func (s *Session) Err() error {
	if s.closing.Load() {
		return drivers.ErrClosed
	}
	return s.broken
}

// Run advances time; see drivers.Timed.
func (s *Session) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	*stop = drivers.Stop{Now: s.now, Fired: stop.Fired[:0]}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for {
		s.put(command{typ: cmdRun, at: deadline})
		a, err := s.exchange(stop)
		stop.Now = s.now
		if err != nil {
			return err
		}
		if a.flags&stopTraceFull != 0 && len(stop.Fired) == 0 {
			continue
		}
		stop.Quiet = a.flags&stopQuiet != 0
		stop.Idle = a.flags&stopIdle != 0
		return nil
	}
}

// ReadReg reads a register; see drivers.Device.
func (s *Session) ReadReg(node int, off uint32) (uint64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	if err := s.checkNode(node); err != nil {
		return 0, err
	}
	var posted error
	c := command{typ: cmdReadReg, node: uint16(node), at: s.now + readLimit, addr: uint64(off)}
	for {
		s.put(c)
		a, err := s.exchange(nil)
		posted = errors.Join(posted, err)
		switch {
		case s.broken != nil:
			return 0, s.broken
		case a.answered:
			return a.value, errors.Join(posted, a.readError(node, off))
		case a.flags&stopTraceFull == 0:
			return 0, s.fail(fmt.Errorf("%w: node %d: register read at 0x%x: the NIC has not answered and does nothing (cycle %d)",
				drivers.ErrProtocol, node, off, s.now))
		}
		c.id = readResume
	}
}

// exchange sends the posted commands and reads the answer. If an error leaves s.broken nil, it is a
// refused access, and the session continues.
func (s *Session) exchange(stop *drivers.Stop) (answer, error) {
	if err := s.ask(); err != nil {
		return answer{}, err
	}
	return s.hear(stop)
}

// ask is the first half of an exchange.
func (s *Session) ask() error {
	s.askedAt = s.now
	s.peer.expect()
	return s.flush()
}

// hear is the second half.
func (s *Session) hear(stop *drivers.Stop) (answer, error) {
	a, err := s.answer(stop)
	if err != nil {
		return a, s.fail(s.diagnose(err))
	}
	s.peer.answered(s.now - s.askedAt)
	if s.cfg.Trace != nil {
		events := s.mem.traceEvents(s.mem.control().traceCount)
		if len(events) > 0 {
			if err := s.cfg.Trace.Trace(events); err != nil {
				return a, s.fail(fmt.Errorf("trace sink: %w", err))
			}
		}
	}
	if a.fault != nil {
		s.repeatFault()
		return a, s.fail(a.fault)
	}
	return a, a.refused
}

// flush sends the posted commands.
func (s *Session) flush() error {
	if len(s.out) == 0 || s.broken != nil {
		return s.broken
	}
	err := s.peer.send(s.out)
	s.out = s.out[:0]
	if err != nil {
		return s.fail(s.diagnose(s.lastWords(err)))
	}
	return nil
}

// lastWords prefers the simulator's own error to the loss of the connection.
func (s *Session) lastWords(err error) error {
	if errors.Is(err, drivers.ErrStarved) {
		return err
	}
	_, err = s.answer(nil)
	return err
}

// An answer is the result of an exchange besides the fired conditions.
type answer struct {
	flags    uint32
	answered bool // a read
	resp     int
	value    uint64
	refused  error // joined
	fault    error // joined
	repeated *event
}

// answer reads messages up to STOPPED. Its error is one of the socket or the protocol.
func (s *Session) answer(stop *drivers.Stop) (a answer, err error) {
	for {
		b, err := s.peer.receive()
		if err != nil {
			return a, err
		}
		for len(b) > 0 {
			var e event
			n, err := decodeEvent(b, &e)
			if err != nil {
				return a, err
			}
			b = b[n:]
			done, err := s.apply(&a, &e, stop)
			if err != nil {
				return a, err
			}
			if done {
				if len(b) > 0 {
					return a, fmt.Errorf("%w: %d bytes behind STOPPED", drivers.ErrProtocol, len(b))
				}
				return a, nil
			}
		}
	}
}

// apply processes an event; done reports whether it is the last.
func (s *Session) apply(a *answer, e *event, stop *drivers.Stop) (done bool, err error) {
	if int(e.node) >= s.nodes {
		return false, fmt.Errorf("%w: event 0x%02x of node %d, but there are %d", drivers.ErrProtocol, e.typ, e.node, s.nodes)
	}
	switch e.typ {
	case evStopped:
		if e.cycle < s.now {
			return false, fmt.Errorf("%w: stopped at cycle %d, before %d", drivers.ErrProtocol, e.cycle, s.now)
		}
		s.now = e.cycle
		s.bySocket = false
		a.flags = e.id
		return true, nil
	case evWatchHit, evPIOHit, evIRQHit:
		return false, s.applyFired(e, stop)
	case evRegValue:
		a.answered, a.resp, a.value = true, int(e.id), e.b
	case evBusError:
		a.refused = errors.Join(a.refused, e.busError())
	case evDMAError:
		a.refused = errors.Join(a.refused, &drivers.DMAError{
			Node: int(e.node), Addr: e.a, Bytes: e.b, Memory: s.mem.layout.memoryBytes,
		})
	case evFault:
		a.fault = errors.Join(a.fault, drivers.NewAssertionError(e.cycle, s.cfg.ClockPS, string(e.text)))
	case evError:
		return false, fmt.Errorf("%w: the simulator did not understand us: %s", drivers.ErrProtocol, e.text)
	case evEdgeOut:
		return false, s.applyEdge(e)
	case evRepeated:
		a.repeated = &event{id: e.id, a: e.a, b: e.b}
	case evHeartbeat:
	}
	return false, nil
}

func (s *Session) applyFired(e *event, stop *drivers.Stop) error {
	if stop == nil {
		return fmt.Errorf("%w: event 0x%02x outside a run", drivers.ErrProtocol, e.typ)
	}
	f := drivers.Fired{Kind: drivers.FiredKind(e.typ - evWatchHit), Node: int(e.node)}
	switch e.typ {
	case evWatchHit:
		f.Watch = drivers.WatchID(e.id)
		if int(e.id) >= s.watches {
			return fmt.Errorf("%w: watch %d fired, but there are %d", drivers.ErrProtocol, e.id, s.watches)
		}
	case evPIOHit:
		f.VPID = int(e.id)
	}
	stop.Fired = append(stop.Fired, f)
	return nil
}

// busError describes the refused posted write.
func (e *event) busError() error {
	port := "register"
	if e.id>>8 != 0 {
		port = "pio"
	}
	return &drivers.BusError{Node: int(e.node), Port: port, Off: uint32(e.a), Write: true, Resp: int(e.id & 0xff)}
}

func (a *answer) readError(node int, off uint32) error {
	if a.resp == 0 {
		return nil
	}
	return &drivers.BusError{Node: node, Port: "register", Off: off, Resp: a.resp}
}
