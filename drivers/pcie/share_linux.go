package pcie

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/drivers"
)

// maxNICs is the maximum number of NICs of a function, that of rtl/board/nic_pair.sv.
const maxNICs = 2

// nicStride is the distance of their registers in BAR 0.
const nicStride = 1 << 20

// A function is a PCI function with several NICs behind its BARs (rtl/board/pcie_nics.sv). Each NIC
// uses a part: a way of its own with a share of every BAR and of the memory. The parts share the
// resources of the function (COMMAND, interrupts).
type function struct {
	way
	nics int

	mu    sync.Mutex
	users int // parts that are open
	bars  map[int][]byte
	mem   memory
	irq   *interrupts
	ready int // parts whose NIC has been reset and may use DMA
}

type part struct {
	*function
	nic int
}

// parts splits a way among n NICs.
func parts(w way, n int) []way {
	if n == 1 {
		return []way{w}
	}
	f := &function{way: w, nics: n, bars: map[int][]byte{}}
	list := make([]way, n)
	for i := range list {
		list[i] = &part{f, i}
	}
	return list
}

func (p *part) name() string { return fmt.Sprintf("NIC %d of %s", p.nic, p.way.name()) }

func (p *part) index() int { return p.nic }

func (p *part) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		if err := p.way.begin(); err != nil {
			return err
		}
	}
	p.users++
	return nil
}

// bar returns this NIC's share. Shares of registers are nicStride apart; other BARs are divided
// evenly.
func (p *part) bar(number, least int, combined bool) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	whole := p.bars[number]
	if whole == nil {
		need := least * p.nics
		if number == registerBAR {
			need = nicStride*(p.nics-1) + least
		}
		var err error
		if whole, err = p.way.bar(number, need, combined); err != nil {
			return nil, err
		}
		p.bars[number] = whole
	}
	share := len(whole) / p.nics
	if number == registerBAR {
		share = nicStride
	}
	from := p.nic * share
	return whole[from:min(from+share, len(whole)):min(from+share, len(whole))], nil
}

// unmap keeps a share mapped: the last part to close unmaps the BAR.
func (p *part) unmap([]byte) error { return nil }

// memory returns this NIC's share of the function's memory, in whole large pages.
func (p *part) memory(n int) (memory, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n = (max(1, n) + largePage - 1) / largePage * largePage
	if p.mem.bytes == nil {
		whole, err := p.way.memory(n * p.nics)
		if err != nil || whole.bytes == nil {
			return memory{}, err
		}
		p.mem = whole
	}
	share := len(p.mem.bytes) / p.nics / largePage * largePage
	return p.mem.share(p.nic*share, share), nil
}

// share is a part of a memory and its segments; it must not be freed.
func (m *memory) share(from, n int) memory {
	part := memory{bytes: m.bytes[from : from+n : from+n], shared: true}
	for _, s := range m.segments {
		lo, hi := max(s.Off, uint64(from)), min(s.Off+s.Bytes, uint64(from+n))
		if lo < hi {
			part.segments = append(part.segments, drivers.Segment{Off: lo - uint64(from), Addr: s.Addr + lo - s.Off, Bytes: hi - lo})
		}
	}
	return part
}

// command enables DMA when the last NIC requests it: until all have been reset, one of them may
// continue what a dead program has started.
func (p *part) command(set, clear uint16) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if set&commandBusMaster != 0 {
		if p.ready++; p.ready < p.nics {
			set &^= commandBusMaster
		}
	}
	return p.way.command(set, clear)
}

// interrupts are shared: each NIC checks its own causes.
func (p *part) interrupts() (*interrupts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.irq == nil {
		q, err := p.way.interrupts()
		if q == nil || err != nil {
			return nil, err
		}
		p.irq = q
	}
	p.irq.users++
	return p.irq, nil
}

func (p *part) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 { // begin was never called
		return nil
	}
	if p.users--; p.users > 0 {
		return nil
	}
	var all error
	for _, m := range p.bars {
		all = errors.Join(all, unix.Munmap(m))
	}
	clear(p.bars)
	return errors.Join(all, p.mem.free(), p.way.close())
}
