package explore

import "encoding/binary"

// A store keeps what is known of every visited state: its key, and how it was reached. A state takes 48 bytes or less.
type store struct {
	keys  []key
	steps []step
	table []uint32 // open addressing: number + 1 of a state, 0 is free
}

// step is how a state was reached first. Events are small: so many bytes hold them.
type step struct {
	parent uint32
	event  packed
}

// packed is an event in few bytes.
type packed [5]byte

func (e event) pack() packed {
	return packed{byte(e.act), byte(e.from), byte(e.to), byte(e.nth), byte(e.trouble)}
}

func (p packed) event() event {
	return event{act: action(p[0]), from: int(p[1]), to: int(p[2]), nth: int(p[3]), trouble: trouble(p[4])}
}

func newStore() *store { return &store{table: make([]uint32, 1<<10)} }

func (s *store) len() int { return len(s.keys) }

// find is the number of a state, if it is known, and the entry of the table where it is or belongs.
func (s *store) find(k key) (id uint32, known bool, at int) {
	mask := len(s.table) - 1
	for at = int(binary.LittleEndian.Uint64(k[:])) & mask; ; at = (at + 1) & mask {
		n := s.table[at]
		if n == 0 {
			return 0, false, at
		}
		if s.keys[n-1] == k {
			return n - 1, true, at
		}
	}
}

// add gives the number of a state and whether it is new.
func (s *store) add(k key, how step) (id uint32, fresh bool) {
	id, known, at := s.find(k)
	if known {
		return id, false
	}
	id = uint32(len(s.keys))
	s.keys, s.steps = append(s.keys, k), append(s.steps, how)
	s.table[at] = id + 1
	if 2*len(s.keys) > len(s.table) {
		s.grow()
	}
	return id, true
}

func (s *store) grow() {
	s.table = make([]uint32, 2*len(s.table))
	for id, k := range s.keys {
		_, _, at := s.find(k)
		s.table[at] = uint32(id) + 1
	}
}

// path lists the events to a state.
func (s *store) path(id uint32) (list []event) {
	for ; id != 0; id = s.steps[id].parent {
		list = append(list, s.steps[id].event.event())
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}
