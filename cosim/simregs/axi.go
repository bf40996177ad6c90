package simregs

// The board's page (rtl/board/axi_page.sv).
const (
	AXIControl = 0x101000 // CONTROL and, in the upper half, STATUS
	AXIResets  = 0x101008 // resets of the core since the first; accesses answered in its place
	AXIStrays  = 0x101010 // responses without a request
)

// Bits of AXIControl.
const (
	AXIReset   = 1 << 0  // write: resets the core; read: the reset or its DMA is still in progress
	AXIOpen    = 1 << 32 // accesses go to the core
	AXISettled = 1 << 33 // no response to DMA from before a reset is outstanding
	AXILost    = 1 << 34 // the core has left an access without a response
)

// Registers of the simulation.
const (
	// AXIFunction: writing AXIFunctionReset resets the function. The bit reads as 1 until the reset
	// is complete and the MSI-X table has been written again.
	AXIFunction = 0xffff0100
	AXIPieces   = 0xffff0108 // parts of lines that were answered in place of the core
)

// AXIFunctionReset is the bit of AXIFunction.
const AXIFunctionReset = 1 << 0
