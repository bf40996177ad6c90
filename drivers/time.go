package drivers

import (
	"fmt"
	"strconv"
)

// Time is an instant or a duration in picoseconds: simulated time in a Timed system, wall-clock
// time on a board.
type Time int64

// Units.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond

	// Never is the time of an event that does not occur.
	Never Time = 1<<63 - 1

	// Forever is the deadline of a run without one.
	Forever = ^Cycle(0)
)

// Nanoseconds returns t in nanoseconds.
func (t Time) Nanoseconds() float64 { return float64(t) / float64(Nanosecond) }

// String formats t in the most readable unit.
func (t Time) String() string {
	a := max(t, -t)
	switch {
	case a < 10*Microsecond:
		return strconv.FormatFloat(t.Nanoseconds(), 'f', 1, 64) + " ns"
	case a < 10*Millisecond:
		return fmt.Sprintf("%.2f µs", float64(t)/float64(Microsecond))
	case a < 10*Second:
		return fmt.Sprintf("%.2f ms", float64(t)/float64(Millisecond))
	}
	return fmt.Sprintf("%.2f s", float64(t)/float64(Second))
}
