package freerun

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/regs"
)

// sliceCycles is the number of cycles between two checks for requests of software.
const sliceCycles = 256

// A System is a free-running machine: its clock advances in a goroutine of its own. A posted write
// takes effect at the cycle in which it is received.
type System struct {
	info drivers.Info
	mu   sync.Mutex // of all below
	m    drivers.Timed
	// taken wakes stores that wait for an entry.
	taken   *sync.Cond
	entries [][regs.VPIDs]pacing.Entries // by node
	waiters []*waiter
	unused  map[watched][]drivers.WatchID // whose waiters have ended
	onFault func(error)
	err     error // ended the run
	// isIdle: nothing moved in the last slice, and every later reason to run was signalled by kick.
	isIdle bool

	kick    chan struct{} // there is something to do
	over    chan struct{} // closed by Close
	stopped chan struct{} // the goroutine has ended
	once    sync.Once
}

var _ drivers.Lender = (*System)(nil)

// New starts a goroutine that runs a machine.
func New(m drivers.Timed) *System {
	a := &System{
		info: m.Info(), m: m, entries: make([][regs.VPIDs]pacing.Entries, m.Info().Nodes),
		unused: map[watched][]drivers.WatchID{},
		kick:   make(chan struct{}, 1), over: make(chan struct{}), stopped: make(chan struct{}),
	}
	a.taken = sync.NewCond(&a.mu)
	go a.drive()
	return a
}

// drive lets time pass while anything moves.
func (a *System) drive() {
	defer close(a.stopped)
	var stop drivers.Stop
	for {
		select {
		case <-a.over:
			return
		default:
		}
		if a.slice(&stop) {
			continue
		}
		select {
		case <-a.kick:
		case <-a.over:
			return
		}
	}
}

// slice simulates some cycles and reports whether more can happen without a call.
func (a *System) slice(stop *drivers.Stop) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return false
	}
	a.err = a.reportFaults(a.m.Run(a.m.Now()+sliceCycles, stop))
	for _, f := range stop.Fired {
		for _, w := range a.waiters {
			w.hear(f)
		}
	}
	if a.err != nil {
		for _, w := range a.waiters {
			w.ring()
		}
	}
	a.taken.Broadcast()
	a.isIdle = a.err != nil || stop.Quiet && len(stop.Fired) == 0
	return !a.isIdle
}

// Info describes the machine.
func (a *System) Info() drivers.Info { return a.info }

// Device is one node's NIC.
func (a *System) Device(node int) drivers.Device { return &device{a, a.m.Device(node), node} }

// Close ends the machine.
func (a *System) Close() error {
	a.once.Do(func() {
		close(a.over)
		<-a.stopped
		a.mu.Lock()
		defer a.mu.Unlock()
		a.err = drivers.ErrClosed
		_ = a.m.Close() // without a trace it has nothing to fail with
		a.taken.Broadcast()
		for _, w := range a.waiters {
			w.ring()
		}
	})
	return nil
}

// wake makes the goroutine simulate.
func (a *System) wake() {
	select {
	case a.kick <- struct{}{}:
	default:
	}
}

// A device may be used from many goroutines.
type device struct {
	a     *System
	under drivers.Device
	node  int
}

func (d *device) ReadReg(off uint32) (uint64, error) {
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	if d.a.err != nil {
		return 0, d.a.err
	}
	if !d.a.isIdle { // reading moves nothing
		d.a.wake()
	}
	v, err := d.under.ReadReg(off)
	if err = d.a.reportFaults(err); err != nil {
		return 0, err
	}
	return v, nil
}

func (d *device) WriteReg(off uint32, v uint64) error {
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	if d.a.err != nil {
		return d.a.err
	}
	d.a.wake()
	return d.under.WriteReg(off, v)
}

// Read is drivers.SizedDevice's.
func (d *device) Read(off uint32, bytes int) (uint64, error) {
	sized, err := d.sized()
	if err != nil {
		return 0, err
	}
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	if d.a.err != nil {
		return 0, d.a.err
	}
	if !d.a.isIdle {
		d.a.wake()
	}
	v, err := sized.Read(off, bytes)
	return v, d.a.reportFaults(err)
}

// Write is drivers.SizedDevice's.
func (d *device) Write(off uint32, bytes int, v uint64) error {
	sized, err := d.sized()
	if err != nil {
		return err
	}
	d.a.mu.Lock()
	defer d.a.mu.Unlock()
	if d.a.err != nil {
		return d.a.err
	}
	d.a.wake()
	return sized.Write(off, bytes, v)
}

func (d *device) sized() (drivers.SizedDevice, error) {
	sized, ok := d.under.(drivers.SizedDevice)
	if !ok {
		return nil, fmt.Errorf("%w: the registers of %s have one width", drivers.ErrNotSupported, d.a.info.Backend)
	}
	return sized, nil
}

func (d *device) WritePIO(off uint32, line []byte) error {
	return d.a.post(d.under, d.node, off, line, regs.VELOLines)
}

// PacesPIO: a store waits for an entry.
func (d *device) PacesPIO() bool { return true }

func (d *device) Memory() []byte { return d.under.Memory() }

func (d *device) Segments() []drivers.Segment { return d.under.Segments() }

func (d *device) Capabilities() drivers.Capabilities {
	return d.under.Capabilities()&^drivers.CanSimulate | drivers.CanFreeRun | d.a.lends()
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	a := d.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return nil, a.err
	}
	w := &waiter{a: a, node: d.node, cause: c, bell: make(chan struct{}, 1), closed: make(chan struct{})}
	if c != drivers.Interrupt {
		var err error
		if w.id, err = a.watch(watched{d.node, c}); err != nil {
			return nil, err
		}
	}
	w.arm()
	a.waiters = append(a.waiters, w)
	return w, nil
}

// A watched is what a watch is of.
type watched struct {
	node  int
	cause drivers.Cause
}

// watch names a range. Names cannot be given back to the machine, so one of the same range is used
// again; it may be armed.
func (a *System) watch(w watched) (drivers.WatchID, error) {
	list := a.unused[w]
	if n := len(list); n > 0 {
		a.unused[w] = list[:n-1]
		return list[n-1], nil
	}
	return a.m.Watch(w.node, w.cause.Off, w.cause.Bytes)
}

// A waiter has its condition armed, or its bell rings.
type waiter struct {
	a      *System
	node   int
	cause  drivers.Cause
	id     drivers.WatchID
	bell   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (w *waiter) hear(f drivers.Fired) {
	if f.Kind == drivers.FiredIRQ && w.cause == drivers.Interrupt && f.Node == w.node ||
		f.Kind == drivers.FiredWatch && w.cause != drivers.Interrupt && f.Watch == w.id {
		w.ring()
	}
}

func (w *waiter) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

func (w *waiter) arm() {
	if w.cause == drivers.Interrupt {
		w.a.m.ArmIRQ(w.node)
		w.a.wake()
	} else {
		w.a.m.Arm(w.id)
	}
}

// Wait returns when the bell has rung, which it may have before.
func (w *waiter) Wait(ctx context.Context) error {
	select {
	case <-w.closed:
		return drivers.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.bell:
	}
	w.a.mu.Lock()
	defer w.a.mu.Unlock()
	if w.a.err != nil {
		w.ring() // for the next
		return w.a.err
	}
	w.arm()
	return nil
}

func (w *waiter) Close() error {
	w.once.Do(func() {
		close(w.closed)
		w.a.mu.Lock()
		defer w.a.mu.Unlock()
		w.a.waiters = slices.DeleteFunc(w.a.waiters, func(o *waiter) bool { return o == w })
		if w.cause != drivers.Interrupt {
			key := watched{w.node, w.cause}
			w.a.unused[key] = append(w.a.unused[key], w.id)
		}
	})
	return nil
}
