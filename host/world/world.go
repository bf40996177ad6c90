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

// Config configures a world. It must be the same in all programs of the world, except for Mine.
type Config struct {
	Directory Directory
	Mine      []int // ranks of this program; nil: all
	Velo      velo.Config
	Cost      host.Cost // cost of host work in simulated time; ignored on a wall clock
	// Local lets messages between ranks of the same node and program bypass the NIC.
	Local bool
	// Longest is the maximum message length; Buffers is the number of such buffers per rank in DMA
	// memory (host.Rank.Alloc). Messages beyond host.EagerMax use the protocol Rendezvous; Chunk
	// and Outstanding configure the chunked one.
	Longest, Buffers   int
	Rendezvous         host.Rendezvous
	Chunk, Outstanding int
	AlwaysSpeculate    bool // keep sending speculative RTRs even if they miss (protocol spec)
	// Reuse sends eager messages by RMA. It requires RMA even if Longest is at most host.EagerMax.
	Reuse host.Reuse
	Eager *host.Eager // enables eager messages longer than host.EagerMax; nil: none
	// Fence is a barrier of all programs; nil if there is only one. See package bootstrap.
	Fence func(ctx context.Context) error
	// Watch blocks until another program dies and returns an error, which ends the run, or returns
	// nil when ctx ends. Nil disables it.
	Watch func(ctx context.Context) error
}

// withDefaults fills in the optional fields of Launch and Join: dynamic flow control with 64 slots
// per peer, and the rendezvous protocol RGET.
func (c Config) withDefaults() Config {
	if c.Velo == (velo.Config{}) {
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 64, CreditSlots: 2, Piggyback: true}
	}
	if c.Rendezvous == "" {
		c.Rendezvous = host.RGET
	}
	return c
}

// clockPatience is host.RMA.Patience on a wall clock. It is long because the host's scheduler may
// delay a rank.
const clockPatience = 10 * drivers.Second

// Needs is the set of device capabilities that every world requires.
const Needs = drivers.CanPIO | drivers.CanDMA

// A World is a set of ranks on the processes of a Machine.
type World struct {
	Config  Config
	Ranks   []*host.Rank // by rank; nil: rank of another program
	Layout  *Layout
	machine Machine
	procs   []Process

	returned []atomic.Bool // by rank: its body has returned
	open     atomic.Int32  // ranks of this program that run or have pending obligations
	over     atomic.Bool   // no rank of any program has pending obligations, unless fenced is an error
	fenced   error
	unwatch  func() // stops Watch before the last fence of a run
}

// New opens the endpoints of this program's ranks.
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

// mine returns the ranks of this program after checking them.
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

// ownsTables returns an error if a rank of another program is on the node: its translation tables
// would have two owners.
func (c *Config) ownsTables(node int) error {
	for r, p := range c.Directory {
		if p.Node == node && c.Mine != nil && !slices.Contains(c.Mine, r) {
			return fmt.Errorf("%w: rank %d of node %d is another program's: its translation tables would have two owners; use a device that a program of its own serves (shared:)",
				drivers.ErrNotSupported, r, node)
		}
	}
	return nil
}

// isLent reports whether other programs use the device too.
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

// localNodes returns the node of every rank that shares this program's memory, and -1 for the
// others.
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

// A rankBuilder holds the state shared by the ranks of a program while they are opened.
type rankBuilder struct {
	w     *World
	dir   *velo.Directory
	local *host.Local
	peers []rma.Peer
	atus  map[int]*rma.ATU // by node

	localIndices []int // by rank; computed for shared devices if lent is true, otherwise for exclusive ones
	lent         bool

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
	index := b.localIndex(rank, isLent(p.Device()))
	ep, err := velo.Open(p.Device(), m.mailbox(index), rank, b.dir, c.Velo)
	if err != nil {
		return err
	}
	if err := p.WatchArrivals(m.watched(index)); err != nil {
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
	return b.openRMA(r, p.Device(), at, m, index)
}

// localIndex returns the index of a rank's part in the memory of its node.
func (b *rankBuilder) localIndex(rank int, lent bool) int {
	if b.localIndices == nil || b.lent != lent {
		c, among := &b.w.Config, []int(nil)
		if lent {
			among = c.Mine
		}
		b.localIndices, _ = c.Directory.localIndices(among)
		b.lent = lent
	}
	return b.localIndices[rank]
}

// openRMA opens the RMA port and the heap of a rank.
func (b *rankBuilder) openRMA(r *host.Rank, dev drivers.Device, at Location, m *Layout, index int) (err error) {
	c := &b.w.Config
	atu := b.atus[at.Node]
	if atu == nil {
		if atu, err = c.openATU(dev, at.Node, m); err != nil {
			return err
		}
		b.atus[at.Node] = atu
	}
	port, err := rma.Open(dev, at.VPID, at.Node, rma.Config{
		NotiSlots: notiSlots, Outstanding: rmaOutstanding, NotiBase: m.ring(index), ATU: atu, Domain: c.Velo.Domain,
	})
	if err != nil {
		return err
	}
	return r.UseRMA(host.RMA{
		Port: port, Peers: b.peers, Memory: dev.Memory(), HeapBase: m.heaps[index], HeapBytes: uint64(m.heap),
		Protocol: c.Rendezvous, Chunk: c.Chunk, Outstanding: c.Outstanding, Patience: b.patience, Reuse: c.Reuse, Eager: c.Eager,
		Speculation: rendezvous.Speculation{Adaptation: rendezvous.Adaptation{Always: c.AlwaysSpeculate}},
	})
}

// openATU creates the translation tables of a node, or uses those of the broker that serves the
// device.
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
