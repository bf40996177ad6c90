package drivers

import (
	"fmt"
	"strconv"
)

// Time is an instant or a span in picoseconds: simulated time under a Timed
// system, wall time on a board.
type Time int64

// Spans.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Never is a time that does not come.
const Never = Time(1<<63 - 1)

// Nanoseconds gives t as a number of nanoseconds.
func (t Time) Nanoseconds() float64 { return float64(t) / float64(Nanosecond) }

// String prints t in the unit that people would choose.
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
