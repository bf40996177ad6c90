package congestion

// A Grant is the number of packets that a receiver allows each sender to have in flight to it,
// determined without configuration. A memory as fast as the wire is never the bottleneck: it grants
// Most, which is no limit. A slower one grants twice the packets that it takes in the shortest
// round trip seen. One half is in flight while the other is taken, so memory is never idle, and
// longer round trips in a congested network do not lead to more packets in flight. (TCP's BBR
// limits data in flight in the same way, but by the sender's observed delivery rate.)
//
//	memory at full speed  16 cycles a packet                    -> 255
//	memory at 1/2         32 cycles, round trip 180: 2 * 180 / 32  -> 12
//	memory at 1/8        128 cycles, round trip 180: 2 * 180 / 128 -> 3
//	the same, 4 senders                                         -> 1 for each
type Grant struct {
	pace int64 // cycles of memory for a flit, times 64, smoothed
}

const (
	// Start is the initial limit of a sender before it has received a grant.
	Start = 8
	// Most exceeds the need of any network.
	Most = 255
	unit = 64
)

// Took counts a packet that memory took in the given number of cycles.
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

// Bound is the grant of each sender, given the shortest round trip to one of them in cycles; 0:
// unknown.
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
