package bridge

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A lane carries one message past the socket while its receiver waits at it; protocol.h
// has the rules. Both ends do the same on opposite lanes.
type lane struct {
	state  atomic.Uint32
	bytes  uint32
	lookNS uint32 // command lane: how long the simulator is to look for the next message
	_      [52]byte
	data   [laneData]byte
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
	laneSleeping
)

// napLimit is how long to sleep at a lane. It bounds how late the end of the other process is
// seen. A short one would cost: the timer that is next to expire has to be told to the (virtual) hardware.
const napLimit = 20 * time.Millisecond

// handOver gives b to a receiver that waits; an empty b sends it to the socket.
func (l *lane) handOver(b []byte) bool {
	state := l.state.Load()
	if state != laneLooking && state != laneSleeping {
		return false
	}
	l.bytes = uint32(copy(l.data[:], b))
	for !l.state.CompareAndSwap(state, laneFull) {
		if state = l.state.Load(); state != laneLooking && state != laneSleeping {
			return false
		}
	}
	if state == laneSleeping {
		l.wake()
	}
	return true
}

// expect tells the sender that the next message may come here. It comes before the message that asks
// for it: on one CPU that wakes the other side, which may have answered before we run again.
func (l *lane) expect() { l.state.Store(laneLooking) }

// take waits for the expected message: it looks for some time, which may be 0, and then sleeps. The
// message stays valid until the next expect; an empty one means: look into the socket.
func (l *lane) take(look time.Duration) []byte {
	if l.state.Load() == laneIdle {
		return nil // the rest of an answer
	}
	if look > 0 && l.look(look) || !l.nap() {
		return l.empty()
	}
	return nil
}

func (l *lane) empty() []byte {
	l.state.Store(laneIdle)
	return l.data[:min(l.bytes, laneData)]
}

// looksPerClock is how often to look between two looks at the clock, which costs
// some twenty times as much.
const looksPerClock = 64

// look tells whether a message came.
func (l *lane) look(limit time.Duration) bool {
	for start := time.Now(); time.Since(start) < limit; {
		for range looksPerClock {
			if l.state.Load() == laneFull {
				return true
			}
		}
	}
	return false
}

// nap sleeps until a message comes, and tells whether none did. The state is left Idle then.
//
// The system call is a raw one. The runtime takes the P away from a goroutine that is in a
// system call for 20 µs, and a waking thread looks for another: two or three times what the sleep
// itself costs. A raw call keeps the P. When the runtime wants it, for the collector or for other
// goroutines, its signal ends the nap, and the rest of the wait is an ordinary read of the socket.
func (l *lane) nap() (missed bool) {
	if !l.state.CompareAndSwap(laneLooking, laneSleeping) {
		return false // it came just now
	}
	limit := unix.NsecToTimespec(int64(napLimit))
	l.sleep(&limit)
	return l.state.CompareAndSwap(laneSleeping, laneIdle)
}

const (
	futexWait = 0
	futexWake = 1
)

// sleep ends when the state is no more Sleeping, and for reasons of its own.
func (l *lane) sleep(limit *unix.Timespec) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&l.state)), futexWait, laneSleeping,
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

func (l *lane) wake() {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&l.state)), futexWake, math.MaxInt32, 0, 0, 0)
}
