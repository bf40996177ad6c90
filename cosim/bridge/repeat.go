package bridge

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/sirupsen/logrus"
)

var _ drivers.Repeater = (*Session)(nil)

// Repeat writes the waveforms of the last cycles; see drivers.Repeater. The simulator has a fork of
// itself do it, which stands at a checkpoint; the session stays where it is.
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

// repeated is what a fault has repeated already. After one the session takes no calls, but still
// tells this.
func (s *Session) repeated() *drivers.Repeated {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.again
}

// repeatFault repeats what led to a fault, while the simulator is still there. That it failed is
// told by a later Repeat.
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
	logged.WithFields(logrus.Fields{"checkpoint": r.Checkpoint, "from": r.From, "to": r.To, "file": r.File}).Debug("end repeated with waves")
	return r, wholeWaves(k.File)
}

var errNoRepeat = errors.New("there is no checkpoint, what came after it came differently, or its waves could not be written (is the disk full?)")
