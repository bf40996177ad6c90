package drivers

import (
	"errors"
	"fmt"
)

// Sentinel errors, for errors.Is.
var (
	ErrClosed       = errors.New("device is closed")
	ErrNotSupported = errors.New("not supported by this backend")
	// ErrPeerDied: the process or board behind the device has died.
	ErrPeerDied = errors.New("the device's other end died")
	// ErrProtocol: the peer sent something invalid.
	ErrProtocol = errors.New("bridge protocol violated")
	// ErrAssertion: an assertion in the RTL failed.
	ErrAssertion = errors.New("RTL assertion failed")
	// ErrStarved: the simulator process is alive but has not answered within the time limit.
	ErrStarved = errors.New("the simulator does not answer")
	// ErrEnvironment: a tool, device or resource is missing on this machine.
	ErrEnvironment = errors.New("missing on this machine")
	// ErrRunEnded is returned by every wait of a process whose run has ended: another process failed,
	// the run was cancelled, or it hangs.
	ErrRunEnded = errors.New("the run has ended")
	// ErrConfig: the request is invalid.
	ErrConfig = errors.New("bad configuration")
	// ErrQuiescent is returned by a wait that cannot end: no event is left in the simulated hardware.
	ErrQuiescent = errors.New("the hardware is quiescent and the awaited event cannot occur")
	// ErrTablesFull: the translation tables have no entry for a region, and none becomes free by
	// itself. ErrTablesBusy: entries become free once the hardware has unmapped others.
	ErrTablesFull = errors.New("the translation tables are full")
	ErrTablesBusy = errors.New("the translation tables have no entry yet")
)

// AXI error responses.
const (
	RespSLVERR = 2
	RespDECERR = 3 // no slave at that address
)

// A BusError is an access that the NIC answered with an error response.
type BusError struct {
	Node  int
	Port  string // "register" or "pio"
	Off   uint32
	Write bool
	Resp  int // RespSLVERR or RespDECERR
}

func (e *BusError) Error() string {
	verb, resp := "read", "SLVERR"
	if e.Write {
		verb = "write"
	}
	if e.Resp == RespDECERR {
		resp = "DECERR"
	}
	return fmt.Sprintf("node %d: %s %s at 0x%x: the NIC answered %s", e.Node, e.Port, verb, e.Off, resp)
}

// A DMAError is a DMA access of the NIC outside the memory of its node.
type DMAError struct {
	Node   int
	Addr   uint64
	Bytes  uint64
	Memory uint64 // size of the node's memory
}

func (e *DMAError) Error() string {
	return fmt.Sprintf("node %d: the NIC reached for %d bytes at 0x%x by DMA, outside the node's memory of 0x%x bytes; is a ring base wrong?",
		e.Node, e.Bytes, e.Addr, e.Memory)
}
