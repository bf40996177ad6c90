package host

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/threshold"
)

// An emptied buffer may be used again by its peer.
type emptied struct {
	peer int
	threshold.Message
}

const emptyBytes = 12

// tellEmpties says which buffers may be used again, those of a peer together: each message costs as much as the handshakes of a step. The rank
// has nothing else to do, or is about to do something else.
func (r *Rank) tellEmpties() error {
	e, began := r.eager(), r.proc.Now()
	if e == nil || len(e.empties) == 0 {
		return nil
	}
	for len(e.empties) > 0 {
		first := e.empties[0]
		q := r.newControl(kindEmpties)
		q.env.Tag = int32(first.Generation)
		n, keep := 0, e.empties[:0]
		for _, m := range e.empties {
			if m.peer != first.peer || m.Generation != first.Generation || n+emptyBytes > min(len(q.buf), regs.VELOPayload-HeaderBytes) {
				keep = append(keep, m)
				continue
			}
			binary.LittleEndian.PutUint64(q.buf[n:], m.Address)
			binary.LittleEndian.PutUint32(q.buf[n+8:], uint32(m.Bytes))
			n += emptyBytes
		}
		e.empties = keep
		q.buf, q.packets = q.buf[:n], Packets(n)
		if err := r.hurry(first.peer, q); err != nil {
			return err
		}
	}
	e.freeing += r.proc.Now() - began
	return nil
}

// fileEmpties hears of buffers of a peer that may be used again.
func (r *Rank) fileEmpties(from int, h header, b []byte) error {
	e, began := r.eager(), r.proc.Now()
	if e == nil || len(b) == 0 || len(b)%emptyBytes != 0 {
		return fmt.Errorf("%w: rank %d tells rank %d of eager buffers, which has none: all ranks need the same thresholds", drivers.ErrConfig, from, r.id)
	}
	r.proc.Spend(r.cost.Match)
	for ; len(b) > 0; b = b[emptyBytes:] {
		m := threshold.Message{
			Kind: threshold.Empty, Generation: uint16(h.tag), Address: binary.LittleEndian.Uint64(b), Bytes: int(binary.LittleEndian.Uint32(b[8:])),
		}
		if err := e.core.Allowed(from, m); err != nil {
			return err
		}
		e.core.Hear(from, m)
	}
	err := r.drainEager()
	e.freeing += r.proc.Now() - began
	return err
}
