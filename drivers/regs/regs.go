package regs

import (
	"fmt"
	"sort"
)

// Access says what software may do with a register.
type Access uint8

const (
	RO  Access = iota // read only: a write is answered with an error
	RW                // read and write
	W1C               // a written 1 clears the bit
)

func (a Access) String() string {
	switch a {
	case RO:
		return "ro"
	case RW:
		return "rw"
	case W1C:
		return "w1c"
	}
	return fmt.Sprintf("Access(%d)", uint8(a))
}

// Bits is the position of a field in a register: its least significant bit and its width.
type Bits uint16

// LSB is the number of the field's least significant bit.
func (b Bits) LSB() int { return int(b & 0xff) }

// Width is the number of bits.
func (b Bits) Width() int { return int(b >> 8) }

// Mask has a 1 for every bit of the field.
func (b Bits) Mask() uint64 { return ^uint64(0) >> (64 - b.Width()) << b.LSB() }

// Of extracts the field from the value of its register.
func (b Bits) Of(reg uint64) uint64 { return reg & b.Mask() >> b.LSB() }

// Field is a named part of a register.
type Field struct {
	Name string
	Bits Bits
}

// Register describes one register; Count copies lie Stride bytes apart.
type Register struct {
	Name   string
	Offset uint32
	Stride uint32
	Count  uint32
	Access Access
	Doc    string
	Fields []Field
}

// Registers lists all registers in order of address. The caller must not change it.
func Registers() []Register { return table }

// ByAddress finds the register at a byte address and which copy of it that is.
func ByAddress(addr uint32) (r *Register, index int, ok bool) {
	// Copies of different registers interleave, so only the copy's own page decides.
	for i := range table {
		r := &table[i]
		if addr < r.Offset {
			break
		}
		d := addr - r.Offset
		switch {
		case d == 0:
			return r, 0, true
		case r.Stride != 0 && d%r.Stride == 0 && d/r.Stride < r.Count:
			return r, int(d / r.Stride), true
		}
	}
	return nil, 0, false
}

// ByName finds a register by its name in the description, such as MBOX_BASE.
func ByName(name string) (*Register, bool) {
	for i := range table {
		if table[i].Name == name {
			return &table[i], true
		}
	}
	return nil, false
}

// Address is the address of copy i, which must exist.
func (r *Register) Address(i int) uint32 {
	if i < 0 || i >= int(r.Count) {
		panic(fmt.Sprintf("regs: %s has %d copies, there is no number %d", r.Name, r.Count, i))
	}
	return r.Offset + r.Stride*uint32(i)
}

// Describe names an address for logs: "MBOX_WP[3]", "MAGIC", or "0x1234?" outside the map.
func Describe(addr uint32) string {
	r, i, ok := ByAddress(addr)
	switch {
	case !ok:
		return fmt.Sprintf("%#x?", addr)
	case r.Stride == 0:
		return r.Name
	}
	return fmt.Sprintf("%s[%d]", r.Name, i)
}

// Names lists the names of all registers in alphabetical order.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	sort.Strings(names)
	return names
}

func strided(first, stride uint32, count, i uint8) uint32 {
	if i >= count {
		panic(fmt.Sprintf("regs: copy %d, expected 0..%d", i, count-1))
	}
	return first + stride*uint32(i)
}

func put(name string, v uint64, lsb, width int) uint64 {
	if v>>width != 0 {
		panic(fmt.Sprintf("regs: %s = %d does not fit %d bits", name, v, width))
	}
	return v << lsb
}

func putBool(v bool, lsb int) uint64 {
	if v {
		return 1 << lsb
	}
	return 0
}

// ForDescriptors tells whether an address of the send windows is in the line that takes RMA
// descriptors.
func ForDescriptors(off uint32) bool { return RMAPio(off).RMA() == RMALine }

// Descriptors is where a process writes its RMA descriptors.
func Descriptors(vpid uint8) uint32 {
	return uint32(RMAPioFields{SrcVPID: vpid, RMA: RMALine}.Pack())
}

// HeaderNodes is how many nodes headers, slots and descriptors can name. The address of a send has
// room for NodeMax of them: only a backend whose NICs are in this program has more.
const HeaderNodes = 1 << 12

const (
	nodeBits  = 6  // of Pio.DstNode
	aboveBits = 3  // of an address, above the send windows: bits 6 to 8 of the node
	windowLen = 29 // bits of an address in the send windows
)

// To is an address of a send window for any node that headers can name. What its own field cannot
// say stands above the windows and, the highest three bits, in those below a quadword, which are 0
// otherwise: pieces of a line begin at quadwords.
func (w Pio) To(node int) uint32 {
	put("Pio.To", uint64(node), 0, 12)
	above := uint32(node) >> nodeBits
	w &^= 0x3f << 19
	return uint32(w) | uint32(node)&(1<<nodeBits-1)<<19 | above&(1<<aboveBits-1)<<windowLen | above>>aboveBits
}

// Sent takes an address apart that To has made: the one in the send windows, and the node.
func Sent(off uint32) (w Pio, node int) {
	w = Pio(off &^ (1<<aboveBits - 1) & (1<<windowLen - 1))
	return w, int(w.DstNode()) | int(off>>windowLen)<<nodeBits | int(off&(1<<aboveBits-1))<<(nodeBits+aboveBits)
}
