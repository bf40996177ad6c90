package bridge

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A message buffer carries one message past the socket while its receiver waits at it; protocol.h
// has the rules. Both ends do the same on opposite buffers.
type msgBuffer struct {
	state  atomic.Uint32
	bytes  uint32
	lookNS uint32 // of commands: how long the simulator is to look for the next message
	_      [52]byte
	data   [msgBufferData]byte
}

const (
	msgBufferBytes = 4096
	msgBufferData  = msgBufferBytes - 64
	commandBuffer  = 12288 // offsets in the shared memory
	eventBuffer    = 16384
	msgBuffersEnd  = 20480
)

const (
	msgBufferIdle = iota
	msgBufferLooking
	msgBufferFull
	msgBufferSleeping
)

// napLimit is how long to sleep at a message buffer. It bounds how late the end of the other
// process is seen. A short one would cost: the timer that is next to expire has to be told to the
// (virtual) hardware.
const napLimit = 20 * time.Millisecond

// handOver gives b to a receiver that waits; an empty b sends it to the socket.
func (m *msgBuffer) handOver(b []byte) bool {
	state := m.state.Load()
	if state != msgBufferLooking && state != msgBufferSleeping {
		return false
	}
	m.bytes = uint32(copy(m.data[:], b))
	for !m.state.CompareAndSwap(state, msgBufferFull) {
		if state = m.state.Load(); state != msgBufferLooking && state != msgBufferSleeping {
			return false
		}
	}
	if state == msgBufferSleeping {
		m.wake()
	}
	return true
}

// expect tells the sender that the next message may come here. It comes before the message that
// asks for it: on one CPU that wakes the other side, which may have answered before we run again.
func (m *msgBuffer) expect() { m.state.Store(msgBufferLooking) }

// take waits for the expected message: it looks for some time, which may be 0, and then sleeps. The
// message stays valid until the next expect; an empty one means: look into the socket.
func (m *msgBuffer) take(look time.Duration) []byte {
	if m.state.Load() == msgBufferIdle {
		return nil // the rest of an answer
	}
	if look > 0 && m.look(look) || !m.nap() {
		return m.empty()
	}
	return nil
}

func (m *msgBuffer) empty() []byte {
	m.state.Store(msgBufferIdle)
	return m.data[:min(m.bytes, msgBufferData)]
}

// looksPerClock is how often to look between two looks at the clock, which costs
// some twenty times as much.
const looksPerClock = 64

// look tells whether a message came.
func (m *msgBuffer) look(limit time.Duration) bool {
	for start := time.Now(); time.Since(start) < limit; {
		for range looksPerClock {
			if m.state.Load() == msgBufferFull {
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
func (m *msgBuffer) nap() (missed bool) {
	if !m.state.CompareAndSwap(msgBufferLooking, msgBufferSleeping) {
		return false // it came just now
	}
	limit := unix.NsecToTimespec(int64(napLimit))
	m.sleep(&limit)
	return m.state.CompareAndSwap(msgBufferSleeping, msgBufferIdle)
}

const (
	futexWait = 0
	futexWake = 1
)

// sleep ends when the state is no more Sleeping, and for reasons of its own.
func (m *msgBuffer) sleep(limit *unix.Timespec) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWait, msgBufferSleeping,
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

func (m *msgBuffer) wake() {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWake, math.MaxInt32, 0, 0, 0)
}
