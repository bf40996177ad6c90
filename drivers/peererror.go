package drivers

import "github.com/nicloop/nicloop/drivers/peererror"

// A PeerError reports a value received from another process that the protocol does not allow.
type PeerError = peererror.Error

// ErrPeer is the sentinel that every PeerError wraps.
var ErrPeer = peererror.ErrPeer

// BadField returns a PeerError about a field of a message from rank. expected is a format.
func BadField(rank int, field string, value any, expected string, args ...any) *PeerError {
	return peererror.BadField(rank, field, value, expected, args...)
}
