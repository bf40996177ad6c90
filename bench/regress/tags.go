package regress

import "slices"

// Tags with a meaning of their own.
const (
	// Conform marks tests that every backend must pass.
	Conform = "conform"
	// Board marks tests that need no control of the clock: they run on any device.
	Board = "board"
	// Line marks tests that need registers, send windows and mailboxes only, at no particular cycle:
	// they also run over a serial line.
	Line = "line"
	// Deep marks tests that take too long for every day: they run only when they are selected.
	Deep = "deep"
)

// Everyday returns the tests that are not tagged Deep.
func Everyday(list []Test) []Test {
	return slices.DeleteFunc(slices.Clone(list), func(t Test) bool { return slices.Contains(t.Tags, Deep) })
}
