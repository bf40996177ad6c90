package rma

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// ErrTryAgain: too many operations are outstanding, or the translation tables are full until the
// NIC has dropped its cached translations of unmapped pages. Call Poll, then try again.
var ErrTryAgain = errors.New("rma: no room now, try again")

// An NLA is a network logical address: an address in registered memory that is valid in every
// process. The ATU never allocates NLA 0.
type NLA uint64

// Rights are the permitted uses of a region, by its owner's operations and by those of peers.
type Rights uint8

// Access rights.
const (
	ReadOnly  = Rights(regs.ATURightsRo)
	WriteOnly = Rights(regs.ATURightsWo)
	ReadWrite = Rights(regs.ATURightsRw)
)

// A Peer is the location of another process.
type Peer struct{ Node, VPID int }

func (p Peer) String() string { return fmt.Sprintf("node %d VPID %d", p.Node, p.VPID) }

// Notify selects the units that raise a notification for an operation: see README.md.
type Notify uint8

// Notification bits.
const (
	Requester Notify = 1 << iota // at the origin, when all data have been sent
	Responder                    // at the target of a get or fetch, when it has read the data
	Completer                    // where the data arrive, when they have been written
)

// A Unit is the functional unit that raised an event.
type Unit = regs.RMAUnit

// Functional units.
const (
	UnitRequester = regs.RMAUnitRequester
	UnitResponder = regs.RMAUnitResponder
	UnitCompleter = regs.RMAUnitCompleter
)

// A Command is the kind of an operation.
type Command = regs.RMACommand

// Commands.
const (
	CommandPut             = regs.RMACommandPut
	CommandGet             = regs.RMACommandGet
	CommandPutImmediate    = regs.RMACommandImmPut
	CommandNotify          = regs.RMACommandNotiPut
	CommandFetchCompareAdd = regs.RMACommandFCAA
)

// A Handle identifies one operation of a port and is never reused. 0 is not a valid handle.
type Handle uint64

// An Event is a notification about an operation.
type Event struct {
	Unit    Unit
	Command Command
	// Handle identifies the operation; 0 if it is a peer's, whose data arrived here or were
	// read from here.
	Handle Handle
	Peer   Peer // at the other end
	// NLA and Bytes describe the last fragment (at most regs.RMAMTU bytes, within 4 KB) on the side
	// of the unit that raised the event: the local address at the origin of a put or get. For other
	// commands NLA is the address at the target.
	NLA   NLA
	Bytes int
	// Payload is the payload of a Notify at its target, or the result of a FetchCompareAdd (see
	// Fetched).
	Payload uint64
	// Last: an operation of this port is done, or this was the last fragment of a peer's operation.
	Last bool
	Err  error // a *FaultError if the operation failed completely or in part
}

// Fetched decodes the result of a FetchCompareAdd: the previous value of the word, and whether it
// was changed.
func (ev *Event) Fetched() (old uint32, changed bool) {
	r := regs.RMAResult(ev.Payload)
	return r.Old(), r.Success()
}

// A FaultError is the first fault of an operation.
type FaultError struct {
	Code    regs.RMAError
	Unit    Unit // that detected the fault
	Command Command
	NLA     NLA  // of the failed fragment
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
