package vtime

import (
	"errors"
	"fmt"
	"iter"

	"github.com/nicloop/nicloop/drivers"
)

// Config is the part of the host cost model that belongs to the device.
type Config struct {
	PIOWrite drivers.Time // core time of posting one line to the send window
	RegWrite drivers.Time // core time of posting a register write
	Wake     drivers.Time // from a slot becoming visible to the polling core seeing it
	PIODepth int          // posted lines per process that the NIC has not taken
	Limit    drivers.Time // simulated time after which the run is given up; 0: none
}

// A Kernel schedules processes over one system.
type Kernel struct {
	sys    drivers.Timed
	cfg    Config
	period drivers.Time
	procs  []*Proc
	byVPID [][]*Proc // [node][vpid]
	watch  []*Proc   // by WatchID
	ready  queue
	live   int
	tick   func()
	stop   drivers.Stop
	err    error // of the system, while a process let time pass
}

// New makes a kernel for sys.
func New(sys drivers.Timed, cfg Config) *Kernel {
	info := sys.Info()
	if cfg.PIODepth < 1 {
		panic(fmt.Sprintf("vtime: PIODepth is %d, must be at least 1", cfg.PIODepth))
	}
	k := &Kernel{sys: sys, cfg: cfg, period: drivers.Time(info.ClockPS), byVPID: make([][]*Proc, info.Nodes)}
	for i := range k.byVPID {
		k.byVPID[i] = make([]*Proc, info.VPIDs)
	}
	return k
}

// Now is the hardware's time.
func (k *Kernel) Now() drivers.Time { return drivers.Time(k.sys.Now()) * k.period }

// Add makes a process that owns vpid on node. It starts when Run does.
func (k *Kernel) Add(node, vpid int) *Proc {
	p := &Proc{k: k, id: len(k.procs), node: node, vpid: vpid, watch: -1}
	p.dev = device{p: p, under: k.sys.Device(node)}
	k.procs = append(k.procs, p)
	k.byVPID[node][vpid] = p
	return p
}

// Run runs body(i) as process i until all have returned. The first error that a
// body returns ends the run and is returned.
func (k *Kernel) Run(body func(i int) error) error {
	start := k.Now()
	for i, p := range k.procs {
		p.now = start
		p.next, p.cancel = iter.Pull(p.sequence(func() error { return body(i) }))
		k.wake(p, start)
	}
	k.live = len(k.procs)
	defer func() {
		for _, p := range k.procs {
			p.cancel()
		}
	}()
	for n := 1; k.live > 0; n++ {
		if err := k.step(); err != nil {
			return err
		}
		if k.tick != nil && n%tickEvery == 0 {
			k.tick()
		}
	}
	return nil
}

const tickEvery = 1 << 12 // steps: some milliseconds of a large world

// OnTick has f called now and then while Run runs, to show how far it is. When
// depends on nothing that f may tell anybody but a person who waits.
func (k *Kernel) OnTick(f func()) { k.tick = f }

// step lets the earliest process run, or lets the hardware catch up with it.
func (k *Kernel) step() error {
	if k.err != nil {
		return k.err
	}
	k.skipVoid()
	if k.ready.len() == 0 {
		return k.waitForHardware()
	}
	at := k.ready.first().at
	if k.cfg.Limit > 0 && at > k.cfg.Limit {
		return &LimitError{Limit: k.cfg.Limit, Procs: k.states()}
	}
	if c := k.cycle(at); c > k.sys.Now() {
		return k.advance(c)
	}
	p := k.ready.pop().proc
	p.now = max(p.now, at)
	p.state = Ready
	p.turn++
	p.next()
	if p.state == Done {
		k.live--
		if p.err != nil {
			return fmt.Errorf("rank %d: %w", p.id, p.err)
		}
	}
	return nil
}

// isFirst lets the hardware catch up with the process that runs, as long as nobody else
// is to run before it. What ends a run is left to step.
func (k *Kernel) isFirst(at drivers.Time, turn uint64) bool {
	for c := k.cycle(at); k.err == nil && (k.cfg.Limit == 0 || at <= k.cfg.Limit); {
		k.skipVoid()
		if k.ready.len() > 0 && k.ready.first().before(entry{at: at, seq: turn}) {
			return false
		}
		if c <= k.sys.Now() {
			return true
		}
		k.err = k.advance(c)
	}
	return false
}

func (k *Kernel) skipVoid() {
	for k.ready.len() > 0 && k.ready.first().void() {
		k.ready.pop()
	}
}

func (k *Kernel) waitForHardware() error {
	if err := k.advance(drivers.Forever); err != nil {
		return err
	}
	if k.stop.Quiet && k.ready.len() == 0 {
		return &HangError{At: k.Now(), HardwareIdle: k.stop.Idle, Procs: k.states()}
	}
	return nil
}

func (k *Kernel) advance(until drivers.Cycle) error {
	if err := k.sys.Run(until, &k.stop); err != nil {
		return err
	}
	at := drivers.Time(k.stop.Now) * k.period
	for _, f := range k.stop.Fired {
		switch f.Kind {
		case drivers.FiredWatch:
			if p := k.watch[f.Watch]; p.state == AwaitArrival {
				k.wake(p, at+k.cfg.Wake)
			}
		case drivers.FiredPIO:
			if p := k.byVPID[f.Node][f.VPID]; p.state == AwaitPIO {
				k.wake(p, at)
			}
		}
	}
	return nil
}

// wake lets p run at time at, or at its own if that is later.
func (k *Kernel) wake(p *Proc, at drivers.Time) {
	p.state = Ready
	p.now = max(p.now, at)
	k.ready.push(p.now, p)
}

// void: the process has run since for another reason.
func (e entry) void() bool { return e.turn != e.proc.turn }

// cycle is the first cycle that is not before t.
func (k *Kernel) cycle(t drivers.Time) drivers.Cycle {
	return drivers.Cycle((t + k.period - 1) / k.period)
}

func (k *Kernel) states() []ProcState {
	list := make([]ProcState, len(k.procs))
	for i, p := range k.procs {
		list[i] = ProcState{ID: i, Node: p.node, VPID: p.vpid, State: p.state, Now: p.now, Posted: p.issued - p.taken}
	}
	return list
}

// errAborted unwinds a process whose kernel has given up.
var errAborted = errors.New("vtime: run aborted")
