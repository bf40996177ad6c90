// Package peererror has the error type for a value received from another process that the protocol
// does not allow. It imports nothing of nicloop, so pure packages can use it; package drivers
// re-exports it.
package peererror

import (
	"errors"
	"fmt"
)

// ErrPeer: another process of the world violated the protocol.
var ErrPeer = errors.New("a peer broke the protocol")

// An Error reports a value received from another process that the protocol does not allow. Such a
// value is never a reason to panic: the peer may be another program (shared:), another release, or
// hardware under test.
type Error struct {
	Peer     string // the sender: "rank 3", "node 1 VPID 0"
	Field    string // the invalid field: "credits of a CREDIT packet"
	Value    string
	Expected string
	State    string // local state that the value contradicts, if any
}

// BadField returns an Error about a field of a message from rank. expected is a format.
func BadField(rank int, field string, value any, expected string, args ...any) *Error {
	return &Error{
		Peer: fmt.Sprintf("rank %d", rank), Field: field, Value: fmt.Sprint(value), Expected: fmt.Sprintf(expected, args...),
	}
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%v: %s sent %s = %s, expected %s", ErrPeer, e.Peer, e.Field, e.Value, e.Expected)
	if e.State != "" {
		text += "; " + e.State
	}
	return text
}

// Unwrap returns ErrPeer.
func (e *Error) Unwrap() error { return ErrPeer }
