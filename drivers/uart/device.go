package uart

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A device is the NIC behind one serial line.
type device struct {
	node   int
	line   *line
	ctx    context.Context // of the system: Close cancels it, which ends waits
	memory []byte          // copy of the board's memory, as fetched by Await or ReadMemory
	fetch  sync.Mutex      // serialises fetches of memory
	poll   time.Duration
}

func (d *device) ReadReg(off uint32) (uint64, error) {
	got, err := d.line.request(d.ctx, ReadReg, uint64(off), 1, nil)
	if err != nil {
		return 0, d.busError(err, off, false)
	}
	return binary.LittleEndian.Uint64(got), nil
}

// WriteReg returns after the board's answer: the line may lose a frame, so writes are not posted.
func (d *device) WriteReg(off uint32, v uint64) error {
	_, err := d.line.request(d.ctx, WriteReg, uint64(off), 0, binary.LittleEndian.AppendUint64(nil, v))
	return d.busError(err, off, true)
}

// WritePIO sends whole quadwords, at least one, which an empty line also needs. The board's bus
// transfers them one by one. A store beyond the end of its line would become a part of another line
// and is therefore refused.
func (d *device) WritePIO(off uint32, line []byte) error {
	n := max(8, (len(line)+7)&^7)
	if off%8 != 0 || int(off%regs.LineBytes)+n > regs.LineBytes {
		return fmt.Errorf("%w: %d bytes to the send windows at 0x%x: expected a line, or quadwords of it, of %d bytes", drivers.ErrConfig, len(line), off, regs.LineBytes)
	}
	var whole [regs.LineBytes]byte
	copy(whole[:], line)
	_, err := d.line.request(d.ctx, WriteWindow, uint64(off), 0, whole[:n])
	return d.busError(err, off, true)
}

// busError converts a bus error of the NIC to a *drivers.BusError.
func (d *device) busError(err error, off uint32, write bool) error {
	var status *StatusError
	if !errors.As(err, &status) || status.Status != StatusSlave && status.Status != StatusDecode {
		return err
	}
	port := "register"
	if status.Op == WriteWindow {
		port = "pio"
	}
	return &drivers.BusError{Node: d.node, Port: port, Off: off, Write: write, Resp: int(status.Status)}
}

// Memory is a copy: see the package comment.
func (d *device) Memory() []byte { return d.memory }

func (d *device) Segments() []drivers.Segment { return nil }

// Capabilities lack CanDMA: a store to Memory changes the copy, which the NIC cannot read.
func (d *device) Capabilities() drivers.Capabilities {
	return drivers.CanPIO | drivers.CanAwait | drivers.CanFreeRun | drivers.CanAnswerWrites
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	if c == drivers.Interrupt {
		return nil, fmt.Errorf("%w: an interrupt over a serial line", drivers.ErrNotSupported)
	}
	if err := d.inMemory(c.Off, c.Bytes); err != nil {
		return nil, err
	}
	w := &waiter{dev: d, cause: c, closed: make(chan struct{}), seen: make([]byte, c.Bytes)}
	if _, err := d.update(d.ctx, c.Off, c.Bytes, w.seen); err != nil {
		return nil, err
	}
	return w, nil
}

func (d *device) inMemory(off, n uint64) error {
	if size := uint64(len(d.memory)); off%8 != 0 || n%8 != 0 || off > size || n > size-off {
		return fmt.Errorf("%w: %d bytes at 0x%x: expected whole quadwords of the %d bytes of the board's memory (?memory=)", drivers.ErrConfig, n, off, size)
	}
	return nil
}

// ReadMemory fetches [off, off+n) of the board's memory into Memory, from the end to the beginning.
func (d *device) ReadMemory(ctx context.Context, off, n uint64) error {
	_, err := d.update(ctx, off, n, nil)
	return err
}

// update fetches memory and reports whether it differs from seen, which it updates. Software may
// read Memory at the same time: quadwords change atomically, and the last one of the range, which
// holds a slot's header, changes last.
func (d *device) update(ctx context.Context, off, n uint64, seen []byte) (differs bool, err error) {
	if err := d.inMemory(off, n); err != nil {
		return false, err
	}
	d.fetch.Lock()
	defer d.fetch.Unlock()
	came := make([]byte, n)
	for end := n; end > 0; {
		words := min(end/8, MaxWords)
		got, err := d.line.request(ctx, ReadMemory, off+end-8*words, int(words), nil)
		if err != nil {
			return false, err
		}
		for i := range words {
			copy(came[end-8*(i+1):end-8*i], got[8*i:])
		}
		end -= 8 * words
	}
	for at := uint64(0); at < n; at += 8 {
		word := (*uint64)(unsafe.Pointer(&d.memory[off+at]))
		if v := binary.NativeEndian.Uint64(came[at:]); v != *word {
			atomic.StoreUint64(word, v)
		}
	}
	if seen == nil {
		return false, nil
	}
	differs = !bytes.Equal(seen, came)
	copy(seen, came)
	return differs, nil
}

// WriteMemory writes p to the board's memory and to Memory.
func (d *device) WriteMemory(ctx context.Context, off uint64, p []byte) error {
	if err := d.inMemory(off, uint64(len(p))); err != nil {
		return err
	}
	d.fetch.Lock()
	defer d.fetch.Unlock()
	for len(p) > 0 {
		n := min(len(p), 8*MaxWords)
		if _, err := d.line.request(ctx, WriteMemory, off, 0, p[:n]); err != nil {
			return err
		}
		copy(d.memory[off:], p[:n])
		off, p = off+uint64(n), p[n:]
	}
	return nil
}

// A waiter polls the board's memory until it differs from the contents at the last return of Wait.
type waiter struct {
	dev    *device
	cause  drivers.Cause
	seen   []byte
	once   sync.Once
	closed chan struct{}
}

func (w *waiter) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-w.closed:
			cancel(drivers.ErrClosed)
		case <-w.dev.ctx.Done():
			cancel(drivers.ErrClosed)
		case <-ctx.Done():
		}
	}()
	look := time.NewTicker(w.dev.poll)
	defer look.Stop()
	for {
		differs, err := w.dev.update(ctx, w.cause.Off, w.cause.Bytes, w.seen)
		if differs || err != nil {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *waiter) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}
