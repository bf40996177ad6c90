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
	// Deep marks tests that take too long for every day: they run only when their name or this tag
	// selects them.
	Deep = "deep"
)

// WithoutDeep removes the tests tagged Deep from a selection, except those that a pattern selects
// by their name or by that tag. It also returns the names of the removed ones.
func WithoutDeep(list []Test, patterns []string) (kept []Test, removed []string) {
	if slices.Contains(patterns, Deep) {
		return list, nil
	}
	for _, t := range list {
		if slices.Contains(t.Tags, Deep) && !slices.Contains(patterns, t.Name) {
			removed = append(removed, t.Name)
			continue
		}
		kept = append(kept, t)
	}
	return kept, removed
}
