package congestion

// A Grant is how many packets a receiver allows its senders to have under way to it, found without
// a number from outside. A memory that takes packets as fast as the wire brings them is never what
// they wait for: it grants Most, which bounds nothing. A slower one grants twice as many as it
// takes in the shortest round trip that it has seen. One such share is on its way while the other
// is taken, so that memory waits for nobody, and what a congested network adds to round trips does
// not become more packets in it. (TCP's BBR bounds what is under way in the same way, but by what a
// sender sees come through.)
//
//	memory at full speed  16 cycles a packet                    -> 255
//	memory at 1/2         32 cycles, round trip 180: 2 * 180 / 32  -> 12
//	memory at 1/8        128 cycles, round trip 180: 2 * 180 / 128 -> 3
//	the same, 4 senders                                         -> 1 for each
type Grant struct {
	pace int64 // cycles of memory for a flit, times 64, smoothed
}

const (
	// Start is what a sender may have under way before it has heard of a grant.
	Start = 8
	// Most is more than any network needs.
	Most = 255
	unit = 64
)

// Took counts a packet that memory took in so many cycles.
func (g *Grant) Took(cycles int64, flits int) {
	pace := unit * cycles / int64(flits)
	if g.pace == 0 {
		g.pace = pace
	}
	step := (pace - g.pace) / 8
	if step == 0 {
		step = pace - g.pace
	}
	g.pace += step
}

// Bound is the grant of each of some senders of packets of some flits, one to which the shortest
// round trip takes so many cycles; 0: it is not known.
func (g *Grant) Bound(roundTrip int64, flits, senders int) int {
	switch {
	case g.pace > 0 && g.pace <= unit:
		return Most
	case g.pace == 0 || roundTrip == 0:
		return Start
	}
	in := g.pace * int64(flits) * int64(senders)
	return int(max(1, min(Most, (2*unit*roundTrip+in-1)/in)))
}
