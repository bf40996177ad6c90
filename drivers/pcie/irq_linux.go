package pcie

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// interrupts reads interrupts from a file of the kernel. It stays open as long as the device,
// because uio_pci_generic disables DMA when it is closed.
type interrupts struct {
	file *os.File
	size int // bytes to read per interrupt
	// arm is called before a waiter sleeps; true: the line is already asserted.
	arm func(d *device) (bool, error)

	mu    sync.Mutex
	users int // number of NICs that share the interrupts; 0 means 1
	begun bool
	err   error // the error that ended the interrupts
	bells []*bell
}

// A bell receives one value per interrupt.
type bell struct {
	of     *interrupts
	dev    *device
	rung   chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (q *interrupts) await(d *device) drivers.Waiter {
	b := &bell{of: q, dev: d, rung: make(chan struct{}, 1), closed: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bells = append(q.bells, b)
	if !q.begun {
		q.begun = true
		go q.listen()
	}
	return b
}

func (q *interrupts) listen() {
	b := make([]byte, q.size)
	for {
		_, err := q.file.Read(b)
		if errors.Is(err, fs.ErrClosed) {
			err = drivers.ErrClosed
		}
		q.mu.Lock()
		q.err = err
		for _, b := range q.bells {
			select {
			case b.rung <- struct{}{}:
			default:
			}
		}
		q.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (q *interrupts) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// close ends all waits of a device; the last device to close ends the interrupts.
func (q *interrupts) close(d *device) error {
	q.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(q.bells), func(b *bell) bool { return b.dev != d })
	q.users--
	last := q.users <= 0
	q.mu.Unlock()
	for _, b := range list {
		_ = b.Close() // tells nothing
	}
	if !last {
		return nil
	}
	return q.file.Close()
}

func (b *bell) Wait(ctx context.Context) error {
	select {
	case <-b.closed:
		return drivers.ErrClosed
	default:
	}
	if up, err := b.of.arm(b.dev); up || err != nil {
		return err
	}
	select {
	case <-b.closed:
		return drivers.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-b.rung:
		return b.of.failure()
	}
}

func (b *bell) Close() error {
	b.once.Do(func() {
		close(b.closed)
		b.of.mu.Lock()
		defer b.of.mu.Unlock()
		b.of.bells = slices.DeleteFunc(b.of.bells, func(o *bell) bool { return o == b })
	})
	return nil
}

// uioInterrupts are INTA interrupts of the driver uio_pci_generic, which masks INTA at each
// interrupt; the waiter unmasks it.
func uioInterrupts(root, dir string) (*interrupts, error) {
	list, err := filepath.Glob(filepath.Join(dir, "uio", "uio*"))
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("%w: expected one file of UIO for %s, found %d", drivers.ErrEnvironment, filepath.Base(dir), len(list))
	}
	f, err := os.OpenFile(filepath.Join(root, "dev", filepath.Base(list[0])), os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, helped(err)
	}
	return &interrupts{file: f, size: 4, arm: func(d *device) (bool, error) { return false, d.way.command(0, commandNoINTx) }}, nil
}

// line reports whether the interrupt line is asserted.
func (d *device) line() (bool, error) {
	status, err := d.ReadReg(regs.IRQStatus)
	if err != nil {
		return false, err
	}
	mask, err := d.ReadReg(regs.IRQMask)
	return status&mask != 0, err
}
