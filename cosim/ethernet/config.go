package ethernet

import (
	"fmt"
	"io"

	"github.com/nicloop/nicloop/drivers"
)

// Config describes a network. The zero value of a field is its default, except for probabilities
// and NoChecksum.
type Config struct {
	Hosts         int
	MTU           int          // bytes of an IP packet in one frame
	Rate          int64        // bits per second of every cable
	Cable         drivers.Time // propagation delay of every cable
	SwitchLatency drivers.Time // from the last bit of a frame to its entry into the output queue
	SwitchQueue   int          // bytes that an output port of the switch can queue
	SendBuffer    int          // bytes on the wire that a host can queue
	ReceiveBuffer int          // bytes of datagrams that a socket can queue

	SendCost    drivers.Time // of the core, per datagram
	ReceiveCost drivers.Time
	FrameCost   drivers.Time // of the core, per frame in either direction
	SegmentCost drivers.Time // of the core, per segment of a stream in either direction, besides its frame

	ReassemblyTime   drivers.Time // from the first fragment of a datagram until it is given up
	ReassemblyMemory int          // bytes of fragments that a host can store

	RetransmitTime drivers.Time // of a stream, before the first repetition; doubled by every further one
	AckDelay       drivers.Time // of a stream that waits for a second segment to acknowledge

	Seed                              uint64
	Loss, Duplicate, Reorder, Corrupt float64 // probabilities per frame
	ReorderDelay                      drivers.Time
	NoChecksum                        bool // UDP checksum 0, which RFC 768 permits

	// Captures in pcapng, or nil: frames at the end of their transmission by a host, and frames at
	// their arrival at a host.
	Sent, Received io.Writer
}

const (
	maxHosts = 1024
	minMTU   = 68 // RFC 791
	maxMTU   = 9000
)

// complete replaces zeros by defaults and checks the limits.
func (c Config) complete() (Config, error) {
	setDefault(&c.Hosts, 2)
	setDefault(&c.MTU, 1500)
	setDefault(&c.Rate, 10_000_000_000)
	setDefault(&c.Cable, 25*drivers.Nanosecond) // 5 m
	setDefault(&c.SwitchLatency, 500*drivers.Nanosecond)
	setDefault(&c.SwitchQueue, 256<<10)
	setDefault(&c.SendBuffer, 256<<10)
	setDefault(&c.ReceiveBuffer, 256<<10)
	setDefault(&c.SendCost, 1500*drivers.Nanosecond)
	setDefault(&c.ReceiveCost, 1500*drivers.Nanosecond)
	setDefault(&c.FrameCost, 100*drivers.Nanosecond)
	setDefault(&c.SegmentCost, 200*drivers.Nanosecond)
	setDefault(&c.RetransmitTime, 200*drivers.Millisecond) // TCP_RTO_MIN of Linux
	setDefault(&c.AckDelay, 40*drivers.Millisecond)        // TCP_DELACK_MIN of Linux
	setDefault(&c.ReassemblyTime, 30*drivers.Second)       // net.ipv4.ipfrag_time of Linux
	setDefault(&c.ReassemblyMemory, 4<<20)                 // net.ipv4.ipfrag_high_thresh of Linux
	setDefault(&c.ReorderDelay, 20*drivers.Microsecond)
	switch {
	case c.Hosts < 1 || c.Hosts > maxHosts:
		return c, refuse("hosts", c.Hosts, "1 to 1024")
	case c.MTU < minMTU || c.MTU > maxMTU:
		return c, refuse("mtu", c.MTU, "68 to 9000 bytes")
	case c.Rate < 1_000_000 || c.Rate > 1_000_000_000_000:
		return c, refuse("rate", c.Rate, "1M to 1T bits per second")
	case c.SwitchQueue < wireBytes(c.MTU+etherBytes):
		return c, refuse("queue", c.SwitchQueue, "at least one frame")
	case c.SendBuffer < 1 || c.ReceiveBuffer < 1 || c.ReassemblyMemory < 1:
		return c, fmt.Errorf("%w: ethernet: a buffer has no bytes", drivers.ErrConfig)
	}
	for _, d := range []drivers.Time{
		c.Cable, c.SwitchLatency, c.SendCost, c.ReceiveCost, c.FrameCost, c.SegmentCost, c.RetransmitTime, c.AckDelay, c.ReassemblyTime, c.ReorderDelay,
	} {
		if d < 0 || d > maxDelay {
			return c, refuse("time", d, "0 to 1 min")
		}
	}
	for _, p := range []float64{c.Loss, c.Duplicate, c.Reorder, c.Corrupt} {
		if !(p >= 0 && p <= 1) {
			return c, refuse("probability", p, "0 to 1")
		}
	}
	return c, nil
}

const maxDelay = 60 * drivers.Second

func setDefault[T int | int64 | drivers.Time](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

func refuse(name string, value any, expected string) error {
	return fmt.Errorf("%w: ethernet: %s=%v: expected %s", drivers.ErrConfig, name, value, expected)
}
