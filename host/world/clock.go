package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// A Clock is the machine of devices whose time passes by itself: every process has a goroutine, and
// its time is that of the wall. Host work takes the time that it takes.
type Clock struct {
	// Patience is how long all ranks may wait at the same time and nothing come; 0: for ever.
	Patience time.Duration

	sys     drivers.System
	began   time.Time
	procs   []*clockProc // in the order of Add
	byRank  map[int]*clockProc
	started atomic.Uint64 // how often a process went on
	gone    chan struct{} // closed when Run gives up
}

// OnClock makes the machine of a system that can CanFreeRun.
func OnClock(sys drivers.System) *Clock {
	return &Clock{Patience: 10 * time.Second, sys: sys, began: time.Now(), byRank: map[int]*clockProc{}}
}

// A StallError: all ranks wait and nothing comes.
type StallError struct {
	For   time.Duration
	Ranks []int // that have not returned
	Waits []host.Waiting
}

func (e *StallError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "no rank goes on for %v", e.For)
	for i, w := range e.Waits {
		fmt.Fprintf(&s, "\n  rank %d: %s", e.Ranks[i], w)
	}
	return s.String()
}

// Add makes a process.
func (c *Clock) Add(rank int, at Location) (Process, error) {
	if err := drivers.Require(c.sys, Needs|drivers.CanFreeRun); err != nil {
		return nil, err
	}
	if at.Node >= c.sys.Info().Nodes {
		return nil, fmt.Errorf("%w: node %d of a machine with %d", drivers.ErrConfig, at.Node, c.sys.Info().Nodes)
	}
	p := &clockProc{c: c, rank: rank, bell: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	p.dev = clockDevice{c.sys.Device(at.Node), p}
	c.procs = append(c.procs, p)
	c.byRank[rank] = p
	return p, nil
}

// Parallel implements Machine.
func (c *Clock) Parallel() bool { return true }

// Stuck implements Machine.
func (c *Clock) Stuck(err error) bool {
	var stall *StallError
	return errors.As(err, &stall)
}

// Rest implements Machine: of hardware that runs nobody knows whether it is at rest.
func (c *Clock) Rest() (bool, error) { return false, nil }

// errExited ends a run in which the goroutine of a process has exited (runtime.Goexit) or panicked.
var errExited = errors.New("world: the goroutine of a rank has exited")

// Run implements Machine. One that fails closes the system, for a store to it may wait for ever.
func (c *Clock) Run(ctx context.Context, body func(rank int) error) error {
	ctx, end := context.WithCancelCause(ctx)
	gone := make(chan struct{})
	c.gone = gone
	unwound := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		close(gone)
		_ = c.sys.Close() // what the run failed with says more
		close(unwound)
	})
	var ranks, listeners sync.WaitGroup
	var panicked atomic.Pointer[any]
	for _, p := range c.procs {
		p.state.Store(runs)
		if p.waiter != nil {
			listeners.Go(func() { p.listen(ctx, end) })
		}
	}
	for _, p := range c.procs {
		ranks.Go(func() { p.run(body, end, &panicked) })
	}
	if c.Patience > 0 {
		listeners.Go(func() { c.watch(ctx, end) })
	}
	ranks.Wait()
	if !stop() {
		<-unwound
	}
	err := context.Cause(ctx)
	end(nil)
	listeners.Wait()
	if r := panicked.Load(); r != nil {
		panic(*r)
	}
	return err
}

// run runs the body of a process. One that panics, or whose goroutine is made to exit, ends the
// run.
func (p *clockProc) run(body func(rank int) error, end context.CancelCauseFunc, panicked *atomic.Pointer[any]) {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			panicked.CompareAndSwap(nil, &r)
		}
		if !returned {
			end(errExited)
		}
	}()
	err := body(p.rank)
	returned = true
	p.state.Store(ended)
	if err != nil {
		end(fmt.Errorf("rank %d: %w", p.rank, err))
	}
}

// watch ends a run in which nobody goes on any more.
func (c *Clock) watch(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(max(c.Patience/4, time.Millisecond))
	defer tick.Stop()
	last, since := c.started.Load(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now := c.started.Load(); now != last || !c.allWait() {
			last, since = now, time.Now()
		} else if time.Since(since) >= c.Patience {
			end(&StallError{For: c.Patience, Ranks: c.left()})
			return
		}
	}
}

func (c *Clock) allWait() bool {
	for _, p := range c.procs {
		if p.state.Load() == runs {
			return false
		}
	}
	return len(c.left()) > 0
}

func (c *Clock) left() (list []int) {
	for _, p := range c.procs {
		if p.state.Load() != ended {
			list = append(list, p.rank)
		}
	}
	return list
}

// What a process does.
const (
	runs int32 = iota
	waits
	ended
)

// A clockProc is one process.
type clockProc struct {
	c      *Clock
	rank   int
	state  atomic.Int32
	bell   chan struct{} // something came
	waiter drivers.Waiter
	timer  *time.Timer
	dev    clockDevice
}

// listen rings the bell for what the NIC writes.
func (p *clockProc) listen(ctx context.Context, end context.CancelCauseFunc) {
	for {
		if err := p.waiter.Wait(ctx); err != nil {
			end(err) // if it has not ended
			return
		}
		p.ring()
	}
}

func (p *clockProc) ring() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

func (p *clockProc) Device() drivers.Device { return &p.dev }

func (p *clockProc) Now() drivers.Time {
	return drivers.Time(time.Since(p.c.began)) * drivers.Nanosecond
}

// Spend does nothing: work has taken its time.
func (p *clockProc) Spend(drivers.Time) {}

// Sync has nothing to catch up with.
func (p *clockProc) Sync() bool { return false }

// Err returns drivers.ErrRunEnded when the run has failed or was cancelled.
func (p *clockProc) Err() error {
	select {
	case <-p.c.gone:
		return drivers.ErrRunEnded
	default:
		return nil
	}
}

// WatchArrivals has the bell rung for writes. A device that cannot tell of them is looked at now
// and then.
func (p *clockProc) WatchArrivals(off, n uint64) (err error) {
	if p.dev.Capabilities().Has(drivers.CanAwait) {
		p.waiter, err = p.dev.Await(drivers.Cause{Off: off, Bytes: n})
	}
	return err
}

// lookEvery is how often memory is looked at of which nobody tells.
const lookEvery = 20 * time.Microsecond

func (p *clockProc) WaitArrival(until drivers.Time) {
	const longest = time.Hour
	d := longest
	if until < drivers.Never {
		d = max(0, time.Duration((until-p.Now())/drivers.Nanosecond))
	}
	if p.waiter == nil {
		d = min(d, lookEvery)
	}
	p.timer.Reset(d)
	p.state.Store(waits)
	select {
	case <-p.bell:
		p.c.started.Add(1)
	case <-p.timer.C:
	case <-p.c.gone:
	}
	p.state.Store(runs)
}

func (p *clockProc) Attend(w host.Worker, look drivers.Time) {
	for {
		done, until := w.Work()
		if done || p.Err() != nil {
			return
		}
		p.WaitArrival(until)
	}
}

// Room: a store waits for an entry by itself, and for nothing that software must do.
func (p *clockProc) Room(int) bool { return true }

func (p *clockProc) Wake(rank int, _ drivers.Time) { p.c.byRank[rank].ring() }

// A clockDevice tells that its process waits while a store does.
type clockDevice struct {
	drivers.Device
	p *clockProc
}

func (d *clockDevice) WritePIO(off uint32, line []byte) error {
	d.p.state.Store(waits)
	err := d.Device.WritePIO(off, line)
	d.p.state.Store(runs)
	d.p.c.started.Add(1)
	return err
}

// PacesPIO tells what the device below does.
func (d *clockDevice) PacesPIO() bool {
	p, ok := d.Device.(drivers.Pacer)
	return ok && p.PacesPIO()
}
