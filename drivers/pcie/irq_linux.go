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

// interrupts come out of a file of the kernel's, which is open as long as the device: uio_pci_generic ends all DMA when it is closed.
type interrupts struct {
	file *os.File
	size int // of what is read at each
	// arm is called before somebody waits; true: the line is up already.
	arm func(d *device) (bool, error)

	mu    sync.Mutex
	users int // NICs that share them; 0 or 1: one
	begun bool
	err   error // why none come any more
	bells []*bell
}

// A bell is rung at each interrupt.
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

// close ends all waits of a device, and the interrupts with the last one.
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

// uioInterrupts are INTA by the driver uio_pci_generic, which masks it at each; whoever waits unmasks it.
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

// line reads whether the interrupt line is up.
func (d *device) line() (bool, error) {
	status, err := d.ReadReg(regs.IRQStatus)
	if err != nil {
		return false, err
	}
	mask, err := d.ReadReg(regs.IRQMask)
	return status&mask != 0, err
}
