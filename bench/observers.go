package bench

import (
	"github.com/nicloop/nicloop/cosim/capture"
	"github.com/nicloop/nicloop/drivers"
)

// observers observe the hardware during a run.
type observers struct {
	latency *capture.Latency
	pcap    *capture.Writer
	held    *heldLinks
}

func newObservers(c *Config) (*observers, error) {
	o := &observers{held: c.held}
	if c.Blocks {
		o.latency = capture.NewLatency()
	}
	if c.Pcap != nil {
		w, err := capture.NewWriter(c.Pcap)
		if err != nil {
			return nil, err
		}
		o.pcap = w
	}
	return o, nil
}

// sink returns nil without observers, because an untraced run is faster.
func (o *observers) sink() drivers.TraceSink {
	var sinks []drivers.TraceSink
	if o.latency != nil {
		sinks = append(sinks, o.latency)
	}
	if o.pcap != nil {
		sinks = append(sinks, o.pcap)
	}
	if o.held != nil {
		sinks = append(sinks, o.held)
	}
	if len(sinks) == 0 {
		return nil
	}
	return capture.Tee(sinks...)
}

// start begins a measurement.
func (o *observers) start() {
	if o.latency != nil {
		o.latency.Reset()
	}
}

// blocks returns the latencies of packets since start.
func (o *observers) blocks() []capture.Block {
	if o.latency == nil {
		return nil
	}
	return o.latency.Summary()
}

func (o *observers) close() error {
	if o.pcap == nil {
		return nil
	}
	return o.pcap.Close()
}
