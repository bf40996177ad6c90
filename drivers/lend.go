package drivers

import "os"

// A Lender is a System that a broker can share with other processes (CanLend): pieces of its memory
// can be mapped by them, and a fault of one of them need not end the system.
type Lender interface {
	System
	// Lend backs [off, off+n) of a node's Memory (whole pages) by a file, starting at file offset
	// at (a multiple of the page size). A process that maps the file shares that memory with the
	// NIC. The previous content of the pages is lost. The file may be closed afterwards; it must
	// never be truncated.
	Lend(node int, off, n uint64, file *os.File, at uint64) error
	// Post is WritePIO for a client that counts its entries itself or not at all: the NIC refuses a
	// line for which there is no entry. Post blocks only while far more lines are in flight than
	// there are entries, and so never depends on progress of software.
	Post(node int, off uint32, line []byte) error
	// Drain waits until the NIC has accepted or refused everything posted to a process's windows.
	// If the windows are disabled, this takes bounded time.
	Drain(node, vpid int) error
	// OnFault registers f for refused posted accesses (*BusError) and DMA outside memory
	// (*DMAError), which otherwise end the system. f may be called from any goroutine and must not
	// call the system. Register it before anything is posted.
	OnFault(f func(error))
}

// A Tenant is a Device of a NIC that other programs use at the same time. Its Memory belongs to
// this program alone; another program, the broker, owns the translation tables.
type Tenant interface {
	Device
	Tables() Tables
}

// Tables are the translation tables of a node, owned by another program.
type Tables interface {
	// Map gives a process and its peers access to [off, off+n) of Memory with the given rights
	// (regs.ATURights) and returns the network logical address of off. ErrTablesBusy: try again
	// later; ErrTablesFull: unmap something first.
	Map(vpid int, off, n uint64, rights uint8) (nla uint64, err error)
	// Unmap removes a mapping that Map made.
	Unmap(nla uint64) error
	// UnmapAll removes all mappings of a process and waits until the NIC no longer caches any.
	UnmapAll(vpid int) error
}
