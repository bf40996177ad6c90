package drivers

import (
	"context"
	"fmt"
)

// A Cause is an event that a Waiter waits for: a DMA write into [Off, Off+Bytes) of Memory, or, if
// Bytes is 0, an asserted interrupt line.
type Cause struct{ Off, Bytes uint64 }

// Interrupt is the Cause for the interrupt line.
var Interrupt = Cause{}

func (c Cause) String() string {
	if c == Interrupt {
		return "an interrupt"
	}
	return fmt.Sprintf("a write into the %d bytes at 0x%x", c.Bytes, c.Off)
}

// A Waiter waits for one cause. Wait is called from one goroutine; Close may be called from any.
type Waiter interface {
	// Wait returns when the cause has occurred since the last Wait returned, or since the Waiter
	// was created; immediately if it already has. Spurious returns are allowed. A caller that
	// checks memory, finds nothing new and then waits therefore misses nothing. In a Timed system,
	// simulated time passes meanwhile, and ErrQuiescent means that only software can cause a
	// further event. When ctx ends, Wait returns the cause of ctx.
	Wait(ctx context.Context) error
	// Close makes the current Wait and all later ones return ErrClosed.
	Close() error
}

// Waiters are the Waiters of a Timed system's devices. The system's Run passes every stop to
// NoteStop.
type Waiters struct{ list []*timedWaiter }

// Await creates a Waiter for a node.
func (w *Waiters) Await(sys Timed, node int, c Cause) (Waiter, error) {
	t := &timedWaiter{sys: sys, node: node, cause: c}
	if c != Interrupt {
		var err error
		if t.id, err = sys.Watch(node, c.Off, c.Bytes); err != nil {
			return nil, err
		}
	}
	w.list = append(w.list, t)
	t.arm()
	return t, nil
}

// NoteStop marks the waiters whose condition fired.
func (w *Waiters) NoteStop(stop *Stop) {
	if len(w.list) == 0 {
		return
	}
	for _, f := range stop.Fired {
		for _, t := range w.list {
			t.fired = t.fired || t.isFor(f)
		}
	}
}

// A timedWaiter keeps its condition armed unless it has fired.
type timedWaiter struct {
	sys    Timed
	node   int
	cause  Cause
	id     WatchID
	fired  bool
	closed bool
	stop   Stop
}

func (t *timedWaiter) isFor(f Fired) bool {
	if t.cause == Interrupt {
		return f.Kind == FiredIRQ && f.Node == t.node
	}
	return f.Kind == FiredWatch && f.Watch == t.id
}

func (t *timedWaiter) arm() {
	if t.cause == Interrupt {
		t.sys.ArmIRQ(t.node)
	} else {
		t.sys.Arm(t.id)
	}
}

// awaitSlice is the number of cycles between two checks of the context.
const awaitSlice = 1 << 14

func (t *timedWaiter) Wait(ctx context.Context) error {
	for !t.fired {
		switch {
		case t.closed:
			return ErrClosed
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err := t.sys.Run(t.sys.Now()+awaitSlice, &t.stop); err != nil {
			return err
		}
		if t.stop.Quiet && !t.fired {
			return fmt.Errorf("%w: node %d waits for %s", ErrQuiescent, t.node, t.cause)
		}
	}
	t.fired = false
	t.arm()
	return nil
}

func (t *timedWaiter) Close() error {
	t.closed, t.fired = true, false
	return nil
}
