package host

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/peererror"
	"github.com/nicloop/nicloop/host/match"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/nicloop/nicloop/rma"
	"github.com/nicloop/nicloop/velo"
)

// Rank 1 is a hostile program in these tests: its packets are valid for the hardware and the flow
// control, and have arbitrary contents. Rank 0 must report errors that name rank 1.

// A forger sends raw packets from rank 1.
type forger struct {
	r   *Rank
	seq uint32
}

// send sends one packet and discards received ones. It gives up when no credits arrive any more.
func (f *forger) send(b []byte) error {
	var pkt velo.Packet
	for range 200 {
		for more := true; more; {
			var err error
			if _, more, err = f.r.Endpoint().Take(&pkt); err != nil {
				return err
			}
		}
		err := f.r.Endpoint().Send(0, b)
		if !errors.Is(err, velo.ErrTryAgain) {
			return err
		}
		f.r.engine.Proc.WaitArrival(f.r.Now() + drivers.Microsecond)
	}
	return errDeaf
}

// message sends a message of one packet with the right sequence number.
func (f *forger) message(kind path.Kind, tag int32, body []byte) error {
	b := make([]byte, HeaderBytes, HeaderBytes+len(body))
	path.Header{Tag: tag, Length: uint32(len(body)), Seq: f.seq, Kind: kind}.Put(b)
	f.seq++
	return f.send(append(b, body...))
}

func control(c rendezvous.Control) []byte {
	b := make([]byte, rendezvous.ControlBytes)
	c.Put(b)
	return b
}

func handshake(m threshold.Message) []byte {
	b := make([]byte, threshold.MessageBytes)
	m.Put(b)
	return b
}

// errDeaf is the error when rank 0 returns no credits any more.
var errDeaf = errors.New("no credits come")

// A ringWord is a message about a ring as package path/ring decodes it.
type ringWord struct {
	what, entry uint8
	entries     uint16
	length      uint32
	base, free  uint64
}

const (
	ringAsk uint8 = iota + 1
	ringGrant
	ringFree
)

func (w ringWord) put(b []byte) {
	b[0], b[1] = w.what, w.entry
	binary.LittleEndian.PutUint16(b[2:], w.entries)
	binary.LittleEndian.PutUint32(b[4:], w.length)
	binary.LittleEndian.PutUint64(b[8:], w.base)
	binary.LittleEndian.PutUint64(b[16:], w.free)
}

func ringBody(w ringWord) []byte {
	b := make([]byte, path.ControlBytes)
	w.put(b)
	return b
}

// A forgery is what rank 0 begins, and what rank 1 sends then.
type forgery struct {
	plan  plan
	begin func(r *Rank) error
	forge func(f *forger) error
	field string // that the error names; empty: any PeerError
}

func receive(n, tag int) func(r *Rank) error {
	return func(r *Rank) error {
		_, err := r.Irecv(1, tag, make([]byte, n))
		return err
	}
}

func sendOf(n, tag int) func(r *Rank) error {
	return func(r *Rank) error {
		_, err := r.Isend(1, tag, make([]byte, n))
		return err
	}
}

const firstSend = rendezvous.ID(1 << 16) // the name of a rank's first send

func controls(list ...rendezvous.Control) func(f *forger) error {
	return func(f *forger) error {
		for _, c := range list {
			kind := path.Rendezvous
			if c.Kind == rendezvous.RTS || c.Kind == rendezvous.Claim {
				kind = path.RTS
			}
			if err := f.message(kind, 1, control(c)); err != nil {
				return err
			}
		}
		return nil
	}
}

func handshakes(list ...threshold.Message) func(f *forger) error {
	return func(f *forger) error {
		for _, m := range list {
			if err := f.message(path.Threshold, 1, handshake(m)); err != nil {
				return err
			}
		}
		return nil
	}
}

func forgeries() map[string]forgery {
	rget, rput, spec := inPairs(RGET), inPairs(RPUT), inPairs(Spec)
	full := withEager(RGET, Eager{Threshold: 8192})
	const far = 1 << 60
	return map[string]forgery{
		"an RTS by speculation":           {rget, receive(5000, 1), controls(rendezvous.Control{Kind: rendezvous.RTS, Protocol: 4, From: firstSend, Address: 64, Bytes: 5000}), "protocol"},
		"an RTS beyond the address space": {rget, receive(5000, 1), controls(rendezvous.Control{Kind: rendezvous.RTS, Protocol: 1, From: firstSend, Address: far, Bytes: 5000}), "address"},
		"a FIN in place of an RTS": {rget, receive(5000, 1), func(f *forger) error {
			return f.message(path.RTS, 1, control(rendezvous.Control{Kind: rendezvous.FIN, Protocol: 1, From: firstSend, Address: 64, Bytes: 5000}))
		}, "kind"},
		"a CTS without an address":                       {rput, sendOf(5000, 1), controls(rendezvous.Control{Kind: rendezvous.CTS, To: firstSend, Bytes: 5000}), "address"},
		"a CTS for no bytes":                             {rput, sendOf(5000, 1), controls(rendezvous.Control{Kind: rendezvous.CTS, To: firstSend, Address: 64}), "bytes"},
		"a READY that was not asked for":                 {rget, receive(5000, 1), controls(rendezvous.Control{Kind: rendezvous.RTS, Protocol: 1, From: firstSend, Bytes: 5000}, rendezvous.Control{Kind: rendezvous.Ready, To: firstSend | 1<<15}), "address"},
		"more RTRs than may be out":                      {spec, sendOf(10, 2), controls(manyRTRs(1100)...), "RTR"},
		"a ring that is asked for twice":                 {reusing(ReuseCopy), nil, func(f *forger) error { return f.rings(ringWord{what: ringAsk}, ringWord{what: ringAsk}) }, "ring"},
		"a ring beyond the address space":                {reusing(ReuseCopy), sendOf(1000, 1), func(f *forger) error { return f.rings(ringWord{what: ringGrant, entries: 4, base: far}) }, "base"},
		"entries of a ring that are not away":            {reusing(ReuseCopy), nil, func(f *forger) error { return f.rings(ringWord{what: ringFree, free: 1}) }, "entries"},
		"a grant of a buffer of negative bytes":          {full, nil, handshakes(threshold.Message{Kind: threshold.Grant, Count: 1, Bytes: -64, Address: 64}), "bytes"},
		"a grant of 65535 buffers":                       {full, nil, handshakes(threshold.Message{Kind: threshold.Grant, Count: 65535, Bytes: 64, Address: 64}), "count"},
		"a grant beyond the address space":               {full, nil, handshakes(threshold.Message{Kind: threshold.Grant, Count: 1, Bytes: 64, Address: far}), "address"},
		"a request of a negative threshold":              {full, nil, handshakes(threshold.Message{Kind: threshold.Request, Bytes: -5}), "bytes"},
		"a buffer that is returned with a message in it": {full, nil, func(f *forger) error { return f.returnFull() }, "address"},
		"a stream's message that passes before there is one": {notReadyPlan(RGET), wantStream, handshakes(
			threshold.Message{Kind: threshold.Passed, Tag: 1, Address: 64}), "message"},
		"a stream of negative bytes": {notReadyPlan(RGET), nil, handshakes(threshold.Message{Kind: threshold.StreamRequest, Tag: 1, Bytes: -1}), "bytes"},
		"a message of a stream that is too long": {notReadyPlan(RGET), receive(1<<18, 1), func(f *forger) error {
			if err := handshakes(threshold.Message{Kind: threshold.StreamRequest, Tag: 1, Bytes: 4096}, threshold.Message{Kind: threshold.StreamOpened, Tag: 1})(f); err != nil {
				return err
			}
			body := make([]byte, threshold.MessageBytes)
			binary.LittleEndian.PutUint64(body[8:], 1<<18)
			return f.message(path.NotReady, 1, body)
		}, "length"},
	}
}

func manyRTRs(n int) (list []rendezvous.Control) {
	for range n {
		list = append(list, rendezvous.Control{Kind: rendezvous.RTR, From: firstSend | 1<<15, To: 0, Detail: 1, Address: 64, Bytes: 5000})
	}
	return list
}

func (f *forger) rings(list ...ringWord) error {
	for _, w := range list {
		if err := f.message(path.RingControl, 0, ringBody(w)); err != nil {
			return err
		}
	}
	return nil
}

// returnFull obtains a buffer at rank 0, names it in a message, and then releases it.
func (f *forger) returnFull() error {
	at := uint64(f.r.buffered.Area()) // alike at both ranks
	if err := handshakes(
		threshold.Message{Kind: threshold.Request, Bytes: 8192},
		threshold.Message{Kind: threshold.NewRequest, Generation: 1, Count: 1, Bytes: 8192, Address: at},
		threshold.Message{Kind: threshold.Established}, threshold.Message{Kind: threshold.Acknowledged},
	)(f); err != nil {
		return err
	}
	body := make([]byte, threshold.MessageBytes)
	binary.LittleEndian.PutUint64(body, at)
	binary.LittleEndian.PutUint64(body[8:], 5000)
	if err := f.message(path.Buffered, 1, body); err != nil {
		return err
	}
	if err := handshakes(threshold.Message{Kind: threshold.Return, Generation: 1, Address: at})(f); err != nil {
		return err
	}
	_, err := f.r.engine.DMA.Port.Put(f.r.engine.DMA.Peers[0], f.r.buffered.Area(), rma.NLA(at), 5000, rma.Requester|rma.Completer)
	return err
}

// wantStream makes rank 0 request a stream, as after many messages without overlap.
func wantStream(r *Rank) error {
	for range 8 {
		op := &path.Op{Posted: r.Now() - 110}
		op.Envelope = match.Envelope{Source: 1, Tag: 1}
		r.engine.WaitsSince = r.Now() - 10
		if err := r.notready.LongDone(op, 1, 5000); err != nil {
			return err
		}
	}
	r.engine.WaitsSince = 0
	return nil
}

// A forged message is an error at its receiver that names the peer and the field.
func TestForgedMessages(t *testing.T) {
	for name, c := range forgeries() {
		t.Run(name, func(t *testing.T) {
			var got error
			err := newRig(t, c.plan).run(func(r *Rank) error {
				if r.ID() == 1 {
					return (&forger{r: r}).play(c.forge)
				}
				if c.begin != nil {
					if err := c.begin(r); err != nil {
						return err
					}
				}
				for range 3000 {
					r.Compute(drivers.Microsecond)
					if got = r.poll(); got != nil {
						return got
					}
				}
				return errors.New("rank 0 accepted all packets")
			})
			require.ErrorIs(t, err, got)
			var peer *peererror.Error
			require.ErrorAs(t, err, &peer)
			require.Equal(t, "rank 1", peer.Peer)
			require.Contains(t, peer.Field, c.field)
		})
	}
}

// play sends the forged packets. It is no failure if rank 0 stops receiving.
func (f *forger) play(forge func(f *forger) error) error {
	f.r.Compute(20 * drivers.Microsecond)
	if err := forge(f); err != nil && !errors.Is(err, errDeaf) {
		return err
	}
	f.r.Compute(4 * drivers.Millisecond)
	return nil
}

func putWord(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }
