package faults

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/rendezvous"
)

// testPages takes pages from under long messages, at either end: both ends are told, the same, and
// the message that comes after it arrives.
func testPages(p host.Rendezvous) func(*regress.T) error {
	return func(t *regress.T) error {
		const pages, rounds = 10, 6
		f := &faultyPages{bytes: pages * pageBytes}
		c := bench.Default("")
		c.Sizes, c.Rendezvous, c.Chunk, c.Outstanding = []int{f.bytes}, p, 3000, 2
		c.Opened = f.open
		type draw struct{ rank, page int }
		var draws []draw
		for range rounds {
			draws = append(draws, draw{t.Rand.Intn(2), t.Rand.Intn(pages)})
		}
		err := t.Launch(c, 2*rounds, func(r *host.Rank) error {
			var bufs [][]byte // all at once: none may lie where the NIC has seen a page
			for range draws {
				b, err := r.Alloc(f.bytes)
				if err != nil {
					return err
				}
				bufs = append(bufs, b)
			}
			for k, d := range draws {
				if err := f.round(r, bufs[k], k, d.rank, d.page); err != nil {
					return fmt.Errorf("round %d, page %d of rank %d: %w", k, d.page, d.rank, err)
				}
			}
			return nil
		})
		if err == nil {
			t.Notef("%d messages failed at both ends for a page, the %d after them arrived", rounds, rounds)
		}
		return err
	}
}

const pageBytes = 4096

// faultyPages knows where the translations of each node are.
type faultyPages struct {
	bytes  int
	device [2]drivers.Device // by node
	tables [2][][]byte
}

func (f *faultyPages) open(sys drivers.Timed) error {
	for n := range f.tables {
		dev := sys.Device(n)
		f.device[n] = dev
		for table := range uint8(16) {
			base, err := dev.ReadReg(regs.ATUBase(table))
			if err != nil {
				return err
			}
			entries, err := dev.ReadReg(regs.ATUPages(table))
			if err != nil {
				return err
			}
			bytes := 8 * regs.ATUPagesPages.Of(entries)
			if bytes == 0 {
				continue
			}
			at, ok := drivers.Offset(dev, base)
			if !ok {
				return fmt.Errorf("node %d: translation table %d lies at 0x%x, outside the memory", n, table, base)
			}
			f.tables[n] = append(f.tables[n], dev.Memory()[at:at+bytes])
		}
	}
	return nil
}

// drop clears the translations of the page in which byte i of buf lies.
func (f *faultyPages) drop(node int, buf []byte, i int) {
	dev := f.device[node]
	at, err := drivers.Address(dev, uint64(uintptr(unsafe.Pointer(&buf[i]))-uintptr(unsafe.Pointer(&dev.Memory()[0]))), 1)
	if err != nil {
		panic(err) // a buffer outside the memory
	}
	for _, table := range f.tables[node] {
		for ; len(table) > 0; table = table[8:] {
			e := regs.ATUEntry(binary.LittleEndian.Uint64(table)).Fields()
			if e.Rights != 0 && e.Page == at>>12 {
				binary.LittleEndian.PutUint64(table, 0)
			}
		}
	}
}

// round sends a message that fails and one that does not. A page must go after it was registered
// and before the NIC has seen it: the sender's at once, the receiver's as soon as the message has
// matched.
func (f *faultyPages) round(r *host.Rank, bad []byte, k, rank, page int) error {
	if r.ID() == 0 {
		return f.sender(r, bad, k, rank, page)
	}
	q, err := r.Irecv(0, k, bad)
	for end := r.Now() + 20*drivers.Microsecond; err == nil && rank == 1 && r.Now() < end; {
		f.drop(1, bad, page*pageBytes)
		r.Compute(50 * drivers.Nanosecond)
		_, _, err = r.Test(q)
		if errors.Is(err, rendezvous.ErrFault) {
			err = nil
			break
		}
	}
	if err != nil {
		return err
	}
	if _, err := r.Wait(q); !errors.Is(err, rendezvous.ErrFault) {
		return fmt.Errorf("the receiver: %v, expected a fault", err)
	}
	good := make([]byte, f.bytes)
	if _, err := r.Recv(0, k, good); err != nil {
		return err
	}
	for i, b := range good {
		if b != byte(i+k) {
			return fmt.Errorf("byte %d of the message after it is 0x%x, expected 0x%x", i, b, byte(i+k))
		}
	}
	return nil
}

func (f *faultyPages) sender(r *host.Rank, bad []byte, k, rank, page int) error {
	q, err := r.Isend(1, k, bad)
	if err != nil {
		return err
	}
	if rank == 0 {
		f.drop(0, bad, page*pageBytes)
	}
	if _, err := r.Wait(q); !errors.Is(err, rendezvous.ErrFault) {
		return fmt.Errorf("the sender: %v, expected a fault", err)
	}
	good := make([]byte, f.bytes)
	for i := range good {
		good[i] = byte(i + k)
	}
	return r.Send(1, k, good)
}
