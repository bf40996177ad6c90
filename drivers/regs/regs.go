package regs

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers/regmap"
)

// The types of package regmap under the names that this package has always had.
type (
	Access   = regmap.Access
	Bits     = regmap.Bits
	Field    = regmap.Field
	Register = regmap.Register
)

// What software may do with a register.
const (
	RO  = regmap.RO
	RW  = regmap.RW
	W1C = regmap.W1C
)

var nicMap = regmap.New("nicloop", DescHashValue, table)

// Map is the register map of this project's NIC.
func Map() *regmap.Map { return nicMap }

// Registers lists all registers in order of address. The caller must not change it.
func Registers() []Register { return table }

// ByAddress finds the register at a byte address and which copy of it that is.
func ByAddress(addr uint32) (r *Register, index int, ok bool) { return nicMap.ByAddress(addr) }

// ByName finds a register by its name in the description, such as MBOX_BASE.
func ByName(name string) (*Register, bool) { return nicMap.ByName(name) }

// Describe names an address for logs: "MBOX_WP[3]", "MAGIC", or "0x1234?" outside the map.
func Describe(addr uint32) string { return nicMap.Describe(addr) }

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
