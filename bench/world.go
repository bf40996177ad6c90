package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/world"
	"github.com/sirupsen/logrus"
)

// A World is a system with a rank on every process.
type World struct {
	*world.World
	Config Config
	// Sys and Kernel are nil on a free-running device.
	Sys    drivers.Timed
	Kernel *vtime.Kernel
	procs  []*vtime.Proc // by rank

	system drivers.System // the opened device without wrappers
}

// world returns the configuration of the ranks.
func (c *Config) world() world.Config {
	w := world.Config{
		Velo: c.Velo, Cost: c.Cost, Local: c.Local, Buffers: c.buffers,
		Rendezvous: c.protocol(), Chunk: c.Chunk, Outstanding: c.Outstanding, AlwaysSpeculate: c.AlwaysSpeculate, Reuse: c.Reuse, Eager: c.Eager.host(),
	}
	for _, a := range c.addrs() {
		w.Directory = append(w.Directory, world.Location{Node: a.Node, VPID: a.VPID})
	}
	for _, n := range c.Sizes {
		w.Longest = max(w.Longest, n)
	}
	return w
}

// openWorld opens the device with the needed capabilities and enables every endpoint.
func openWorld(ctx context.Context, c Config, trace drivers.TraceSink, needs drivers.Capabilities) (*World, error) {
	on := c.world()
	m, err := on.Layout(nil)
	if err != nil {
		return nil, err
	}
	if err := c.checkMemory(&on, m); err != nil {
		return nil, err
	}
	threads := c.Threads
	if c.Record != nil { // a log needs a single order of events
		threads = 1
	}
	open := c.Open
	if open == nil {
		open = registry.Open
	}
	sys, err := open(ctx, c.Device, drivers.Options{
		Nodes: c.Nodes, MemoryBytes: m.Bytes(), Trace: trace, Threads: threads, Needs: world.Needs | needs,
		Waves: c.Waves, Checkpoints: c.Checkpoints, LogFile: c.LogFile, Log: c.Log, Progress: c.Building,
	})
	if err != nil {
		return nil, err
	}
	w, err := newWorld(c, sys, on)
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	logs.Layer(c.Log, "world").WithFields(logrus.Fields{"device": c.Device, "nodes": c.Nodes, "ranks": c.Ranks(), "flow": c.Velo.Flow, "seed": c.Seed}).Debug("world opened")
	return w, nil
}

func newWorld(c Config, sys drivers.System, on world.Config) (w *World, err error) {
	w = &World{Config: c, system: sys}
	if c.System != nil {
		c.System(sys)
	}
	timed, ok := sys.(drivers.Timed)
	if !ok {
		return w, w.openFreeRunning(on)
	}
	if c.Record != nil {
		timed = translog.RecordTimed(timed, c.Record)
	}
	machine := simulate(timed, &w.Config)
	w.Sys, w.Kernel = timed, machine.Kernel
	if w.World, err = world.New(machine, on); err != nil {
		return nil, err
	}
	w.procs = machine.procs
	if err := w.limit(); err != nil || c.Opened == nil {
		return w, err
	}
	return w, c.Opened(w.Sys)
}

// openFreeRunning opens a world on a device whose clock is not controlled by the simulation kernel.
func (w *World) openFreeRunning(on world.Config) (err error) {
	if c := &w.Config; c.Record != nil || c.Opened != nil || len(c.NVM) > 0 || c.Beside > 0 || c.SlotTime > 0 || c.Limit > 0 {
		return fmt.Errorf("%w: %s has no simulated time; recordings, limits of time, slow memory and faults need it", drivers.ErrNotSupported, c.Device)
	}
	w.World, err = world.New(world.OnClock(w.system), on)
	return err
}

// run runs body on every rank, then waits until the network is idle.
func (w *World) run(ctx context.Context, body func(*host.Rank) error) error {
	stop := context.AfterFunc(ctx, func() { w.system.Close() })
	defer stop()
	err := w.World.Run(ctx, func(r *host.Rank) error { return w.withCycle(r, body(r)) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.explain(err)
}

// withCycle annotates a data mismatch with the cycle at which the rank observed it.
func (w *World) withCycle(r *host.Rank, err error) error {
	var differs *MismatchError
	if errors.As(err, &differs) {
		differs.Cycle = drivers.Cycle(int(r.Now()) / w.system.Info().ClockPS)
	}
	return err
}

// close ends the world's simulated time and closes its device.
func (w *World) close() error {
	if w.Sys == nil {
		return w.system.Close()
	}
	logs.Layer(w.Config.Log, "world").WithFields(logrus.Fields{"simulated": w.Kernel.Now(), "cycle": w.Sys.Now()}).Debug("world closed")
	if w.Config.Ended != nil {
		w.Config.Ended(w.Kernel.Now())
	}
	return w.Sys.Close()
}

// causeOf returns the cancellation cause if ctx was cancelled, otherwise err. Errors that follow
// from a cancellation are suppressed.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// failed repeats the end of a failed run with waves, if the run was opened for that.
func (w *World) failed(ctx context.Context, err error) {
	r, ok := w.system.(drivers.Repeater)
	if err == nil || ctx.Err() != nil || w.Config.Checkpoints == nil || !ok {
		return
	}
	shown, err := r.Repeat()
	if w.Config.Repeated != nil {
		w.Config.Repeated(shown, err)
	}
}
