package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/admission"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/shared/wire"
	"github.com/nicloop/nicloop/rma"
)

// A client is a connected program.
type client struct {
	b         *Broker
	conn      *wire.Conn
	pending   *admission.PendingConn // until a claim with processes is admitted
	claim     wire.ClaimText
	procs     map[wire.Process]*process
	pieces    map[int]*piece // by node
	ended     sync.Once
	finalSend sync.WaitGroup // transmission of the final error

	waiters map[uint64]*waiter
	number  uint64 // last waiter number issued
}

// A process is the state of a process claimed by a client.
type process struct {
	mailbox, notis ring
	mapped         map[rma.NLA]uint64 // number of pages of each mapping
	pages          uint64             // total
}

// A ring mirrors the registers of a mailbox or notification ring. It may be enabled only if it lies
// in the client's memory.
type ring struct {
	base, slots uint64
	slotBytes   uint64
	on          bool
}

// end disconnects a client and sends it the reason, without blocking.
func (c *client) end(why error) {
	c.ended.Do(func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0)) // stop receiving frames
		c.finalSend.Go(func() {
			_ = c.conn.Send(&wire.Frame{Kind: wire.Over, Data: wire.TextOf(why)}) // if the client still reads
			_ = c.conn.Close()
		})
	})
}

// greet receives the claim and answers it.
func (c *client) greet() error {
	if err := c.conn.SetReadDeadline(time.Now().Add(c.b.cfg.Patience)); err != nil {
		return err
	}
	f, err := c.conn.Receive()
	switch {
	case err != nil:
		return err
	case f.Kind != wire.Claim:
		return fmt.Errorf("%w: broker: a frame of kind %q before any claim", drivers.ErrProtocol, byte(f.Kind))
	}
	var claim wire.ClaimText
	if err := json.Unmarshal(f.Data, &claim); err != nil {
		return fmt.Errorf("%w: broker: claim: %w", drivers.ErrProtocol, err)
	}
	// A claim without processes only queries the device. It stays pending, so that newer
	// connections can evict it like a silent one.
	if len(claim.Processes) > 0 && !c.pending.Admit() {
		return fmt.Errorf("%w: broker: the connection was closed for a newer one", drivers.ErrClosed)
	}
	if err := c.b.admit(c, claim); err != nil {
		return err
	}
	w := wire.WelcomeText{Info: c.b.sys.Info()}
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for n, p := range c.pieces {
		f, err := c.b.lend(n, p)
		if err != nil {
			return err
		}
		files = append(files, f)
		addr, err := drivers.Address(c.b.nodes[n].dev, p.off, p.n)
		if err != nil {
			return err
		}
		w.Pieces = append(w.Pieces, wire.Piece{Node: n, Bytes: p.n, Segments: []drivers.Segment{{Addr: addr, Bytes: p.n}}})
	}
	for at := range c.procs {
		if err := c.b.nodes[at.Node].dev.WriteReg(regs.Hold(uint8(at.VPID)), c.b.cfg.Hold); err != nil {
			return err
		}
	}
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	if err := c.conn.SetReadDeadline(time.Time{}); err != nil || c.b.ctx.Err() != nil {
		return errors.Join(err, context.Cause(c.b.ctx))
	}
	return c.conn.SendFiles(&wire.Frame{Kind: wire.Welcome, Data: data}, files)
}

// listen executes the frames of a client until it disconnects.
func (c *client) listen() error {
	for {
		f, err := c.conn.Receive()
		if err != nil {
			return err
		}
		if err := c.execute(&f); err != nil {
			return ofDevice(err)
		}
	}
}

// ofDevice converts ErrClosed of the served device to ErrPeerDied, which is what it means for a
// client.
func ofDevice(err error) error {
	if errors.Is(err, drivers.ErrClosed) {
		return fmt.Errorf("%w: the device: %w", drivers.ErrPeerDied, err)
	}
	return err
}

// leave releases everything that a client owns.
func (c *client) leave() {
	for _, w := range c.waiters {
		w.cancel()
	}
	c.b.release(c)
}

// answer sends a result or an error.
func (c *client) answer(v uint64, err error) error {
	if err != nil {
		return c.conn.Send(&wire.Frame{Kind: wire.Failed, Data: wire.TextOf(ofDevice(err))})
	}
	return c.conn.Send(&wire.Frame{Kind: wire.Value, B: v})
}

// execute executes a frame. An error disconnects the client.
func (c *client) execute(f *wire.Frame) error {
	if int(f.Node) >= len(c.b.nodes) {
		return fmt.Errorf("%w: broker: node %d: expected 0..%d", drivers.ErrProtocol, f.Node, len(c.b.nodes)-1)
	}
	switch f.Kind {
	case wire.ReadReg:
		return c.answer(c.readReg(f))
	case wire.WriteReg:
		return c.writeReg(f)
	case wire.WritePIO:
		return c.writePIO(f)
	case wire.Await:
		return c.answer(c.await(f))
	case wire.Again, wire.Unawait:
		return c.rewait(f)
	case wire.Map:
		return c.answer(c.mapPages(f))
	case wire.Unmap:
		return c.answer(0, c.unmap(f))
	case wire.Forget:
		return c.answer(0, c.forget(f))
	}
	return fmt.Errorf("%w: broker: a client does not say %q now", drivers.ErrProtocol, byte(f.Kind))
}

// inside converts a range of the client's memory to an offset in the node's memory.
func (c *client) inside(n int, off, bytes uint64) (uint64, error) {
	p := c.pieces[n]
	if p == nil || off > p.n || bytes > p.n-off {
		return 0, fmt.Errorf("%w: 0x%x bytes at 0x%x of this program's memory of node %d", wire.ErrForbidden, bytes, off, n)
	}
	return p.off + off, nil
}

// ---- waits ----

// mostWaiters limits the waiters of a client.
const mostWaiters = 64

// A waiter reports writes to a memory range. It sends one Hit per request of the client.
type waiter struct {
	cancel context.CancelFunc
	again  chan struct{}
}

func (c *client) await(f *wire.Frame) (uint64, error) {
	at, err := c.inside(int(f.Node), f.A, f.B)
	if err != nil {
		return 0, err
	}
	if len(c.waiters) >= mostWaiters {
		return 0, fmt.Errorf("%w: broker: more than %d waits", drivers.ErrConfig, mostWaiters)
	}
	below, err := c.b.nodes[f.Node].dev.Await(drivers.Cause{Off: at, Bytes: f.B})
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(c.b.ctx)
	c.number++
	id, w := c.number, &waiter{cancel: cancel, again: make(chan struct{}, 1)}
	c.waiters[id] = w
	c.b.work.Go(func() {
		defer below.Close()
		for {
			select {
			case <-w.again:
			case <-ctx.Done():
				return
			}
			if below.Wait(ctx) != nil {
				return
			}
			if err := c.conn.Send(&wire.Frame{Kind: wire.Hit, A: id}); err != nil { // the client does not read
				c.end(err)
				return
			}
		}
	})
	return id, nil
}

func (c *client) rewait(f *wire.Frame) error {
	w := c.waiters[f.A]
	switch {
	case w == nil:
		return fmt.Errorf("%w: broker: number %d waits for nothing", drivers.ErrProtocol, f.A)
	case f.Kind == wire.Unawait:
		w.cancel()
		delete(c.waiters, f.A)
	default:
		select {
		case w.again <- struct{}{}:
		default:
		}
	}
	return nil
}
