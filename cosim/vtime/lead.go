package vtime

import "github.com/nicloop/nicloop/drivers"

// lead lets the nodes of a drivers.RunAheadSystem run ahead while processes run, and returns a
// function that ends this.
func (k *Kernel) lead() (end func()) {
	sys, ok := k.sys.(drivers.RunAheadSystem)
	if !ok {
		return func() {}
	}
	leads := make([]bool, len(k.procs))
	for i, p := range k.procs {
		leads[i] = sys.CanRunAhead(p.node)
	}
	l := k.loops[0]
	sys.RunAhead(func() drivers.Cycle { return l.uses(leads) })
	return func() { sys.RunAhead(nil) }
}

// uses is the first cycle in which one of the selected processes may act, unless the hardware wakes
// it earlier.
func (l *loop) uses(some []bool) drivers.Cycle {
	at := drivers.Never
	if p := l.running; p != nil && some[p.id] {
		at = p.now
	}
	for i := range l.ready.heap {
		if e := &l.ready.heap[i]; some[e.proc.id] && e.at < at {
			at = e.at
		}
	}
	if at == drivers.Never {
		return drivers.Forever
	}
	return l.k.cycle(at)
}
