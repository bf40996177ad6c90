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

// A Clock is the Machine of free-running devices: every rank runs in a goroutine of its own and
// reads the wall clock. The cost of host work is not modelled; it takes as long as it takes.
type Clock struct {
	// Patience is the stall timeout: a run ends with a StallError when all ranks have waited that
	// long without an arrival. 0 disables it.
	Patience time.Duration

	sys     drivers.System
	began   time.Time
	procs   []*clockProc // in order of Add
	byRank  map[int]*clockProc
	started atomic.Uint64 // wake-ups and completed stores of all processes: the progress counter of watch
	aborted chan struct{} // closed when a run fails or is cancelled
}

// OnClock returns the Machine of a system with the capability CanFreeRun.
func OnClock(sys drivers.System) *Clock {
	return &Clock{Patience: 10 * time.Second, sys: sys, began: time.Now(), byRank: map[int]*clockProc{}}
}

// A StallError reports that all ranks were waiting and no packet arrived for the stall timeout.
type StallError struct {
	For   time.Duration
	Ranks []int // the ranks that have not returned
	Waits []host.Waiting
}

func (e *StallError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "no rank makes progress for %v", e.For)
	for i, w := range e.Waits {
		fmt.Fprintf(&s, "\n  rank %d: %s", e.Ranks[i], w)
	}
	return s.String()
}

// Add creates the process of a rank.
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

// Rest implements Machine. Free-running hardware cannot report that it is idle.
func (c *Clock) Rest() (bool, error) { return false, nil }

// errExited ends a run in which the goroutine of a process has exited (runtime.Goexit) or panicked.
var errExited = errors.New("world: the goroutine of a rank has exited")

// Run implements Machine. On failure it closes the system: a store blocked by backpressure does not
// return otherwise.
func (c *Clock) Run(ctx context.Context, body func(rank int) error) error {
	ctx, end := context.WithCancelCause(ctx)
	aborted := make(chan struct{})
	c.aborted = aborted
	unwound := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		close(aborted)
		_ = c.sys.Close() // the cause of the failure matters more than an error of Close
		close(unwound)
	})
	var ranks, listeners sync.WaitGroup
	var panicked atomic.Pointer[any]
	for _, p := range c.procs {
		p.state.Store(stateRunning)
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

// run executes the body of a process. A panic or runtime.Goexit in it ends the run.
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
	p.state.Store(stateEnded)
	if err != nil {
		end(fmt.Errorf("rank %d: %w", p.rank, err))
	}
}

// watch ends a run in which no rank makes progress.
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
			end(&StallError{For: c.Patience, Ranks: c.unfinished()})
			return
		}
	}
}

func (c *Clock) allWait() bool {
	for _, p := range c.procs {
		if p.state.Load() == stateRunning {
			return false
		}
	}
	return len(c.unfinished()) > 0
}

func (c *Clock) unfinished() (list []int) {
	for _, p := range c.procs {
		if p.state.Load() != stateEnded {
			list = append(list, p.rank)
		}
	}
	return list
}

// States of a process.
const (
	stateRunning int32 = iota
	stateWaiting
	stateEnded
)

// A clockProc is the Process of a rank on a Clock.
type clockProc struct {
	c      *Clock
	rank   int
	state  atomic.Int32
	bell   chan struct{} // signalled by an arrival or by Wake
	waiter drivers.Waiter
	timer  *time.Timer
	dev    clockDevice
}

// listen rings the bell after every write of the NIC to the watched memory.
func (p *clockProc) listen(ctx context.Context, end context.CancelCauseFunc) {
	for {
		if err := p.waiter.Wait(ctx); err != nil {
			end(err) // without effect if the run has ended already
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

// Spend does nothing: real work takes real time.
func (p *clockProc) Spend(drivers.Time) {}

// Sync does nothing: there is no simulated time to catch up with.
func (p *clockProc) Sync() bool { return false }

// Err returns drivers.ErrRunEnded after the run has failed or was cancelled.
func (p *clockProc) Err() error {
	select {
	case <-p.c.aborted:
		return drivers.ErrRunEnded
	default:
		return nil
	}
}

// WatchArrivals wakes the process on writes to [off, off+n). Without CanAwait memory is polled
// instead, see pollInterval.
func (p *clockProc) WatchArrivals(off, n uint64) (err error) {
	if p.dev.Capabilities().Has(drivers.CanAwait) {
		p.waiter, err = p.dev.Await(drivers.Cause{Off: off, Bytes: n})
	}
	return err
}

// pollInterval is the polling period on devices without CanAwait.
const pollInterval = 20 * time.Microsecond

func (p *clockProc) WaitArrival(until drivers.Time) {
	const longest = time.Hour
	d := longest
	if until < drivers.Never {
		d = max(0, time.Duration((until-p.Now())/drivers.Nanosecond))
	}
	if p.waiter == nil {
		d = min(d, pollInterval)
	}
	p.timer.Reset(d)
	p.state.Store(stateWaiting)
	select {
	case <-p.bell:
		p.c.started.Add(1)
	case <-p.timer.C:
	case <-p.c.aborted:
	}
	p.state.Store(stateRunning)
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

// Room is always true: WritePIO blocks until the NIC has a free entry, and software need not do
// anything for that.
func (p *clockProc) Room(int) bool { return true }

func (p *clockProc) Wake(rank int, _ drivers.Time) { p.c.byRank[rank].ring() }

// A clockDevice marks its process as waiting while a store is blocked.
type clockDevice struct {
	drivers.Device
	p *clockProc
}

func (d *clockDevice) WritePIO(off uint32, line []byte) error {
	d.p.state.Store(stateWaiting)
	err := d.Device.WritePIO(off, line)
	d.p.state.Store(stateRunning)
	d.p.c.started.Add(1)
	return err
}

// PacesPIO reports whether the device underneath limits the rate of stores.
func (d *clockDevice) PacesPIO() bool {
	p, ok := d.Device.(drivers.Pacer)
	return ok && p.PacesPIO()
}
