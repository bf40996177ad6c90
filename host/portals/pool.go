package portals

import "slices"

// A pool holds the objects of one kind. A handle is an index and a generation, so a handle of an
// object that was released is recognised. Pointers into a pool are valid until the next add.
type pool[T any] struct {
	slots []slot[T]
	free  []uint32
	used  int
	limit int
}

type slot[T any] struct {
	value T
	gen   uint16 // odd: in use
}

const (
	indexBits = 20
	indexMask = 1<<indexBits - 1
	genMask   = 1<<(32-indexBits) - 1
)

func (p *pool[T]) add(v T) (h uint32, ok bool) {
	if p.used >= p.limit {
		return 0, false
	}
	var at uint32
	if n := len(p.free); n > 0 {
		at, p.free = p.free[n-1], p.free[:n-1]
	} else {
		at = uint32(len(p.slots))
		p.slots = append(p.slots, slot[T]{})
	}
	s := &p.slots[at]
	s.value, s.gen = v, s.gen+1
	p.used++
	return at | uint32(s.gen&genMask)<<indexBits, true
}

// get returns nil for a handle that refers to no object.
func (p *pool[T]) get(h uint32) *T {
	at := h & indexMask
	if h == 0 || int(at) >= len(p.slots) {
		return nil
	}
	s := &p.slots[at]
	if s.gen&1 == 0 || uint32(s.gen&genMask) != h>>indexBits {
		return nil
	}
	return &s.value
}

// at returns an object that is known to exist.
func (p *pool[T]) at(h uint32) *T { return &p.slots[h&indexMask].value }

func (p *pool[T]) remove(h uint32) {
	at := h & indexMask
	var zero T
	p.slots[at].value = zero
	p.slots[at].gen++
	p.free = append(p.free, at)
	p.used--
}

func (p *pool[T]) clone() pool[T] {
	c := *p
	c.slots, c.free = slices.Clone(p.slots), slices.Clone(p.free)
	return c
}
