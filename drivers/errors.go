package drivers

import (
	"errors"
	"fmt"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrClosed       = errors.New("device is closed")
	ErrNotSupported = errors.New("not supported by this backend")
	// ErrPeerDied: the process or board behind the device is gone.
	ErrPeerDied = errors.New("the device's other end died")
	// ErrProtocol: the other end said something that cannot be understood.
	ErrProtocol = errors.New("bridge protocol violated")
	// ErrAssertion: an assertion in the RTL failed.
	ErrAssertion = errors.New("RTL assertion failed")
	// ErrStarved: the simulator lives but has not answered in wall time.
	ErrStarved = errors.New("the simulator does not answer")
	// ErrEnvironment: a tool or device is missing on this machine.
	ErrEnvironment = errors.New("missing on this machine")
	// ErrRunEnded is returned by every wait of a process whose run has ended: another process failed,
	// the run was cancelled, or it hangs.
	ErrRunEnded = errors.New("the run has ended")
	// ErrConfig: the request itself is wrong.
	ErrConfig = errors.New("bad configuration")
)

// AXI's answers to an access that failed.
const (
	RespSLVERR = 2
	RespDECERR = 3 // nothing is at that address
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

// A DMAError is a DMA access of the NIC outside its node's memory.
type DMAError struct {
	Node   int
	Addr   uint64
	Bytes  uint64
	Memory uint64 // what the node has
}

func (e *DMAError) Error() string {
	return fmt.Sprintf("node %d: the NIC reached for %d bytes at 0x%x by DMA, outside the node's memory of 0x%x bytes; is a ring base wrong?",
		e.Node, e.Bytes, e.Addr, e.Memory)
}
