package explore

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// store keeps every visited state: its encoding, in one array, and the state it was reached from.
// Equality is decided on the encodings themselves, so no state is ever lost to a hash collision.
type store struct {
	arena  []byte
	ends   []int    // ends[id] is the end of the encoding of state id
	parent []uint32 // the state that id was found from
	table  []entry  // open addressing
}

// entry is an element of the table. A part of the hash beside the number spares most comparisons, and
// all of them when the table grows.
type entry struct {
	next uint32 // state id+1; 0: it is free
	hash uint32
}

func newStore() *store { return &store{table: make([]entry, 1<<10)} }

func (s *store) len() int { return len(s.ends) }

func (s *store) state(id uint32) []byte {
	start := 0
	if id > 0 {
		start = s.ends[id-1]
	}
	return s.arena[start:s.ends[id]]
}

// add returns the number of a state and whether it is new.
func (s *store) add(enc []byte, parent uint32) (id uint32, fresh bool) {
	h := hash(enc)
	at := s.find(enc, h)
	if e := s.table[at]; e.next != 0 {
		return e.next - 1, false
	}
	id = uint32(len(s.ends))
	s.arena = append(s.arena, enc...)
	s.ends = append(s.ends, len(s.arena))
	s.parent = append(s.parent, parent)
	s.table[at] = entry{id + 1, h}
	if 2*len(s.ends) > len(s.table) {
		s.grow()
	}
	return id, true
}

// find is the index of a state in the table, or the free one where it belongs.
func (s *store) find(enc []byte, h uint32) int {
	mask := len(s.table) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		e := s.table[at]
		if e.next == 0 || e.hash == h && bytes.Equal(s.state(e.next-1), enc) {
			return at
		}
	}
}

func (s *store) grow() {
	old := s.table
	s.table = make([]entry, 2*len(old))
	mask := len(s.table) - 1
	for _, e := range old {
		if e.next == 0 {
			continue
		}
		at := int(e.hash) & mask
		for s.table[at].next != 0 {
			at = (at + 1) & mask
		}
		s.table[at] = e
	}
}

// hash mixes eight bytes at a time. It has no random seed, so that every run is the same down to
// the layout of its memory.
func hash(b []byte) uint32 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h^binary.LittleEndian.Uint64(b), odd)
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	return uint32(mix(h^tail, odd) >> 16)
}

// mix is the folded product: every bit of x reaches every bit of the result.
func mix(x, y uint64) uint64 {
	high, low := bits.Mul64(x^y>>32, y)
	return high ^ low
}

// path lists the states from the first to id.
func (s *store) path(id uint32) []uint32 {
	var p []uint32
	for ; id != 0; id = s.parent[id] {
		p = append(p, id)
	}
	p = append(p, 0)
	for i, j := 0, len(p)-1; i < j; i, j = i+1, j-1 {
		p[i], p[j] = p[j], p[i]
	}
	return p
}
