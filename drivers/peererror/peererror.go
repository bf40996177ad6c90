// Package peererror is the error of a value that came from another process and that the protocol does
// not allow. It imports nothing of nicloop, so pure packages may use it; package drivers has it, too.
package peererror

import (
	"errors"
	"fmt"
)

// ErrPeer: another process of the world sent something that the protocol does not allow.
var ErrPeer = errors.New("a peer broke the protocol")

// An Error reports a value that came from another process and that the protocol does not allow.
// Such a value is never a reason to panic: the peer may be another program (shared:), another release,
// or hardware under test.
type Error struct {
	Peer     string // the sender: "rank 3", "node 1 VPID 0"
	Field    string // which part of what it sent: "credits of a CREDIT packet"
	Value    string
	Expected string
	State    string // local state that the value contradicts; empty: none
}

// BadField makes an Error about a field of something that rank sent. expected is a format.
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

// Unwrap makes it an ErrPeer.
func (e *Error) Unwrap() error { return ErrPeer }
