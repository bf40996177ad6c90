package rendezvous

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/host/match"
)

// Causes of failure. Every error of a transfer is an *Error that wraps one of them.
var (
	ErrFault     = errors.New("a remote memory operation failed")
	ErrCancelled = match.ErrCancelled
	ErrMemory    = errors.New("no memory for the message, and nothing under way that will free some")
	ErrProtocol  = errors.New("the other end speaks another protocol")
)

// Temporary refusals of a [Register] or of an operation.
var (
	// ErrAgain: no room; some becomes free without action of this rank.
	ErrAgain = errors.New("rendezvous: no room now, try again")
	// ErrFull: no room until another transfer of this rank ends.
	ErrFull = errors.New("rendezvous: no room until a transfer ends")
)

// A Code is the result of a transfer in a FIN.
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

// An Error describes a failed transfer; its Code is the same at both ends.
type Error struct {
	Peer   int
	Code   Code
	Detail uint8 // fault code of the hardware; 0: none
	Here   bool  // detected at this end
	Cause  error // cause if detected at this end, otherwise nil
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

// Unwrap returns the kind of failure and, if detected at this end, its cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code.cause()}
	}
	return []error{e.Code.cause(), e.Cause}
}
