package rma

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// MaxBytes is the longest single put or get.
const MaxBytes = 1 << 23

// ErrTryAgain: no room for the operation now (too many under way), or the
// translation tables are full until the hardware has forgotten what was
// unmapped. Poll, then try again.
var ErrTryAgain = errors.New("rma: no room now, try again")

// ErrTablesFull: the node's translation tables have no entries for a region, and
// nothing that is under way will make one.
var ErrTablesFull = errors.New("rma: the translation tables are full")

// An NLA is a network logical address: an address in registered memory, as any
// process may name it. The ATU never gives out 0.
type NLA uint64

// Rights are what a region may be used for, by its owner's own operations and by
// those of peers.
type Rights uint8

// The rights.
const (
	ReadOnly  = Rights(regs.ATURightsRo)
	WriteOnly = Rights(regs.ATURightsWo)
	ReadWrite = Rights(regs.ATURightsRw)
)

// A Peer is a process that can be reached.
type Peer struct{ Node, VPID int }

func (p Peer) String() string { return fmt.Sprintf("node %d VPID %d", p.Node, p.VPID) }

// Notify says who tells of an operation's progress: see README.md.
type Notify uint8

// The notify bits.
const (
	Requester Notify = 1 << iota // at the origin: all has been sent
	Responder                    // at the target of a get or fetch: read and answered
	Completer                    // where data arrives: written
)

// A Unit raised an event.
type Unit = regs.RMAUnit

// The units.
const (
	UnitRequester = regs.RMAUnitRequester
	UnitResponder = regs.RMAUnitResponder
	UnitCompleter = regs.RMAUnitCompleter
)

// A Command is what an operation does.
type Command = regs.RMACommand

// The commands.
const (
	CommandPut             = regs.RMACommandPut
	CommandGet             = regs.RMACommandGet
	CommandPutImmediate    = regs.RMACommandImmPut
	CommandNotify          = regs.RMACommandNotiPut
	CommandFetchCompareAdd = regs.RMACommandFCAA
)

// A Handle names one operation of a port for ever. No operation has handle 0.
type Handle uint64

// An Event is something that happened to an operation.
type Event struct {
	Unit    Unit
	Command Command
	// Handle is the operation, or 0 if it is a peer's: data has arrived here, or
	// was read from here.
	Handle Handle
	Peer   Peer // at the other end
	// NLA and Bytes are the last fragment's (at most regs.RMAMTU bytes, inside 4 KB),
	// on the side of the unit that tells: local at the origin of a put or get. Of
	// other commands it is the address at the target.
	NLA   NLA
	Bytes int
	// Payload is that of a Notify at its target, and the result of a
	// FetchCompareAdd (see Fetched).
	Payload uint64
	// Last: of an own operation, that it is done; of a peer's, that this was its
	// last fragment.
	Last bool
	Err  error // a *FaultError: the operation failed, wholly or in part
}

// Fetched reads the result of a FetchCompareAdd: the word before, and whether it
// was changed.
func (ev *Event) Fetched() (old uint32, changed bool) {
	r := regs.RMAResult(ev.Payload)
	return r.Old(), r.Success()
}

// A FaultError is the first fault of an operation.
type FaultError struct {
	Code    regs.RMAError
	Unit    Unit // who found it
	Command Command
	NLA     NLA  // of the fragment that failed
	Peer    Peer // the other end of the operation
}

func (e *FaultError) Error() string {
	where := "at its origin"
	if e.remote() {
		where = "at its target"
	}
	return fmt.Sprintf("rma: %s with %s failed %s: %s at NLA 0x%x: %s", e.Command, e.Peer, where, e.Code, uint64(e.NLA), e.advice())
}

func (e *FaultError) remote() bool {
	if e.Command == CommandGet || e.Command == CommandFetchCompareAdd {
		return e.Unit == UnitResponder
	}
	return e.Unit == UnitCompleter
}

func (e *FaultError) advice() string {
	switch e.Code {
	case regs.RMAErrorTranslation:
		return "nothing is mapped there; is it an NLA, and its region still registered?"
	case regs.RMAErrorRights:
		return "the region is not registered for this use"
	case regs.RMAErrorOwner:
		return "the memory belongs to another process of that node"
	case regs.RMAErrorBounds:
		return "beyond the end of its translation table"
	case regs.RMAErrorNoSuchNode:
		return "the machine has no such node"
	case regs.RMAErrorWindowOff:
		return "the process there has not opened a port"
	case regs.RMAErrorDomain:
		return "the process there is of another protection domain, or of none"
	case regs.RMAErrorDMA:
		return "host memory refused the access; is it mapped to memory that exists?"
	}
	return "the hardware does not know the command"
}
