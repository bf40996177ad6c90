package pcie

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	looks   = 20 // polls of memory before a waiter sleeps
	nap     = 20 * time.Microsecond
	longest = time.Millisecond
)

// A memoryWaiter polls memory until it differs from the contents at the last return of Wait.
type memoryWaiter struct {
	dev    *device
	mem    []byte
	seen   []byte
	once   sync.Once
	closed chan struct{}
}

func (d *device) Await(c drivers.Cause) (drivers.Waiter, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch {
	case d.registers == nil:
		return nil, drivers.ErrClosed
	case c == drivers.Interrupt && d.irq != nil:
		return d.irq.await(d, anyVector, ^uint64(0)), nil
	case c == drivers.Interrupt || d.mem.bytes == nil:
		return nil, fmt.Errorf("%w: waiting for %v without a driver", drivers.ErrNotSupported, c)
	case c.Off > uint64(len(d.mem.bytes)) || c.Bytes > uint64(len(d.mem.bytes))-c.Off:
		return nil, fmt.Errorf("%w: waiting for %v: expected a range inside the %d bytes of memory", drivers.ErrConfig, c, len(d.mem.bytes))
	}
	mem := d.mem.bytes[c.Off : c.Off+c.Bytes]
	return &memoryWaiter{dev: d, mem: mem, seen: bytes.Clone(mem), closed: make(chan struct{})}, nil
}

// AwaitProcess makes a waiter for the interrupt of one process: an arrival in its mailbox or a
// notification, which do not interrupt those that wait for other processes.
func (d *device) AwaitProcess(vpid int) (drivers.Waiter, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	switch {
	case d.registers == nil:
		return nil, drivers.ErrClosed
	case vpid < 0 || vpid >= regs.VPIDs:
		return nil, fmt.Errorf("%w: an interrupt of process %d: expected 0 to %d", drivers.ErrConfig, vpid, regs.VPIDs-1)
	case d.irq == nil || !d.irq.vectored || len(d.irq.files) < vectorsPerNIC*(d.way.index()+1):
		return nil, fmt.Errorf("%w: an interrupt of process %d: it needs vfio-pci and a vector of MSI-X for each process", drivers.ErrNotSupported, vpid)
	}
	causes := uint64(1)<<(regs.IRQStatusArrival.LSB()+vpid) | uint64(1)<<(regs.IRQStatusNoti.LSB()+vpid)
	return d.irq.await(d, 1+vpid, causes), nil
}

func (w *memoryWaiter) Wait(ctx context.Context) error {
	for n, sleep := 0, nap; ; n++ {
		select {
		case <-w.closed:
			return drivers.ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		if differs, err := w.look(); differs || err != nil {
			return err
		}
		if n < looks {
			runtime.Gosched()
		} else {
			time.Sleep(sleep)
			sleep = min(2*sleep, longest)
		}
	}
}

func (w *memoryWaiter) look() (bool, error) {
	w.dev.mu.RLock()
	defer w.dev.mu.RUnlock()
	if w.dev.mem.bytes == nil {
		return false, drivers.ErrClosed
	}
	if bytes.Equal(w.mem, w.seen) {
		return false, nil
	}
	copy(w.seen, w.mem)
	return true, nil
}

func (w *memoryWaiter) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}
