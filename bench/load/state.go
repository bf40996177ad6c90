package load

import "github.com/nicloop/nicloop/bench/steady"

// A State classifies a measured rate.
type State string

// The states, in the order in which they are decided.
const (
	// TooFewPackets: the measurement is too short to tell the other states apart. Either fewer than
	// minPackets were offered, or the 95 % interval of the throughput spans the limit of saturation.
	TooFewPackets State = "too few packets"
	// Saturated: the network accepts clearly less than is offered. Source queues grow without bound,
	// and latencies are those of one instant.
	Saturated State = "saturated"
	// Transient: the network had not reached steady state after Rule.Most windows.
	Transient State = "transient"
	// OK: the network accepts what is offered, in steady state.
	OK State = "ok"
)

const (
	// acceptedShare of the offered load must be accepted, else the network is saturated.
	acceptedShare = 0.95
	// minPackets is how many packets must be offered during a measurement to classify it.
	minPackets = 30
)

// stateOf classifies a rate by its mean throughput, the half width of that mean's 95 % interval,
// the number of packets that the sources offer during the measurement, and whether it was measured
// in steady state.
func stateOf(rate, accepted, within, offered float64, s steady.State) State {
	limit := acceptedShare * rate
	switch {
	case offered < minPackets, accepted < limit && accepted+within >= limit:
		return TooFewPackets
	case accepted < limit:
		return Saturated
	case s != steady.Steady:
		return Transient
	}
	return OK
}
