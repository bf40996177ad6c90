package iwarp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/datagram"
	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

func datagramPair(t testing.TB, typ QPType) (e *ether, a, b *host, qa, qb *QP, to netip.AddrPort) {
	t.Helper()
	e = newEther()
	a, b = newHost(t), newHost(t)
	x, y := e.bind(1), e.bind(2)
	return e, a, b, a.qp(t, typ, Attachment{Datagram: x}), b.qp(t, typ, Attachment{Datagram: y}), y.address
}

// TestLongQueue: more messages than the window of a peer wait in the send queue, and do not hold
// back messages to another peer.
func TestLongQueue(t *testing.T) {
	e, a := newEther(), newHost(t)
	attributes := a.attributes(RD)
	attributes.Sends = 50
	q, err := a.pd.CreateQP(attributes)
	post(t, err)
	toRTS(t, q, Attachment{Datagram: e.bind(1)})
	b, c := newHost(t), newHost(t)
	y, z := e.bind(2), e.bind(3)
	qb, qc := b.qp(t, RD, Attachment{Datagram: y}), c.qp(t, RD, Attachment{Datagram: z})
	post(t, qc.PostReceive(0, nil))
	for i := range 40 {
		post(t, q.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: y.address}))
	}
	post(t, q.PostSend(Work{ID: 99, Opcode: rdmap.Send, To: z.address}))
	for range 200 {
		a.Progress()
		c.Progress()
		a.clock, c.clock = a.clock+100*time.Microsecond, c.clock+100*time.Microsecond
	}
	if w := a.poll(t); w.ID != 99 {
		t.Errorf("%+v", w)
	}
	for got := 0; got < 40; {
		for qb.PostReceive(0, nil) == nil {
		}
		a.Progress()
		b.Progress()
		a.clock, b.clock = a.clock+100*time.Microsecond, b.clock+100*time.Microsecond
		for b.cq.n > 0 {
			b.poll(t)
			got++
		}
		if a.clock > time.Minute {
			t.Fatalf("%d of 40 messages after a minute", got)
		}
	}
	run(a, b)
	for i := range uint64(40) {
		if w := a.poll(t); w.ID != i || w.Status != StatusSuccess {
			t.Errorf("%+v, expected ID %d", w, i)
		}
	}
}

// TestDatagrams: messages of all sizes, the source address in completions, and the order of
// completions (chapter 6.3.6: UD completes when the socket has taken the message).
func TestDatagrams(t *testing.T) {
	for _, typ := range []QPType{UD, RD} {
		_, a, b, qa, qb, to := datagramPair(t, typ)
		most := datagram.MaxUD
		if typ == RD {
			most = datagram.MaxRD
		}
		a.fill(0, pattern(70_000))
		for i, size := range []int{0, 1, most} {
			post(t, qb.PostReceive(uint64(10+i), b.list(0, 70_000)),
				qa.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: to, List: a.list(0, size)}))
			run(a, b)
			if w := a.poll(t); w.ID != uint64(i) || w.Status != StatusSuccess || w.Length != size {
				t.Errorf("type %d: %+v", typ, w)
			}
			w := b.poll(t)
			if w.ID != uint64(10+i) ||
				w.Length != size || w.Source.Addr().As4()[3] != 1 || !bytes.Equal(b.memory[:size], a.memory[:size]) {
				t.Errorf("type %d, %d bytes: %+v", typ, size, w)
			}
		}
		if err := qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, most+1)}); !errors.Is(err, ErrWork) {
			t.Errorf("type %d: %d bytes: %v", typ, most+1, err)
		}
		for _, w := range []Work{{Opcode: rdmap.Write, To: to}, {Opcode: rdmap.ReadRequest, To: to}, {Opcode: rdmap.Send}} {
			if err := qa.PostSend(w); !errors.Is(err, ErrWork) {
				t.Errorf("type %d: %v to %v: %v", typ, w.Opcode, w.To, err)
			}
		}
	}
}

// TestUnreliable: UD drops what it cannot place, counts it, and stays in RTS.
func TestUnreliable(t *testing.T) {
	e, a, b, qa, qb, to := datagramPair(t, UD)
	send := func() {
		post(t, qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, 100)}))
		run(a, b)
		if w := a.poll(t); w.Status != StatusSuccess {
			t.Errorf("%+v", w)
		}
	}
	send()
	e.corrupt = 100
	send()
	e.corrupt, e.loss = 0, 100
	send()
	if c := qb.Counters(); c.NoReceive != 1 || c.Corrupt != 1 || qb.State() != RTS || b.cq.n != 0 {
		t.Errorf("%+v, state %d, %d completions", c, qb.State(), b.cq.n)
	}
}

// TestBusySocket: a send of UD completes when the socket takes the datagram, not before.
func TestBusySocket(t *testing.T) {
	e, a, _, qa, _, to := datagramPair(t, UD)
	s := e.bind(1)
	qa.transport.(*datagrams).port = s
	s.busy = true
	post(t, qa.PostSend(Work{Opcode: rdmap.Send, To: to}))
	run(a)
	if a.cq.n != 0 {
		t.Error("completed although the socket was busy")
	}
	s.busy = false
	run(a)
	a.poll(t)
}

// TestBusySocketReliable: RD does not count a refused datagram as sent, however long the socket is
// busy. It repeats nothing, keeps the peer, and sends at once when the socket has space.
func TestBusySocketReliable(t *testing.T) {
	e, a, b, qa, qb, to := datagramPair(t, RD)
	s := e.bind(1)
	qa.transport.(*datagrams).port = s
	s.busy = true
	post(t, qb.PostReceive(1, b.list(0, 100)), qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, 100)}))
	run(a, b)
	if at, ok := a.Deadline(); !ok || at > a.clock {
		t.Errorf("the refused datagram is due at %v, %t", at, ok)
	}
	s.busy = false
	if !a.Progress() || s.sent != 1 {
		t.Error("the datagram was not sent when the socket had space")
	}
	run(a, b)
	if w := a.poll(t); w.Status != StatusSuccess {
		t.Errorf("%+v", w)
	}
	if c := qa.Counters().Reliable; c.Retransmitted != 0 {
		t.Errorf("%+v", c)
	}
	if at, ok := a.Deadline(); ok {
		t.Errorf("a timer is running at the end: %v", at)
	}
}

// TestDatagramError (chapter 6.3.3): a message that is longer than its receive moves the receiving
// queue pair to Error. Only the sender of that message receives one error message, with its MSN,
// and stays in RTS. After a reset the queue pair works again.
func TestDatagramError(t *testing.T) {
	for _, typ := range []QPType{UD, RD} {
		e, a, b, qa, qb, to := datagramPair(t, typ)
		c := newHost(t)
		qc := c.qp(t, typ, Attachment{Datagram: e.bind(3)})
		post(t, qb.PostReceive(1, b.list(0, 100)), qb.PostReceive(2, b.list(0, 100)), qb.PostReceive(3, b.list(0, 100)),
			qb.PostSend(Work{ID: 4, Opcode: rdmap.Send, To: e.bind(4).address}),
			qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, 100)}),
			qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, 101)}))
		run(a, b, c)
		if ev, ok := qb.Event(); !ok ||
			ev.Code != term.UntaggedMessageLarge || ev.Remote || ev.MSN != 2 || qb.State() != Error {
			t.Errorf("type %d: receiver: %+v, state %d", typ, ev, qb.State())
		}
		ev, ok := qa.Event()
		if !ok || ev.Code != term.UntaggedMessageLarge || !ev.Remote || ev.MSN != 2 || ev.Peer != to || qa.State() != RTS {
			t.Errorf("type %d: sender: %+v, state %d", typ, ev, qa.State())
		}
		if _, ok := qc.Event(); ok {
			t.Errorf("type %d: a third queue pair has an event", typ)
		}
		status := map[uint64]Status{}
		for b.cq.n > 0 {
			w := b.poll(t)
			status[w.ID] = w.Status
		}
		if status[1] != StatusSuccess || status[2] != StatusLengthError || status[3] != StatusFlushed || len(status) != 4 {
			t.Errorf("type %d: %v", typ, status)
		}
		if typ == RD {
			continue // a new incarnation needs a new epoch, as the next test shows
		}
		post(t, qb.Modify(Reset, Attachment{}))
		toRTS(t, qb, Attachment{Datagram: e.sockets[to]})
		for a.cq.n > 0 {
			a.poll(t)
		}
		post(t, qb.PostReceive(7, b.list(0, 100)), qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: a.list(0, 100)}))
		run(a, b)
		if w := b.poll(t); w.ID != 7 || w.Status != StatusSuccess {
			t.Errorf("after a reset: %+v", w)
		}
	}
}

// TestDatagramInvalidate (RFC 5040, section 4.8): an STag of another protection domain is a
// protection error, as over a connection; one that does not exist is an operation error.
func TestDatagramInvalidate(t *testing.T) {
	for _, typ := range []QPType{UD, RD} {
		for _, exists := range []bool{true, false} {
			_, a, b, qa, qb, to := datagramPair(t, typ)
			other, err := b.AllocPD().RegisterMR(make([]byte, 8), 0, ddp.RemoteWrite)
			post(t, err)
			stag, want := other.STag(), term.ProtectNotInvalidated
			if !exists {
				stag, want = stag+256, term.InvalidateFailed
			}
			post(t, qb.PostReceive(1, b.list(0, 8)),
				qa.PostSend(Work{Opcode: rdmap.SendInvalidate, To: to, Invalidate: stag, List: a.list(0, 8)}))
			run(a, b)
			if ev, ok := qb.Event(); !ok || ev.Code != want {
				t.Errorf("type %d: receiver: %+v, expected %v", typ, ev, want)
			}
		}
	}
}

// TestReliable sends through loss, duplication and corruption, to a receiver that posts late.
func TestReliable(t *testing.T) {
	e, a, b, qa, qb, to := datagramPair(t, RD)
	e.loss, e.duplicate, e.corrupt = 20, 10, 10
	const messages = 300
	sent, posted, got := 0, 0, 0
	for got < messages {
		if sent < messages {
			a.fill(sent*64, []byte{byte(sent), byte(sent >> 8)})
			if qa.PostSend(Work{ID: uint64(sent), Opcode: rdmap.Send, To: to, List: a.list(sent*64, 64)}) == nil {
				sent++
			}
		}
		if posted < got+3 && qb.PostReceive(uint64(posted), b.list(posted*64, 64)) == nil {
			posted++
		}
		for range 5 {
			a.Progress()
			b.Progress()
		}
		a.clock += 300 * time.Microsecond
		b.clock += 300 * time.Microsecond
		if a.clock > time.Minute {
			t.Fatalf("%d of %d messages after a minute", got, messages)
		}
		for b.cq.n > 0 {
			w := b.poll(t)
			if w.ID != uint64(got) || b.memory[got*64] != byte(got) || b.memory[got*64+1] != byte(got>>8) {
				t.Fatalf("message %d: %+v, data %d", got, w, b.memory[got*64])
			}
			got++
		}
		for a.cq.n > 0 {
			if w := a.poll(t); w.Status != StatusSuccess {
				t.Fatalf("%+v", w)
			}
		}
	}
	if c := qb.Counters(); c.Corrupt == 0 ||
		c.Reliable.NotReady == 0 || c.Reliable.Duplicate == 0 || qa.Counters().Reliable.Retransmitted == 0 {
		t.Errorf("the faults did not occur: %+v", c)
	}
}

func TestReliableUnreachable(t *testing.T) {
	e, a := newEther(), newHost(t)
	attributes := a.attributes(RD)
	attributes.Reliable.Attempts = 3
	q, err := a.pd.CreateQP(attributes)
	post(t, err)
	toRTS(t, q, Attachment{Datagram: e.bind(1)})
	e.loss = 100
	to := e.bind(2).address
	post(t, q.PostSend(Work{ID: 6, Opcode: rdmap.Send, To: to}))
	run(a)
	if w := a.poll(t); w.ID != 6 || w.Status != StatusUnreachable || q.State() != RTS {
		t.Errorf("%+v, state %d", w, q.State())
	}
	post(t, q.PostSend(Work{ID: 7, Opcode: rdmap.Send, To: to}))
	run(a)
	if w := a.poll(t); w.ID != 7 || w.Status != StatusUnreachable {
		t.Errorf("to a peer that was given up: %+v", w)
	}
}
