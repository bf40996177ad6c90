package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/threshold"
)

// Thresholds say how messages beyond host.EagerMax may be eager (package threshold).
type Thresholds struct {
	// Threshold is that of all pairs; 0: each pair has its own, which changes.
	Threshold int `json:"threshold_bytes"`
	// All pairs have it, and their buffers, from the start; otherwise from their first such message
	// on.
	All bool `json:"from_the_start,omitempty"`
	// Buffers is the memory of a rank for what others send.
	Buffers int `json:"buffer_bytes"`
	// Partial is the handshake that stops a channel, instead of the full in-band one.
	Partial bool `json:"partial_in_band,omitempty"`
	// NotReady puts messages where their receives are as soon as these are ready, and asks again until
	// then: there are no buffers.
	NotReady bool `json:"receiver_not_ready,omitempty"`
	// Idle is for how long a buffer is not used before it is taken back; 0: for ever.
	Idle drivers.Time `json:"idle_ps,omitempty"`
}

// DefaultThresholds are thresholds that change, with memory for many of them.
func DefaultThresholds() Thresholds {
	return Thresholds{Buffers: 4 << 20, Idle: 2 * drivers.Millisecond}
}

func (e *Thresholds) host() *host.Eager {
	if e == nil {
		return nil
	}
	h := &host.Eager{Threshold: e.Threshold, All: e.All, Buffers: e.Buffers, Idle: e.Idle}
	if e.Partial {
		h.Handshake = threshold.Partial
	}
	if e.NotReady {
		h.Handshake = threshold.NotReady
	}
	return h
}

// maxEagerBuffers keeps a node's memory within reason.
const maxEagerBuffers = 64 << 20

func (e *Thresholds) validate() error {
	switch {
	case e == nil:
		return nil
	case e.Threshold != 0 && e.Threshold <= host.EagerMax || e.Threshold < 0:
		return fmt.Errorf("%w: an eager threshold of %d bytes: expected more than the %d that VELO carries", drivers.ErrConfig, e.Threshold, host.EagerMax)
	case e.NotReady && (e.Partial || e.Threshold != 0):
		return fmt.Errorf("%w: receivers that are not ready have no buffers: expected neither a fixed threshold nor another handshake", drivers.ErrConfig)
	case e.Buffers < 1 || e.Buffers > maxEagerBuffers:
		return fmt.Errorf("%w: %d bytes of eager buffers: expected 1 to %d", drivers.ErrConfig, e.Buffers, maxEagerBuffers)
	case e.Idle < 0:
		return fmt.Errorf("%w: eager buffers that are idle for %d ps: expected 0 or more", drivers.ErrConfig, e.Idle)
	}
	return nil
}

// An EagerRank is what the channels of a rank have done since the world began.
type EagerRank struct {
	Rank      int    `json:"rank"`
	Threshold int    `json:"greatest_threshold_bytes"` // of any of its channels
	Switches  uint64 `json:"switches"`                 // changes that are over, whoever began them
	Refused   uint64 `json:"refused"`
	Buffered  uint64 `json:"buffered_messages"`
	Short     uint64 `json:"short_of_buffers"` // messages that found no buffer though one would have been long enough
	Grown     uint64 `json:"buffers_granted"`
	Shrunk    uint64 `json:"buffers_taken_back"`
	Bytes     int    `json:"buffer_bytes"` // now
	Most      int    `json:"most_buffer_bytes"`
	// Longest is the longest change that it began, Switching all of them together, from the request to
	// the last acknowledgement.
	Longest   drivers.Time `json:"longest_switch_ps"`
	Switching drivers.Time `json:"all_switches_ps"`
	Begun     uint64       `json:"switches_begun"`
	// Spent is what its core did for all that.
	Spent drivers.Time `json:"core_ps"`
	// Freeing is what it did to say and hear that buffers may be used again.
	Freeing drivers.Time `json:"freeing_ps"`
	// Streams is what was put before receivers were known to be ready; nil: nothing.
	Streams *threshold.StreamStats `json:"streams,omitempty"`
}

// eagerRanks reads what the channels did; nil: there are none.
func (w *World) eagerRanks() (list []EagerRank) {
	for i, r := range w.Ranks {
		s, ok := r.EagerStats()
		if !ok {
			return nil
		}
		e := EagerRank{
			Rank: i, Threshold: s.Greatest, Switches: s.Switched, Refused: s.Refused, Buffered: s.Buffered, Short: s.Short, Grown: s.Grown, Shrunk: s.Shrunk,
			Bytes: s.Bytes, Most: s.MostBytes, Longest: drivers.Time(s.LongestTime), Switching: drivers.Time(s.Time), Begun: s.Begun, Spent: s.Spent, Freeing: s.Freeing,
		}
		if s.Streams != (threshold.StreamStats{}) {
			e.Streams = &s.Streams
		}
		list = append(list, e)
	}
	return list
}
