package nic

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers/cache"
	"github.com/nicloop/nicloop/drivers/flit"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Packet is a packet in flight, or one that is being built. The body is everything between header
// and tail; for RMA it begins with the extension flit.
type Packet struct {
	Header regs.Header
	cut    atomic.Bool  // a link has ended it
	tails  atomic.Int32 // of it that will come to somebody, besides one
	stamp  stamp        // of the process that asked
	body   [8 + regs.RMAMTU]byte
}

// Flits counts the packet's flits.
func (p *Packet) Flits() int { return flit.Total(p.Header) }

// Words is the body in whole flits.
func (p *Packet) Words() []byte { return p.body[:flit.Payload(p.Header)*regs.FlitBytes] }

// Flit returns flit at of the packet.
func (p *Packet) Flit(at int) uint64 {
	switch at {
	case 0:
		return uint64(p.Header)
	case p.Flits() - 1:
		return uint64(flit.Close(p.Header, p.Words(), p.stamp.tail()))
	}
	return p.quad(at - 1)
}

// quad is a quadword of the body.
func (p *Packet) quad(i int) uint64 { return binary.LittleEndian.Uint64(p.body[8*i:]) }

// answered reports whether the packet is for the responder.
func (p *Packet) answered() bool {
	t := p.Header.Type()
	return t == regs.PacketTypeRMAGetReq || t == regs.PacketTypeRMALockReq
}

// RMA's view of the body.

func (p *Packet) op() regs.RMAOp   { return regs.RMAOp(p.Header.Op()) }
func (p *Packet) ext() regs.RMAExt { return regs.RMAExt(p.quad(0)) }
func (p *Packet) word() uint64     { return p.quad(1) }
func (p *Packet) bytes() []byte    { return p.body[8:p.Header.Length()] }

// data is the space for n bytes behind the extension.
func (p *Packet) data(n uint64) []byte { return p.body[8 : 8+n] }

func (p *Packet) setExt(ext regs.RMAExt) { binary.LittleEndian.PutUint64(p.body[:], uint64(ext)) }

func (p *Packet) set(ext regs.RMAExt, word uint64) {
	p.setExt(ext)
	binary.LittleEndian.PutUint64(p.body[8:], word)
}

// pad clears the unused bytes of the last flit.
func (p *Packet) pad() { clear(p.body[flit.Bytes(p.Header):len(p.Words())]) }

// A freeList allocates packets by number; they never move. Free numbers are reused last in, first
// out, while they are in the cache. The lists of all parts share the packets, so that a packet
// keeps its number when it crosses to another part.
type freeList struct {
	chunks [][]Packet
	free   []uint32
	used   int    // taken here less put here
	all    *store // nil: there is one list
}

// A store is shared by the free lists of several parts: it holds all packets, and batches of free
// ones. Traffic in one direction leaves the free packets at its destination.
type store struct {
	sync.Mutex
	chunks atomic.Pointer[[][]Packet]
	heaps  [][]uint32
}

const (
	chunkBits = 8
	heap      = 1 << chunkBits // packets that change hands at a time
)

func (p *freeList) get() uint32 {
	if len(p.free) == 0 {
		p.fill()
	}
	h := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.used++
	return h
}

func (p *freeList) put(h uint32) {
	if packet := p.at(h); packet.cut.Load() {
		if packet.tails.Add(-1) >= 0 {
			return
		}
		packet.tails.Store(0)
		packet.cut.Store(false)
	}
	p.free = append(p.free, h)
	p.used--
	if p.all != nil && len(p.free) >= 3*heap {
		p.spare()
	}
}

func (p *freeList) at(h uint32) *Packet { return &p.chunks[h>>chunkBits][h&(1<<chunkBits-1)] }

// want prefetches the cache lines of a VELO packet.
func (p *freeList) want(h uint32) { cache.Want(unsafe.Pointer(p.at(h)), veloLines) }

const veloLines = (int(unsafe.Offsetof(Packet{}.body)) + regs.VELOPayload + 2*cache.LineBytes - 1) / cache.LineBytes

// fill adds free packets: from the store, or new ones.
func (p *freeList) fill() {
	if p.all == nil {
		p.chunks = p.grow(p.chunks)
		return
	}
	p.all.Lock()
	defer p.all.Unlock()
	if last := len(p.all.heaps) - 1; last >= 0 {
		p.free = append(p.free, p.all.heaps[last]...)
		p.all.heaps = p.all.heaps[:last]
	} else {
		chunks := p.grow(*p.all.chunks.Load())
		p.all.chunks.Store(&chunks)
	}
	p.look()
}

// grow adds a chunk. Holders of the old slice do not see the new chunk.
func (p *freeList) grow(chunks [][]Packet) [][]Packet {
	first := len(chunks) << chunkBits
	for i := 1<<chunkBits - 1; i >= 0; i-- {
		p.free = append(p.free, uint32(first+i))
	}
	return append(chunks, make([]Packet, 1<<chunkBits))
}

// spare returns packets to the store, for the other lists.
func (p *freeList) spare() {
	rest := len(p.free) - heap
	p.all.Lock()
	p.all.heaps = append(p.all.heaps, slices.Clone(p.free[rest:]))
	p.all.Unlock()
	p.free = p.free[:rest]
}

// look updates the list of chunks: a number from another part may be in a new chunk.
func (p *freeList) look() { p.chunks = *p.all.chunks.Load() }
