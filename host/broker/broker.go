package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/admission"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/rma"
)

// logged is a line per client, none per frame.
var logged = logrus.WithField("layer", "broker")

// Needs is what a system that is served must be able to do.
const Needs = drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanFreeRun | drivers.CanLend

// Config says what to serve, and where.
type Config struct {
	System drivers.System
	Socket string // path
	// Hold is for how many cycles the full mailbox, or ring, of one process may hold others up,
	// altogether; 0: DefaultHold.
	Hold uint64
	// Patience is how long a client may take to claim, and to read what it is told; 0: 5 seconds.
	Patience time.Duration

	uid int // as whom to act, in tests
}

// DefaultHold is some milliseconds of the hardware, which a simulator that has nothing else to do
// may skip in no time. Who uses flow control never needs it. With HoldForGood a program that does
// not read its mailbox can stop all others.
const (
	DefaultHold = 1 << 22
	HoldForGood = 1<<24 - 1
)

// A Broker serves.
type Broker struct {
	cfg    Config
	sys    drivers.Lender
	nodes  []node
	l      *usersock.Listener
	ctx    context.Context // of all that it runs
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	// mu is taken by what the system calls, so who has it calls no system.
	mu      sync.Mutex
	owners  map[wire.Process]*client
	domains map[uint16]*domain
	clients map[*client]bool
}

// A node is one NIC.
type node struct {
	dev    drivers.Device
	atu    *rma.ATU
	tables piece    // the broker's
	pieces []*piece // of clients, by offset; of Broker.mu
}

// A piece is a part of a node's memory, in offsets.
type piece struct{ off, n uint64 }

// A domain is the world's that has claimed it.
type domain struct {
	world   string
	clients int
}

// New begins to serve.
func New(c Config) (*Broker, error) {
	sys, ok := c.System.(drivers.Lender)
	if err := drivers.Require(c.System, Needs); err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("%w: %s cannot be served to other programs", drivers.ErrNotSupported, c.System.Info().Backend))
	}
	if n := c.System.Info().Nodes; n > regs.NodeMax {
		return nil, fmt.Errorf("%w: a device of %d nodes: at most %d can be served to other programs", drivers.ErrNotSupported, n, regs.NodeMax)
	}
	if c.Hold == 0 {
		c.Hold = DefaultHold
	}
	if c.Patience == 0 {
		c.Patience = 5 * time.Second
	}
	if c.uid == 0 {
		c.uid = os.Geteuid()
	}
	b := &Broker{cfg: c, sys: sys, nodes: make([]node, sys.Info().Nodes), owners: map[wire.Process]*client{}, domains: map[uint16]*domain{}, clients: map[*client]bool{}}
	for n := range b.nodes {
		if err := b.openNode(n); err != nil {
			return nil, fmt.Errorf("node %d: %w", n, err)
		}
	}
	alive, err := b.nodes[0].dev.Await(drivers.Cause{Off: b.nodes[0].tables.off, Bytes: 8})
	if err != nil {
		return nil, err
	}
	if b.l, err = usersock.Listen(c.Socket, c.uid); err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	sys.OnFault(b.fault)
	b.work.Go(b.accept)
	b.work.Go(func() { b.outlive(alive) })
	return b, nil
}

// openNode makes a node's translation tables.
func (b *Broker) openNode(n int) (err error) {
	at := &b.nodes[n]
	at.dev = b.sys.Device(n)
	at.tables.n = tableBytes(len(at.dev.Memory()))
	if at.tables.off, err = segment.Fit(at.dev.Segments(), 0, at.tables.n, segment.Grain); err != nil {
		return err
	}
	at.atu, err = rma.NewATU(at.dev, at.tables.off, int(at.tables.n))
	return err
}

// entriesPerPage of memory are in the tables, and quota of them is what a client can have for each
// of its pages, and spareQuota beyond that.
const (
	entriesPerPage = 8
	quota          = 4
	spareQuota     = 64
)

func tableBytes(memory int) uint64 {
	pages := uint64(memory)/segment.Grain + regs.VPIDs*spareQuota
	return (pages*entriesPerPage*8 + 2*segment.Grain) &^ (segment.Grain - 1)
}

// MemoryFor is how much memory a node must have for so many pieces of some bytes.
func MemoryFor(pieces, bytes int) int {
	want := pieces * ((bytes + segment.Grain - 1) &^ (segment.Grain - 1))
	return want + int(tableBytes(want+want/32+1<<20)) // the tables' own pages count, too
}

// Err is why the broker has ended, or nil.
func (b *Broker) Err() error { return context.Cause(b.ctx) }

// Done is closed when it has ended.
func (b *Broker) Done() <-chan struct{} { return b.ctx.Done() }

// Close ends all clients, and returns when nobody uses the system any more.
func (b *Broker) Close() error {
	b.end(fmt.Errorf("%w: the broker was stopped", drivers.ErrPeerDied))
	b.work.Wait()
	return nil
}

// end ends everything for a reason, which all clients are told.
func (b *Broker) end(why error) {
	b.cancel(why)
	_ = b.l.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.clients {
		c.end(why)
	}
}

// outlive ends the broker with its device.
func (b *Broker) outlive(alive drivers.Waiter) {
	defer alive.Close()
	for {
		if err := alive.Wait(b.ctx); err != nil {
			if b.ctx.Err() == nil {
				b.end(fmt.Errorf("%w: the device: %w", drivers.ErrPeerDied, err))
			}
			return
		}
	}
}

// accept serves connections until the broker ends, which it does, too, when accepting fails for
// good.
func (b *Broker) accept() {
	err := admission.New(admission.Config{Name: "broker"}).Serve(b.ctx, b.l.Accept, b.work.Go, b.serve)
	if err != nil {
		b.end(err)
	}
}

// serve is the life of a client.
func (b *Broker) serve(g *admission.PendingConn) {
	conn := g.Conn.(*net.UnixConn)
	defer conn.Close()
	if usersock.SameUser(conn, b.cfg.uid) != nil {
		return
	}
	c := &client{b: b, conn: wire.New(conn, b.cfg.Patience), procs: map[wire.Process]*process{}, pieces: map[int]*piece{}, waiters: map[uint64]*waiter{}, pending: g}
	if !b.enter(c) {
		return
	}
	err := c.greet()
	if err == nil {
		logged.WithFields(logrus.Fields{"processes": len(c.procs), "domain": c.claim.Domain}).Debug("client has come")
		err = c.listen()
	}
	if !wire.Gone(err) {
		c.end(err)
	}
	c.leave()
	b.mu.Lock()
	delete(b.clients, c)
	b.mu.Unlock()
	c.said.Wait()
	logged.WithFields(logrus.Fields{"processes": len(c.procs), "error": err}).Debug("client has gone")
}

// enter makes a client one that end ends, unless that was before.
func (b *Broker) enter(c *client) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.clients[c] = true
	return true
}

// fault tells the client whose store the NIC has refused. The system calls it.
func (b *Broker) fault(err error) {
	var bus *drivers.BusError
	if !errors.As(err, &bus) || bus.Port != "pio" {
		logged.WithField("error", err).Warn("nobody's fault")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.owners[wire.Process{Node: bus.Node, VPID: int(regs.Pio(bus.Off).SrcVPID())}]; c != nil {
		c.end(err)
	}
}
