package portals

import "fmt"

// Code is a return code of the interface (3.4). Functions return it as an error, sometimes wrapped
// with an explanation; compare with errors.Is.
type Code uint8

const (
	ArgInvalid    Code = iota + 1 // an argument is not valid, or a handle is stale
	NoInit                        // the interface has not been initialised
	NoSpace                       // a limit of the interface is reached
	InUse                         // pending operations or other objects refer to the object
	ListTooLong                   // the list of the portal table entry has its maximum length
	PTFull                        // no free portal table entry
	PTInUse                       // the portal table entry is allocated, or its lists are not empty
	PTEQNeeded                    // flow control needs an event queue
	EQEmpty                       // no event
	EQDropped                     // an event is returned, but at least one before it was lost
	CTNoneReached                 // no counter has reached its test value
)

var codeTexts = [...]string{
	"ok", "invalid argument", "not initialised", "no space", "in use", "list too long",
	"portal table full", "portal table entry in use", "event queue needed", "event queue empty",
	"events dropped", "no counter reached its test value",
}

func (c Code) Error() string { return "portals: " + codeTexts[c] }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ArgInvalid, fmt.Sprintf(format, args...))
}

// Handles. The zero value of each refers to no object (PTL_EQ_NONE, PTL_CT_NONE).
type (
	EQ uint32
	CT uint32
	MD uint32
	ME uint32 // also of list entries: an LE is an ME that matches every message
)

// Wildcards (3.3.6).
const (
	NIDAny  = ^uint32(0)
	PIDAny  = ^uint32(0)
	RankAny = ^uint32(0)
	UIDAny  = ^uint32(0)
	PTAny   = -1
)

// A Process identifies a process (3.9). With logical addressing NID is the rank and PID is 0.
type Process struct{ NID, PID uint32 }

// Rank is the Process of a rank, which may be RankAny.
func Rank(r uint32) Process { return Process{NID: r} }

// Options of a network interface (3.6.2): two of them, or 0 for matching and logical.
type NIOptions uint8

const (
	NINoMatching NIOptions = 1 << iota
	NIPhysical
)

// Limits of a network interface (3.6.1).
type Limits struct {
	MaxEntries, MaxUnexpectedHeaders, MaxMDs, MaxEQs, MaxCTs, MaxPTs int
	MaxListSize, MaxTriggeredOps, MaxOperations                      int
	MaxMsgSize, MaxAtomicSize, MaxFetchAtomicSize                    uint64
}

// DefaultLimits are what an interface has where the caller asks for nothing else.
func DefaultLimits() Limits {
	return Limits{
		MaxEntries: 1 << 16, MaxUnexpectedHeaders: 1 << 16, MaxMDs: 1 << 10, MaxEQs: 1 << 10,
		MaxCTs: 1 << 12, MaxPTs: 64, MaxListSize: 1 << 16, MaxTriggeredOps: 1 << 14,
		MaxOperations: 1 << 16, MaxMsgSize: 1 << 31, MaxAtomicSize: 512, MaxFetchAtomicSize: 512,
	}
}

// PTOptions are options of a portal table entry (3.7.1).
type PTOptions uint8

const (
	PTFlowControl PTOptions = 1 << iota
	PTOnlyUseOnce
	PTOnlyTruncate
	PTAllocDisabled
)

// MDOptions are options of a memory descriptor (3.10.1).
type MDOptions uint8

const (
	MDEventSuccessDisable MDOptions = 1 << iota
	MDEventSendDisable
	MDEventCTSend
	MDEventCTReply
	MDEventCTAck
	MDEventCTBytes
)

// MemoryDescriptor is ptl_md_t (3.10.1).
type MemoryDescriptor struct {
	Start, Length uint64
	Options       MDOptions
	EQ            EQ
	CT            CT
}

// MEOptions are options of a list entry (3.11.1, 3.12.1).
type MEOptions uint32

const (
	MEOpPut MEOptions = 1 << iota
	MEOpGet
	MEUseOnce
	MEAckDisable
	MEUnexpectedHdrDisable
	MEEventLinkDisable
	MEEventCommDisable
	MEEventFlowCtrlDisable
	MEEventSuccessDisable
	MEEventOverDisable
	MEEventUnlinkDisable
	MEEventCTComm
	MEEventCTOverflow
	MEEventCTBytes
	MEManageLocal
	MENoTruncate
	MELocalIncUHRLength // the unexpected headers that an append consumes advance its local offset
)

// MatchEntry is ptl_me_t (3.12.1). On a non-matching interface it is ptl_le_t (3.11.1): MatchID and
// the bits are not looked at.
type MatchEntry struct {
	Start, Length uint64
	CT            CT
	UID           uint32
	Options       MEOptions
	MatchID       Process
	MatchBits     uint64
	IgnoreBits    uint64
	MinFree       uint64
	UserPtr       uint64 // an argument of PtlMEAppend in the specification
}

// List is a list of a portal table entry.
type List uint8

const (
	PriorityList List = iota
	OverflowList
)

// SearchOp says whether a search deletes the headers that it finds (3.12.4).
type SearchOp uint8

const (
	SearchOnly SearchOp = iota
	SearchDelete
)

// EventKind is the type of a full event (3.13.1).
type EventKind uint8

const (
	EventGet EventKind = iota
	EventGetOverflow
	EventPut
	EventPutOverflow
	EventAtomic
	EventAtomicOverflow
	EventFetchAtomic
	EventFetchAtomicOverflow
	EventReply
	EventSend
	EventAck
	EventPTDisabled
	EventLink
	EventAutoUnlink
	EventAutoFree
	EventSearch
)

var eventNames = [...]string{
	"GET", "GET_OVERFLOW", "PUT", "PUT_OVERFLOW", "ATOMIC", "ATOMIC_OVERFLOW", "FETCH_ATOMIC",
	"FETCH_ATOMIC_OVERFLOW", "REPLY", "SEND", "ACK", "PT_DISABLED", "LINK", "AUTO_UNLINK", "AUTO_FREE", "SEARCH",
}

func (k EventKind) String() string { return eventNames[k] }

// Fail is a ni_fail_type of an event (3.13.3).
type Fail uint8

const (
	FailNone          Fail = iota
	FailUndeliverable      // the network could not deliver the message
	FailPTDisabled         // the portal table entry of the target is disabled
	FailDropped            // no entry of the target matches, or the target has no room for the header
	FailPermViolation      // the user may not use the entry
	FailOpViolation        // the entry does not take such operations
	FailSegv               // memory that cannot be accessed
	FailNoMatch            // a search has found nothing
	failLast
)

var failNames = [...]string{
	"OK", "UNDELIVERABLE", "PT_DISABLED", "DROPPED", "PERM_VIOLATION", "OP_VIOLATION", "SEGV", "NO_MATCH",
}

func (f Fail) String() string {
	if f < failLast {
		return failNames[f]
	}
	return fmt.Sprintf("fail type %d", uint8(f))
}

// Event is a full event (3.13.4).
type Event struct {
	Kind                                      EventKind
	PT                                        uint8
	List                                      List
	Fail                                      Fail
	Op                                        Op
	Datatype                                  Datatype
	UID                                       uint32
	Initiator                                 Process
	MatchBits, RLength, MLength, RemoteOffset uint64
	Start, UserPtr, HdrData                   uint64
}

// Count is the value of a counting event (3.14.1).
type Count struct{ Success, Failure uint64 }

// Status registers (3.3.7).
type Status struct{ Dropped, PermissionViolations, OperationViolations uint64 }

// Memory resolves addresses of a process. Bytes returns the memory of an address range, or false if
// the process has no such memory, which is reported as FailSegv.
type Memory interface {
	Bytes(start, length uint64) ([]byte, bool)
}

// Flat is a Memory that begins at address 0.
type Flat []byte

func (f Flat) Bytes(start, length uint64) ([]byte, bool) {
	if start > uint64(len(f)) || length > uint64(len(f))-start {
		return nil, length == 0
	}
	return f[start : start+length : start+length], true
}
