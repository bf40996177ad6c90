package vm

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/scan"
)

const configBytes = 256

// A Function describes the PCI function that the guest finds. MSI-X has a BAR of its own.
type Function struct {
	Vendor, Device uint16
	Class          uint32 // base class, subclass and interface
	Revision       uint8
	Registers      uint32 // bytes of BAR 0, a power of two from 4096
	Windows        uint32 // bytes of BAR 2, which is prefetchable; 0: there is none
	Vectors        int    // of MSI-X, 1 to 64
	// Design describes hardware that is not this project's NIC; nil: the NIC.
	Design *Design
}

// nicFunction is this project's NIC, as nic_pcie has it: vector 0 for errors and stalls, v + 1 for
// process v.
func nicFunction() Function {
	id := scan.IDs[0]
	return Function{Vendor: id.Vendor, Device: id.Device, Class: 0x028000, Revision: 1, Registers: 1 << 20, Windows: 1 << 29, Vectors: 1 + regs.VPIDs}
}

// bars are the sizes of the function's BARs.
func (f *Function) bars() [6]uint32 {
	return [6]uint32{registerBAR: f.Registers, windowBAR: f.Windows, msixBAR: 1 << 12}
}

// Offsets in the configuration space.
const (
	atCommand = 0x04
	atStatus  = 0x06
	atBARs    = 0x10
	atMSIX    = 0x40
	atPCIe    = 0x50
	atDevCtl  = atPCIe + 8
)

// Bits of these registers.
const (
	memorySpace   = 1 << 1 // COMMAND
	busMaster     = 1 << 2
	noINTx        = 1 << 10
	intxIsUp      = 1 << 3 // STATUS
	msixEnable    = 1 << 15
	msixMask      = 1 << 14
	functionReset = 1 << 15 // device control
)

// The BARs of nic_pcie. QEMU's proxy supports 32-bit BARs only.
const (
	registerBAR = 0
	windowBAR   = 2
	msixBAR     = 4
)

// A configSpace is the 256 bytes that say what a device is, and which of their bits can be written.
type configSpace struct {
	bytes, writable [configBytes]byte
	function        Function
}

func newConfigSpace(f Function) *configSpace {
	c := &configSpace{function: f}
	c.set16(0x00, f.Vendor, 0)
	c.set16(0x02, f.Device, 0)
	c.set16(atCommand, 0, memorySpace|busMaster|1<<6|1<<8|noINTx)
	c.set16(atStatus, 1<<4, 0) // there are capabilities
	c.set32(0x08, f.Class<<8|uint32(f.Revision), 0)
	for i, n := range f.bars() {
		if n > 0 {
			c.set32(atBARs+4*i, 0, ^(n - 1))
		}
	}
	if f.Windows != 0 {
		c.bytes[atBARs+4*windowBAR] = 1 << 3 // prefetchable: stores to windows may be combined
	}
	c.set16(0x2c, f.Vendor, 0)
	c.set16(0x2e, f.Device, 0)
	c.bytes[0x34] = atMSIX
	c.writable[0x3c] = 0xff
	c.bytes[0x3d] = 1 // INTA

	c.set16(atMSIX, 0x11|atPCIe<<8, 0)
	c.set16(atMSIX+2, uint16(f.Vectors-1), msixEnable|msixMask)
	c.set32(atMSIX+4, msixBAR, 0)
	c.set32(atMSIX+8, pendingAt|msixBAR, 0)

	c.set16(atPCIe, 0x10, 0)
	c.set16(atPCIe+2, 2|9<<4, 0)             // version 2, a root complex integrated endpoint
	c.set32(atPCIe+4, 1<<28|1<<15|1, 0)      // function reset, 256 bytes
	c.set16(atDevCtl, 1<<5, functionReset-1) // a reset reads as 0
	return c
}

func (c *configSpace) set16(at int, v, writable uint16) {
	binary.LittleEndian.PutUint16(c.bytes[at:], v)
	binary.LittleEndian.PutUint16(c.writable[at:], writable)
}

func (c *configSpace) set32(at int, v, writable uint32) {
	binary.LittleEndian.PutUint32(c.bytes[at:], v)
	binary.LittleEndian.PutUint32(c.writable[at:], writable)
}

func (c *configSpace) read(at uint64, n int) (v uint64) {
	for i := range n {
		v |= uint64(c.bytes[at+uint64(i)]) << (8 * i)
	}
	return v
}

// write changes the writable bits, and reports whether the function must be reset.
func (c *configSpace) write(at uint64, n int, v uint64) (reset bool) {
	for i := range n {
		b, k := byte(v>>(8*i)), at+uint64(i)
		c.bytes[k] = c.bytes[k]&^c.writable[k] | b&c.writable[k]
		reset = reset || k == atDevCtl+1 && b&(functionReset>>8) != 0
	}
	return reset
}

// bitSet reports whether a bit of a 16-bit word is set.
func (c *configSpace) bitSet(at int, bit uint16) bool {
	return binary.LittleEndian.Uint16(c.bytes[at:])&bit != 0
}

// clear is what a reset does: nothing is on, and no BAR has an address.
func (c *configSpace) clear() { *c = *newConfigSpace(c.function) }

// bar finds the BAR that contains an absolute address.
func (c *configSpace) bar(address uint64) (bar int, off uint32, ok bool) {
	for i, n := range c.function.bars() {
		base := binary.LittleEndian.Uint32(c.bytes[atBARs+4*i:]) &^ 0xf
		if n > 0 && base != 0 && address >= uint64(base) && address < uint64(base)+uint64(n) {
			return i, uint32(address - uint64(base)), true
		}
	}
	return 0, 0, false
}
