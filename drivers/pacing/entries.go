package pacing

import "github.com/nicloop/nicloop/drivers"

// Entries counts the entries of a send window that one process of a Timed system occupies.
type Entries struct {
	Posted uint64 // lines posted by the process; the owner increments it
	taken  uint64 // of those, how many no longer occupied an entry at the last look
}

// HasRoom reports whether that many more lines fit into a window of depth entries. It asks the
// system only if the last count does not show it.
func (e *Entries) HasRoom(sys drivers.Timed, node, vpid int, lines, depth uint64) bool {
	if e.Posted-e.taken+lines > depth {
		e.taken = sys.PIOTaken(node, vpid)
	}
	return e.Posted-e.taken+lines <= depth
}

// IsDrained reports whether no line occupies an entry.
func (e *Entries) IsDrained(sys drivers.Timed, node, vpid int) bool {
	return e.HasRoom(sys, node, vpid, 1, 1)
}

// Pending is the number of lines that occupied an entry at the last look.
func (e *Entries) Pending() uint64 { return e.Posted - e.taken }

// Required returns the value of PIOTaken at which that many more lines fit.
func (e *Entries) Required(lines, depth uint64) uint64 { return e.Posted + lines - depth }

// Arm makes the next Run stop when that many more lines fit.
func (e *Entries) Arm(sys drivers.Timed, node, vpid int, lines, depth uint64) {
	sys.ArmPIO(node, vpid, e.Required(lines, depth))
}
