package shared

import (
	"context"
	"fmt"
	"sync"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/shared/wire"
)

// A device is the client's view of a node's NIC.
type device struct {
	s        *System
	node     int
	memory   []byte
	segments []drivers.Segment
	pacing   *pacing.Pacing
}

var _ drivers.Tenant = (*device)(nil)

func (d *device) frame(k wire.Kind, a, b uint64) *wire.Frame {
	return &wire.Frame{Kind: k, Node: uint8(d.node), A: a, B: b}
}

func (d *device) ReadReg(off uint32) (uint64, error) {
	return d.s.request(d.frame(wire.ReadReg, uint64(off), 0))
}

func (d *device) WriteReg(off uint32, v uint64) error {
	d.pacing.Wrote(off, v)
	return d.s.post(d.frame(wire.WriteReg, uint64(off), v))
}

// store posts a line without waiting for an entry.
func (d *device) store(off uint32, line []byte) error {
	if len(line) > wire.MaxLine {
		return fmt.Errorf("%w: shared: a line of %d bytes: expected at most %d", drivers.ErrConfig, len(line), wire.MaxLine)
	}
	f := d.frame(wire.WritePIO, uint64(off), 0)
	f.Data = line
	return d.s.post(f)
}

// raw is the device with stores that do not wait, for Pacing.
type raw struct{ *device }

func (d raw) WritePIO(off uint32, line []byte) error { return d.store(off, line) }
func (raw) PacesPIO() bool                           { return false }

// PacesPIO returns true: a store waits for an entry.
func (d *device) PacesPIO() bool { return true }

func (d *device) WritePIO(off uint32, line []byte) error { return d.pacing.WritePIO(off, line) }

func (d *device) Memory() []byte { return d.memory }

func (d *device) Segments() []drivers.Segment { return d.segments }

// Capabilities lack interrupts, which belong to the owner of the NIC.
func (d *device) Capabilities() drivers.Capabilities {
	return drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanFreeRun | drivers.CanAnswerWrites
}

func (d *device) Tables() drivers.Tables { return tables{d} }

// tables are the translation tables, which the broker manages.
type tables struct{ d *device }

func (t tables) Map(vpid int, off, n uint64, rights uint8) (uint64, error) {
	f := t.d.frame(wire.Map, off, n)
	f.VPID, f.Flag = uint8(vpid), rights
	return t.d.s.request(f)
}

func (t tables) Unmap(nla uint64) error {
	_, err := t.d.s.request(t.d.frame(wire.Unmap, nla, 0))
	return err
}

func (t tables) UnmapAll(vpid int) error {
	f := t.d.frame(wire.Forget, 0, 0)
	f.VPID = uint8(vpid)
	_, err := t.d.s.request(f)
	return err
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	if c == drivers.Interrupt {
		return nil, fmt.Errorf("%w: shared: interrupts are the broker's", drivers.ErrNotSupported)
	}
	id, err := d.s.request(d.frame(wire.Await, c.Off, c.Bytes))
	if err != nil {
		return nil, err
	}
	// The broker sends no Hit before the first Again.
	w := &waiter{s: d.s, node: d.node, id: id, bell: make(chan struct{}, 1), closed: make(chan struct{})}
	d.s.mu.Lock()
	d.s.waiters[id] = w
	d.s.mu.Unlock()
	return w, d.s.post(w.frame(wire.Again))
}

// A waiter receives at most one Hit for each Again that it has sent.
type waiter struct {
	s      *System
	node   int
	id     uint64
	bell   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (w *waiter) frame(k wire.Kind) *wire.Frame {
	return &wire.Frame{Kind: k, Node: uint8(w.node), A: w.id}
}

func (w *waiter) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

func (w *waiter) Wait(ctx context.Context) error {
	select {
	case <-w.closed:
		return drivers.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.s.gone:
		return w.s.broken()
	case <-w.bell:
	}
	if err := w.s.broken(); err != nil {
		return err
	}
	return w.s.post(w.frame(wire.Again))
}

func (w *waiter) Close() error {
	w.once.Do(func() {
		close(w.closed)
		w.s.mu.Lock()
		delete(w.s.waiters, w.id)
		w.s.mu.Unlock()
		_ = w.s.post(w.frame(wire.Unawait)) // fails only if the system has ended, and all waiters with it
	})
	return nil
}
