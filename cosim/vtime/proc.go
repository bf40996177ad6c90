package vtime

import (
	"fmt"
	"iter"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/pacing"
)

// A State is the state of a process.
type State uint8

// The states of a process.
const (
	Ready        State = iota // running, or ready to run
	AwaitArrival              // parked until its watched range is written
	AwaitPIO                  // waits for an entry in its send window
	Done
)

func (s State) String() string {
	return [...]string{"ready", "waits for an arrival", "waits for an entry in its send window", "done"}[s]
}

// A Proc is a process: the interface of a rank to its machine.
type Proc struct {
	k          *Kernel
	l          *loop // of its node
	id         int
	node, vpid int
	now        drivers.Time
	state      State
	resumes    uint64 // number of times that the process was resumed
	watch      drivers.WatchID
	entries    pacing.Entries // of the send window
	dev        device
	worker     Worker // set during Attend
	look       drivers.Time
	slept      bool // look must be charged
	attends    bool // the worker is running
	aborted    bool // the run has ended before the process
	next       func() (struct{}, bool)
	cancel     func()
	yield      func(struct{}) bool
	err        error
	near       [nears]cache.Area
}

// nears is the maximum number of areas that a process may name.
const nears = 4

// Near names up to four memory areas that a process always uses. They are prefetched while the
// previous process runs.
func (p *Proc) Near(areas ...cache.Area) {
	if len(areas) > nears {
		panic(fmt.Sprintf("vtime: a process names %d areas, expected at most %d", len(areas), nears))
	}
	p.near = [nears]cache.Area{}
	copy(p.near[:], areas)
}

// Now is the process's local time.
func (p *Proc) Now() drivers.Time { return p.now }

// Spend advances the local time by t of host work.
func (p *Proc) Spend(t drivers.Time) { p.now += t }

// Cycle is the cycle of the hardware of the process's node. While the process runs, it corresponds
// to its local time, independent of other threads.
func (p *Proc) Cycle() drivers.Cycle { return p.l.hw.Now() }

// Device is the process's NIC; posting to it takes time.
func (p *Proc) Device() drivers.Device { return &p.dev }

// WatchArrivals sets the memory range whose writes end WaitArrival. It is called once, before Run.
func (p *Proc) WatchArrivals(off, n uint64) error {
	id, err := p.k.sys.Watch(p.node, off, n)
	if err != nil {
		return err
	}
	for int(id) >= len(p.k.watch) {
		p.k.watch = append(p.k.watch, nil)
	}
	p.watch, p.k.watch[id] = id, p
	return nil
}

// Sync lets the hardware catch up with the process's local time. Only then does missing data in
// memory mean that nothing has arrived. It reports whether time passed.
func (p *Proc) Sync() bool {
	if p.aborted || !p.behind() {
		return false
	}
	if !p.pass() {
		p.suspend()
	}
	return true
}

// behind reports whether the hardware is behind the process.
func (p *Proc) behind() bool { return p.k.cycle(p.now) > p.l.hw.Now() }

// pass lets the hardware catch up with a process. It returns true if other processes must run
// before this one, which is then queued.
func (p *Proc) pass() bool {
	seq := p.l.ready.next()
	if p.yield != nil && p.l.isFirst(p.now, seq) { // avoids a switch to the kernel and back with the same effect
		return true
	}
	p.l.ready.pushAs(seq, p.now, p)
	p.state = Ready
	return false
}

// QuietUntil is a time before which nothing happens that this process does not do itself: no other
// process runs, and the hardware has no event. Until then, the process may advance its time without
// Sync and has missed nothing. Where that is unknown, it is the present time.
func (p *Proc) QuietUntil() drivers.Time {
	l := p.l
	if p.aborted || l.with != nil || l.next == nil || p.behind() {
		return p.now
	}
	at := drivers.Never
	if c := l.next(); c < drivers.Forever {
		at = drivers.Time(c-1) * p.k.period // a later time is rounded up to the cycle of the event
	}
	if l.skipVoid(); l.ready.len() > 0 {
		at = min(at, l.ready.first().at)
	}
	return max(at, p.now)
}

// WaitArrival parks the process until the watched memory is written, another process wakes it, or
// until is reached. The process must be synchronised (Sync) and have found nothing since, otherwise
// it may miss an arrival.
func (p *Proc) WaitArrival(until drivers.Time) {
	if p.Sync() || p.aborted {
		return
	}
	p.sleep(until)
	p.suspend()
}

func (p *Proc) sleep(until drivers.Time) {
	p.k.sys.Arm(p.watch)
	if until < drivers.Never {
		p.l.ready.push(max(until, p.now), p)
	}
	p.state = AwaitArrival
}

// Wake ends the wait of process id at time at: data was left for it without the NIC. The process
// must belong to the same node or, if one thread runs all processes, to any node.
func (p *Proc) Wake(id int, at drivers.Time) {
	if to := p.k.procs[id]; !p.aborted && to.state == AwaitArrival {
		p.l.ready.push(max(at, to.now), to)
	}
}

// suspend runs the loop until it resumes the process.
func (p *Proc) suspend() {
	if p.attends {
		panic("vtime: what a process attends to waits: it must not, see Attend")
	}
	if !p.yield(struct{}{}) {
		p.aborted = true
	}
}

// Err returns drivers.ErrRunEnded after the kernel has ended the run, otherwise nil. From then on
// Sync, WaitArrival and Attend return immediately.
func (p *Proc) Err() error {
	if p.aborted {
		return drivers.ErrRunEnded
	}
	return nil
}

// post waits for an entry in the send window and counts a line.
func (p *Proc) post() error {
	depth := uint64(p.k.cfg.PIODepth)
	for p.aborted || !p.entries.HasRoom(p.k.sys, p.node, p.vpid, 1, depth) {
		if p.aborted {
			return drivers.ErrRunEnded
		}
		if p.yield == nil {
			if err := p.letTake(p.entries.Required(1, depth)); err != nil {
				return err
			}
			continue
		}
		if p.Sync() {
			continue
		}
		p.entries.Arm(p.k.sys, p.node, p.vpid, 1, depth)
		p.state = AwaitPIO
		p.suspend()
	}
	p.entries.Posted++
	return nil
}

// letTake advances time until the NIC has taken a number of lines of a process that is not running:
// requests caused by the last packets of a run are sent after all processes have returned.
func (p *Proc) letTake(count uint64) error {
	if err := p.catchUp(); err != nil || p.k.sys.PIOTaken(p.node, p.vpid) >= count {
		return err
	}
	p.k.sys.ArmPIO(p.node, p.vpid, count)
	if err := p.k.sys.Run(drivers.Forever, &p.k.stop); err != nil {
		return err
	}
	if p.k.stop.Quiet && p.k.sys.PIOTaken(p.node, p.vpid) < count {
		return &HangError{At: p.k.Now(), HardwareIdle: p.k.stop.Idle, Procs: p.k.states()}
	}
	p.now = max(p.now, p.k.Now())
	return nil
}

// sequence is the process's coroutine. After an abort it continues until its body returns, and
// every wait in it returns immediately.
func (p *Proc) sequence(body func() error) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		defer func() {
			p.yield, p.worker, p.slept, p.attends, p.aborted = nil, nil, false, false, false
		}()
		p.yield = yield
		p.err = body()
		p.state = Done
	}
}

// device is a process's view of its NIC: posting takes time of the core and carries that time.
type device struct {
	p     *Proc
	under drivers.Device
}

// ReadReg follows earlier posts of the process. Time advances for the whole system until the
// answer, so it is not available to a process that runs concurrently with others.
func (d *device) ReadReg(off uint32) (uint64, error) {
	if d.p.yield != nil && d.p.l.with != nil {
		return 0, fmt.Errorf("%w: process %d reads a register while threads simulate parts of the system; use one thread", drivers.ErrNotSupported, d.p.id)
	}
	if err := d.p.catchUp(); err != nil {
		return 0, err
	}
	v, err := d.under.ReadReg(off)
	d.p.now = max(d.p.now, d.p.k.Now())
	return v, err
}

// catchUp is Sync, also for a process that is not running.
func (p *Proc) catchUp() error {
	if p.yield != nil {
		p.Sync()
		return p.Err()
	}
	if c := p.k.cycle(p.now); c > p.k.sys.Now() {
		return p.k.sys.Run(c, &p.k.stop)
	}
	return nil
}

func (d *device) WriteReg(off uint32, v uint64) error {
	if d.p.aborted {
		return drivers.ErrRunEnded
	}
	d.p.now += d.p.k.cfg.RegWrite
	d.p.k.sys.PostReg(d.p.node, d.p.k.cycle(d.p.now), off, v)
	return nil
}

func (d *device) WritePIO(off uint32, line []byte) error {
	if err := d.p.post(); err != nil {
		return err
	}
	d.p.now += d.p.k.cfg.PIOWrite
	d.p.k.sys.PostPIO(d.p.node, d.p.k.cycle(d.p.now), off, line)
	return nil
}

// PacesPIO: post waits for an entry.
func (d *device) PacesPIO() bool { return true }

func (d *device) Memory() []byte { return d.under.Memory() }

// Now lets a poller detect whether its process advances time (drivers/stall).
func (d *device) Now() drivers.Cycle { return d.p.k.cycle(d.p.now) }

func (d *device) Segments() []drivers.Segment { return d.under.Segments() }

// Capabilities are those of the device without Await: a process waits with WaitArrival.
func (d *device) Capabilities() drivers.Capabilities {
	return d.under.Capabilities() &^ (drivers.CanAwait | drivers.CanInterrupt)
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	return nil, fmt.Errorf("%w: a process that waits for %s: it has WaitArrival", drivers.ErrNotSupported, c)
}
