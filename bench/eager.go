package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/threshold"
)

// Thresholds configure eager messages longer than host.EagerMax (package threshold).
type Thresholds struct {
	// Threshold is the fixed threshold of all pairs; 0: each pair adapts its own.
	Threshold int `json:"threshold_bytes"`
	// All allocates the buffers of all pairs at the start instead of at their first such message.
	All bool `json:"from_the_start,omitempty"`
	// Buffers is the memory in bytes that a rank provides for messages of others.
	Buffers int `json:"buffer_bytes"`
	// Partial selects the handshake that pauses a channel, instead of the full in-band one.
	Partial bool `json:"partial_in_band,omitempty"`
	// NotReady puts messages into the buffers of their receives as soon as these are posted, and
	// retries until then; there are no other buffers.
	NotReady bool `json:"receiver_not_ready,omitempty"`
	// Idle is the time after which an unused buffer is released; 0: never.
	Idle drivers.Time `json:"idle_ps,omitempty"`
	// Published follows sections 3.1 to 3.3 and 4.4 of ADAPT as they are written; see package
	// threshold for the differences.
	Published bool `json:"as_published,omitempty"`
	// Lengths limits the number of different buffer lengths of a rank; 0: 20.
	Lengths int `json:"buffer_lengths,omitempty"`
	// Pool is the number of buffers of each length that all peers share; 0: each peer has its own, or
	// 16 if Published.
	Pool int `json:"pool_buffers,omitempty"`
	// Weights limits the multiple of Idle after which a buffer is released that was released too early
	// before; 0: 1, or 64 if Published.
	Weights int `json:"buffer_weights,omitempty"`
}

// DefaultThresholds returns adaptive thresholds, with memory for many of them.
func DefaultThresholds() Thresholds {
	return Thresholds{Buffers: 4 << 20, Idle: 2 * drivers.Millisecond}
}

func (e *Thresholds) host() *host.Eager {
	if e == nil {
		return nil
	}
	h := &host.Eager{
		Threshold: e.Threshold, All: e.All, Buffers: e.Buffers, Idle: e.Idle,
		Published: e.Published, PerByte: linkByte, Stocks: e.Lengths, Pool: e.Pool, Weights: e.Weights,
	}
	if e.Partial {
		h.Handshake = threshold.Partial
	}
	if e.NotReady {
		h.Handshake = threshold.NotReady
	}
	return h
}

// maxEagerBuffers bounds a node's memory.
const maxEagerBuffers = 64 << 20

func (e *Thresholds) validate() error {
	switch {
	case e == nil:
		return nil
	case e.Threshold != 0 && e.Threshold <= host.EagerMax || e.Threshold < 0:
		return fmt.Errorf("%w: eager threshold of %d bytes: expected more than %d, the limit of VELO", drivers.ErrConfig, e.Threshold, host.EagerMax)
	case e.NotReady && (e.Partial || e.Threshold != 0):
		return fmt.Errorf("%w: not-ready receivers have no buffers: expected neither a fixed threshold nor another handshake", drivers.ErrConfig)
	case e.Buffers < 1 || e.Buffers > maxEagerBuffers:
		return fmt.Errorf("%w: %d bytes of eager buffers: expected 1 to %d", drivers.ErrConfig, e.Buffers, maxEagerBuffers)
	case min(e.Lengths, e.Pool, e.Weights) < 0:
		return fmt.Errorf("%w: %d lengths of eager buffers, a pool of %d, weights up to %d: expected 0 or more",
			drivers.ErrConfig, e.Lengths, e.Pool, e.Weights)
	case e.NotReady && (e.Published || max(e.Lengths, e.Pool, e.Weights) > 0):
		return fmt.Errorf("%w: not-ready receivers have no buffers: expected no settings of buffers", drivers.ErrConfig)
	case e.Idle < 0:
		return fmt.Errorf("%w: idle time of eager buffers of %d ps: expected 0 or more", drivers.ErrConfig, e.Idle)
	}
	return nil
}

// An EagerRank holds the counters of a rank's channels since the world began.
type EagerRank struct {
	Rank      int    `json:"rank"`
	Threshold int    `json:"greatest_threshold_bytes"` // largest of its channels
	Switches  uint64 `json:"switches"`                 // completed changes, begun by either side
	Refused   uint64 `json:"refused"`
	Buffered  uint64 `json:"buffered_messages"`
	Short     uint64 `json:"short_of_buffers"` // messages without a free buffer, although the buffer size would suffice
	Grown     uint64 `json:"buffers_granted"`
	Shrunk    uint64 `json:"buffers_taken_back"`
	Bytes     int    `json:"buffer_bytes"` // currently allocated
	Most      int    `json:"most_buffer_bytes"`
	// Longest is the duration of the longest change that the rank began, Switching the sum of all,
	// from the request to the last acknowledgement.
	Longest   drivers.Time `json:"longest_switch_ps"`
	Switching drivers.Time `json:"all_switches_ps"`
	Begun     uint64       `json:"switches_begun"`
	// Spent is the core time of changes.
	Spent drivers.Time `json:"core_ps"`
	// Freeing is the core time of messages that return buffers.
	Freeing drivers.Time `json:"freeing_ps"`
	// Streams counts puts to receivers that were not known to be ready; nil: none.
	Streams *threshold.StreamStats `json:"streams,omitempty"`
}

// eagerRanks returns the counters of the channels; nil: there are none.
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
