package paper

import (
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
)

// Below is a condition for [Table.Keep]: less than a limit.
func Below(limit float64) func(float64) bool { return func(v float64) bool { return v < limit } }

// AtLeast is a condition for [Table.Keep]: a limit or more.
func AtLeast(limit float64) func(float64) bool { return func(v float64) bool { return v >= limit } }

// Curves is a figure of one column over buffer sizes, a line for each value of another.
func Curves(t *Table, title, y, unit, by, name string) *figure.Figure {
	f := &figure.Figure{Title: title, X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: y, Unit: unit}}
	for _, v := range Distinct[any](t, by) {
		label := fmt.Sprintf(name, v)
		if v == 1 {
			label = strings.TrimSuffix(label, "s")
		}
		f.Series = append(f.Series, figure.Series{Name: label, Points: t.Where(by, v).Points("slots", fmt.Sprintf("%s (%s)", y, unit))})
	}
	return f
}
