package selftest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Layout of a node's memory. A ring has at most one page, which is always contiguous; guard bytes
// surround everything that the NIC writes.
const (
	tableAt  = 0x0000 // translation table, and the completion word
	ringAt   = 0x1000 // notifications
	boxAt    = 0x3000 // mailbox, between two guard pages
	sourceAt = 0x5000
	targetAt = 0xa000
	areaSize = 0x5000 // of source and target
	guard    = 256    // bytes
	boxSlots = 16
	notis    = 16
)

// A mover transfers data to and from memory outside this machine: that of a board behind a serial
// line.
type mover interface {
	ReadMemory(ctx context.Context, off, n uint64) error
	WriteMemory(ctx context.Context, off uint64, p []byte) error
}

// A node is one NIC under test.
type node struct {
	t      *tester
	number int
	dev    drivers.Device
	mem    []byte
	far    mover // nil: Memory is the memory itself
	before map[uint32]uint64
	caused map[uint32]uint64 // increments of counters that the checks have caused
	box    *mailbox
	ring   *notiRing
}

func newNode(t *tester, number int) *node {
	n := &node{t: t, number: number, dev: t.sys.Device(number), before: map[uint32]uint64{}, caused: map[uint32]uint64{}}
	n.mem = n.dev.Memory()
	n.far, _ = n.dev.(mover)
	for _, off := range errorCounters() {
		if v, err := n.dev.ReadReg(off); err == nil {
			n.before[off] = v
		}
	}
	return n
}

// can skips a check that needs capabilities that the device lacks.
func (n *node) can(c drivers.Capabilities, what string) error {
	have := n.dev.Capabilities()
	if n.far != nil {
		have |= drivers.CanDMA // the mover transfers its memory
	}
	if have.Has(c) {
		return nil
	}
	return skip("%s needs a device that can do: %s; this one can: %s", what, c&^have, have)
}

// tidy removes all processes of a node, whatever a check has left.
func (n *node) tidy() {
	if n.box != nil {
		n.box.close()
	}
	if n.ring != nil {
		n.ring.close()
	}
}

func (n *node) write(off uint32, v uint64) error { return n.dev.WriteReg(off, v) }

// A setting is a register and its value.
type setting struct {
	off   uint32
	value uint64
}

// enable gives a process a domain and writes the registers of its receive ring, which must then
// read back unchanged.
func (n *node) enable(vpid uint8, what string, settings []setting) error {
	if err := process.Join(n.dev, vpid, domain); err != nil {
		return err
	}
	for _, s := range settings {
		if err := n.write(s.off, s.value); err != nil {
			return err
		}
		if err := n.expect(s.off, s.value, "a register of "+what+" does not hold its value"); err != nil {
			return err
		}
	}
	return nil
}

// expect reads a register and compares its value.
func (n *node) expect(off uint32, want uint64, advice string) error {
	got, err := n.dev.ReadReg(off)
	if err != nil {
		return err
	}
	if got != want {
		return &Fault{regs.Describe(off), hex(want), hex(got), advice}
	}
	return nil
}

func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }

// store writes data to the memory that the NIC reads. Remote memory takes whole quadwords.
func (n *node) store(off uint64, p []byte) error {
	if n.far == nil {
		copy(n.mem[off:], p)
		return nil
	}
	first, past := off&^7, (off+uint64(len(p))+7)&^7
	whole, err := n.load(first, past-first)
	if err != nil {
		return err
	}
	copy(whole[off-first:], p)
	return n.far.WriteMemory(n.t.ctx, first, whole)
}

// load reads memory.
func (n *node) load(off, size uint64) ([]byte, error) {
	if n.far != nil {
		first, past := off&^7, (off+size+7)&^7
		if err := n.far.ReadMemory(n.t.ctx, first, past-first); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(n.mem[off : off+size]), nil
}

// word reads a word that the NIC may be writing.
func (n *node) word(off uint64) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&n.mem[off])))
}

// await waits until ready returns true; w must wait for writes to the memory that ready reads.
func (n *node) await(w drivers.Waiter, ready func() bool) error {
	ctx, cancel := context.WithTimeout(n.t.ctx, n.t.cfg.Patience)
	defer cancel()
	for !ready() {
		if err := w.Wait(ctx); err != nil {
			if never(n.t.ctx, err) && ready() {
				return nil
			}
			return err
		}
	}
	return nil
}

// never reports whether a wait ended because the event does not occur, and not because waiting
// failed.
func never(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (errors.Is(err, drivers.ErrQuiescent) || errors.Is(err, context.DeadlineExceeded))
}

// pattern returns bytes that depend only on the seed and a number.
func (n *node) pattern(number uint64, size int) []byte {
	r := rand.New(rand.NewPCG(n.t.cfg.Seed, number))
	b := make([]byte, (size+7)&^7)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b[:size]
}

// same compares memory and reports the first difference. Data are in [first, past) of want, guard
// bytes around them.
func same(what string, at uint64, want, got []byte, first, past int) error {
	i := 0
	for i < len(want) && want[i] == got[i] {
		i++
	}
	if i == len(want) {
		return nil
	}
	bad := 0
	for j := i; j < len(want); j++ {
		if want[j] != got[j] {
			bad++
		}
	}
	where, advice := fmt.Sprintf("byte %d of the data", i-first), "the way of data is damaged: look at the CRC counters, the bus and the memory"
	switch {
	case i < first:
		where, advice = fmt.Sprintf("guard, %d bytes in front of the data", first-i), "the NIC writes where it must not: an address is wrong"
	case i >= past:
		where, advice = fmt.Sprintf("guard, %d bytes behind the data", i-past), "the NIC writes where it must not: a length or byte enable is wrong"
	}
	return &Fault{fmt.Sprintf("%s: memory 0x%x (%s)", what, at+uint64(i), where), fmt.Sprintf("%02x", want[i]),
		fmt.Sprintf("%02x, and %d bytes differ in all", got[i], bad), advice}
}
