package reuse

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxEntries is the maximum number of entries of a ring: they form the bits of a word.
const MaxEntries = 64

// A Sender is the sending end of a ring. The entries lie in the receiver's memory; the sender may
// fill those that are free.
type Sender struct {
	Base    uint64 // address of the ring for the hardware
	entries int
	free    uint64
	state   senderState
}

type senderState uint8

const (
	unknown senderState = iota
	asked
	refused
	granted
)

// Ask reports whether the sender should request a ring from the receiver. It is true once.
func (s *Sender) Ask() bool {
	if s.state != unknown {
		return false
	}
	s.state = asked
	return true
}

// Grant is the receiver's answer: the address and number of entries; 0: no ring for this sender.
func (s *Sender) Grant(base uint64, entries int) error {
	if s.state != asked || entries < 0 || entries > MaxEntries {
		return fmt.Errorf("reuse: a ring of %d entries that was not asked for, or is too large", entries)
	}
	s.state = refused
	if entries > 0 {
		s.state, s.Base, s.entries, s.free = granted, base, entries, all(entries)
	}
	return nil
}

func all(entries int) uint64 { return ^uint64(0) >> (64 - entries) }

// Take allocates an entry; false: none is free, and the message must use another path.
func (s *Sender) Take() (entry int, ok bool) {
	if s.free == 0 {
		return 0, false
	}
	entry = bits.TrailingZeros64(s.free)
	s.free &^= 1 << entry
	return entry, true
}

// Cancel returns an entry that was not used.
func (s *Sender) Cancel(entry int) { s.free |= 1 << entry }

// Free returns entries that the receiver has read.
func (s *Sender) Free(entries uint64) error {
	if entries&s.free != 0 || entries&^all(max(s.entries, 1)) != 0 || s.state != granted {
		return fmt.Errorf("reuse: entries %#x come back, of %d of which %#x are free", entries, s.entries, s.free)
	}
	s.free |= entries
	return nil
}

// Home reports whether all entries are free.
func (s *Sender) Home() bool { return s.state != granted || s.free == all(s.entries) }

// A Receiver is the receiving end of a ring. M is the caller's record of a message.
type Receiver[M any] struct {
	Base    uint64
	entries []arrival[M]
	read    uint64 // read, but not yet returned to the sender
	asked   bool   // the sender has requested a ring
}

type arrival[M any] struct {
	header, bytes bool // have arrived
	message       M
}

// Ask records the sender's request for a ring. It returns false for a repeated request: opening the
// ring again would lose the messages in it.
func (r *Receiver[M]) Ask() bool {
	first := !r.asked
	r.asked = true
	return first
}

// Open creates a ring with the given number of entries.
func (r *Receiver[M]) Open(base uint64, entries int) {
	r.Base, r.entries = base, make([]arrival[M], entries)
}

// Entries is the number of entries; 0: the ring is not open.
func (r *Receiver[M]) Entries() int { return len(r.entries) }

// Header records the arrival of a header whose bytes use the given entry. complete reports whether
// the bytes have arrived already.
func (r *Receiver[M]) Header(entry int, m M) (complete bool, err error) {
	if entry < 0 || entry >= len(r.entries) || r.entries[entry].header || r.read>>entry&1 != 0 {
		return false, fmt.Errorf("reuse: a message for entry %d of %d, which is not the sender's", entry, len(r.entries))
	}
	a := &r.entries[entry]
	a.header, a.message = true, m
	return a.bytes, nil
}

// Bytes records the arrival of the bytes of an entry. If complete, m is the message whose header
// arrived before.
func (r *Receiver[M]) Bytes(entry int) (m M, complete bool, err error) {
	if entry < 0 || entry >= len(r.entries) || r.entries[entry].bytes {
		return m, false, fmt.Errorf("reuse: bytes in entry %d of %d, which is not the sender's", entry, len(r.entries))
	}
	a := &r.entries[entry]
	a.bytes = true
	return a.message, a.header, nil
}

// Whole reports whether the bytes of an entry have arrived.
func (r *Receiver[M]) Whole(entry int) bool { return r.entries[entry].bytes }

// Read marks an entry as read; it can be returned to the sender.
func (r *Receiver[M]) Read(entry int) {
	if a := &r.entries[entry]; !a.header || !a.bytes {
		panic("reuse: an entry is read whose message is not complete")
	}
	r.entries[entry] = arrival[M]{}
	r.read |= 1 << entry
}

// Due reports whether enough entries (half of them) wait to be returned to justify a message of
// their own.
func (r *Receiver[M]) Due() bool { return 2*bits.OnesCount64(r.read) >= len(r.entries) && r.read != 0 }

// Unreturned is the number of entries read, but not yet returned.
func (r *Receiver[M]) Unreturned() int { return bits.OnesCount64(r.read) }

// Back returns the entries to report to the sender, and clears them.
func (r *Receiver[M]) Back() uint64 {
	entries := r.read
	r.read = 0
	return entries
}

// Check verifies that no entry of an idle ring is lost: each is either free or waiting to be
// returned.
func Check[M any](s *Sender, r *Receiver[M]) error {
	if s.state == granted && s.free^r.read != all(s.entries) {
		return fmt.Errorf("reuse: of %d entries %#x are free and %#x were read: some are lost or doubled", s.entries, s.free, r.read)
	}
	return nil
}

// Clone copies the receiver for package explore.
func (r *Receiver[M]) Clone() Receiver[M] {
	n := *r
	n.entries = slices.Clone(r.entries)
	return n
}
