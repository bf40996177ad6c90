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

// vectorsPerNIC: one for errors and stalls, and one for each process (rtl/board/README.md).
const vectorsPerNIC = 1 + regs.VPIDs

// anyVector is the vector of a bell that receives every interrupt of its NIC.
const anyVector = -1

// interrupts reads interrupts from files of the kernel. They stay open as long as the device,
// because uio_pci_generic disables DMA when its file is closed.
type interrupts struct {
	files    []*os.File
	vectored bool // one file per vector; otherwise one file for all interrupts
	size     int  // bytes to read per interrupt
	// arm is called before a waiter sleeps; true: one of the causes is already set.
	arm func(d *device, causes uint64) (bool, error)

	mu    sync.Mutex
	users int // number of NICs that share the interrupts; 0 means 1
	begun bool
	err   error // the error that ended the interrupts
	bells []*bell
}

// A bell receives one value per interrupt of its vector.
type bell struct {
	of     *interrupts
	dev    *device
	vector int    // of its NIC, or anyVector
	causes uint64 // bits of IRQ_STATUS that raise the vector
	rung   chan struct{}
	once   sync.Once
	closed chan struct{}
}

func (q *interrupts) await(d *device, vector int, causes uint64) drivers.Waiter {
	b := &bell{of: q, dev: d, vector: vector, causes: causes, rung: make(chan struct{}, 1), closed: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bells = append(q.bells, b)
	if !q.begun {
		q.begun = true
		for i := range q.files {
			go q.listen(i)
		}
	}
	return b
}

// rings reports whether an interrupt read from files[file] belongs to the bell.
func (q *interrupts) rings(file int, b *bell) bool {
	if !q.vectored {
		return true
	}
	nic, vector := file/vectorsPerNIC, file%vectorsPerNIC
	return b.dev.way.index() == nic && (b.vector == anyVector || b.vector == vector)
}

func (q *interrupts) listen(file int) {
	b := make([]byte, q.size)
	for {
		_, err := q.files[file].Read(b)
		if errors.Is(err, fs.ErrClosed) {
			err = drivers.ErrClosed
		}
		q.mu.Lock()
		q.err = errors.Join(q.err, err)
		for _, b := range q.bells {
			if err == nil && !q.rings(file, b) {
				continue
			}
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
	return q.closeFiles()
}

func (q *interrupts) closeFiles() error {
	var all error
	for _, f := range q.files {
		all = errors.Join(all, f.Close())
	}
	return all
}

func (b *bell) Wait(ctx context.Context) error {
	select {
	case <-b.closed:
		return drivers.ErrClosed
	default:
	}
	if up, err := b.of.arm(b.dev, b.causes); up || err != nil {
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
	return &interrupts{files: []*os.File{f}, size: 4, arm: func(d *device, _ uint64) (bool, error) { return false, d.way.command(0, commandNoINTx) }}, nil
}

// causes reports whether one of these causes is set and not masked.
func (d *device) causes(of uint64) (bool, error) {
	status, err := d.ReadReg(regs.IRQStatus)
	if err != nil {
		return false, err
	}
	mask, err := d.ReadReg(regs.IRQMask)
	return status&mask&of != 0, err
}
