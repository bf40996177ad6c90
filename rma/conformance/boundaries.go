package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma"
)

// Most pages that are adjacent in a table of this case are not adjacent in memory, and no process
// owns the pages between them. An access that overruns its page therefore changes a byte that must
// not change.
const (
	scatteredTable   = 5 // pages with read and write access; the table ends after the last
	guardedTable     = 6 // pages with write access, each followed by one without
	scatteredEntries = 0x40000
	guardedEntries   = 0x40800
	framePages       = 16 // pages from dataAt on
)

// Memory page of each table page: only the fourth is adjacent to its predecessor.
var scattered = []int{6, 2, 4, 5, 9}

// Pages of guardedTable: 0, 2 and 4 are writable. The pages after them are read-only, owned by
// another process, and absent.
var guarded = []struct {
	page   int
	rights regs.ATURights
	vpid   int // offset to the process's own VPID
	fault  regs.RMAError
}{
	{11, regs.ATURightsRw, 0, 0}, {13, regs.ATURightsRo, 0, regs.RMAErrorRights},
	{12, regs.ATURightsRw, 0, 0}, {14, regs.ATURightsRw, 7, regs.RMAErrorOwner},
	{10, regs.ATURightsRw, 0, 0}, {15, 0, 0, regs.RMAErrorTranslation},
}

// border returns the NLA of the first byte after page-1 of a table.
func border(table, page int) rma.NLA { return rma.NLA(table)<<44 + rma.NLA(page)<<12 }

// edges is the state of the case: the two ports and the expected memory.
type edges struct {
	*rig
	a, b *rma.Port
	want [2][]byte // expected memory of both nodes from dataAt on
	dice *rand.Rand
}

func boundaries(r *rig) {
	e := &edges{rig: r, a: r.open(here, 8, 64), b: r.open(there, 8, 64), dice: rand.New(rand.NewPCG(r.seed, 0))}
	for node, p := range []rma.Peer{here, there} {
		pattern(r.mem(node)[dataAt:dataAt+framePages<<12], 3+node)
		e.want[node] = bytes.Clone(r.mem(node)[dataAt : dataAt+framePages<<12])
		e.tables(node, p.VPID)
	}
	e.immediate()
	e.fetch()
	for _, get := range []bool{false, true} {
		e.moves(get)
	}
	e.ends()
	e.guards()
}

// tables writes the translation tables of a node.
func (e *edges) tables(node, vpid int) {
	dev := e.Device(node)
	entry := func(at, page int, rights regs.ATURights, vpid int) {
		addr, err := drivers.Address(dev, uint64(dataAt+page<<12), 4096)
		e.must(err)
		word := regs.ATUEntryFields{Rights: rights, VPID: uint8(vpid), Page: addr >> 12}.Pack()
		binary.LittleEndian.PutUint64(dev.Memory()[at:], uint64(word))
	}
	for i, page := range scattered {
		entry(scatteredEntries+8*i, page, regs.ATURightsRw, vpid)
	}
	for i, g := range guarded {
		entry(guardedEntries+8*i, g.page, g.rights, vpid+g.vpid)
	}
	for _, t := range []struct {
		table     uint8
		at, pages int
	}{{scatteredTable, scatteredEntries, len(scattered)}, {guardedTable, guardedEntries, len(guarded)}} {
		base, err := drivers.Address(dev, uint64(t.at), uint64(8*t.pages))
		e.must(err)
		e.must(dev.WriteReg(regs.ATUBase(t.table), base))
		e.must(dev.WriteReg(regs.ATUPages(t.table), uint64(t.pages)))
	}
}

// frame returns the offset from dataAt of the byte at an NLA.
func frame(nla rma.NLA) int {
	page, in := int(nla>>12&0xfff), int(nla&0xfff)
	if nla>>44 == guardedTable {
		return guarded[page].page<<12 + in
	}
	return scattered[page]<<12 + in
}

// copied applies a copy of n bytes to the expected memory.
func (e *edges) copied(toNode int, to rma.NLA, fromNode int, from rma.NLA, n int) {
	for i := range rma.NLA(n) {
		e.want[toNode][frame(to+i)] = e.want[fromNode][frame(from+i)]
	}
}

// expect waits for all operations and compares memory.
func (e *edges) expect(format string, args ...any) {
	e.quiet()
	for node := range e.want {
		what := fmt.Sprintf(format, args...)
		e.same(e.want[node], e.mem(node)[dataAt:dataAt+framePages<<12], fmt.Sprintf("%s: node %d", what, node))
	}
}

// ended takes an event of a successful operation, whose last fragment must end at NLA end and lie
// within one page.
func (e *edges) ended(p *rma.Port, u rma.Unit, end rma.NLA, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	ev := e.event(p, what)
	e.check(ev.Err == nil && ev.Unit == u && ev.Last, "%s: found event %+v", what, ev)
	e.check(ev.NLA+rma.NLA(ev.Bytes) == end && int(ev.NLA&0xfff)+ev.Bytes <= 4096,
		"%s: the last fragment is %d bytes at 0x%x, expected it to end at 0x%x and to lie in one page",
		what, ev.Bytes, uint64(ev.NLA), uint64(end))
}

// immediate tests puts of 1 to 8 bytes that end before, at and after a border, at every alignment.
func (e *edges) immediate() {
	for before := range 9 {
		for n := 1; n <= 8; n++ {
			page := 1 + (before+n)%len(scattered)
			if page == len(scattered) && n > before {
				page = 1
			}
			to := border(scatteredTable, page) - rma.NLA(before)
			var payload [8]byte
			binary.LittleEndian.PutUint64(payload[:], e.dice.Uint64())
			_, err := e.a.PutImmediate(there, to, payload[:n], rma.Completer)
			e.must(err)
			for i, b := range payload[:n] {
				e.want[1][frame(to+rma.NLA(i))] = b
			}
			e.expect("immediate put of %d bytes, %d before a page's end", n, before)
			e.ended(e.b, rma.UnitCompleter, to+rma.NLA(n), "immediate put of %d bytes at 0x%x", n, uint64(to))
			e.nothing(e.a, "immediate put")
		}
	}
}

// fetch tests the last and the first words of every page, and of the table.
func (e *edges) fetch() {
	for page := range len(scattered) + 1 {
		for _, off := range []int{-8, -4, 0, 4} {
			at := page<<12 + off
			if at < 0 || at >= len(scattered)<<12 {
				continue
			}
			nla := border(scatteredTable, 0) + rma.NLA(at)
			word := e.want[1][frame(nla):]
			old := binary.LittleEndian.Uint32(word)
			_, err := e.a.FetchCompareAdd(there, nla, old, 0x01020304)
			e.must(err)
			binary.LittleEndian.PutUint32(word, old+0x01020304)
			e.expect("fetch-compare-add at 0x%x", uint64(nla))
			ev := e.event(e.a, "fetch-compare-add")
			found, changed := ev.Fetched()
			e.check(ev.Err == nil && found == old && changed,
				"fetch-compare-add at 0x%x: found %+v, expected 0x%x", uint64(nla), ev, old)
		}
	}
}

// moves tests puts and gets whose source or target or both cross one or more page borders, or start
// or end at one.
func (e *edges) moves(get bool) {
	for before := range 9 {
		for i, n := range []int{max(before, 1), before + 1, 8, 255 + before, 257, 513, 4096 + 2*before, 2*4096 + 1} {
			inside := rma.NLA(300 + e.dice.IntN(8))
			pages := 3
			if n >= 4096 {
				pages = 2
			}
			page := func() int { return 1 + e.dice.IntN(pages) }
			from, to := border(scatteredTable, page())-rma.NLA(before), border(scatteredTable, page())-rma.NLA(before)
			switch i % 3 {
			case 1:
				from = border(scatteredTable, page()) + inside
			case 2:
				to = border(scatteredTable, page()) + inside
			}
			if before == 8 && n == max(before, 1) { // the last bytes of the table
				from, to = border(scatteredTable, len(scattered))-8, border(scatteredTable, len(scattered))-8
			}
			e.move(get, from, to, n)
		}
	}
}

func (e *edges) move(get bool, from, to rma.NLA, n int) {
	var err error
	name := map[bool]string{false: "put", true: "get"}[get]
	if get {
		_, err = e.a.Get(there, to, from, n, rma.Completer)
		e.copied(0, to, 1, from, n)
	} else {
		_, err = e.a.Put(there, from, to, n, rma.Completer)
		e.copied(1, to, 0, from, n)
	}
	e.must(err)
	e.expect("%s of %d bytes from 0x%x to 0x%x", name, n, uint64(from), uint64(to))
	p := map[bool]*rma.Port{false: e.b, true: e.a}[get]
	e.ended(p, rma.UnitCompleter, to+rma.NLA(n), "%s of %d bytes from 0x%x to 0x%x", name, n, uint64(from), uint64(to))
	e.nothing(e.a, name)
}

// An overrun is an operation that moves only the bytes before a border.
type overrun struct {
	kind   rma.Command
	local  rma.NLA
	remote rma.NLA
	before int // number of bytes that are moved
	n      int
	want   rma.FaultError
}

// overruns runs an operation that must fail at the border and checks what it has moved.
func (e *edges) overruns(o overrun) {
	what := fmt.Sprintf("%v of %d bytes, local 0x%x, remote 0x%x", o.kind, o.n, uint64(o.local), uint64(o.remote))
	var payload [8]byte
	var h rma.Handle
	var err error
	switch o.kind {
	case rma.CommandPut:
		h, err = e.a.Put(there, o.local, o.remote, o.n, rma.Completer)
		e.copied(1, o.remote, 0, o.local, o.before)
	case rma.CommandGet:
		h, err = e.a.Get(there, o.local, o.remote, o.n, rma.Completer)
		e.copied(0, o.local, 1, o.remote, o.before)
	case rma.CommandPutImmediate:
		binary.LittleEndian.PutUint64(payload[:], e.dice.Uint64())
		h, err = e.a.PutImmediate(there, o.remote, payload[:o.n], rma.Completer)
		for i, b := range payload[:o.before] {
			e.want[1][frame(o.remote+rma.NLA(i))] = b
		}
	default:
		h, err = e.a.FetchCompareAdd(there, o.remote, ^uint32(0), 1)
	}
	e.must(err)
	e.expect("%s", what)
	ev := e.event(e.a, what)
	o.want.Command, o.want.Peer = o.kind, there
	e.fault(ev.Err, o.want, what)
	e.check(ev.Handle == h && e.a.LocallyComplete(h), "%s: found %+v, expected the end of operation 0x%x", what, ev, uint64(h))
	e.nothing(e.a, what)
	e.nothing(e.b, what)
}

// ends tests operations that leave their table at either side, and the limits of a table's NLAs.
func (e *edges) ends() {
	end, inside := border(scatteredTable, len(scattered)), border(scatteredTable, 1)+100
	bounds := func(u rma.Unit, nla rma.NLA) rma.FaultError {
		return rma.FaultError{Code: regs.RMAErrorBounds, Unit: u, NLA: nla}
	}
	const at, re, co = rma.UnitRequester, rma.UnitResponder, rma.UnitCompleter
	for before := range 9 {
		for _, n := range []int{before + 1, before + 7} {
			edge := end - rma.NLA(before)
			e.overruns(overrun{rma.CommandPut, inside, edge, before, n, bounds(co, end)})
			e.overruns(overrun{rma.CommandPut, edge, inside, before, n, bounds(at, end)})
			e.overruns(overrun{rma.CommandGet, inside, edge, before, n, bounds(re, end)})
			e.overruns(overrun{rma.CommandGet, edge, inside, before, n, bounds(co, end)})
			if n <= 8 {
				e.overruns(overrun{rma.CommandPutImmediate, 0, edge, before, n, bounds(co, end)})
			}
		}
	}
	e.overruns(overrun{rma.CommandFetchCompareAdd, 0, end, 0, 4, bounds(re, end)})
	// An operation does not continue in the next table: it is refused as a whole, and reported with
	// its local address.
	last := rma.NLA(scatteredTable+1)<<44 - 4
	for _, n := range []int{5, 8} {
		e.overruns(overrun{rma.CommandPut, inside, last, 0, n, bounds(at, inside)})
		e.overruns(overrun{rma.CommandPut, last, inside, 0, n, bounds(at, last)})
		e.overruns(overrun{rma.CommandGet, inside, last, 0, n, bounds(at, inside)})
		e.overruns(overrun{rma.CommandGet, last, inside, 0, n, bounds(at, last)})
		e.overruns(overrun{rma.CommandPutImmediate, 0, last, 0, n, bounds(at, last)})
	}
	// An operation that ends with the table's last NLA is not refused; it finds no page.
	e.overruns(overrun{rma.CommandPutImmediate, 0, last, 0, 4, bounds(co, last)})
	e.overruns(overrun{rma.CommandPut, inside, last, 0, 4, bounds(co, last)})
	e.overruns(overrun{rma.CommandGet, inside, last, 0, 4, bounds(re, last)})
}

// guards tests operations that cross from a writable page into one without write access. The second
// page must not change, whatever access the first allows.
func (e *edges) guards() {
	inside := border(scatteredTable, 1) + 100
	for i, g := range guarded {
		if g.fault == regs.RMAErrorNone {
			continue
		}
		edge := border(guardedTable, i)
		fault := func(u rma.Unit) rma.FaultError { return rma.FaultError{Code: g.fault, Unit: u, NLA: edge} }
		for before := range 8 {
			from := edge - rma.NLA(before)
			n := before + 1
			e.overruns(overrun{rma.CommandPut, inside, from, before, n, fault(rma.UnitCompleter)})
			e.overruns(overrun{rma.CommandPutImmediate, 0, from, before, n, fault(rma.UnitCompleter)})
			e.overruns(overrun{rma.CommandGet, from, inside, before, n, fault(rma.UnitCompleter)})
			if g.fault != regs.RMAErrorRights { // a read-only page may be read
				e.overruns(overrun{rma.CommandPut, from, inside, before, n, fault(rma.UnitRequester)})
				e.overruns(overrun{rma.CommandGet, inside, from, before, n, fault(rma.UnitResponder)})
			}
		}
		e.overruns(overrun{rma.CommandFetchCompareAdd, 0, edge, 0, 4, fault(rma.UnitResponder)})
	}
}
