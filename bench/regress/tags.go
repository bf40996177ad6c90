package regress

import "slices"

// Board marks what runs on any device.
const Board = "board"

// Tags with a meaning of their own.
const (
	// Conform marks what every body of the NIC must do alike.
	Conform = "conform"
	// Line marks what needs registers, send windows and mailboxes alone, at no cycle in particular: it
	// runs over a serial line too.
	Line = "line"
	// Deep marks what takes too long for everyday: it runs when it is named.
	Deep = "deep"
)

// Everyday leaves out what is marked deep.
func Everyday(list []Test) []Test {
	return slices.DeleteFunc(slices.Clone(list), func(t Test) bool { return slices.Contains(t.Tags, Deep) })
}
