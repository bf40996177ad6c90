package host

import (
	"errors"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
)

// fuzzPlans returns a world for each path, because each path has receivers of its own.
func fuzzPlans() []plan {
	return []plan{
		inPairs(RGET), inPairs(RPUT), inPairs(Chunked), inPairs(Spec), reusing(ReuseCopy), reusing(ReuseAdapt),
		withEager(RGET, Eager{Threshold: 8192}), withEager(RPUT, Eager{Handshake: threshold.Partial, Threshold: 8192}), notReadyPlan(RGET),
	}
}

// A tape is the input of a fuzz test, read byte by byte; zeros follow its end.
type tape []byte

func (t *tape) byte() byte {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return b
}

// of picks one of a list, most of which are values that a peer could send.
func of[T any](t *tape, list ...T) T { return list[int(t.byte())%len(list)] }

// FuzzReceive lets rank 1 send arbitrary packets and write to all memory that it can reach, while
// rank 0 sends, receives and cancels messages. Rank 0 must not panic on any path.
func FuzzReceive(f *testing.F) {
	for mode := range uint8(9) {
		f.Add(mode, []byte{1, 0, 2, 1}, []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"))
		f.Add(mode, []byte{0, 0, 1, 1, 5, 9}, []byte{6, 15, 1, 0, 2, 0, 6, 13, 1, 1, 0, 1})
	}
	f.Fuzz(func(t *testing.T, mode uint8, calls, packets []byte) {
		if len(calls) > 40 || len(packets) > 400 {
			return
		}
		plans := fuzzPlans()
		_ = newRig(t, plans[int(mode)%len(plans)]).run(func(r *Rank) error {
			if r.ID() == 1 {
				r.Compute(10 * drivers.Microsecond)
				in := tape(packets)
				forger := &forger{r: r}
				for len(in) > 0 {
					if err := forger.fuzz(&in); err != nil {
						return err
					}
				}
				r.Compute(drivers.Millisecond)
				return nil
			}
			return fuzzCalls(r, tape(calls))
		})
	})
}

// fuzzCalls executes calls at rank 0 until one returns an error.
func fuzzCalls(r *Rank, in tape) error {
	var under []*Request
	for len(in) > 0 {
		n, tag := of(&in, 0, 40, 1000, 2049, 5000, 20000, 200000), int(in.byte()%3)
		buf := make([]byte, n)
		if in.byte()&1 != 0 {
			if at, err := r.Alloc(n); err == nil {
				buf = at
			}
		}
		var q *Request
		var err error
		switch in.byte() % 5 {
		case 0:
			q, err = r.Isend(1, tag, buf)
		case 1:
			q, err = r.Irecv(1, tag, buf)
		case 2:
			q, err = r.Irecv(AnySource, AnyTag, buf)
		case 3:
			q, err = r.Issend(1, tag, buf)
		case 4:
			if len(under) > 0 {
				err = r.Cancel(under[int(in.byte())%len(under)])
			}
		}
		if q != nil {
			under = append(under, q)
		}
		for range in.byte() % 16 {
			if err == nil {
				r.Compute(drivers.Microsecond)
				err = r.poll()
			}
		}
		if err != nil {
			return err
		}
	}
	for range 60 {
		r.Compute(2 * drivers.Microsecond)
		if err := r.poll(); err != nil {
			return err
		}
	}
	return errors.New("the end")
}

// fuzz sends a packet or puts some bytes.
func (f *forger) fuzz(in *tape) error {
	tag := int32(in.byte()%4) - 1
	id := func() rendezvous.ID {
		return rendezvous.ID(in.byte()%3)<<16 | rendezvous.ID(in.byte()%3) | rendezvous.ID(in.byte()&1)<<15
	}
	address := func() uint64 {
		own := uint64(0)
		switch {
		case f.r.buffered != nil: // alike at both ranks
			own = uint64(f.r.buffered.Area()) + uint64(in.byte()%3)*8192
		case f.r.ring != nil:
			at, _ := f.r.ring.Area()
			own = uint64(at)
		}
		return of(in, own, own, 0, 64, 1<<47, 1<<48-8, 1<<63)
	}
	size := func() int { return of(in, 5000, 8192, 0, 1, 64, 2049, 200000, -1, 1<<31-1) }
	switch in.byte() % 9 {
	case 0:
		b := make([]byte, in.byte()%57)
		for i := range b {
			b[i] = in.byte()
		}
		return f.send(b)
	case 1, 2:
		kind := rendezvous.Kind(in.byte()%uint8(rendezvous.FirstFree)) + 1
		c := rendezvous.Control{
			Kind: kind, Protocol: in.byte() % 6, Code: rendezvous.Code(in.byte() % 6), Detail: in.byte(),
			From: id(), To: id(), Address: address(), Bytes: uint32(size()),
		}
		header := path.Rendezvous
		if kind == rendezvous.RTS || kind == rendezvous.Claim {
			header = path.RTS
		}
		return f.message(header, tag, control(c))
	case 3:
		w := ringWord{what: uint8(in.byte() % 5), entry: in.byte() % 5, entries: uint16(of(in, 4, 0, 64, 65, 65535)), length: uint32(size()), base: address(), free: uint64(in.byte() % 16)}
		return f.message(of(in, path.Ring, path.RingControl), tag, ringBody(w))
	case 4:
		m := threshold.Message{
			Kind: threshold.Kind(in.byte()%24 + 1), Generation: uint16(in.byte() % 3), Count: uint16(of(in, 1, 0, 2, 65535)), Bytes: size(),
			Address: address(), Tag: tag, Comm: uint16(in.byte() & 1),
		}
		return f.message(path.Threshold, tag, handshake(m))
	case 5, 6: // a buffer, or a stream
		m := threshold.Message{Address: of(in, address(), uint64(in.byte()%4)), Bytes: size()}
		b := handshake(m)
		return f.message(of(in, path.Buffered, path.NotReady), tag, b)
	case 7:
		b := make([]byte, of(in, 12, 24, 36, 7, 0))
		for i := range b {
			b[i] = in.byte()
		}
		return f.message(path.Empties, int32(in.byte()%3), b)
	}
	_, err := f.r.engine.DMA.Port.PutImmediate(f.r.engine.DMA.Peers[0], rma.NLA(address()&(1<<48-1)), make([]byte, 8), of(in, rma.Requester, rma.Completer))
	if errors.Is(err, rma.ErrTryAgain) {
		err = nil
	}
	return err
}

// FuzzEvents fills the notification ring of a rank with arbitrary entries while messages are in
// flight.
func FuzzEvents(f *testing.F) {
	for mode := range uint8(9) {
		f.Add(mode, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	}
	f.Fuzz(func(t *testing.T, mode uint8, in []byte) {
		if len(in) > 400 {
			return
		}
		plans := fuzzPlans()
		g := newRig(t, plans[int(mode)%len(plans)])
		_ = g.run(func(r *Rank) error {
			buf, err := r.Alloc(5000)
			if err != nil || r.ID() == 1 {
				return errors.Join(err, func() error { r.Compute(2 * drivers.Millisecond); return nil }())
			}
			for _, begin := range []func() (*Request, error){
				func() (*Request, error) { return r.Isend(1, 1, buf) }, func() (*Request, error) { return r.Irecv(1, 1, buf) },
			} {
				if _, err := begin(); err != nil {
					return err
				}
			}
			ring, tape := g.sys.Device(0).Memory()[:rigNoti], tape(in)
			for seq := uint16(1); len(tape) > 0; seq++ {
				n := regs.RMANotiFields{
					Seq: seq, Unit: rma.Unit(tape.byte() % 4), Command: rma.Command(tape.byte() % 8), Error: of(&tape, regs.RMAError(0), 0, 1, 3, 7, 15),
					Last: tape.byte()&1 != 0, PeerNode: uint16(tape.byte() % 3), PeerVPID: tape.byte() % 2, BytesMinus1: uint32(tape.byte()),
				}
				at := ring[int(seq-1)%(len(ring)/regs.NotiBytes)*regs.NotiBytes:]
				putWord(at, uint64(tape.byte())<<48|uint64(of(&tape, 0, 64, 1<<20, 1<<47))+uint64(tape.byte()))
				putWord(at[8:], uint64(n.Pack()))
				r.Compute(drivers.Microsecond)
				if err := r.poll(); err != nil {
					return err
				}
			}
			return errors.New("the end")
		})
	})
}
