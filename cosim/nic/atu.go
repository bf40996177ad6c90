package nic

import (
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	tlbEntries = 32
	entryBytes = 8
	pageMask   = 1<<12 - 1 // of the smallest page
)

type atuTable struct {
	base  uint64
	pages uint64 // as register ATU_PAGES
}

func (t *atuTable) shift() uint {
	return [...]uint{12, 16, 21, 21}[regs.ATUPagesSize.Of(t.pages)]
}

// An atu is the address translation unit. It caches entries until software flushes them: without a
// flush the old translation remains in use, as in hardware.
type atu struct {
	tables       [regs.ATUTables]atuTable
	tlb          [tlbEntries]tlbLine
	filling      tlbLine       // is kept when the read of the table has ended
	reads        bool          // an entry of a table is to be read
	missed       drivers.Cycle // when it was not found
	filled       drivers.Cycle // when the read ends, as far as it is known
	flushed      drivers.Cycle // the last time, of anything
	server       atuServer
	commands     commands
	faults, last uint64
	hits, misses uint64
}

type tlbLine struct {
	valid       bool
	table       uint8
	page        uint64
	translation regs.ATUEntry
}

// A span is a range of device addresses.
type span struct{ addr, n uint64 }

// An access is a read or write of memory by a unit. It lies within one page, because fragments are
// split at page boundaries.
type access struct {
	nla  regs.NLA
	n    int
	need regs.ATURights
	vpid uint8 // whose page it must be
	span span  // translated; of one that failed for DMA, what memory refused
	done bool  // the translation unit is or was asked
}

// translate checks an access and translates its address.
func (n *node) translate(a *access) regs.RMAError {
	t := &n.atu.tables[a.nla.Table()]
	page := a.nla.Offset() >> t.shift()
	switch pages := regs.ATUPagesPages.Of(t.pages); {
	case pages == 0:
		return regs.RMAErrorTranslation // no table
	case page >= pages:
		return regs.RMAErrorBounds
	}
	a.span = span{t.base + page*entryBytes, entryBytes}
	if !n.inMemory(a.span) { // which the read of it shows
		n.atu.misses++
		n.atu.server.entry, n.atu.filling.valid = a.span.addr, false
		return regs.RMAErrorDMA
	}
	e, known := n.entry(a.nla.Table(), page, a.span.addr)
	if !known {
		return regs.RMAErrorNone // until entryRead
	}
	return n.judgeEntry(a, e, t.shift())
}

// judgeEntry checks an access against the entry of its page, and translates its address.
func (n *node) judgeEntry(a *access, e regs.ATUEntry, shift uint) regs.RMAError {
	switch {
	case e.Rights() == regs.ATURightsNone:
		return regs.RMAErrorTranslation
	case e.VPID() != a.vpid:
		return regs.RMAErrorOwner
	case e.Rights()&a.need != a.need:
		return regs.RMAErrorRights
	}
	in := uint64(1)<<shift - 1
	a.span = span{uint64(e)&^pageMask&^in + a.nla.Offset()&in, uint64(a.n)}
	if !n.inMemory(a.span) {
		return regs.RMAErrorDMA
	}
	return regs.RMAErrorNone
}

// failed counts a fragment that was refused, and the fault that refused it.
func (n *node) failed(a *access, fault regs.RMAError) {
	n.rma.errors++
	n.faulted(a, fault)
}

// faulted counts a fault of the translation unit.
func (n *node) faulted(a *access, fault regs.RMAError) {
	if !a.done {
		return
	}
	switch fault {
	case regs.RMAErrorTranslation, regs.RMAErrorRights, regs.RMAErrorOwner, regs.RMAErrorBounds:
		n.atu.faults++
		n.atu.last = uint64(a.nla) | uint64(fault)<<regs.ATUFaultError.LSB() | uint64(a.vpid)<<regs.ATUFaultVPID.LSB()
		if a.need&regs.ATURightsWo != 0 {
			n.atu.last |= regs.ATUFaultWrite
		}
	case regs.RMAErrorDMA:
		n.p.fail(&drivers.DMAError{Node: n.id, Addr: a.span.addr, Bytes: a.span.n, Memory: uint64(len(n.mem))})
	}
}

// setTable writes a register of a table, which flushes the TLB.
func (u *atu) setTable(now drivers.Cycle, reg *uint64, v uint64) {
	*reg = v
	u.flushes(now)
	for i := range u.tlb {
		u.tlb[i].valid = false
	}
}

// tlbIndex is the TLB entry that a page maps to (direct mapped).
func tlbIndex(table uint8, page uint64) uint64 { return (page ^ uint64(table)) % tlbEntries }

// flushes records a flush of any kind. An entry that is being read from a table then serves its own
// request but is not cached.
func (u *atu) flushes(now drivers.Cycle) {
	u.flushed = now
	if now > u.filled {
		u.keep()
	} else if now > u.missed {
		u.filling.valid = false
	}
}

// keep caches the entry that was read from a table.
func (u *atu) keep() {
	if f := &u.filling; f.valid {
		u.tlb[tlbIndex(f.table, f.page)], f.valid = *f, false
	}
}

// setsTable reports whether a write to a table register follows in this cycle.
func (n *node) setsTable() bool {
	if n.regs.n == 0 {
		return false
	}
	op := n.regs.first()
	return !op.read && op.off >= regs.ATUBase(0) && op.off <= regs.ATUPages(regs.ATUTables-1) && op.off&0xfff <= regs.ATUPages(0)&0xfff && n.dueAt(op) <= n.p.now
}

// entry looks up a page in the TLB, which does not answer in the cycle of a flush, or starts to
// read its table entry.
func (n *node) entry(table uint8, page, addr uint64) (e regs.ATUEntry, known bool) {
	u := &n.atu
	u.keep()
	c := &u.tlb[tlbIndex(table, page)]
	if c.valid && c.table == table && c.page == page && u.flushed != n.p.now && !n.setsTable() {
		u.hits++
		return c.translation, true
	}
	u.misses++
	u.server.entry, u.server.shift = addr, u.tables[table].shift()
	u.filling, u.missed, u.filled = tlbLine{valid: true, table: table, page: page}, n.p.now, drivers.Forever
	u.reads = true
	return 0, false
}

// entryRead reads a table entry in the cycle in which its address goes out. Entries without rights
// are not cached, so mapping a page needs no flush.
func (n *node) entryRead() {
	u := &n.atu
	if !u.reads { // memory has not got it
		return
	}
	e := regs.ATUEntry(getWord(n.dma(span{u.server.entry, entryBytes})))
	u.reads, u.filling.translation = false, e
	u.filling.valid = u.filling.valid && e.Rights() != regs.ATURightsNone
	_, a, fault := n.client(u.server.client)
	*fault = n.judgeEntry(a, e, u.server.shift)
}
