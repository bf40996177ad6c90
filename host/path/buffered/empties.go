package buffered

import (
	"encoding/binary"

	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/threshold"
)

// An emptied buffer may be used again by its peer, who does not know that yet.
type emptied struct {
	peer int
	threshold.Message
}

const emptyBytes = 12

// Deferred implements path.Deferrer: it tells the peers which buffers they may use again, those of
// a peer in one message, because each message costs as much as a handshake.
func (p *Path) Deferred() error {
	if len(p.emptied) == 0 {
		return nil
	}
	began := p.e.Proc.Now()
	for len(p.emptied) > 0 {
		peer := p.emptied[0].peer
		if err := p.e.EnqueueAhead(peer, p.nextEmpties()); err != nil {
			return err
		}
	}
	p.freeing += p.e.Proc.Now() - began
	return nil
}

// nextEmpties puts the buffers of the first peer and generation in the list into one message, as
// many as it holds.
func (p *Path) nextEmpties() *path.Outgoing {
	first := p.emptied[0]
	q := p.e.NewControl(path.Empties)
	q.Envelope.Tag = int32(first.Generation)
	n, keep := 0, p.emptied[:0]
	for _, m := range p.emptied {
		if m.peer != first.peer || m.Generation != first.Generation || n+emptyBytes > min(len(q.Buf), regs.VELOPayload-path.HeaderBytes) {
			keep = append(keep, m)
			continue
		}
		binary.LittleEndian.PutUint64(q.Buf[n:], m.Address)
		binary.LittleEndian.PutUint32(q.Buf[n+8:], uint32(m.Bytes))
		n += emptyBytes
	}
	p.emptied = keep
	q.Shorten(n)
	return q
}

// deliverEmpties handles a message about buffers at a peer that this rank may use again.
func (p *Path) deliverEmpties(from int, h path.Header, b []byte) error {
	if len(b) == 0 || len(b)%emptyBytes != 0 {
		return peererror.BadField(from, "length of a message about empty buffers", len(b), "a multiple of %d bytes", emptyBytes)
	}
	began := p.e.Proc.Now()
	p.e.Proc.Spend(p.e.Cost.Match)
	for ; len(b) > 0; b = b[emptyBytes:] {
		m := threshold.Message{
			Kind: threshold.Empty, Generation: uint16(h.Tag), Address: binary.LittleEndian.Uint64(b), Bytes: int(binary.LittleEndian.Uint32(b[8:])),
		}
		if err := p.core.Allowed(from, m); err != nil {
			return err
		}
		p.core.Hear(from, m)
	}
	err := p.drain()
	p.freeing += p.e.Proc.Now() - began
	return err
}
