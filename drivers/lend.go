package drivers

import (
	"errors"
	"os"
)

// A Lender is a System that somebody may serve to other processes (CanLend): its memory can be shared with them piece by piece, and
// what one of them does wrong need not end it.
type Lender interface {
	System
	// Lend lays [off, off+n) of a node's Memory, whole pages, into a file, from at (a whole page) on: who maps that sees what the NIC writes and
	// writes what it reads. What the pages held is gone. The file may be closed then; it must never become shorter.
	Lend(node int, off, n uint64, file *os.File, at uint64) error
	// Post is WritePIO of who counts entries by himself, or not at all: the NIC refuses a line for which there is none. It waits only while
	// many more are on their way than there are entries, and so never for anything that software must do.
	Post(node int, off uint32, line []byte) error
	// Drain waits until the NIC has taken or refused all that was posted to a process's windows. That comes by itself if these
	// are off.
	Drain(node, vpid int) error
	// OnFault has f told of posted accesses that were refused (BusError) and of DMA outside memory (DMAError), which end the system
	// otherwise. f is called from any goroutine and must not call the system. It is set before anything is posted.
	OnFault(f func(error))
}

// A Tenant is a Device of a NIC that other programs use at the same time. Its Memory is this program's part alone, and the
// translation tables are somebody else's.
type Tenant interface {
	Device
	Tables() Tables
}

// Tables are a node's translation tables, which somebody else owns.
type Tables interface {
	// Map lets a process and its peers reach [off, off+n) of Memory with some rights (regs.ATURights), and gives the network logical
	// address of off. ErrTablesBusy: again later; ErrTablesFull: unmap first.
	Map(vpid int, off, n uint64, rights uint8) (nla uint64, err error)
	// Unmap ends what Map began.
	Unmap(nla uint64) error
	// Forget unmaps all pages of a process and waits until the hardware knows none of them.
	Forget(vpid int) error
}

// What Tables answer.
var (
	ErrTablesFull = errors.New("the translation tables are full")
	ErrTablesBusy = errors.New("the translation tables have no entry yet")
)
