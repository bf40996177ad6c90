package world

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// Run calls body for every rank of this program, then delivers the messages still in flight. After
// a return of nil it may be called again.
func (w *World) Run(ctx context.Context, body func(r *host.Rank) error) error {
	if err := w.fence(ctx); err != nil { // endpoints of all programs must be open before the first send
		return err
	}
	mine := 0
	for i, r := range w.Ranks {
		w.returned[i].Store(r == nil)
		if r != nil {
			mine++
		}
	}
	w.open.Store(int32(mine))
	w.over.Store(false)
	ctx, w.unwatch = w.withWatch(ctx)
	defer w.unwatch()
	err := w.machine.Run(ctx, func(rank int) error {
		r := w.Ranks[rank]
		if err := body(r); err != nil {
			return err
		}
		w.returned[rank].Store(true)
		if w.machine.Parallel() {
			return w.lingerTogether(ctx, r)
		}
		return r.Linger()
	})
	if err != nil && !(w.machine.Stuck(err) && w.allReturned()) {
		return w.addWaits(err)
	}
	return w.settle()
}

// withWatch returns a context that is cancelled when another program dies.
func (w *World) withWatch(ctx context.Context) (context.Context, func()) {
	if w.Config.Watch == nil {
		return ctx, func() {}
	}
	run, died := context.WithCancelCause(ctx)
	watch, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.Config.Watch(watch); err != nil {
			died(err)
		}
	}()
	return run, func() {
		stop()
		<-ended
	}
}

// addWaits adds to a StallError what each rank is waiting for.
func (w *World) addWaits(err error) error {
	var stall *StallError
	if errors.As(err, &stall) {
		for _, rank := range stall.Ranks {
			stall.Waits = append(stall.Waits, w.Ranks[rank].Waiting())
		}
	}
	return err
}

// allReturned reports whether the body of every rank has returned. Then a stall is harmless: ranks
// linger only for credits that their peers no longer need, and settle collects those.
func (w *World) allReturned() bool {
	for i := range w.returned {
		if !w.returned[i].Load() {
			return false
		}
	}
	return true
}

// lingerTogether makes progress on a rank until no rank of any program has pending obligations,
// because others may still need the credits that it returns.
func (w *World) lingerTogether(ctx context.Context, r *host.Rank) error {
	counted := false
	err := r.LingerUntil(func() bool {
		if !counted && !r.Owes() {
			counted = true
			if w.open.Add(-1) == 0 {
				go w.end(ctx) // in the background: ranks of other programs may need progress meanwhile
			}
		}
		return w.over.Load()
	})
	if err == nil {
		err = w.fenced
	}
	return err
}

// end waits until no rank of any program has pending obligations, then lets this program's ranks
// return.
func (w *World) end(ctx context.Context) {
	w.unwatch()
	w.fenced = w.fence(ctx)
	w.over.Store(true)
	for rank, p := range w.procs {
		if p != nil {
			p.Wake(rank, 0)
		}
	}
}

// settle receives everything that was in flight when the last rank returned, then checks the
// credits.
func (w *World) settle() error {
	for {
		known, err := w.machine.Rest()
		if err != nil || !known {
			return err
		}
		moved, err := w.settleAll()
		if err != nil {
			return err
		}
		if !moved {
			return w.checkCredits()
		}
	}
}

func (w *World) settleAll() (moved bool, err error) {
	for i, r := range w.Ranks {
		if r == nil {
			continue
		}
		m, err := r.Settle()
		if err != nil {
			return false, fmt.Errorf("rank %d: %w", i, err)
		}
		moved = moved || m
	}
	return moved, nil
}

// checkCredits checks for every pair of ranks that the sender owns exactly the credits that the
// receiver granted. Nothing is in flight at that point, so a missing credit is lost.
func (w *World) checkCredits() error {
	for _, r := range w.Ranks {
		if r == nil {
			continue
		}
		if err := r.Endpoint().Check(); err != nil {
			return err
		}
		for _, s := range w.Ranks {
			if s == nil || r == s {
				continue
			}
			if err := errors.Join(velo.CheckPair(s.Endpoint(), r.Endpoint()), host.CheckRings(s, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Launch opens a free-running device, runs body on every rank of a world and closes the device. It
// extends opt with the requirements of the world. Slow steps such as building a simulator are
// reported by opt.Progress, or on standard error if that is nil. Only c.Directory is required, plus
// Longest and Buffers for messages beyond host.EagerMax.
func Launch(ctx context.Context, device string, opt drivers.Options, c Config, body func(r *host.Rank) error) (err error) {
	c = c.withDefaults()
	m, err := c.Layout(nil)
	if err != nil {
		return err
	}
	for _, p := range c.Directory {
		opt.Nodes = max(opt.Nodes, p.Node+1)
	}
	opt.MemoryBytes = max(opt.MemoryBytes, m.Bytes())
	opt.Needs |= Needs | drivers.CanFreeRun
	if opt.Progress == nil {
		opt.Progress = func(what string) { fmt.Fprintln(os.Stderr, what) }
	}
	sys, err := registry.Open(ctx, device, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	w, err := New(OnClock(sys), c)
	if err != nil {
		return err
	}
	return w.Run(ctx, body)
}
