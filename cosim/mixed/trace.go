package mixed

import (
	"cmp"
	"slices"

	"github.com/nicloop/nicloop/drivers"
)

// merger brings the trace events of both sides into one order of time.
type merger struct {
	sink    drivers.TraceSink
	pending []drivers.TraceEvent
}

// Trace implements drivers.TraceSink for both sides.
func (m *merger) Trace(events []drivers.TraceEvent) error {
	m.pending = append(m.pending, events...)
	return nil
}

// flush hands over what both sides have traced before a cycle.
func (m *merger) flush(before drivers.Cycle) error {
	slices.SortStableFunc(m.pending, func(a, b drivers.TraceEvent) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Node, b.Node))
	})
	n, _ := slices.BinarySearchFunc(m.pending, before, func(e drivers.TraceEvent, at drivers.Cycle) int { return cmp.Compare(e.Cycle, at) })
	if n == 0 {
		return nil
	}
	err := m.sink.Trace(m.pending[:n])
	m.pending = m.pending[:copy(m.pending, m.pending[n:])]
	return err
}

// flush hands over the trace of the cycles that are over: of the present one more may come, unless
// all is quiet.
func (s *System) flush(quiet bool) error {
	if s.trace == nil {
		return nil
	}
	before := s.now
	if quiet {
		before++
	}
	if err := s.machine.FlushTrace(before); err != nil {
		return err
	}
	return s.trace.flush(before)
}
