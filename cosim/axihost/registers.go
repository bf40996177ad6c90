package axihost

// The board's page (rtl/board/axi_page.sv).
const (
	Control = 0x101000 // CONTROL and, in the upper half, STATUS
	Resets  = 0x101008 // resets of the core since the first; accesses answered in its stead
	Strays  = 0x101010 // answers of the bus to nothing
)

// Bits of Control. Written: resets the core; read: that is not over, or answers of its DMA are
// awaited.
const (
	Reset   = 1 << 0
	Open    = 1 << 32 // accesses go to the core
	Settled = 1 << 33 // no answer of DMA from before a reset is awaited
	Lost    = 1 << 34 // the core has not answered once
)

// Of the simulation.
const (
	Function = 0xffff0100 // writing FunctionReset resets the function; it reads as that until it is over and the MSI-X table is written again
	Pieces   = 0xffff0108 // of lines, which were answered in the core's stead
)

// FunctionReset is the bit of Function.
const FunctionReset = 1 << 0
