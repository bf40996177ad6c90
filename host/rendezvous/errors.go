package rendezvous

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/host/match"
)

// What a transfer can fail of. Every error of a transfer is an *Error that wraps one of them.
var (
	ErrFault     = errors.New("a remote memory operation failed")
	ErrCancelled = match.ErrCancelled
	ErrMemory    = errors.New("no memory for the message, and nothing under way that will free some")
	ErrProtocol  = errors.New("the other end speaks another protocol")
)

// Answers of a [Register] or of an operation that may be asked for again.
var (
	// ErrAgain: no room now; there will be some without anything happening here.
	ErrAgain = errors.New("rendezvous: no room now, try again")
	// ErrFull: no room until another transfer gives some back.
	ErrFull = errors.New("rendezvous: no room until a transfer ends")
)

// A Code says in a FIN how a transfer ended.
type Code uint8

// The codes.
const (
	Good Code = iota
	Fault
	Cancelled
	Memory
	Unknown
)

func (c Code) String() string {
	if c <= Unknown {
		return [...]string{"good", "fault", "cancelled", "memory", "unknown-protocol"}[c]
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

func (c Code) cause() error {
	switch c {
	case Cancelled:
		return ErrCancelled
	case Memory:
		return ErrMemory
	case Unknown:
		return ErrProtocol
	}
	return ErrFault
}

// An Error is how a transfer failed: the same kind at both ends.
type Error struct {
	Peer   int
	Code   Code
	Detail uint8 // the hardware's number of a fault, 0 if there is none
	Here   bool  // it was found at this end
	Cause  error // of what was found here; nil if it was found at the other end
}

func (e *Error) Error() string {
	where := fmt.Sprintf("found by rank %d", e.Peer)
	if e.Here {
		where = "found here"
	}
	s := fmt.Sprintf("rendezvous with rank %d, %s: %v", e.Peer, where, e.Code.cause())
	switch {
	case e.Cause != nil:
		s += ": " + e.Cause.Error()
	case e.Detail != 0:
		s += fmt.Sprintf(" (RMA error %d)", e.Detail)
	}
	return s
}

// Unwrap gives the kind of failure and, of one found here, its cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code.cause()}
	}
	return []error{e.Code.cause(), e.Cause}
}
