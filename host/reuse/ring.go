package reuse

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxEntries is the largest number of entries of a ring: they are bits of a word.
const MaxEntries = 64

// A Sender is the sending end of a ring. Its entries lie in the receiver's memory, and it has the
// right to fill those that are free.
type Sender struct {
	Base    uint64 // where the ring is for the hardware
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

// Ask tells whether the receiver is to be asked for a ring, which is once.
func (s *Sender) Ask() bool {
	if s.state != unknown {
		return false
	}
	s.state = asked
	return true
}

// Grant is the receiver's answer: so many entries from an address on; 0: it has no ring for this
// sender.
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

// Take takes an entry; false: there is none now, and the message has to go otherwise.
func (s *Sender) Take() (entry int, ok bool) {
	if s.free == 0 {
		return 0, false
	}
	entry = bits.TrailingZeros64(s.free)
	s.free &^= 1 << entry
	return entry, true
}

// Cancel gives an entry back that was not used.
func (s *Sender) Cancel(entry int) { s.free |= 1 << entry }

// Free gives entries back that the receiver has read.
func (s *Sender) Free(entries uint64) error {
	if entries&s.free != 0 || entries&^all(max(s.entries, 1)) != 0 || s.state != granted {
		return fmt.Errorf("reuse: entries %#x come back, of %d of which %#x are free", entries, s.entries, s.free)
	}
	s.free |= entries
	return nil
}

// Home tells whether no entry is away.
func (s *Sender) Home() bool { return s.state != granted || s.free == all(s.entries) }

// A Receiver is the other end. M is what its caller keeps of a message.
type Receiver[M any] struct {
	Base    uint64
	entries []arrival[M]
	read    uint64 // entries to give back
	asked   bool   // by its sender
}

type arrival[M any] struct {
	header, bytes bool // have come
	message       M
}

// Ask notes that the sender wants a ring. False: it has asked before, and has its answer; a ring
// that was opened anew would lose the messages in it.
func (r *Receiver[M]) Ask() bool {
	first := !r.asked
	r.asked = true
	return first
}

// Open makes a ring of so many entries.
func (r *Receiver[M]) Open(base uint64, entries int) {
	r.Base, r.entries = base, make([]arrival[M], entries)
}

// Entries is how many there are; 0: the ring is not open.
func (r *Receiver[M]) Entries() int { return len(r.entries) }

// Header says that the header of a message has come whose bytes go to an entry; complete: they are
// there.
func (r *Receiver[M]) Header(entry int, m M) (complete bool, err error) {
	if entry < 0 || entry >= len(r.entries) || r.entries[entry].header || r.read>>entry&1 != 0 {
		return false, fmt.Errorf("reuse: a message for entry %d of %d, which is not the sender's", entry, len(r.entries))
	}
	a := &r.entries[entry]
	a.header, a.message = true, m
	return a.bytes, nil
}

// Bytes says that the bytes of an entry have come; complete: m is their message, whose header was
// there.
func (r *Receiver[M]) Bytes(entry int) (m M, complete bool, err error) {
	if entry < 0 || entry >= len(r.entries) || r.entries[entry].bytes {
		return m, false, fmt.Errorf("reuse: bytes in entry %d of %d, which is not the sender's", entry, len(r.entries))
	}
	a := &r.entries[entry]
	a.bytes = true
	return a.message, a.header, nil
}

// Whole tells whether the bytes of a message have come.
func (r *Receiver[M]) Whole(entry int) bool { return r.entries[entry].bytes }

// Read says that nobody needs the bytes of an entry any more.
func (r *Receiver[M]) Read(entry int) {
	if a := &r.entries[entry]; !a.header || !a.bytes {
		panic("reuse: an entry is read whose message is not complete")
	}
	r.entries[entry] = arrival[M]{}
	r.read |= 1 << entry
}

// Due tells whether so many entries are to be given back that a message of its own is worth it:
// half of them.
func (r *Receiver[M]) Due() bool { return 2*bits.OnesCount64(r.read) >= len(r.entries) && r.read != 0 }

// Unreturned is how many entries have been read that were not given back yet.
func (r *Receiver[M]) Unreturned() int { return bits.OnesCount64(r.read) }

// Back takes the entries to be given back, to tell the sender.
func (r *Receiver[M]) Back() uint64 {
	entries := r.read
	r.read = 0
	return entries
}

// Check counts the entries of a ring between two ends that nothing is under way between: each is
// free or about to be given back.
func Check[M any](s *Sender, r *Receiver[M]) error {
	if s.state == granted && s.free^r.read != all(s.entries) {
		return fmt.Errorf("reuse: of %d entries %#x are free and %#x were read: some are lost or doubled", s.entries, s.free, r.read)
	}
	return nil
}

// Clone copies the end, for those who explore what may happen.
func (r *Receiver[M]) Clone() Receiver[M] {
	n := *r
	n.entries = slices.Clone(r.entries)
	return n
}
