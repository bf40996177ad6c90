package iwarpperf

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/iwarp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

// MinRping is the smallest size of the data: the text of a round must fit.
const MinRping = 64

// advertBytes is the length of the messages of rping: address 8, STag 4, length 4.
const advertBytes = 16

// Slots of rping. They are receive slots of the other measurements, which rping does not post.
const (
	pingReceives = 4         // slots that are posted
	pingSource   = slots - 1 // the client's data, which the server reads
	pingSink     = slots - 2 // the client's buffer, into which the server writes
	pingCopy     = slots - 3 // the server's copy of the data
)

// RpingOptions configure both roles of rping.
type RpingOptions struct {
	Address string
	Bytes   int // MinRping to MaxBytes: of the data
	Rounds  int // of the client
}

// rping is a connection of either role.
type rping struct {
	*endpoint
	arrived, sent int
	last          iwarp.WC
}

func newRping(a iwarp.Attachment) (*rping, error) {
	e, err := open(iwarp.RC, a, pingReceives)
	return &rping{endpoint: e}, err
}

func (p *rping) progress() (bool, error) {
	worked := p.Progress()
	var list [1]iwarp.WC
	for p.cq.Poll(list[:]) > 0 {
		w := &list[0]
		switch {
		case w.Status != iwarp.StatusSuccess:
			continue // failure reports it
		case w.Receive:
			p.arrived++
			p.last = *w
		default:
			p.sent++
		}
	}
	return worked, p.failure()
}

// completes waits for n work requests in all.
func (p *rping) completes(ctx context.Context, n int) error {
	return drive(ctx, p.progress, func() bool { return p.sent >= n })
}

// advert waits for the nth message of the peer and posts its buffer again.
func (p *rping) advert(ctx context.Context, n int) (b []byte, err error) {
	if err := drive(ctx, p.progress, func() bool { return p.arrived >= n }); err != nil {
		return nil, err
	}
	if p.last.Length != advertBytes {
		return nil, fmt.Errorf("message of %d bytes: rping sends %d", p.last.Length, advertBytes)
	}
	b = bytes.Clone(p.slot(p.last.ID)[:advertBytes])
	return b, p.receive(p.last.ID)
}

// announce sends the address of a buffer.
func (p *rping) announce(slot, length int) error {
	b := p.slot(slots)
	binary.BigEndian.PutUint64(b, uint64(slot*slotBytes))
	binary.BigEndian.PutUint32(b[8:], p.mr.STag())
	binary.BigEndian.PutUint32(b[12:], uint32(length))
	return p.send(rdmap.Send, 0, slots, advertBytes, netip.AddrPort{})
}

// RpingClient plays the role of rping -c: the server reads a buffer and writes it into another one,
// which must then be equal. It returns the number of bytes that were compared.
func RpingClient(ctx context.Context, o RpingOptions) (verified int, err error) {
	c := &Client{}
	defer c.Close()
	a, err := c.dial(ctx, o.Address, "")
	if err != nil {
		return 0, err
	}
	p, err := newRping(a)
	if err != nil {
		return 0, err
	}
	for i := range o.Rounds {
		source, sink := p.slot(pingSource)[:o.Bytes], p.slot(pingSink)[:o.Bytes]
		clear(source)
		n := copy(source, fmt.Sprintf("rdma-ping-%d: ", i))
		for j := range source[n : o.Bytes-1] {
			source[n+j] = byte('A' + (i+j)%58)
		}
		clear(sink)
		for half, slot := range []int{pingSource, pingSink} {
			if err := p.announce(slot, o.Bytes); err != nil {
				return verified, err
			}
			if _, err := p.advert(ctx, 2*i+half+1); err != nil {
				return verified, err
			}
		}
		if !bytes.Equal(source, sink) {
			return verified, fmt.Errorf("round %d: the returned data differ", i)
		}
		verified += o.Bytes
	}
	return verified, nil
}

// RpingServer plays the role of rping -s for one connection. It returns the number of bytes that it
// has read from the client and written back. listening is called with the address.
func RpingServer(ctx context.Context, o RpingOptions, listening func(net.Addr)) (moved int, err error) {
	l, err := net.Listen("tcp4", o.Address)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", drivers.ErrEnvironment, err)
	}
	defer l.Close()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	listening(l.Addr())
	conn, err := l.Accept()
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return 0, err
	}
	defer conn.Close()
	a, err := accept(conn, admitAll)
	if err != nil {
		return 0, err
	}
	p, err := newRping(a)
	if err != nil {
		return 0, err
	}
	for arrived, sent := 0, 0; ; {
		for _, opcode := range []rdmap.Opcode{rdmap.ReadRequest, rdmap.Write} {
			arrived++
			b, err := p.advert(ctx, arrived)
			if err != nil {
				if p.qp.State() == iwarp.Error && opcode == rdmap.ReadRequest && moved > 0 {
					err = nil // the client has ended
				}
				return moved, err
			}
			if sent, err = p.serve(ctx, opcode, b, sent); err != nil {
				return moved, err
			}
			moved += int(binary.BigEndian.Uint32(b[12:])) / 2
		}
	}
}

// serve reads or writes the buffer that an advert names, and answers.
func (p *rping) serve(ctx context.Context, opcode rdmap.Opcode, b []byte, sent int) (int, error) {
	length := int(binary.BigEndian.Uint32(b[12:]))
	if length > MaxBytes {
		return sent, fmt.Errorf("buffer of %d bytes: expected at most %d", length, MaxBytes)
	}
	list := [1]iwarp.SGE{{MR: p.mr, Offset: pingCopy * slotBytes, Length: length}}
	err := p.qp.PostSend(iwarp.Work{
		Opcode: opcode, List: list[:], RemoteSTag: binary.BigEndian.Uint32(b[8:]), RemoteTO: binary.BigEndian.Uint64(b),
	})
	if err != nil {
		return sent, err
	}
	if err := p.completes(ctx, sent+1); err != nil { // the answer must not overtake a Read
		return sent, err
	}
	copy(p.slot(slots), b)
	if err := p.send(rdmap.Send, 0, slots, advertBytes, netip.AddrPort{}); err != nil {
		return sent, err
	}
	return sent + 2, p.completes(ctx, sent+2)
}
