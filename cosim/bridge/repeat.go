package bridge

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

var _ drivers.Repeater = (*Session)(nil)

// Repeat writes the waveforms of the last cycles; see drivers.Repeater. A fork of the simulator
// that is stopped at a checkpoint does this; the session is not affected.
func (s *Session) Repeat() (drivers.Repeated, error) {
	if s.cfg.Checkpoints == nil {
		return drivers.Repeated{}, fmt.Errorf("%w: repeating without checkpoints", drivers.ErrNotSupported)
	}
	if r := s.repeated(); r != nil {
		return *r, nil
	}
	if err := s.enter(); err != nil {
		return drivers.Repeated{}, err
	}
	defer s.mu.Unlock()
	return s.repeat()
}

// repeated returns the repetition made after a fault. The session accepts no other calls then.
func (s *Session) repeated() *drivers.Repeated {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// repeatFault repeats the cycles that led to a fault while the simulator still exists. An error is
// reported by a later Repeat.
func (s *Session) repeatFault() {
	if s.cfg.Checkpoints == nil {
		return
	}
	if r, err := s.repeat(); err == nil {
		s.again = &r
	}
}

func (s *Session) repeat() (drivers.Repeated, error) {
	k := s.cfg.Checkpoints
	s.put(command{typ: cmdRepeat, at: s.now - min(s.now, k.Last), value: uint64(drivers.Forever)})
	if err := s.flush(); err != nil {
		return drivers.Repeated{}, err
	}
	a, err := s.answer(nil)
	switch {
	case err != nil:
		return drivers.Repeated{}, s.fail(s.diagnose(err))
	case a.repeated == nil:
		return drivers.Repeated{}, s.fail(fmt.Errorf("%w: REPEAT was not answered", drivers.ErrProtocol))
	}
	r := drivers.Repeated{File: k.File, Checkpoint: drivers.Cycle(a.repeated.a), From: drivers.Cycle(a.repeated.b), To: s.now}
	if a.repeated.id != 1 {
		return r, fmt.Errorf("repeating from the checkpoint at cycle %d failed: %w", r.Checkpoint, errNoRepeat)
	}
	logs.Layer(s.cfg.Log, "bridge").WithFields(logrus.Fields{"checkpoint": r.Checkpoint, "from": r.From, "to": r.To, "file": r.File}).Debug("end repeated with waves")
	return r, wholeWaves(k.File)
}

var errNoRepeat = errors.New("there is no checkpoint, what came after it came differently, or its waves could not be written (is the disk full?)")
