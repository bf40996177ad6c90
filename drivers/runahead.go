package drivers

// A RunAheadSystem is a Timed some of whose nodes can run ahead of Now, which avoids synchronising
// with them in every cycle. A write posted to a node must not be due in a cycle that the node has
// already simulated, so the caller of RunAhead must know when it will use these nodes next.
type RunAheadSystem interface {
	Timed
	// CanRunAhead reports whether a node can.
	CanRunAhead(node int) bool
	// RunAhead lets these nodes run ahead, up to the cycle that limit returns. Run calls limit
	// repeatedly; it returns the first cycle at which the caller may access one of these nodes,
	// provided that nothing stops Run before. When an armed condition of such a node fires, the
	// node waits there, and Run reports the stop when Now reaches that cycle. A nil limit turns
	// running ahead off.
	RunAhead(limit func() Cycle)
}
