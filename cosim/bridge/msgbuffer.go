package bridge

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A message buffer passes one message around the socket while its receiver waits at it; protocol.h
// has the rules. Both ends do the same on opposite buffers.
type msgBuffer struct {
	state  atomic.Uint32
	bytes  uint32
	lookNS uint32 // in the command buffer: how long the simulator should poll for the next message
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

// napLimit is the maximum time to sleep at a message buffer, which bounds the delay until the exit
// of the other process is noticed. A short limit would be expensive, because the next timer to
// expire must be programmed in the (virtual) hardware.
const napLimit = 20 * time.Millisecond

// handOver passes b to a waiting receiver; an empty b makes it read the socket.
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

// expect announces that the next message may use the buffer. It is called before the request is
// sent: on one CPU the request wakes the other side, which may answer before this side runs again.
func (m *msgBuffer) expect() { m.state.Store(msgBufferLooking) }

// take waits for the expected message: it polls for some time, possibly 0, and then sleeps. The
// message is valid until the next expect; an empty one means: read the socket.
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

// looksPerClock is the number of polls between two reads of the clock, which cost about twenty
// times as much.
const looksPerClock = 64

// look reports whether a message arrived.
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

// nap sleeps until a message arrives. If none did, it returns true and leaves the state Idle.
//
// The system call is a raw one. The runtime retakes the P of a goroutine that is in a system call
// for 20 µs, and a waking thread looks for another: two or three times the cost of the sleep
// itself. A raw call keeps the P. When the runtime needs it, for the collector or for other
// goroutines, its signal ends the nap, and the rest of the wait is an ordinary read of the socket.
func (m *msgBuffer) nap() (missed bool) {
	if !m.state.CompareAndSwap(msgBufferLooking, msgBufferSleeping) {
		return false // it has just arrived
	}
	limit := unix.NsecToTimespec(int64(napLimit))
	m.sleep(&limit)
	return m.state.CompareAndSwap(msgBufferSleeping, msgBufferIdle)
}

const (
	futexWait = 0
	futexWake = 1
)

// sleep ends when the state is no longer Sleeping, or spuriously.
func (m *msgBuffer) sleep(limit *unix.Timespec) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWait, msgBufferSleeping,
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

func (m *msgBuffer) wake() {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&m.state)), futexWake, math.MaxInt32, 0, 0, 0)
}
