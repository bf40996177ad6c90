package nic

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"

	"github.com/nicloop/nicloop/drivers"
)

// inMemory reports whether a range of device addresses lies in one piece of memory.
func (n *node) inMemory(s span) bool {
	if list := n.segments; list != nil {
		g := drivers.SegmentAt(list, s.addr)
		return g != nil && s.n <= g.Bytes-(s.addr-g.Addr)
	}
	return s.addr <= uint64(len(n.mem)) && s.n <= uint64(len(n.mem))-s.addr
}

// dma returns the memory of a range of device addresses, for which inMemory holds.
func (n *node) dma(s span) []byte {
	off := n.offset(s.addr)
	return n.mem[off : off+s.n]
}

// offset translates a device address to an offset in memory.
func (n *node) offset(addr uint64) uint64 {
	if list := n.segments; list != nil {
		g := drivers.SegmentAt(list, addr)
		return g.Off + (addr - g.Addr)
	}
	return addr
}

// putWord stores the word that software polls, after everything that the word announces. Software
// may read it at any time.
func putWord(mem []byte, v uint64) {
	atomic.StoreUint64(word(mem), toLittle(v))
}

// getWord loads a word that software may be writing.
func getWord(mem []byte) uint64 { return toLittle(atomic.LoadUint64(word(mem))) }

func word(mem []byte) *uint64 { return (*uint64)(unsafe.Pointer(&mem[:8][0])) }

func toLittle(v uint64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], v)
	return binary.LittleEndian.Uint64(b[:])
}
