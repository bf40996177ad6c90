package rma

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	entryBytes = 8
	headBytes  = 64 // in front of the tables: the completion word, on a cache line of its own
	// flushPages is the maximum number of pages that one fence flushes individually; for more pages
	// it flushes all translations.
	flushPages = 8
)

// All commands of one fence fit into the hardware's command queue.
const _ = uint(regs.ATUCommands - flushPages - 1)

// pageShifts lists the page sizes in descending order. Each size has its own table; table 0 stays
// empty, so that NLA 0 is always invalid.
var pageShifts = [...]struct {
	shift uint
	table uint8
	size  regs.ATUPageSize
}{{21, 3, regs.ATUPageSizeM2}, {16, 2, regs.ATUPageSizeK64}, {12, 1, regs.ATUPageSizeK4}}

const pageBytes = 1 << 12 // the smallest page, the granularity of protection

// An ATU manages the translation tables of a node, as a kernel driver would. All processes of the
// node share it.
type ATU struct {
	lent   drivers.Tables // tables of another program, or nil; if set, only lent and dev are used
	mu     sync.Mutex     // protects everything below except dev
	dev    drivers.Device
	tables [len(pageShifts)]table
	mapped map[NLA]mapping
	gates  []*Gate
	// Mappings whose entries are zero. The NIC may still cache those of cleared until a fence
	// completes; the fence for those of fenced is outstanding.
	cleared, fenced []mapping
	done            *uint64 // completion word: the NIC writes the numbers of completed and refused commands
	commands        uint32  // commands issued since reset
	refused         uint32  // refused commands seen so far
}

type table struct {
	entries []uint64 // DMA memory
	runs    runs
}

type mapping struct {
	run
	size int   // index of pageShifts
	gate *Gate // owner of the entries; nil: they are freed after the fence
}

// NewATU creates the node's translation tables in [base, base+bytes) of its DMA memory, which must
// lie in one segment, and configures the NIC to use them. An entry takes 8 bytes and maps a page of
// 4 KB, 64 KB or 2 MB.
func NewATU(dev drivers.Device, base uint64, bytes int) (*ATU, error) {
	mem := dev.Memory()
	if base%headBytes != 0 || bytes < headBytes+8*entryBytes || base > uint64(len(mem)) || uint64(bytes) > uint64(len(mem))-base {
		return nil, fmt.Errorf("%w: translation tables of %d bytes at 0x%x: expected at least %d bytes, aligned to %d, inside %d bytes of memory",
			drivers.ErrConfig, bytes, base, headBytes+8*entryBytes, headBytes, len(mem))
	}
	if err := checkDevice(dev); err != nil {
		return nil, err
	}
	addr, err := drivers.Address(dev, base, uint64(bytes))
	if err != nil {
		return nil, err
	}
	mem = mem[base : base+uint64(bytes)]
	clear(mem)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&mem[0])), bytes/entryBytes)
	a := &ATU{dev: dev, done: &words[0], mapped: make(map[NLA]mapping)}
	return a, a.start(addr, words[headBytes/entryBytes:])
}

// checkDevice verifies that the NIC matches this library.
func checkDevice(dev drivers.Device) error {
	got, err := dev.ReadReg(regs.DescHash)
	if err == nil && got != regs.DescHashValue {
		err = fmt.Errorf("rma: DESC_HASH is 0x%x, expected 0x%x: hardware and software were built from different descriptions; rebuild one of them",
			got, regs.DescHashValue)
	}
	return err
}

// start splits the entries among the page sizes and writes the tables' addresses to the NIC; base
// is their device address.
func (a *ATU) start(base uint64, entries []uint64) error {
	if err := a.dev.WriteReg(regs.ATUDone, base); err != nil {
		return err
	}
	at := base + headBytes
	for i, p := range pageShifts {
		n := len(entries)
		if i < len(pageShifts)-1 { // large pages: enough to map all memory several times
			n = min(len(entries)/8, 4*(len(a.dev.Memory())>>p.shift))
		}
		a.tables[i].entries, entries = entries[:n], entries[n:]
		if n > 0 {
			a.tables[i].runs.give(run{0, n})
		}
		pages := uint64(n)<<regs.ATUPagesPages.LSB() | uint64(p.size)<<regs.ATUPagesSize.LSB()
		if err := a.dev.WriteReg(regs.ATUBase(p.table), at); err != nil {
			return err
		}
		if err := a.dev.WriteReg(regs.ATUPages(p.table), pages); err != nil {
			return err
		}
		at += uint64(n) * entryBytes
	}
	// The NIC may have served other software before: continue its command counters, and flush
	// its translations.
	status, err := a.dev.ReadReg(regs.ATUStatus)
	if err != nil {
		return err
	}
	refused, err := a.dev.ReadReg(regs.ATURefused)
	if err != nil {
		return err
	}
	before := regs.ATUCompletionFields{Done: uint32(regs.ATUStatusDone.Of(status)), Refused: uint32(refused)}
	a.commands, a.refused = before.Done+before.Refused, before.Refused
	atomic.StoreUint64(a.done, uint64(before.Pack()))
	return a.command(a.dev, regs.ATUOpFlushAll, 0, 0)
}

// Map makes [off, off+n) of the node's DMA memory reachable for process owner and for peers that
// access it as its memory. It returns the NLA of off. It maps whole pages and uses the largest size
// that covers no more memory than 4 KB pages would.
func (a *ATU) Map(owner int, off, n uint64, r Rights) (NLA, error) {
	return a.mapPages(a.dev, owner, off, n, r)
}

func (a *ATU) checkRange(off, n uint64) error {
	if mem := uint64(len(a.dev.Memory())); n == 0 || off > mem || n > mem-off {
		return fmt.Errorf("%w: mapping %d bytes at 0x%x: expected a range inside %d bytes of memory", drivers.ErrConfig, n, off, mem)
	}
	return nil
}

// mapPages posts through dev, so that the cost is charged to the calling process.
func (a *ATU) mapPages(dev drivers.Device, owner int, off, n uint64, r Rights) (NLA, error) {
	err := a.checkRange(off, n)
	switch {
	case err != nil:
		return 0, err
	case a.lent != nil:
		return a.mapLent(owner, off, n, r)
	case owner < 0 || owner >= regs.VPIDs:
		return 0, fmt.Errorf("%w: mapping memory for VPID %d: expected 0..%d", drivers.ErrConfig, owner, regs.VPIDs-1)
	case r < ReadOnly || r > ReadWrite:
		return 0, fmt.Errorf("%w: mapping memory with rights %d: expected ReadOnly, WriteOnly or ReadWrite", drivers.ErrConfig, r)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.advanceFences(dev); err != nil {
		return 0, err
	}
	size, m, ok := a.findEntries(off, n)
	if !ok {
		if len(a.cleared)+len(a.fenced) > 0 {
			return 0, ErrTryAgain
		}
		return 0, fmt.Errorf("%w: %d bytes at 0x%x find no entries; make them larger or map less", drivers.ErrTablesFull, n, off)
	}
	p := pageShifts[size]
	for i := range m.n {
		page, err := drivers.Address(a.dev, (off>>p.shift+uint64(i))<<p.shift, 1)
		if err != nil {
			return 0, err // cannot occur: findEntries has checked the pages
		}
		e := regs.ATUEntryFields{Rights: regs.ATURights(r), VPID: uint8(owner), Page: page >> 12}
		atomic.StoreUint64(&a.tables[size].entries[m.first+i], uint64(e.Pack()))
	}
	nla := NLA(regs.NLAFields{Table: p.table, Offset: uint64(m.first)<<p.shift | off&(1<<p.shift-1)}.Pack())
	a.mapped[nla] = m
	return nla, nil
}

// findEntries allocates entries for [off, off+n), of the largest suitable page size.
func (a *ATU) findEntries(off, n uint64) (size int, m mapping, ok bool) {
	grain := uint64(pageBytes - 1)
	low, high := off&^grain, (off+n+grain)&^grain
	for i, p := range pageShifts {
		if (low|high)&(1<<p.shift-1) != 0 {
			continue // pages of this size would cover more memory than 4 KB pages
		}
		if !a.inPages(low, high, p.shift) {
			continue
		}
		pages := int((high - low) >> p.shift)
		if first, ok := a.tables[i].runs.take(pages); ok {
			return i, mapping{run: run{first, pages}, size: i}, true
		}
	}
	return 0, mapping{}, false
}

// inPages reports whether pages of this size in [low, high) of memory are contiguous and aligned in
// the NIC's address space.
func (a *ATU) inPages(low, high uint64, shift uint) bool {
	for _, s := range a.dev.Segments() {
		if low >= s.Off+s.Bytes || high <= s.Off {
			continue
		}
		within := uint64(1)<<shift - 1
		if (s.Addr-s.Off)&within != 0 || s.Off > low && s.Off&within != 0 || s.Off+s.Bytes < high && (s.Off+s.Bytes)&within != 0 {
			return false
		}
	}
	return true
}

// Unmap removes a mapping; nla is the result of Map. Operations in flight may still reach the
// memory until the NIC has completed a fence, which Poll observes. The entries are reused
// afterwards.
func (a *ATU) Unmap(nla NLA) error { return a.unmap(a.dev, nla) }

func (a *ATU) unmap(dev drivers.Device, nla NLA) error {
	if a.lent != nil {
		return a.lent.Unmap(uint64(nla))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.mapped[nla]
	if !ok {
		return fmt.Errorf("%w: unmapping NLA 0x%x: expected one that Map gave and that was not unmapped since", drivers.ErrConfig, uint64(nla))
	}
	delete(a.mapped, nla)
	for i := range m.n {
		atomic.StoreUint64(&a.tables[m.size].entries[m.first+i], 0)
	}
	a.cleared = append(a.cleared, m)
	_, err := a.advanceFences(dev)
	return err
}

// Evict unmaps all pages of a process and waits until the NIC has dropped their translations.
func (a *ATU) Evict(owner int) error { return a.evict(a.dev, owner) }

func (a *ATU) evict(dev drivers.Device, owner int) error {
	if a.lent != nil {
		return a.lent.UnmapAll(owner)
	}
	var list []NLA
	a.mu.Lock()
	a.dropGates(owner)
	for nla, m := range a.mapped {
		if e := regs.ATUEntry(a.tables[m.size].entries[m.first]); int(e.VPID()) == owner {
			list = append(list, nla)
		}
	}
	a.mu.Unlock()
	slices.Sort(list)
	for _, nla := range list {
		if err := a.unmap(dev, nla); err != nil {
			return err
		}
	}
	for range evictReads {
		if pending, err := a.poll(dev); err != nil || pending == 0 {
			return err
		}
		if _, err := dev.ReadReg(regs.ATUStatus); err != nil { // advances simulated time
			return err
		}
	}
	return fmt.Errorf("rma: the pages of VPID %d: a fence is not done after %d reads", owner, evictReads)
}

// evictReads bounds the wait for a fence, which takes as long as outstanding memory accesses.
const evictReads = 10000

// Poll checks the progress of fences. It returns the number of unmapped ranges that the NIC may
// still cache. It reads only memory.
func (a *ATU) Poll() (pending int, err error) { return a.poll(a.dev) }

func (a *ATU) poll(dev drivers.Device) (pending int, err error) {
	if a.lent != nil { // the owner of the tables polls
		return 0, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.advanceFences(dev)
}

// advanceFences is poll for callers that hold the lock. Its posted writes must not block, because
// it holds the lock.
func (a *ATU) advanceFences(dev drivers.Device) (pending int, err error) {
	// At most one fence is outstanding: the clocks of simulated processes differ, so commands
	// that two of them post may arrive in another order than the calls.
	if a.busy() {
		return len(a.fenced) + len(a.cleared), nil
	}
	// The queue also held commands of other software, and the NIC refused some of ours: repeat
	// the fence.
	if c := a.completion(); c.Refused() != a.refused {
		a.refused, a.commands = c.Refused(), c.Done()+c.Refused()
		return len(a.fenced) + len(a.cleared), a.fence(dev)
	}
	for _, m := range a.fenced {
		if m.gate != nil {
			m.gate.shut = false
			continue
		}
		a.tables[m.size].runs.give(m.run)
	}
	a.fenced, a.cleared = a.cleared, a.fenced[:0]
	if len(a.fenced) == 0 {
		return 0, nil
	}
	return len(a.fenced), a.fence(dev)
}

// busy reports whether the last command is neither completed nor refused as far as the completion
// word shows.
func (a *ATU) busy() bool {
	c := a.completion()
	return int32(a.commands-c.Done()-c.Refused()) > 0
}

func (a *ATU) completion() regs.ATUCompletion { return regs.ATUCompletion(atomic.LoadUint64(a.done)) }

// fence makes the NIC drop the translations of fenced, or all of them if fenced is empty.
func (a *ATU) fence(dev drivers.Device) error {
	pages := 0
	for _, m := range a.fenced {
		pages += m.n
	}
	if pages == 0 || pages > flushPages {
		if err := a.command(dev, regs.ATUOpFlushAll, 0, 0); err != nil {
			return err
		}
	} else {
		for _, m := range a.fenced {
			for i := range m.n {
				if err := a.command(dev, regs.ATUOpFlushPage, pageShifts[m.size].table, m.first+i); err != nil {
					return err
				}
			}
		}
	}
	return a.command(dev, regs.ATUOpFence, 0, 0)
}

func (a *ATU) command(dev drivers.Device, op regs.ATUOp, table uint8, page int) error {
	a.commands++
	return dev.WriteReg(regs.ATUCommand, uint64(op)<<regs.ATUCommandCommand.LSB()|
		uint64(table)<<regs.ATUCommandTable.LSB()|uint64(page)<<regs.ATUCommandPage.LSB())
}
