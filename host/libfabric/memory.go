package libfabric

import (
	"fmt"

	"github.com/nicloop/nicloop/host"
)

// buffer finds memory for a message: what the hardware reaches if it is long, as a registration
// cache would have registered the program's own.
func (x *session) buffer(n uint64) (buf []byte, dma bool) {
	if n > host.EagerMax {
		if buf, err := x.r.Alloc(int(n)); err == nil {
			return buf, true
		}
		return make([]byte, n), false
	}
	if k := len(x.spare); k > 0 {
		buf = x.spare[k-1]
		x.spare = x.spare[:k-1]
	} else {
		buf = make([]byte, host.EagerMax)
	}
	return buf[:n], false
}

func (x *session) release(op *operation) error {
	switch {
	case op.dma:
		return x.r.Free(op.Buf)
	case cap(op.Buf) == host.EagerMax && len(x.spare) < 64:
		x.spare = append(x.spare, op.Buf[:host.EagerMax])
	}
	return nil
}

// fetch reads the bytes of a request from its slot, or from the program.
func (x *session) fetch(r *request, into []byte) error {
	if r.flags&flagInline != 0 {
		copy(into, x.region.sent[x.region.requestTail%slots][:])
		return nil
	}
	return x.readMemory(r.address, into)
}

// readMemory copies memory of the program.
func (x *session) readMemory(address uint64, into []byte) error {
	if err := readProgram(int(x.link.pid.Load()), address, into); err != nil {
		return fmt.Errorf("rank %d: %w", x.link.rank, err)
	}
	return nil
}

// writeMemory copies bytes into memory of the program.
func (x *session) writeMemory(address uint64, from []byte) error {
	if err := writeProgram(int(x.link.pid.Load()), address, from); err != nil {
		return fmt.Errorf("rank %d: %w", x.link.rank, err)
	}
	return nil
}
