package ethernet

import (
	"net/netip"
	"slices"
)

// reassemblyKey names a datagram among those that a host receives. All of them are UDP.
type reassemblyKey struct {
	from netip.Addr
	id   uint16
}

// span is the range of a datagram that one fragment covers.
type span struct{ start, end int }

// reassembly is a datagram of which fragments are missing.
type reassembly struct {
	data   []byte
	spans  []span // in ascending order
	stored int    // bytes
	total  int    // length of the datagram, known from its last fragment; 0: not yet
	serial uint64 // distinguishes datagrams of the same key
}

// add stores a fragment. It returns false if the fragments contradict each other: they overlap, or
// belong to datagrams of different length. A repetition of a fragment is ignored.
func (r *reassembly) add(p *packet) bool {
	s := span{p.offset, p.offset + len(p.payload)}
	switch {
	case p.more && len(p.payload)%8 != 0, s.end > MaxDatagram+udpBytes, len(p.payload) == 0:
		return false
	case !p.more && r.total != 0 && r.total != s.end:
		return false
	}
	at, repeated := slices.BinarySearchFunc(r.spans, s, func(a, b span) int { return a.start - b.start })
	switch {
	case repeated:
		return r.spans[at] == s
	case at > 0 && r.spans[at-1].end > s.start, at < len(r.spans) && r.spans[at].start < s.end:
		return false
	}
	r.spans = slices.Insert(r.spans, at, s)
	if !p.more {
		r.total = s.end
	}
	if r.total != 0 && r.spans[len(r.spans)-1].end > r.total {
		return false
	}
	if missing := s.end - len(r.data); missing > 0 {
		r.data = append(r.data, make([]byte, missing)...)
	}
	copy(r.data[s.start:], p.payload)
	r.stored += len(p.payload)
	return true
}

// isComplete reports whether no byte is missing.
func (r *reassembly) isComplete() bool { return r.total != 0 && r.stored == r.total }

// reassemble stores a fragment and returns its datagram if that is complete.
func (h *host) reassemble(p *packet) []byte {
	n := h.network
	key := reassemblyKey{p.from, p.id}
	r := h.partial[key]
	if h.partialBytes+len(p.payload) > n.config.ReassemblyMemory {
		n.counters.ReassemblyFull++
		return nil
	}
	if r == nil {
		n.serial++
		r = &reassembly{serial: n.serial}
		h.partial[key] = r
		n.schedule(n.now+n.config.ReassemblyTime, event{kind: reassemblyExpired, host: h, key: key, serial: r.serial})
	}
	before := r.stored
	if !r.add(p) {
		n.counters.Overlapping++
		h.forget(key, before)
		return nil
	}
	h.partialBytes += r.stored - before
	if !r.isComplete() {
		return nil
	}
	h.forget(key, r.stored)
	return r.data
}

// forget ends a reassembly and releases the memory that was charged for it.
func (h *host) forget(key reassemblyKey, charged int) {
	delete(h.partial, key)
	h.partialBytes -= charged
}

// expire gives up a datagram whose fragments did not all arrive in time.
func (h *host) expire(key reassemblyKey, serial uint64) {
	if r := h.partial[key]; r != nil && r.serial == serial {
		h.network.counters.Incomplete++
		h.forget(key, r.stored)
	}
}
