package bridge

import (
	"sync/atomic"
	"time"
)

// A lane carries one message past the socket while its receiver looks; protocol.h
// has the rules. Both ends do the same on opposite lanes.
type lane struct {
	state atomic.Uint32
	bytes uint32
	_     [56]byte
	data  [laneData]byte
}

const (
	laneBytes   = 4096
	laneData    = laneBytes - 64
	commandLane = 12288 // offsets in the shared memory
	eventLane   = 16384
	lanesEnd    = 20480
)

const (
	laneIdle = iota
	laneLooking
	laneFull
)

// handOver gives b to a receiver that looks; an empty b sends it to the socket.
func (l *lane) handOver(b []byte) bool {
	if l.state.Load() != laneLooking {
		return false
	}
	l.bytes = uint32(copy(l.data[:], b))
	return l.state.CompareAndSwap(laneLooking, laneFull)
}

// take looks for a message for as long as spin finds worth it. The message stays
// valid until the next take; an empty one means: look into the socket.
func (l *lane) take(spin *spin) []byte {
	if !spin.worthIt() {
		return nil
	}
	l.state.Store(laneLooking)
	start, last := time.Now(), time.Duration(0)
	for last < spin.limit {
		full := false
		for i := 0; i < looksPerClock && !full; i++ {
			full = l.state.Load() == laneFull
		}
		elapsed := time.Since(start)
		spin.looked(elapsed - last)
		if full {
			spin.paid()
			return l.empty()
		}
		last = elapsed
	}
	spin.failed()
	if l.state.CompareAndSwap(laneLooking, laneIdle) {
		return nil
	}
	return l.empty() // it came just now
}

func (l *lane) empty() []byte {
	l.state.Store(laneIdle)
	return l.data[:min(l.bytes, laneData)]
}

// looksPerClock is how often to look between two looks at the clock, which costs
// some twenty times as much.
const looksPerClock = 64

// A spin decides whether looking is worth it. Two things tell against it: waits that
// outlast the limit, and other threads that want the core. Each failure doubles the
// number of waits that go straight to sleep; losing the core for much of the time that
// we look is a failure of the worst kind. So long runs and busy machines lose little.
type spin struct {
	limit         time.Duration
	backoff, skip int
	spent, lost   time.Duration // looking; of that, without the core
}

const (
	maxBackoff = 1023
	lostCore   = 300 * time.Microsecond // between two looks: somebody else ran
	busyPeriod = 10 * time.Millisecond
)

func (s *spin) worthIt() bool {
	if s.limit <= 0 {
		return false
	}
	if s.skip > 0 {
		s.skip--
		return false
	}
	return true
}

// looked takes in the time between two looks at the clock.
func (s *spin) looked(d time.Duration) {
	s.spent += d
	if d > lostCore {
		s.lost += d
	}
}

func (s *spin) paid() {
	s.backoff = 0
	if s.spent < busyPeriod {
		return
	}
	if s.lost > s.spent/4 {
		s.skip = maxBackoff
	}
	s.spent, s.lost = 0, 0
}

func (s *spin) failed() {
	s.backoff = min(2*s.backoff+1, maxBackoff)
	s.skip = s.backoff
}
