package libfabric

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// The layout of the memory that a rank shares with this process: provider/ring.h.
const (
	magic   = 0x4946494e
	version = 6
	slots   = 256
	inlined = 2048
)

type opcode uint32

const (
	opSend        opcode = 1
	opRecv        opcode = 2
	opRecvClaimed opcode = 3
	opWrite       opcode = 4
	opRead        opcode = 5
	opAtomic      opcode = 6
	opPeek        opcode = 7 // the program waits for the answer, as for those below
	opCancel      opcode = 8
	opPoll        opcode = 9
	opClock       opcode = 10
	opFinalize    opcode = 11
	opRegister    opcode = 12
	opUnregister  opcode = 13
)

func (o opcode) String() string {
	names := [...]string{"none", "send", "receive", "receive of a claimed message", "write", "read", "atomic", "peek",
		"cancel", "poll", "clock", "finalize", "registration", "end of a registration"}
	if int(o) < len(names) {
		return names[o]
	}
	return fmt.Sprintf("opcode(%d)", uint32(o))
}

const (
	flagTagged = 1 << iota
	flagCompletion
	flagClaim
	flagDiscard
	flagMatched
	flagMulti
	flagNoWait
	flagHasData
	flagInline
)

type request struct {
	op               opcode
	flags            uint32
	context          uint64
	address, length  uint64
	tag, ignore      uint64
	data             uint64
	peer             int32
	minMulti         uint32
	computeNS, spent uint64
	result           uint64 // address of what an atomic fetches; 0: nothing
	atomicOp         uint16
	datatype         uint16
	compares         uint32 // 1: the operands are followed by values to compare with
	endpoint         uint32
	_                [28]byte
}

// origin returns the flags of a completion that identify the queue of its operation.
func (r *request) origin() uint32 { return r.flags&flagTagged<<2 | r.endpoint<<endpointShift }

// completionFlags returns origin, and silent if the program does not want the completion.
func (r *request) completionFlags() uint32 {
	if r.flags&flagCompletion == 0 {
		return r.origin() | silent
	}
	return r.origin()
}

const (
	wasSend = 1 << iota
	wasRecv
	wasTagged
	withData
	bufferDone
	wasPeek
	silent
	wasWrite
	wasRead
	wasAtomic
	wasRemoteWrite
)

// endpointShift is where the flags of a completion have the number of its endpoint.
const endpointShift = 24

type completion struct {
	context           uint64
	flags             uint32
	err               int32
	length, tag, data uint64
	source            int32
	copied            uint32
	address, overflow uint64
}

type region struct {
	magic, version, rank, size uint32
	nowPS                      uint64
	quietPS, pollPS            uint64
	ended, node                uint32
	_                          [4]uint32
	requestHead                uint32
	answered                   uint32
	rankSleeps                 uint32
	_                          [13]uint32
	requestTail                uint32
	doorbell                   uint32
	worldSleeps                uint32
	_                          [13]uint32
	completionHead             uint32
	_                          [15]uint32
	completionTail             uint32
	_                          [15]uint32
	mpiPS, calls               uint64
	call                       [48]byte
	aborted, abortCode         uint32
	result                     int32
	_                          uint32
	localPolls                 uint64
	_                          [4096 - 5*64 - 88]byte
	requests                   [slots]request
	completions                [slots]completion
	sent, received             [slots][inlined]byte
}

const regionBytes = int(unsafe.Sizeof(region{}))

// pending tells whether the program has posted a request that is not done.
func (r *region) pending() bool { return atomic.LoadUint32(&r.requestHead) != r.requestTail }

// sleep waits for a request for at most t.
func (r *region) sleep(t time.Duration) {
	atomic.StoreUint32(&r.worldSleeps, 1)
	seen := atomic.LoadUint32(&r.doorbell)
	if !r.pending() {
		sleepOnFutex(&r.doorbell, seen, t)
	}
	atomic.StoreUint32(&r.worldSleeps, 0)
}

// answer tells the program that the oldest request is done.
func (r *region) answer() {
	r.requestTail++
	atomic.StoreUint32(&r.answered, r.requestTail)
	if atomic.LoadUint32(&r.rankSleeps) != 0 {
		wakeFutex(&r.answered)
	}
}

// end fails all calls of the program from now on.
func (r *region) end() {
	atomic.StoreUint32(&r.ended, 1)
	wakeFutex(&r.answered)
}

// wake ends a sleep of the world.
func (r *region) wake() {
	atomic.AddUint32(&r.doorbell, 1)
	wakeFutex(&r.doorbell)
}

// complete writes a completion; not ok: the ring is full.
func (r *region) complete(c *completion, bytes []byte) bool {
	if r.completionHead-atomic.LoadUint32(&r.completionTail) == slots {
		return false
	}
	slot := r.completionHead % slots
	r.completions[slot] = *c
	r.completions[slot].copied = uint32(copy(r.received[slot][:], bytes))
	atomic.StoreUint32(&r.completionHead, r.completionHead+1)
	return true
}

// mpiCall is the MPI function that the program is in.
func (r *region) mpiCall() string {
	for i, c := range r.call {
		if c == 0 {
			return string(r.call[:i])
		}
	}
	return string(r.call[:])
}
