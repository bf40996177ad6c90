package capture

import "github.com/nicloop/nicloop/drivers"

type tee []drivers.TraceSink

// Tee returns a sink that passes events to all sinks in order, up to the first error.
func Tee(sinks ...drivers.TraceSink) drivers.TraceSink {
	if len(sinks) == 1 {
		return sinks[0]
	}
	return tee(sinks)
}

func (t tee) Trace(events []drivers.TraceEvent) error {
	for _, s := range t {
		if err := s.Trace(events); err != nil {
			return err
		}
	}
	return nil
}
