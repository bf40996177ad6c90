package host

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/path/ring"
	"github.com/nicloop/nicloop/rma"
)

// A Window is memory of every rank of a communicator that the others access with Put and Get
// between fences, without a call of its owner (REUSE, section 5.3.2). As for eager messages by RMA,
// the bytes pass through an intermediate buffer, or directly from and to the caller's buffer if
// that is used often. Transfers that are longer than [Reuse].Longest, or from memory outside DMA
// memory, are divided into pieces that fit an intermediate buffer.
type Window struct {
	comm    *Comm
	mine    []byte
	region  *rma.Region
	remote  []windowPart
	touched []bool // by rank: was the target of a put since the last fence
	freed   bool
	ops     ring.Transfer
	step    func() error // called while the hardware has no free entry
}

// windowRetry is the delay before an operation is repeated because the tables of the node were
// full.
const windowRetry = drivers.Microsecond

type windowPart struct{ at, bytes uint64 }

// NewWindow makes a window. mine is this rank's part of it: memory of Alloc, or empty. All members
// call it.
func (c *Comm) NewWindow(mine []byte) (*Window, error) {
	r := c.rank
	if r.ring == nil {
		return nil, fmt.Errorf("%w: NewWindow: ranks have no intermediate buffers; set RMA.Reuse", drivers.ErrNotSupported)
	}
	if c.context == contextNone {
		return nil, fmt.Errorf("%w: NewWindow of a group: a group has no context of its own; make a communicator of it with Dup", drivers.ErrConfig)
	}
	w := &Window{comm: c, mine: mine, remote: make([]windowPart, c.size), touched: make([]bool, c.size)}
	w.step = w.progress
	said := make([]byte, 16)
	if len(mine) > 0 {
		at, inside := r.engine.DMA.Locate(mine)
		if !inside {
			return nil, fmt.Errorf("%w: NewWindow of memory outside DMA memory: expected memory of Alloc", drivers.ErrConfig)
		}
		if err := r.untilRegistered(w, at, uint64(len(mine))); err != nil {
			return nil, err
		}
		binary.LittleEndian.PutUint64(said, uint64(w.region.NLA(at)))
		binary.LittleEndian.PutUint64(said[8:], uint64(len(mine)))
	}
	all := make([]byte, 16*c.size)
	if err := c.Allgather(said, all); err != nil {
		return nil, err
	}
	for i := range w.remote {
		p := windowPart{binary.LittleEndian.Uint64(all[16*i:]), binary.LittleEndian.Uint64(all[16*i+8:])}
		if p.bytes > ring.AddressEnd || p.at > ring.AddressEnd-p.bytes {
			return nil, peererror.BadField(c.World(i), "address of a window", fmt.Sprintf("0x%x", p.at), "memory for its %d bytes", p.bytes)
		}
		w.remote[i] = p
	}
	return w, nil
}

func (r *Rank) untilRegistered(w *Window, at, n uint64) error {
	for until := r.Now() + r.rendezvous.Patience(); ; {
		region, err := r.engine.DMA.Register(at, n, rma.ReadWrite)
		if err == nil {
			w.region = region
			return nil
		}
		if !errors.Is(err, path.ErrAgain) || r.Now() > until {
			return err
		}
		if err := w.progress(); err != nil {
			return err
		}
	}
}

// CopyLate makes Fence announce that gets are done before it copies their bytes out of intermediate
// buffers, and then wait for all others once more. The copies overlap with that round trip. This is
// how the implementation of REUSE finalizes gets (section 5.5.1). Without CopyLate, copies precede
// a single barrier. All members call it, or none.
func (w *Window) CopyLate() { w.ops.Late = true }

// Free releases a window after a fence. All members call it.
func (w *Window) Free() error {
	if err := w.Fence(); err != nil {
		return err
	}
	w.freed = true
	if w.region != nil {
		w.comm.rank.engine.DMA.Port.Release(w.region)
	}
	return nil
}

// Put begins to write data at an offset of the window of a member. The data may be changed, and is
// visible there, after the next Fence.
func (w *Window) Put(target, offset int, data []byte) error {
	return w.move(target, offset, data, true)
}

// Get begins to read from an offset of the window of a member. into is valid after the next Fence.
func (w *Window) Get(target, offset int, into []byte) error {
	return w.move(target, offset, into, false)
}

func errNoWindow() error {
	return fmt.Errorf("%w: operation without a window: expected one of NewWindow", drivers.ErrConfig)
}

func (w *Window) check(target, offset, n int) error {
	switch {
	case w == nil:
		return errNoWindow()
	case w.freed:
		return fmt.Errorf("%w: operation in a window that has been freed", drivers.ErrConfig)
	case target < 0 || target >= w.comm.size:
		return fmt.Errorf("%w: operation in the window of rank %d: expected ranks 0 to %d", drivers.ErrConfig, target, w.comm.size-1)
	case offset < 0 || w.remote[target].bytes < uint64(n) || uint64(offset) > w.remote[target].bytes-uint64(n):
		return fmt.Errorf("%w: %d bytes at offset %d of the window of rank %d, which has %d bytes", drivers.ErrConfig, n, offset, target, w.remote[target].bytes)
	}
	return nil
}

func (w *Window) move(target, offset int, b []byte, put bool) error {
	if err := w.check(target, offset, len(b)); err != nil {
		return err
	}
	r := w.comm.rank
	r.enter()
	r.engine.Proc.Spend(r.engine.Cost.Start)
	if target == w.comm.id {
		r.copied(len(b))
		if put {
			copy(w.mine[offset:], b)
		} else {
			copy(b, w.mine[offset:])
		}
		return nil
	}
	for len(b) > 0 {
		n := min(len(b), r.ring.Longest)
		remote := rma.NLA(w.remote[target].at + uint64(offset))
		if err := r.ring.Move(&w.ops, w.comm.World(target), remote, b[:n], put, w.step); err != nil {
			return err
		}
		b, offset = b[n:], offset+n
	}
	w.touched[target] = w.touched[target] || put
	return nil
}

// progress makes progress until an operation may have ended. If the hardware refuses an operation
// while none is in progress, the tables of the node are full, and the operation is repeated after
// windowRetry.
func (w *Window) progress() error {
	r := w.comm.rank
	if r.ring.CopyOut(&w.ops) { // that frees intermediate buffers
		return nil
	}
	if r.ring.Busy() {
		_, err := r.engine.Step()
		return err
	}
	r.engine.Proc.Spend(windowRetry)
	_, err := r.engine.Poll()
	return err
}

// Fence completes all puts and gets that any member began before it. All members call it. It reads
// a byte of each member after the puts to it: the response proves that they were written.
func (w *Window) Fence() error {
	if w == nil {
		return errNoWindow()
	}
	if w.freed {
		return fmt.Errorf("%w: fence of a window that has been freed", drivers.ErrConfig)
	}
	r := w.comm.rank
	r.enter()
	for target, touched := range w.touched {
		if !touched {
			continue
		}
		w.touched[target] = false
		if err := r.ring.Fence(&w.ops, w.comm.World(target), rma.NLA(w.remote[target].at), w.step); err != nil {
			return err
		}
	}
	for w.ops.InProgress() > 0 {
		if _, err := r.engine.Step(); err != nil {
			return err
		}
	}
	if !w.ops.Late {
		return w.comm.Barrier()
	}
	q, err := w.comm.Ibarrier()
	if err != nil {
		return err
	}
	r.ring.CopyOut(&w.ops)
	if _, err = r.Wait(q); err != nil {
		return err
	}
	return w.comm.Barrier()
}
