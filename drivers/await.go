package drivers

import (
	"context"
	"errors"
	"fmt"
)

// A Cause is what a Waiter waits for: that the NIC writes into [Off, Off+Bytes) of Memory, or, without Bytes, that its
// interrupt line is up.
type Cause struct{ Off, Bytes uint64 }

// Interrupt is the cause that is no write.
var Interrupt = Cause{}

func (c Cause) String() string {
	if c == Interrupt {
		return "an interrupt"
	}
	return fmt.Sprintf("a write into the %d bytes at 0x%x", c.Bytes, c.Off)
}

// A Waiter waits for one cause. It is used from one goroutine; Close may be called from any.
type Waiter interface {
	// Wait returns when there has been a cause since the last Wait returned, or since the Waiter was made: at once, if so
	// already. It may return once too often. So who looks at memory, finds nothing and waits misses nothing. Of a Timed
	// system simulated time passes meanwhile, and ErrNever tells that only software can change anything. When ctx
	// ends, its cause is the error.
	Wait(ctx context.Context) error
	// Close ends a Wait, and all later ones, with ErrClosed.
	Close() error
}

// ErrNever: what is waited for does not come by itself.
var ErrNever = errors.New("nothing moves any more in the hardware")

// Waiters are those of a Timed system's devices. Its Run tells them of every stop.
type Waiters struct{ list []*timedWaiter }

// Await makes a waiter of a node.
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

// Saw takes note of why Run came back.
func (w *Waiters) Saw(stop *Stop) {
	if len(w.list) == 0 {
		return
	}
	for _, f := range stop.Fired {
		for _, t := range w.list {
			t.fired = t.fired || t.isFor(f)
		}
	}
}

// A timedWaiter has its condition armed whenever it has not fired.
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

// awaitSlice are the cycles between two looks at the context.
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
			return fmt.Errorf("%w: node %d waits for %s", ErrNever, t.node, t.cause)
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
