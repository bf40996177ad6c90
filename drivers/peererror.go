package drivers

import "github.com/nicloop/nicloop/drivers/peererror"

// A PeerError reports a value that came from another process and that the protocol does not allow.
type PeerError = peererror.Error

// ErrPeer is what every PeerError is.
var ErrPeer = peererror.ErrPeer

// BadField makes a PeerError about a field of something that rank sent. expected is a format.
func BadField(rank int, field string, value any, expected string, args ...any) *PeerError {
	return peererror.BadField(rank, field, value, expected, args...)
}
