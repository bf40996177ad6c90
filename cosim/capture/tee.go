package capture

import "github.com/nicloop/nicloop/drivers"

type tee []drivers.TraceSink

// Tee makes a sink that hands events to all sinks, in order. The first error
// ends it.
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
