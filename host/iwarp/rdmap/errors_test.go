package rdmap

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

// TestRemoteErrors provokes errors with a well-formed MPA stream and checks the code at both ends.
func TestRemoteErrors(t *testing.T) {
	untagged := func(o Opcode, qn, msn, mo uint32, n int) []byte {
		h := ddp.Header{Last: true, Control: Control(o), QN: qn, MSN: msn, MO: mo}
		return append(h.Append(nil), make([]byte, n)...)
	}
	tagged := func(o Opcode, stag uint32, to uint64, n int) []byte {
		h := ddp.Header{Tagged: true, Last: true, Control: Control(o), STag: stag, TO: to}
		return append(h.Append(nil), make([]byte, n)...)
	}
	read := func(r Read) []byte {
		h := ddp.Header{Last: true, Control: Control(ReadRequest), QN: QueueRead, MSN: 1}
		return r.Append(h.Append(nil))
	}
	change := func(b []byte, at int, value byte) []byte { b[at] = value; return b }
	const max = ^uint64(0)
	for _, c := range []struct {
		name string
		make func(rw, other, readOnly uint32) []byte
		want term.Code
	}{
		{"RFC 5041, 7.2: STag",
			func(rw, _, _ uint32) []byte { return tagged(Write, rw+1, 0x1000, 1) }, term.TaggedInvalidSTag},
		{"RFC 5041, 7.2: bounds",
			func(rw, _, _ uint32) []byte { return tagged(Write, rw, 0x1000+64, 1) }, term.TaggedBaseBounds},
		{"RFC 5041, 7.2: association",
			func(_, o, _ uint32) []byte { return tagged(Write, o, 0x1000, 1) }, term.TaggedNotAssociated},
		{"RFC 5041, 7.2: TO wrap", func(rw, _, _ uint32) []byte { return tagged(Write, rw, max, 2) }, term.TaggedTOWrap},
		{"RFC 5041, 7.2: tagged version",
			func(rw, _, _ uint32) []byte { return change(tagged(Write, rw, 0x1000, 1), 0, 0xc2) }, term.TaggedVersion},
		{"RFC 5041, 7.2: QN", func(_, _, _ uint32) []byte { return untagged(Send, 3, 1, 0, 1) }, term.UntaggedInvalidQN},
		{"RFC 5041, 7.2: no buffer", func(_, _, _ uint32) []byte { return untagged(Send, 0, 1, 0, 1) }, 0},
		{"RFC 5041, 7.2: MSN", func(_, _, _ uint32) []byte { return untagged(Send, 0, 2, 0, 1) }, term.UntaggedMSNRange},
		{"RFC 5041, 7.2: MO", func(_, _, _ uint32) []byte { return untagged(Send, 0, 1, 4, 1) }, term.UntaggedInvalidMO},
		{"RFC 5041, 7.2: too long",
			func(_, _, _ uint32) []byte { return untagged(Send, 0, 1, 0, 9) }, term.UntaggedMessageLarge},
		{"RFC 5041, 7.2: untagged version",
			func(_, _, _ uint32) []byte { return change(untagged(Send, 0, 1, 0, 1), 0, 0x40) }, term.UntaggedVersion},
		{"RFC 5040, 4.8: STag of a Read",
			func(rw, _, _ uint32) []byte { return read(Read{SourceSTag: rw + 1, SourceTO: 0x1000, Length: 1}) },
			term.InvalidSTag},
		{"RFC 5040, 4.8: bounds of a Read",
			func(rw, _, _ uint32) []byte { return read(Read{SourceSTag: rw, SourceTO: 0x1000, Length: 65}) }, term.BaseBounds},
		{"RFC 5040, 4.8: rights of a Write",
			func(_, _, ro uint32) []byte { return tagged(Write, ro, 0x1000, 1) }, term.AccessRights},
		{"RFC 5040, 4.8: rights of a Read",
			func(_, _, _ uint32) []byte { return read(Read{SourceSTag: 0x301, SourceTO: 0x1000, Length: 1}) },
			term.AccessRights},
		{"RFC 5040, 4.8: association of a Read",
			func(_, o, _ uint32) []byte { return read(Read{SourceSTag: o, SourceTO: 0x1000, Length: 1}) },
			term.STagNotAssociated},
		{"RFC 5040, 4.8: TO wrap of a Read",
			func(rw, _, _ uint32) []byte { return read(Read{SourceSTag: rw, SourceTO: max, Length: 2}) }, term.TOWrap},
		{"RFC 5040, 4.8: version",
			func(_, _, _ uint32) []byte { return change(untagged(Send, 0, 1, 0, 1), 1, 0x83) }, term.InvalidVersion},
		{"RFC 5040, 4.8: opcode",
			func(_, _, _ uint32) []byte { return change(untagged(Send, 0, 1, 0, 1), 1, 0x4c) }, term.UnexpectedOpcode},
		{"RFC 5040, 4.8: response without a request",
			func(rw, _, _ uint32) []byte { return tagged(ReadResponse, rw, 0x1000, 1) }, term.UnexpectedOpcode},
		{"RFC 5040, 4.8: STag that does not exist",
			func(_, _, _ uint32) []byte { return change(untagged(SendInvalidate, 0, 1, 0, 1), 4, 9) }, term.InvalidateFailed},
		{"RFC 5040, 4.8: STag of another domain", func(_, o, _ uint32) []byte {
			h := ddp.Header{Last: true, Control: Control(SendInvalidate), MSN: 1, Reserved: o}
			return h.Append(nil)
		}, term.ProtectNotInvalidated},
		{"RFC 5040, 5.1: length of a Read Request",
			func(_, _, _ uint32) []byte { return untagged(ReadRequest, 1, 1, 0, 20) }, term.CatastrophicStream},
		{"RFC 7306, 6: length of immediate data",
			func(_, _, _ uint32) []byte { return untagged(Immediate, 0, 1, 0, 7) }, term.CatastrophicStream},
		{"segment shorter than its header",
			func(_, _, _ uint32) []byte { return []byte{0x41, 0x43, 0} }, term.MarkerMismatch},
	} {
		a, b := newEnd(nil), newEnd(nil)
		rw, _ := b.region(ddp.RemoteRead|ddp.RemoteWrite, 64)
		readOnly, _ := b.region(ddp.RemoteRead, 64)
		b.region(ddp.RemoteWrite, 64) // STag 0x301
		other, _ := b.memory.Register(domain+1, ddp.RemoteRead|ddp.RemoteWrite, 0x1000, make([]byte, 64))
		if c.want == 0 {
			c.want = term.UntaggedNoBuffer
		} else if err := b.PostReceive(ddp.Buffer{ID: 1, Pieces: [][]byte{make([]byte, 8)}}); err != nil {
			t.Fatal(err)
		}
		_ = a.PostReceive(ddp.Buffer{ID: 2})
		segment := c.make(rw, other, readOnly)
		a.wire = a.tx.Append(a.wire, segment)
		if err := b.receive(a); !errors.Is(err, c.want) || b.State() != Terminating {
			t.Errorf("%s: %v in state %d, expected %v", c.name, err, b.State(), c.want)
			continue
		}
		if err := exchange(a, b); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		r := a.Remote()
		if a.State() != Closed || b.State() != Closed || !errors.Is(a.Err(), c.want) || r.Code != c.want {
			t.Errorf("%s: states %d and %d, %v, %+v", c.name, a.State(), b.State(), a.Err(), r)
		}
		if c.want.Layer() != term.LayerLLP && (int(r.Length) != len(segment) ||
			!bytes.HasPrefix(segment, r.Header) || len(r.Header) < 14) {
			t.Errorf("%s: report %+v of a segment of %d bytes", c.name, r, len(segment))
		}
		if c := poll(t, a); c.ID != 2 || c.Status != StatusFlushed {
			t.Errorf("receive of the peer: %+v", c)
		}
		if a.PostSend(Work{Opcode: Send}) == nil || b.PostReceive(ddp.Buffer{}) == nil {
			t.Errorf("%s: work was accepted after the end", c.name)
		}
	}
}

// TestLowerLayerErrors: RFC 5044, section 8. A CRC error is reported, a lost stream cannot be.
func TestLowerLayerErrors(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	_ = a.PostSend(Work{ID: 3, Opcode: Send, Pieces: [][]byte{make([]byte, 50)}})
	_ = a.PostSend(Work{ID: 4, Opcode: Send})
	a.transmit(1)
	a.wire[30] ^= 1
	if err := b.receive(a); !errors.Is(err, term.CRCMismatch) {
		t.Fatal(err)
	}
	b.transmit(5)
	if err := a.receive(b); err != nil {
		t.Fatal(err)
	}
	if r := a.Remote(); r.Code != term.CRCMismatch || r.HasLength || !errors.Is(a.Err(), term.CRCMismatch) {
		t.Errorf("%+v, %v", r, a.Err())
	}
	if c := poll(t, a); c.ID != 3 || c.Status != StatusSuccess {
		t.Errorf("a Send that was accepted: %+v", c)
	}
	if c := poll(t, a); c.ID != 4 || c.Status != StatusFlushed {
		t.Errorf("a Send that was not sent: %+v", c)
	}
	a = newEnd(nil)
	a.Fail(term.StreamLost)
	if a.State() != Closed || a.transmit(1) {
		t.Error("a Terminate message cannot be sent over a lost connection")
	}
}

func TestClose(t *testing.T) {
	a := newEnd(nil)
	a.Close()
	if a.State() != Closed || a.Err() != nil {
		t.Errorf("orderly: %v", a.Err())
	}
	a = newEnd(nil)
	sink, _ := a.region(ddp.LocalWrite, 10)
	_ = a.PostSend(Work{Opcode: ReadRequest, LocalSTag: sink, LocalTO: 0x1000, Length: 10})
	a.transmit(1)
	a.Close()
	if !errors.Is(a.Err(), term.StreamLost) || poll(t, a).Status != StatusFlushed {
		t.Errorf("with an outstanding Read: %v", a.Err())
	}
}

// TestBothEndsFail: each end sends one Terminate message and none answers the other.
func TestBothEndsFail(t *testing.T) {
	a, b := newEnd(nil), newEnd(nil)
	a.Fail(term.CatastrophicStream)
	b.Fail(term.CatastrophicGlobal)
	if err := exchange(a, b); err != nil {
		t.Fatal(err)
	}
	a.Fail(term.CRCMismatch)
	if !errors.Is(a.Err(), term.CatastrophicStream) || a.Remote().Code != term.CatastrophicGlobal {
		t.Errorf("error %v, the peer's %v", a.Err(), a.Remote().Code)
	}
	if a.sent != 1 || b.sent != 1 || a.transmit(1) || a.State() != Closed || b.State() != Closed {
		t.Errorf("%d and %d segments, states %d and %d", a.sent, b.sent, a.State(), b.State())
	}
}

func TestPostErrors(t *testing.T) {
	e := newEnd(func(c *Config) { c.Sends, c.Receives = 1, 1 })
	sink, _ := e.region(ddp.RemoteRead, 10)
	for _, w := range []Work{
		{Opcode: Terminate}, {Opcode: ReadResponse}, {Opcode: 12}, {Opcode: Immediate, Pieces: [][]byte{{1}}},
		{Opcode: ReadRequest, LocalSTag: sink, LocalTO: 0x1000, Length: 10}, // no right LocalWrite
		{Opcode: ReadRequest, Length: -1},
	} {
		if err := e.PostSend(w); !errors.Is(err, ErrBadWork) {
			t.Errorf("%v: %v", w.Opcode, err)
		}
	}
	if e.PostSend(Work{Opcode: Send}) != nil || !errors.Is(e.PostSend(Work{Opcode: Send}), ErrQueueFull) {
		t.Error("depth of the send queue")
	}
	if e.PostReceive(ddp.Buffer{}) != nil || !errors.Is(e.PostReceive(ddp.Buffer{}), ErrQueueFull) {
		t.Error("depth of the receive queue")
	}
}
