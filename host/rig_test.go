package host

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

var seed = flag.Int64("seed", 1, "seed of random tests")

// A rig is a world of ranks on ideal: with the simplest machine that implements Proc: one rank runs
// at a time, the one with the earliest time.
type rig struct {
	sys   drivers.Timed
	procs []*rigProc
	watch map[drivers.WatchID]*rigProc
	stop  drivers.Stop
	ranks []*Rank
	used  []RMA    // by rank
	atu   []uint64 // where a node's translation tables are
}

// plan describes the world of a test.
type plan struct {
	nodes, procs int
	heap         int // bytes of DMA memory for each rank; 0: no RMA
	rma          RMA // protocol and its parameters
	local        bool
	flow         velo.Config
	tables       int // bytes of a node's translation tables
}

func inPairs(p Rendezvous) plan {
	return plan{nodes: 2, procs: 1, heap: 1 << 20, rma: RMA{Protocol: p, Chunk: 5000, Outstanding: 3}}
}

const (
	rigNoti  = 1024 * regs.NotiBytes
	rigPages = 1 << 12
)

func newRig(t testing.TB, p plan) *rig {
	t.Helper()
	if p.flow.Flow == "" {
		p.flow = velo.Config{Flow: velo.Dynamic, Slots: 16, CreditSlots: 2, Piggyback: true}
	}
	if p.tables == 0 {
		p.tables = 1 << 16
	}
	size := p.nodes * p.procs
	slots, err := p.flow.MailboxSlots(size)
	require.NoError(t, err)
	box := (slots*regs.SlotBytes + rigPages - 1) &^ (rigPages - 1)
	heaps := p.procs * (rigNoti + box)
	tables := heaps + p.procs*p.heap
	opened, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: p.nodes, MemoryBytes: tables + p.tables})
	require.NoError(t, err)
	t.Cleanup(func() { opened.Close() })
	g := &rig{sys: opened.(drivers.Timed), watch: map[drivers.WatchID]*rigProc{}}
	var addrs []velo.Addr
	var peers []rma.Peer
	var node []int
	for i := range size {
		addrs = append(addrs, velo.Addr{Node: i / p.procs, VPID: i % p.procs})
		peers = append(peers, rma.Peer{Node: i / p.procs, VPID: i % p.procs})
		node = append(node, i/p.procs)
	}
	cost := DefaultCost()
	dir, local := velo.NewDirectory(addrs), NewLocal(node)
	var atu *rma.ATU
	for i, a := range addrs {
		proc := &rigProc{g: g, id: i, node: a.Node, vpid: a.VPID}
		proc.dev = rigDevice{proc, g.sys.Device(a.Node)}
		g.procs = append(g.procs, proc)
		at := uint64(a.VPID * (rigNoti + box))
		ep, err := velo.Open(&proc.dev, at+rigNoti, i, dir, p.flow)
		require.NoError(t, err)
		proc.watch, err = g.sys.Watch(a.Node, at, uint64(rigNoti+box))
		require.NoError(t, err)
		g.watch[proc.watch] = proc
		r := NewRank(i, size, proc, ep, &cost)
		g.ranks = append(g.ranks, r)
		if p.local {
			r.UseLocal(local)
		}
		if p.heap == 0 {
			continue
		}
		if a.VPID == 0 {
			g.atu = append(g.atu, uint64(tables))
			atu, err = rma.NewATU(&proc.dev, uint64(tables), p.tables)
			require.NoError(t, err)
		}
		port, err := rma.Open(&proc.dev, a.VPID, a.Node, rma.Config{NotiSlots: 1024, Outstanding: 64, NotiBase: at, ATU: atu})
		require.NoError(t, err)
		c := p.rma
		c.Port, c.Peers, c.Memory = port, peers, g.sys.Device(a.Node).Memory()
		c.HeapBase, c.HeapBytes = uint64(heaps+a.VPID*p.heap), uint64(p.heap)
		g.used = append(g.used, c)
		require.NoError(t, r.UseRMA(c))
	}
	return g
}

var errHang = errors.New("all ranks are blocked")

// run runs body on every rank until all have returned or all are blocked.
func (g *rig) run(body func(r *Rank) error) error {
	for i, p := range g.procs {
		p.next, p.cancel = iter.Pull(func(yield func(struct{}) bool) {
			p.yield = yield
			if p.err = body(g.ranks[i]); p.err == nil {
				p.err = g.ranks[i].Linger()
			}
			p.yield = nil
		})
		p.at, p.now = max(p.now, g.time()), max(p.now, g.time())
		p.asleep = false
	}
	defer func() {
		for _, p := range g.procs {
			p.cancel()
		}
	}()
	for left := len(g.procs); left > 0; {
		p, err := g.first()
		if err != nil {
			return err
		}
		if _, more := p.next(); more {
			continue
		}
		left--
		p.at = drivers.Never
		if p.err != nil {
			return fmt.Errorf("rank %d: %w", p.id, p.err)
		}
	}
	return nil
}

func (g *rig) time() drivers.Time { return drivers.Time(g.sys.Now()) * regs.ClockPS }

func cycleOf(t drivers.Time) drivers.Cycle {
	return drivers.Cycle((t + regs.ClockPS - 1) / regs.ClockPS)
}

// first advances time until a rank can continue.
func (g *rig) first() (*rigProc, error) {
	for {
		var p *rigProc
		for _, q := range g.procs {
			if p == nil || q.at < p.at {
				p = q
			}
		}
		deadline := drivers.Forever
		if p.at < drivers.Never {
			if deadline = cycleOf(p.at); deadline <= g.sys.Now() {
				p.now, p.at = max(p.now, p.at), drivers.Never
				return p, nil
			}
		}
		if err := g.sys.Run(deadline, &g.stop); err != nil {
			return nil, err
		}
		for _, f := range g.stop.Fired {
			if q := g.watch[f.Watch]; f.Kind == drivers.FiredWatch && q.asleep {
				q.at = min(q.at, g.time())
			}
		}
		if deadline == drivers.Forever && len(g.stop.Fired) == 0 {
			return nil, errHang
		}
	}
}

// A rigProc is the Proc of one rank.
type rigProc struct {
	g          *rig
	id         int
	node, vpid int
	now, at    drivers.Time // at: when it continues
	asleep     bool
	watch      drivers.WatchID
	dev        rigDevice
	yield      func(struct{}) bool
	next       func() (struct{}, bool)
	cancel     func()
	err        error
	issued     uint64
	ended      bool
}

func (p *rigProc) Err() error {
	if p.ended {
		return drivers.ErrRunEnded
	}
	return nil
}

func (p *rigProc) wait(at drivers.Time) {
	p.at = at
	if !p.yield(struct{}{}) {
		p.ended = true
	}
	p.asleep = false
}

func (p *rigProc) Now() drivers.Time    { return p.now }
func (p *rigProc) Spend(t drivers.Time) { p.now += t }

func (p *rigProc) Sync() bool {
	if p.ended || cycleOf(p.now) <= p.g.sys.Now() {
		return false
	}
	p.wait(p.now)
	return true
}

func (p *rigProc) WaitArrival(until drivers.Time) {
	if p.Sync() {
		return
	}
	p.g.sys.Arm(p.watch)
	p.asleep = true
	p.wait(until)
}

func (p *rigProc) Attend(w Worker, look drivers.Time) {
	for {
		done, until := w.Work()
		if done || p.ended {
			return
		}
		if !p.Sync() {
			p.WaitArrival(until)
			p.Spend(look)
		}
	}
}

func (p *rigProc) Room(lines int) bool {
	return p.issued-p.g.sys.PIOTaken(p.node, p.vpid)+uint64(lines) <= regs.VELOLines
}

func (p *rigProc) Wake(id int, at drivers.Time) {
	if q := p.g.procs[id]; q.asleep {
		q.at = min(q.at, max(at, q.now))
	}
}

// rigDevice is a rank's view of its NIC.
type rigDevice struct {
	p *rigProc
	drivers.Device
}

func (d *rigDevice) ReadReg(off uint32) (uint64, error) {
	if err := d.p.g.sys.Run(max(cycleOf(d.p.now), d.p.g.sys.Now()), &d.p.g.stop); err != nil {
		return 0, err
	}
	return d.Device.ReadReg(off)
}

func (d *rigDevice) WriteReg(off uint32, v uint64) error {
	d.p.now += 20 * drivers.Nanosecond
	d.p.g.sys.PostReg(d.p.node, max(cycleOf(d.p.now), d.p.g.sys.Now()), off, v)
	return nil
}

func (d *rigDevice) PacesPIO() bool { return true }

func (d *rigDevice) WritePIO(off uint32, line []byte) error {
	for d.p.yield != nil && d.p.issued-d.p.g.sys.PIOTaken(d.p.node, d.p.vpid) >= regs.VELOLines {
		d.p.now += 100 * drivers.Nanosecond
		if d.p.Sync(); d.p.ended {
			return drivers.ErrRunEnded
		}
	}
	d.p.issued++
	d.p.now += 40 * drivers.Nanosecond
	d.p.g.sys.PostPIO(d.p.node, max(cycleOf(d.p.now), d.p.g.sys.Now()), off, line)
	return nil
}

// launch runs a body in a world of its own.
func launch(t *testing.T, p plan, body func(r *Rank) error) {
	t.Helper()
	require.NoError(t, newRig(t, p).run(body))
}
