package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/admission"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/drivers/usersock"
	"github.com/nicloop/nicloop/rma"
)

// Needs is the set of capabilities that a served system must have.
const Needs = drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanFreeRun | drivers.CanLend

// Config selects the system to serve and the socket.
type Config struct {
	System drivers.System
	Socket string // path
	// Hold is the number of cycles for which a full mailbox or notification ring of one process may
	// stall the other traffic of its node, in total; 0: DefaultHold.
	Hold uint64
	// Patience limits the time in which a client must send its claim, and the time that a write to
	// a client may block; 0: 5 seconds.
	Patience time.Duration
	Log      *logrus.Logger // nil: the standard logger

	uid int // user to act as, in tests
}

// DefaultHold is a few milliseconds of hardware time; an idle simulator may skip them at once.
// Programs with flow control never need it. With HoldForGood, a program that does not read its
// mailbox can block all others indefinitely.
const (
	DefaultHold = 1 << 22
	HoldForGood = 1<<24 - 1
)

// A Broker serves one system to several clients.
type Broker struct {
	cfg    Config
	sys    drivers.Lender
	nodes  []node
	l      *usersock.Listener
	ctx    context.Context // parent of all its contexts
	cancel context.CancelCauseFunc
	work   sync.WaitGroup

	// mu is also taken by callbacks of the system, so its holder must not call the system: it would
	// deadlock.
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
	pieces []*piece // owned by clients, by offset; protected by Broker.mu
}

// A piece is a range of a node's memory, in offsets.
type piece struct{ off, n uint64 }

// A domain is the protection domain of the world that claimed it first.
type domain struct {
	world   string
	clients int
}

// New starts serving.
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

// openNode creates the translation tables of a node.
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

// The tables have entriesPerPage entries per page of memory. A client may use quota entries per
// page of its memory, plus spareQuota.
const (
	entriesPerPage = 8
	quota          = 4
	spareQuota     = 64
)

func tableBytes(memory int) uint64 {
	pages := uint64(memory)/segment.Grain + regs.VPIDs*spareQuota
	return (pages*entriesPerPage*8 + 2*segment.Grain) &^ (segment.Grain - 1)
}

// MemoryFor is the memory that a node needs for a number of pieces of a given size.
func MemoryFor(pieces, bytes int) int {
	want := pieces * ((bytes + segment.Grain - 1) &^ (segment.Grain - 1))
	return want + int(tableBytes(want+want/32+1<<20)) // the tables also map their own pages
}

// Err returns the reason why the broker has ended, or nil.
func (b *Broker) Err() error { return context.Cause(b.ctx) }

// Done is closed when the broker has ended.
func (b *Broker) Done() <-chan struct{} { return b.ctx.Done() }

// Close disconnects all clients and returns when the system is no longer in use.
func (b *Broker) Close() error {
	b.end(fmt.Errorf("%w: the broker was stopped", drivers.ErrPeerDied))
	b.work.Wait()
	return nil
}

// end stops the broker and sends the reason to all clients.
func (b *Broker) end(why error) {
	b.cancel(why)
	_ = b.l.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.clients {
		c.end(why)
	}
}

// outlive stops the broker when its device closes.
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

// accept serves connections until the broker ends. If accepting fails permanently, it stops the
// broker.
func (b *Broker) accept() {
	err := admission.New(admission.Config{Name: "broker", Log: b.cfg.Log}).Serve(b.ctx, b.l.Accept, b.work.Go, b.serve)
	if err != nil {
		b.end(err)
	}
}

// serve handles a connection from start to end.
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
		logs.Layer(b.cfg.Log, "broker").WithFields(logrus.Fields{"processes": len(c.procs), "domain": c.claim.Domain}).Debug("client has connected")
		err = c.listen()
	}
	if !wire.Gone(err) {
		c.end(err)
	}
	c.leave()
	b.mu.Lock()
	delete(b.clients, c)
	b.mu.Unlock()
	c.finalSend.Wait()
	logs.Layer(b.cfg.Log, "broker").WithFields(logrus.Fields{"processes": len(c.procs), "error": err}).Debug("client has disconnected")
}

// enter registers a client with the broker. It returns false if the broker has ended already.
func (b *Broker) enter(c *client) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.clients[c] = true
	return true
}

// fault disconnects the client whose store the NIC refused. It is called by the system.
func (b *Broker) fault(err error) {
	var bus *drivers.BusError
	if !errors.As(err, &bus) || bus.Port != "pio" {
		logs.Layer(b.cfg.Log, "broker").WithField("error", err).Warn("bus error without an owner")
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.owners[wire.Process{Node: bus.Node, VPID: int(regs.Pio(bus.Off).SrcVPID())}]; c != nil {
		c.end(err)
	}
}
