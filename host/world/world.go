package world

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// Config is a world. It must be the same in all its programs, but for Mine.
type Config struct {
	Directory Directory
	Mine      []int // the ranks of this program; nil: all
	Velo      velo.Config
	Cost      host.Cost // of host work; on a clock that takes the time it takes, and is 0
	// Local lets messages between ranks of a node and a program bypass the NIC.
	Local bool
	// Longest is the longest message, and Buffers how many of them a rank has in DMA memory
	// (host.Rank.Alloc). How those beyond host.EagerMax travel is Rendezvous; Chunk and Outstanding
	// belong to the chunked one.
	Longest, Buffers   int
	Rendezvous         host.Rendezvous
	Chunk, Outstanding int
	AlwaysSpeculate    bool // spec: whatever becomes of its RTRs
	// Reuse has eager messages go by RMA, as long as host.EagerMax or not; a world that has it has
	// RMA.
	Reuse host.Reuse
	Eager *host.Eager // messages beyond host.EagerMax that are eager; nil: none
	// Fence returns when all programs have called it; nil: there is one. See package bootstrap.
	Fence func(ctx context.Context) error
	// Watch returns with an error when another program has died, which ends a run, or with nil when
	// ctx ends; nil: nobody tells.
	Watch func(ctx context.Context) error
}

// withDefaults fills in what Launch and Join do not require: dynamic flow control with 64 slots for
// each peer, and the rendezvous RGET.
func (c Config) withDefaults() Config {
	if c.Velo == (velo.Config{}) {
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 64, CreditSlots: 2, Piggyback: true}
	}
	if c.Rendezvous == "" {
		c.Rendezvous = host.RGET
	}
	return c
}

// clockPatience is host.RMA.Patience where other work may have the processor.
const clockPatience = 10 * drivers.Second

// Needs is what a world needs of devices.
const Needs = drivers.CanPIO | drivers.CanDMA

// A World is ranks on processes.
type World struct {
	Config  Config
	Ranks   []*host.Rank // nil: of another program
	Layout  *Layout
	machine Machine
	procs   []Process

	returned []atomic.Bool // by rank
	open     atomic.Int32  // ranks of this program that run, or owe something
	over     atomic.Bool   // those of all have ended, unless fenced says why not
	fenced   error
	unwatch  func() // ends Watch, before the last fence of a run
}

// New opens the endpoints of a world.
func New(m Machine, c Config) (*World, error) {
	if err := c.Directory.Check(); err != nil {
		return nil, err
	}
	if len(c.Directory) == 0 {
		return nil, fmt.Errorf("%w: a world without ranks", drivers.ErrConfig)
	}
	if d := c.Directory[0].Domain; d != 0 {
		c.Velo.Domain = d
	}
	if m.Parallel() {
		c.Cost = host.Cost{}
	}
	n := len(c.Directory)
	w := &World{Config: c, machine: m, Ranks: make([]*host.Rank, n), procs: make([]Process, n), returned: make([]atomic.Bool, n)}
	return w, w.openRanks()
}

func (w *World) openRanks() error {
	c := &w.Config
	mine, err := c.mine()
	if err != nil {
		return err
	}
	shared := rankBuilder{
		w: w, dir: velo.NewDirectory(c.Directory.Addrs()), local: host.NewLocal(c.localNodes(mine)), peers: c.Directory.peers(), atus: map[int]*rma.ATU{},
	}
	if w.machine.Parallel() {
		shared.patience = clockPatience
	}
	for _, rank := range mine {
		if err := shared.build(rank); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

// mine lists the ranks of this program.
func (c *Config) mine() ([]int, error) {
	if c.Mine == nil {
		all := make([]int, len(c.Directory))
		for r := range all {
			all[r] = r
		}
		return all, nil
	}
	for i, r := range c.Mine {
		if r < 0 || r >= len(c.Directory) || slices.Contains(c.Mine[:i], r) {
			return nil, fmt.Errorf("%w: rank %d of this program: expected 0 to %d, each once", drivers.ErrConfig, r, len(c.Directory)-1)
		}
	}
	return c.Mine, nil
}

// ownsTables tells why this program cannot have the translation tables of a node.
func (c *Config) ownsTables(node int) error {
	for r, p := range c.Directory {
		if p.Node == node && c.Mine != nil && !slices.Contains(c.Mine, r) {
			return fmt.Errorf("%w: rank %d of node %d is another program's: its translation tables would have two owners; use a device that a program of its own serves (shared:)",
				drivers.ErrNotSupported, r, node)
		}
	}
	return nil
}

// isLent: the device is one that other programs use too.
func isLent(dev drivers.Device) bool {
	_, lent := asTenant(dev)
	return lent
}

func asTenant(dev drivers.Device) (drivers.Tenant, bool) {
	if d, ok := dev.(*clockDevice); ok {
		dev = d.Device
	}
	t, ok := dev.(drivers.Tenant)
	return t, ok
}

// localNodes are the nodes of ranks that share this program's memory; the others are on none.
func (c *Config) localNodes(mine []int) []int {
	nodes := make([]int, len(c.Directory))
	for r := range nodes {
		nodes[r] = -1
	}
	for _, r := range mine {
		nodes[r] = c.Directory[r].Node
	}
	return nodes
}

// A rankBuilder has what the ranks of a program share.
type rankBuilder struct {
	w     *World
	dir   *velo.Directory
	local *host.Local
	peers []rma.Peer
	atus  map[int]*rma.ATU // by node

	seats []int // by rank, on devices that are lent, or on those that are not
	lent  bool

	patience drivers.Time
}

func (b *rankBuilder) build(rank int) error {
	w := b.w
	c, at := &w.Config, w.Config.Directory[rank]
	p, err := w.machine.Add(rank, at)
	if err != nil {
		return err
	}
	m, err := c.Layout(p.Device())
	if err != nil {
		return err
	}
	seat := b.seat(rank, isLent(p.Device()))
	ep, err := velo.Open(p.Device(), m.mailbox(seat), rank, b.dir, c.Velo)
	if err != nil {
		return err
	}
	if err := p.WatchArrivals(m.watched(seat)); err != nil {
		return err
	}
	r := host.NewRank(rank, len(c.Directory), p, ep, &c.Cost)
	w.Ranks[rank], w.procs[rank], w.Layout = r, p, m
	if c.Local {
		r.UseLocal(b.local)
	}
	if m.heap == 0 {
		return nil
	}
	return b.openRMA(r, p.Device(), at, m, seat)
}

// seat is where in a node's memory a rank's part is.
func (b *rankBuilder) seat(rank int, lent bool) int {
	if b.seats == nil || b.lent != lent {
		c, among := &b.w.Config, []int(nil)
		if lent {
			among = c.Mine
		}
		b.seats, _ = c.Directory.seats(among)
		b.lent = lent
	}
	return b.seats[rank]
}

// openRMA gives a rank its port and its heap.
func (b *rankBuilder) openRMA(r *host.Rank, dev drivers.Device, at Location, m *Layout, seat int) (err error) {
	c := &b.w.Config
	atu := b.atus[at.Node]
	if atu == nil {
		if atu, err = c.openATU(dev, at.Node, m); err != nil {
			return err
		}
		b.atus[at.Node] = atu
	}
	port, err := rma.Open(dev, at.VPID, at.Node, rma.Config{
		NotiSlots: notiSlots, Outstanding: rmaOutstanding, NotiBase: m.ring(seat), ATU: atu, Domain: c.Velo.Domain,
	})
	if err != nil {
		return err
	}
	return r.UseRMA(host.RMA{
		Port: port, Peers: b.peers, Memory: dev.Memory(), HeapBase: m.heaps[seat], HeapBytes: uint64(m.heap),
		Protocol: c.Rendezvous, Chunk: c.Chunk, Outstanding: c.Outstanding, Patience: b.patience, Reuse: c.Reuse, Eager: c.Eager,
		Speculation: rendezvous.Speculation{Adaptation: rendezvous.Adaptation{Always: c.AlwaysSpeculate}},
	})
}

// openATU gives the translation tables of a node, or the use of those of whoever serves it.
func (c *Config) openATU(dev drivers.Device, node int, m *Layout) (*rma.ATU, error) {
	if t, ok := asTenant(dev); ok {
		return rma.LentATU(t), nil
	}
	if err := c.ownsTables(node); err != nil {
		return nil, err
	}
	return rma.NewATU(dev, m.tables, m.atu)
}

// fence waits for the other programs.
func (w *World) fence(ctx context.Context) error {
	if w.Config.Fence == nil {
		return nil
	}
	return w.Config.Fence(ctx)
}
