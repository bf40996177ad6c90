package rma

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Gate is a reserved range of network logical addresses, which peers may know before memory is
// mapped behind it. Operations that peers post meanwhile fail with TRANSLATION. Open maps memory,
// Shut unmaps it; afterwards the NIC may still use cached translations until Clear returns true.
type Gate struct {
	port  *Port
	m     mapping // entries of 4 KB
	owner int
	open  bool
	shut  bool // unmapped, but the NIC may still hold its translations
}

// Gate reserves addresses for the given number of bytes at any offset in a page. ErrNotSupported:
// another program owns the translation tables.
func (p *Port) Gate(bytes int) (*Gate, error) {
	a := p.atu
	if a.lent != nil {
		return nil, fmt.Errorf("%w: reserved addresses in translation tables that are lent", drivers.ErrNotSupported)
	}
	if bytes < 1 || bytes > len(a.dev.Memory()) {
		return nil, fmt.Errorf("%w: addresses for %d bytes: expected 1 to all of memory", drivers.ErrConfig, bytes)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	const size = len(pageShifts) - 1
	pages := (bytes + 2*(pageBytes-1)) / pageBytes
	first, ok := a.tables[size].runs.take(pages)
	if !ok {
		return nil, fmt.Errorf("%w: %d bytes of addresses find no entries", drivers.ErrTablesFull, bytes)
	}
	g := &Gate{port: p, owner: p.self.VPID, m: mapping{run: run{first, pages}, size: size}}
	g.m.gate = g
	a.gates = append(a.gates, g)
	return g, nil
}

// NLA returns the address of a byte in the gate's first page; off is its offset within the page.
func (g *Gate) NLA(off uint64) NLA {
	p := pageShifts[g.m.size]
	return NLA(regs.NLAFields{Table: p.table, Offset: uint64(g.m.first)<<p.shift | off%pageBytes}.Pack())
}

// Open maps [off, off+n) of memory behind the gate, its first page at the start. The gate must be
// clear.
func (g *Gate) Open(off, n uint64, r Rights) error {
	a := g.port.atu
	if err := a.checkRange(off, n); err != nil {
		return err
	}
	first, last := off/pageBytes, (off+n-1)/pageBytes
	a.mu.Lock()
	defer a.mu.Unlock()
	if g.open || g.shut || int(last-first) >= g.m.n {
		return fmt.Errorf("%w: %d bytes at 0x%x behind a gate of %d pages: expected less, and one that is clear", drivers.ErrConfig, n, off, g.m.n)
	}
	for page := first; page <= last; page++ {
		at, err := drivers.Address(a.dev, page*pageBytes, 1)
		if err != nil {
			return err
		}
		e := regs.ATUEntryFields{Rights: regs.ATURights(r), VPID: uint8(g.owner), Page: at / pageBytes}
		atomic.StoreUint64(&a.tables[g.m.size].entries[g.m.first+int(page-first)], uint64(e.Pack()))
	}
	g.open = true
	return nil
}

// Shut unmaps the memory. Operations in flight may still reach it until the gate is clear.
func (g *Gate) Shut() error {
	a := g.port.atu
	a.mu.Lock()
	defer a.mu.Unlock()
	if !g.open {
		return fmt.Errorf("%w: a gate is shut that is not open", drivers.ErrConfig)
	}
	a.clearGate(g)
	_, err := a.advanceFences(g.port.dev)
	return err
}

func (a *ATU) clearGate(g *Gate) {
	for i := range g.m.n {
		atomic.StoreUint64(&a.tables[g.m.size].entries[g.m.first+i], 0)
	}
	g.open, g.shut = false, true
	a.cleared = append(a.cleared, g.m)
}

// Clear reports whether the NIC has dropped all translations of the gate. It reads only memory.
func (g *Gate) Clear() (bool, error) {
	a := g.port.atu
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.advanceFences(g.port.dev)
	return !g.open && !g.shut, err
}

// dropGates removes the gates of a process.
func (a *ATU) dropGates(owner int) {
	a.gates = slices.DeleteFunc(a.gates, func(g *Gate) bool {
		if g.owner != owner {
			return false
		}
		g.m.gate = nil // its entries may be reused by others
		switch {
		case g.open:
			a.clearGate(g)
		case g.shut:
			for _, list := range [][]mapping{a.cleared, a.fenced} {
				for i := range list {
					if list[i].gate == g {
						list[i].gate = nil
					}
				}
			}
		default:
			a.tables[g.m.size].runs.give(g.m.run)
		}
		return true
	})
}
