package ddp

// Rights are the rights of remote and local access to a region.
type Rights uint8

const (
	LocalWrite Rights = 1 << iota
	RemoteRead
	RemoteWrite
)

// A Violation is the reason why an access to a tagged buffer is refused. DDP and RDMAP have
// different codes for it.
type Violation uint8

const (
	Allowed Violation = iota
	InvalidSTag
	NotAssociated // another protection domain
	OutOfBounds
	Wraps // offset plus length exceeds 64 bits
	NoRight
)

// Table maps STags to memory regions. An STag consists of an index of 24 bits and a key of 8 bits
// that changes whenever the index is reused, so an STag that was invalidated stays invalid for the
// next 255 registrations at its index.
type Table struct {
	regions []region
	free    []uint32
}

type region struct {
	valid  bool
	key    uint8
	rights Rights
	domain uint32
	base   uint64
	data   []byte
}

// Register adds a region whose first byte has tagged offset base.
func (t *Table) Register(domain uint32, rights Rights, base uint64, data []byte) (stag uint32, ok bool) {
	if base+uint64(len(data)) < base {
		return 0, false
	}
	var index uint32
	if n := len(t.free); n > 0 {
		index, t.free = t.free[n-1], t.free[:n-1]
	} else {
		if len(t.regions) == 0 {
			t.regions = append(t.regions, region{}) // no STag has index 0
		}
		if len(t.regions) == 1<<24 {
			return 0, false
		}
		index = uint32(len(t.regions))
		t.regions = append(t.regions, region{})
	}
	r := &t.regions[index]
	*r = region{valid: true, key: r.key + 1, rights: rights, domain: domain, base: base, data: data}
	return index<<8 | uint32(r.key), true
}

func (t *Table) find(stag uint32) *region {
	index := stag >> 8
	if int(index) >= len(t.regions) {
		return nil
	}
	if r := &t.regions[index]; r.valid && r.key == uint8(stag) {
		return r
	}
	return nil
}

// Access returns length bytes at a tagged offset, or the reason why the access is refused. The
// rights are checked last: RFC 5041 knows no rights, so a segment of a write fails in DDP before
// RDMAP looks at it.
func (t *Table) Access(stag, domain uint32, to uint64, length int, rights Rights) ([]byte, Violation) {
	r := t.find(stag)
	switch {
	case r == nil:
		return nil, InvalidSTag
	case r.domain != domain:
		return nil, NotAssociated
	case to+uint64(length) < to:
		return nil, Wraps
	case to < r.base || to-r.base > uint64(len(r.data)) || uint64(length) > uint64(len(r.data))-(to-r.base):
		return nil, OutOfBounds
	case r.rights&rights != rights:
		return nil, NoRight
	}
	offset := to - r.base
	return r.data[offset:][:length:length], Allowed
}

// Invalidate revokes an STag. A peer may only invalidate what it could access.
func (t *Table) Invalidate(stag, domain uint32, remote bool) Violation {
	r := t.find(stag)
	switch {
	case r == nil:
		return InvalidSTag
	case r.domain != domain:
		return NotAssociated
	case remote && r.rights&(RemoteRead|RemoteWrite) == 0:
		return NoRight
	}
	*r = region{key: r.key}
	t.free = append(t.free, stag>>8)
	return Allowed
}
