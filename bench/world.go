package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/translog"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
	"github.com/sirupsen/logrus"
)

// logged is a line per step of a world, none per packet.
var logged = logrus.WithField("layer", "world")

// A World is a system with a rank on every process.
type World struct {
	Config Config
	Sys    drivers.Timed
	Kernel *vtime.Kernel
	Ranks  []*host.Rank
	procs  []*vtime.Proc // by rank

	repeater drivers.System // what was opened, nothing around it
}

// openWorld opens the device and enables every endpoint.
func openWorld(ctx context.Context, c Config, trace drivers.TraceSink) (*World, error) {
	m, err := c.memory()
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if c.Record != nil { // a log has one order
		threads = 1
	}
	open := c.Open
	if open == nil {
		open = drivers.Open
	}
	sys, err := open(ctx, c.Device, drivers.Options{
		Nodes: c.Nodes, MemoryBytes: m.bytes(c.Procs), Trace: trace, Threads: threads,
		Waves: c.Waves, Checkpoints: c.Checkpoints, LogFile: c.LogFile, Progress: c.Building,
	})
	if err != nil {
		return nil, err
	}
	w, err := newWorld(c, sys, m)
	if err != nil {
		return nil, errors.Join(err, sys.Close())
	}
	logged.WithFields(logrus.Fields{"device": c.Device, "nodes": c.Nodes, "ranks": c.Ranks(), "flow": c.Velo.Flow, "seed": c.Seed}).Debug("world opened")
	return w, nil
}

func newWorld(c Config, sys drivers.System, m memory) (*World, error) {
	timed, ok := sys.(drivers.Timed)
	if !ok {
		return nil, fmt.Errorf("%w: %s has no simulated time, which workloads run in", drivers.ErrNotSupported, c.Device)
	}
	if c.Record != nil {
		timed = translog.RecordTimed(timed, c.Record)
	}
	w := &World{Config: c, Sys: timed, repeater: sys, Kernel: vtime.New(timed, vtime.Config{
		PIOWrite: c.Cost.PIOWrite, RegWrite: c.Cost.RegWrite, Wake: c.Cost.Wake,
		PIODepth: c.Cost.PIODepth, Limit: c.Limit,
	})}
	addrs := c.addrs()
	local := host.NewLocal(nodesOf(addrs))
	dir := velo.NewDirectory(addrs)
	var atu *rma.ATU
	for rank, a := range addrs {
		p := w.Kernel.Add(a.Node, a.VPID)
		ep, err := velo.Open(p.Device(), m.mailbox(a.VPID), rank, dir, c.Velo)
		if err != nil {
			return nil, err
		}
		if err := p.WatchArrivals(m.watched(a.VPID)); err != nil {
			return nil, err
		}
		r := host.NewRank(rank, len(addrs), p, ep, &w.Config.Cost)
		w.Ranks, w.procs = append(w.Ranks, r), append(w.procs, p)
		if c.Local {
			r.UseLocal(local)
		}
		if m.heap == 0 {
			continue
		}
		if a.VPID == 0 {
			if atu, err = rma.NewATU(p.Device(), m.atuBase(c.Procs), m.atu); err != nil {
				return nil, err
			}
		}
		if err := m.openRMA(&c, r, p.Device(), a, atu); err != nil {
			return nil, err
		}
	}
	if err := w.limit(m); err != nil || c.Opened == nil {
		return w, err
	}
	return w, c.Opened(w.Sys)
}

func nodesOf(addrs []velo.Addr) []int {
	nodes := make([]int, len(addrs))
	for i, a := range addrs {
		nodes[i] = a.Node
	}
	return nodes
}

// run runs body on every rank, then lets what is still under way arrive.
func (w *World) run(ctx context.Context, body func(*host.Rank) error) error {
	stop := context.AfterFunc(ctx, func() { w.Sys.Close() })
	defer stop()
	err := w.Kernel.Run(func(i int) error { return w.dated(i, body(w.Ranks[i])) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return w.explain(err)
	}
	return w.settle()
}

// dated adds to data that differ when rank i saw it.
func (w *World) dated(i int, err error) error {
	var differs *MismatchError
	if errors.As(err, &differs) {
		differs.Cycle = drivers.Cycle(int(w.Ranks[i].Now()) / w.Sys.Info().ClockPS)
	}
	return err
}

// settle drains the control packets that were under way when the last rank
// returned, so that credits can be counted.
func (w *World) settle() error {
	var stop drivers.Stop
	for {
		if err := w.Sys.Run(drivers.Forever, &stop); err != nil {
			return err
		}
		if len(stop.Fired) > 0 {
			continue
		}
		moved, err := w.pollAll()
		if err != nil {
			return err
		}
		if !moved {
			return w.checkCredits()
		}
	}
}

// pollAll empties every mailbox; only control packets may be left in them.
func (w *World) pollAll() (moved bool, err error) {
	for i, r := range w.Ranks {
		n := r.Endpoint().Taken()
		var pkt velo.Packet
		data, err := r.Endpoint().Poll(&pkt)
		if err != nil {
			return false, err
		}
		if data {
			return false, fmt.Errorf("rank %d: a data packet from rank %d was never received", i, pkt.From)
		}
		moved = moved || r.Endpoint().Taken() != n
	}
	return moved, nil
}

// checkCredits checks, for every pair, that what the sender owns is what the
// receiver has granted: nothing is in flight, so no credit may be missing.
func (w *World) checkCredits() error {
	for _, r := range w.Ranks {
		if err := r.Endpoint().Check(); err != nil {
			return err
		}
		for _, s := range w.Ranks {
			if r == s {
				continue
			}
			if err := velo.CheckPair(s.Endpoint(), r.Endpoint()); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends the world's simulated time and closes its device.
func (w *World) close() error {
	logged.WithFields(logrus.Fields{"simulated": w.Kernel.Now(), "cycle": w.Sys.Now()}).Debug("world closed")
	if w.Config.Ended != nil {
		w.Config.Ended(w.Kernel.Now())
	}
	return w.Sys.Close()
}

// because is the error of a run, or why it was cancelled: what that broke is of no interest.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// failed has the end of a run that failed repeated, if it was opened for that.
func (w *World) failed(ctx context.Context, err error) {
	r, ok := w.repeater.(drivers.Repeater)
	if err == nil || ctx.Err() != nil || w.Config.Checkpoints == nil || !ok {
		return
	}
	shown, err := r.Repeat()
	if w.Config.Repeated != nil {
		w.Config.Repeated(shown, err)
	}
}
