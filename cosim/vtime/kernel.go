package vtime

import (
	"fmt"
	"iter"
	"runtime"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Config is the part of the host cost model that belongs to the device.
type Config struct {
	PIOWrite drivers.Time // core time of posting one line to the send window
	RegWrite drivers.Time // core time of posting a register write
	Wake     drivers.Time // from a slot becoming visible to the polling core seeing it
	PIODepth int          // posted lines per process that have not left its window; regs.VELOLines at most
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
	loops  []*loop
	byNode []*loop
	tick   func()
	stop   drivers.Stop // for calls between runs
}

// New creates a kernel for sys, with a loop for each of its parts. Run uses a thread per loop if
// that is faster.
func New(sys drivers.Timed, cfg Config) *Kernel {
	info := sys.Info()
	if cfg.PIODepth < 1 {
		panic(fmt.Sprintf("vtime: PIODepth is %d, must be at least 1", cfg.PIODepth))
	}
	cfg.PIODepth = min(cfg.PIODepth, regs.VELOLines)
	k := &Kernel{
		sys: sys, cfg: cfg, period: drivers.Time(info.ClockPS),
		byVPID: make([][]*Proc, info.Nodes), byNode: make([]*loop, info.Nodes),
	}
	for i := range k.byVPID {
		k.byVPID[i] = make([]*Proc, info.VPIDs)
	}
	k.divide()
	return k
}

// divide creates the loops.
func (k *Kernel) divide() {
	parted, ok := k.sys.(drivers.Partitioned)
	if !ok || len(parted.Partitions()) == 1 {
		l := &loop{k: k, hw: k.sys}
		if ok {
			l.next = parted.Partitions()[0].NextEvent
		}
		k.loops = []*loop{l}
		for node := range k.byNode {
			k.byNode[node] = l
		}
		return
	}
	with := newMeeting(k, parted)
	for _, p := range parted.Partitions() {
		l := &loop{k: k, hw: p, next: p.NextEvent, part: p, with: with, shared: &shared{}}
		k.loops = append(k.loops, l)
		for node, past := p.Nodes(); node < past; node++ {
			k.byNode[node] = l
		}
	}
}

// Now is the hardware's time. It is not meaningful while Run is running.
func (k *Kernel) Now() drivers.Time { return drivers.Time(k.sys.Now()) * k.period }

// Add creates a process that owns vpid on node. It starts with Run.
func (k *Kernel) Add(node, vpid int) *Proc {
	p := &Proc{k: k, l: k.byNode[node], id: len(k.procs), node: node, vpid: vpid, watch: -1}
	p.dev = device{p: p, under: k.sys.Device(node)}
	k.procs = append(k.procs, p)
	p.l.procs = append(p.l.procs, p)
	k.byVPID[node][vpid] = p
	return p
}

// Run runs body(i) as process i until all have returned. The first error of a body ends the run and
// is returned.
func (k *Kernel) Run(body func(i int) error) error {
	if len(k.loops) == 1 {
		// A goroutine that migrates to another thread finds cold caches, and so does the model if
		// it is in this process. With several loops a process may be resumed on another thread than
		// the one that created it, which is impossible for a locked one.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	start := k.Now()
	for i, p := range k.procs {
		p.now = start
		p.next, p.cancel = iter.Pull(p.sequence(func() error { return body(i) }))
		p.l.wake(p, start)
	}
	defer func() {
		for _, p := range k.procs {
			p.cancel()
		}
	}()
	for _, l := range k.loops {
		l.live = len(l.procs)
	}
	defer k.lead()()
	if with := k.loops[0].with; with != nil {
		return with.run()
	}
	return k.loops[0].run()
}

// watched returns the process of a watch, or nil if it belongs to another user of the system.
func (k *Kernel) watched(id drivers.WatchID) *Proc {
	if int(id) >= len(k.watch) {
		return nil
	}
	return k.watch[id]
}

const tickEvery = 1 << 12 // steps: some milliseconds of a large world

// OnTick calls f from time to time during Run, for displays of progress. The times of the calls are
// not reproducible. No process runs during a call.
func (k *Kernel) OnTick(f func()) { k.tick = f }

// cycle is the first cycle at or after t.
func (k *Kernel) cycle(t drivers.Time) drivers.Cycle {
	return drivers.Cycle((t + k.period - 1) / k.period)
}

// limited reports whether a time exceeds the limit.
func (k *Kernel) limited(t drivers.Time) bool { return k.cfg.Limit > 0 && t > k.cfg.Limit }

func (k *Kernel) limitError() error {
	return &LimitError{Limit: k.cfg.Limit, Procs: k.states()}
}

func (k *Kernel) states() []ProcState {
	list := make([]ProcState, len(k.procs))
	for i, p := range k.procs {
		list[i] = ProcState{ID: i, Node: p.node, VPID: p.vpid, State: p.state, Now: p.now, Posted: p.entries.Pending()}
	}
	return list
}
