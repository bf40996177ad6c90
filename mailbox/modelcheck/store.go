package modelcheck

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// store keeps the encodings of all visited states in one array. States are equal if their
// encodings are, so a hash collision never loses a state.
type store struct {
	arena []byte
	ends  []int  // ends[id] is the end of the encoding of state id
	table []slot // open addressing
}

// slot is an element of the table. A part of the hash beside the number spares most comparisons
// and all of them when the table grows.
type slot struct {
	next uint32 // state id+1; 0: free
	hash uint32
}

func newStore() store { return store{table: make([]slot, 1<<10)} }

// Len is the number of visited states.
func (s *store) Len() int { return len(s.ends) }

// State is the encoding of a visited state; the caller does not change it.
func (s *store) State(id uint32) []byte {
	start := 0
	if id > 0 {
		start = s.ends[id-1]
	}
	return s.arena[start:s.ends[id]]
}

// lookup returns the number of a state that is known.
func (s *store) lookup(enc []byte) (id uint32, known bool) {
	e := s.table[s.find(enc, hash(enc))]
	return e.next - 1, e.next != 0
}

// insert returns the number of a state and whether it is new.
func (s *store) insert(enc []byte) (id uint32, fresh bool) {
	h := hash(enc)
	at := s.find(enc, h)
	if e := s.table[at]; e.next != 0 {
		return e.next - 1, false
	}
	id = uint32(len(s.ends))
	s.arena = append(s.arena, enc...)
	s.ends = append(s.ends, len(s.arena))
	s.table[at] = slot{id + 1, h}
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
		if e.next == 0 || e.hash == h && bytes.Equal(s.State(e.next-1), enc) {
			return at
		}
	}
}

func (s *store) grow() {
	old := s.table
	s.table = make([]slot, 2*len(old))
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
