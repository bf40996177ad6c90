package fabric

// A Flit is a flit without payload: packet number, destination, head and tail marks. The payload
// stays with the owner of the packet number.
//
//	[31:0] packet  [47:32] destination node  [61:48] note  [62] tail  [63] head
type Flit uint64

// Marks of a packet's first and last flit; a packet of one flit has both.
const (
	Tail Flit = 1 << 62
	Head Flit = 1 << 63
)

// NoteBits is the width of Flit.Note.
const NoteBits = 14

const (
	dstShift  = 32
	noteShift = 48
	noteMask  = 1<<NoteBits - 1
)

// NewFlit creates a flit; marks are Head, Tail, both or 0.
func NewFlit(packet uint32, dst int, marks Flit) Flit {
	return Flit(packet) | Flit(uint16(dst))<<dstShift | marks
}

// Packet is the caller's number of the packet.
func (f Flit) Packet() uint32 { return uint32(f) }

// Dst is the destination node.
func (f Flit) Dst() int { return int(uint16(f >> dstShift)) }

// Head reports whether it is the first flit of a packet.
func (f Flit) Head() bool { return f&Head != 0 }

// Tail reports whether it is the last flit of a packet.
func (f Flit) Tail() bool { return f&Tail != 0 }

// Note is written by a Chooser or, with Config.HopMax, counts the routers passed; 0 at injection.
func (f Flit) Note() int { return int(f>>noteShift) & noteMask }

// WithNote returns the flit with another note.
func (f Flit) WithNote(note int) Flit {
	return f&^(noteMask<<noteShift) | Flit(note&noteMask)<<noteShift
}
