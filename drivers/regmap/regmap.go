// Package regmap describes the registers of a hardware design: names, addresses, widths and fields.
// A Map is loaded at run time from YAML, CMSIS-SVD or IP-XACT (see [Load]), or generated into a
// program as that of package regs is.
package regmap

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
)

// Access says what software may do with a register.
type Access uint8

const (
	RO  Access = iota // read only
	RW                // read and write
	W1C               // a written 1 clears the bit
	WO                // write only: a read has no defined value
)

var accessNames = []string{RO: "ro", RW: "rw", W1C: "w1c", WO: "wo"}

func (a Access) String() string {
	if int(a) < len(accessNames) {
		return accessNames[a]
	}
	return fmt.Sprintf("Access(%d)", uint8(a))
}

// Bits is the position of a field in a register: its least significant bit and its width.
type Bits uint16

// MakeBits returns the position of a field of width bits from lsb upwards.
func MakeBits(lsb, width int) Bits { return Bits(width<<8 | lsb) }

// LSB is the number of the field's least significant bit.
func (b Bits) LSB() int { return int(b & 0xff) }

// Width is the number of bits.
func (b Bits) Width() int { return int(b >> 8) }

// Mask has a 1 for every bit of the field.
func (b Bits) Mask() uint64 { return ^uint64(0) >> (64 - b.Width()) << b.LSB() }

// Of extracts the field from the value of its register.
func (b Bits) Of(reg uint64) uint64 { return reg & b.Mask() >> b.LSB() }

// In returns the value of a register in which the field is replaced by v.
func (b Bits) In(reg, v uint64) uint64 { return reg&^b.Mask() | v<<b.LSB()&b.Mask() }

// Field is a named part of a register.
type Field struct {
	Name string `json:"name"`
	Bits Bits   `json:"bits"`
}

// Register describes one register; Count copies lie Stride bytes apart.
type Register struct {
	Name   string  `json:"name"`
	Offset uint32  `json:"offset"`
	Stride uint32  `json:"stride,omitempty"`
	Count  uint32  `json:"count"`
	Access Access  `json:"access"`
	Doc    string  `json:"doc,omitempty"`
	Fields []Field `json:"fields,omitempty"`
	Width  uint8   `json:"width,omitempty"`        // in bytes: 4 or 8; 0 means 8
	Reset  uint64  `json:"reset,string,omitempty"` // value after reset
	// Volatile: the value depends on timing, as that of a counter of cycles does. A replay does not
	// compare it.
	Volatile bool `json:"volatile,omitempty"`
}

// Bytes is the width of an access to the register.
func (r *Register) Bytes() int {
	if r.Width == 0 {
		return 8
	}
	return int(r.Width)
}

// Field finds a field by its name.
func (r *Register) Field(name string) (Bits, bool) {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Bits, true
		}
	}
	return 0, false
}

// Address is the address of copy i, which must exist.
func (r *Register) Address(i int) uint32 {
	if i < 0 || i >= int(r.Count) {
		panic(fmt.Sprintf("regs: %s has %d copies, there is no number %d", r.Name, r.Count, i))
	}
	return r.Offset + r.Stride*uint32(i)
}

func byOffset(a, b Register) int { return cmp.Compare(a.Offset, b.Offset) }

// A Map is the set of registers of one design.
type Map struct {
	Name string
	// Hash identifies the description that the map was made from. It is Info.DescHash of a device
	// with this map, so that logs and dumps of one design are not applied to another.
	Hash uint64

	table []Register
}

// New makes a map of registers that are in order of address.
func New(name string, hash uint64, table []Register) *Map { return &Map{name, hash, table} }

// Registers lists all registers in order of address. The caller must not change it.
func (m *Map) Registers() []Register { return m.table }

// ByAddress finds the register at a byte address and which copy of it that is.
func (m *Map) ByAddress(addr uint32) (r *Register, index int, ok bool) {
	// Copies of different registers interleave, so every register in front of addr is a candidate.
	for i := range m.table {
		r := &m.table[i]
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
func (m *Map) ByName(name string) (*Register, bool) {
	for i := range m.table {
		if m.table[i].Name == name {
			return &m.table[i], true
		}
	}
	return nil, false
}

// Describe names an address for logs: "MBOX_WP[3]", "MAGIC", or "0x1234?" outside the map.
func (m *Map) Describe(addr uint32) string {
	r, i, ok := m.ByAddress(addr)
	switch {
	case !ok:
		return fmt.Sprintf("%#x?", addr)
	case r.Stride == 0:
		return r.Name
	}
	return fmt.Sprintf("%s[%d]", r.Name, i)
}

// Names lists the names of all registers in alphabetical order.
func (m *Map) Names() []string {
	names := make([]string, len(m.table))
	for i := range m.table {
		names[i] = m.table[i].Name
	}
	slices.Sort(names)
	return names
}

// Parse finds the address that NAME, NAME[INDEX] or a number stands for.
func (m *Map) Parse(text string) (uint32, error) {
	if off, err := strconv.ParseUint(text, 0, 32); err == nil {
		return uint32(off), nil
	}
	name, rest, indexed := strings.Cut(text, "[")
	index := 0
	if indexed {
		var err error
		if index, err = strconv.Atoi(strings.TrimSuffix(rest, "]")); err != nil || !strings.HasSuffix(rest, "]") {
			return 0, fmt.Errorf("register %q: expected NAME, NAME[INDEX] or an offset", text)
		}
	}
	r, ok := m.ByName(name)
	if !ok {
		names := m.Names()
		const maxSuggested = 3
		return 0, fmt.Errorf("unknown register %q%s; nicloop device dump lists all", name, suggest.Some(name, names, maxSuggested))
	}
	if index < 0 || index >= int(r.Count) {
		return 0, fmt.Errorf("register %s[%d] does not exist: expected index 0 to %d", name, index, r.Count-1)
	}
	return r.Address(index), nil
}

// Find finds the address and, of REGISTER.FIELD, the field. Without a field its bits are 0.
func (m *Map) Find(name string) (uint32, Bits, error) {
	register, field, _ := strings.Cut(name, ".")
	off, err := m.Parse(register)
	if err != nil || field == "" {
		return off, 0, err
	}
	r, _, ok := m.ByAddress(off)
	if !ok {
		return 0, 0, fmt.Errorf("%s: no register is at this offset", name)
	}
	bits, ok := r.Field(field)
	if !ok {
		var names []string
		for _, f := range r.Fields {
			names = append(names, f.Name)
		}
		return 0, 0, fmt.Errorf("register %s has no field %q%s; known: %v", r.Name, field, suggest.Nearest(field, names), names)
	}
	return off, bits, nil
}
