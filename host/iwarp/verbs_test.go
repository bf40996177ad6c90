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

func post(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// TestConnected: Send, Write and Read of 100 KB over a connection whose port takes 1,000 bytes at a
// time.
func TestConnected(t *testing.T) {
	const size, away = 100_000, 0x10000 + 300_000
	for _, markers := range []bool{false, true} {
		a, b, qa, qb := connect(t, markers)
		want := pattern(size)
		a.fill(0, want)
		post(t, qb.PostReceive(5, []SGE{{b.mr, 0, 1000}, {b.mr, 2000, size}}),
			qa.PostSend(Work{ID: 1, Opcode: rdmap.SendSE, List: []SGE{{a.mr, 0, 10}, {a.mr, 10, size - 10}}}),
			qa.PostSend(Work{ID: 2, Opcode: rdmap.Write, List: a.list(0, size), RemoteSTag: b.mr.STag(), RemoteTO: away}),
			qa.PostSend(Work{
				ID: 3, Opcode: rdmap.ReadRequest, List: a.list(500_000, size), RemoteSTag: b.mr.STag(), RemoteTO: away,
			}))
		run(a, b)
		for id := uint64(1); id <= 3; id++ {
			if w := a.poll(t); w.ID != id || w.Status != StatusSuccess || w.QP != qa {
				t.Errorf("markers %t: %+v", markers, w)
			}
		}
		if w := b.poll(t); w.ID != 5 || w.Length != size || w.Opcode != rdmap.SendSE {
			t.Errorf("markers %t: %+v", markers, w)
		}
		got := append(bytes.Clone(b.memory[:1000]), b.memory[2000:2000+size-1000]...)
		if !bytes.Equal(got, want) || !bytes.Equal(a.memory[500_000:][:size], want) {
			t.Errorf("markers %t: the data differ", markers)
		}
	}
}

// TestConnectedError: an error is reported once at each end, everything posted is flushed, and the
// queue pair can be reset.
func TestConnectedError(t *testing.T) {
	a, b, qa, qb := connect(t, false)
	post(t, qa.PostReceive(9, a.list(0, 10)), qb.PostReceive(8, b.list(0, 10)),
		qa.PostSend(Work{ID: 1, Opcode: rdmap.Write, List: a.list(0, 10), RemoteSTag: b.mr.STag() + 1}))
	run(a, b)
	if w := a.poll(t); w.ID != 1 || w.Status != StatusSuccess {
		t.Errorf("a Write is complete when it was sent: %+v", w)
	}
	if w := a.poll(t); w.ID != 9 || w.Status != StatusFlushed {
		t.Errorf("%+v", w)
	}
	if w := b.poll(t); w.ID != 8 || w.Status != StatusFlushed {
		t.Errorf("%+v", w)
	}
	for _, c := range []struct {
		q      *QP
		remote bool
	}{{qa, true}, {qb, false}} {
		e, ok := c.q.Event()
		if !ok || e.Code != term.TaggedInvalidSTag || e.Remote != c.remote || c.q.State() != Error {
			t.Errorf("event %+v, state %d", e, c.q.State())
		}
		if _, ok := c.q.Event(); ok {
			t.Error("a second event")
		}
		if err := c.q.PostSend(Work{Opcode: rdmap.Send}); !errors.Is(err, ErrState) {
			t.Errorf("post in state Error: %v", err)
		}
		post(t, c.q.Modify(Reset, Attachment{}), c.q.Modify(Init, Attachment{}))
	}
}

// TestLateReport: the Terminate message is written even if the port is full when the error occurs.
func TestLateReport(t *testing.T) {
	a, b, qa, qb := connect(t, false)
	port := qb.transport.(*connected).port.(*pipeEnd)
	port.limit = 0
	post(t, qa.PostSend(Work{ID: 1, Opcode: rdmap.Send}))
	run(a, b)
	if _, ok := qa.Event(); ok || qb.State() != Error {
		t.Errorf("state %d of the receiver without a buffer", qb.State())
	}
	port.limit = 1000
	run(a, b)
	if e, ok := qa.Event(); !ok || e.Code != term.UntaggedNoBuffer {
		t.Errorf("%+v", e)
	}
}

// TestUnpolled: work whose completion was not polled occupies its queue, so a completion queue
// cannot overflow.
func TestUnpolled(t *testing.T) {
	_, a, _, qa, _, to := datagramPair(t, UD)
	for i := range 17 {
		err := qa.PostSend(Work{Opcode: rdmap.Send, To: to})
		if (i == 16) != errors.Is(err, ErrQueueFull) {
			t.Errorf("send %d: %v", i, err)
		}
		run(a)
	}
	a.poll(t)
	post(t, qa.PostSend(Work{Opcode: rdmap.Send, To: to}))
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

func TestPeerCloses(t *testing.T) {
	a, _, qa, _ := connect(t, false)
	post(t, qa.PostReceive(1, a.list(0, 10)))
	qa.transport.(*connected).port.(*pipeEnd).in.closed = true
	run(a)
	if w := a.poll(t); w.Status != StatusFlushed || qa.State() != Error {
		t.Errorf("%+v, state %d", w, qa.State())
	}
	if e, ok := qa.Event(); ok {
		t.Errorf("an orderly close is no error: %+v", e)
	}
}

func datagramPair(t testing.TB, typ QPType) (e *ether, a, b *host, qa, qb *QP, to netip.AddrPort) {
	t.Helper()
	e = newEther()
	a, b = newHost(t), newHost(t)
	x, y := e.bind(1), e.bind(2)
	return e, a, b, a.qp(t, typ, Attachment{Datagram: x}), b.qp(t, typ, Attachment{Datagram: y}), y.address
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
// queue pair to Error. Only the sender of that message is told, by one error message with its MSN,
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

// TestRoundRobin: a queue pair that is always ready does not starve another one.
func TestRoundRobin(t *testing.T) {
	e := newEther()
	h := newHost(t)
	busy, other := h.qp(t, UD, Attachment{Datagram: e.bind(1)}), h.qp(t, UD, Attachment{Datagram: e.bind(2)})
	to := e.bind(9).address
	for i := range 4 {
		post(t, busy.PostSend(Work{ID: uint64(i), Opcode: rdmap.Send, To: to}))
		if i < 2 {
			post(t, other.PostSend(Work{ID: uint64(10 + i), Opcode: rdmap.Send, To: to}))
		}
	}
	var order []uint64
	for h.Progress() {
		order = append(order, h.poll(t).ID)
	}
	for i, want := range []uint64{0, 10, 1, 11, 2, 3} {
		if order[i] != want {
			t.Fatalf("order %v", order)
		}
	}
}

func TestStates(t *testing.T) {
	h := newHost(t)
	q, err := h.pd.CreateQP(QPAttributes{Type: UD, SendCQ: h.cq, RecvCQ: h.cq, Sends: 1, Receives: 1})
	post(t, err)
	if !errors.Is(q.PostReceive(0, nil), ErrState) || !errors.Is(q.Modify(RTR, Attachment{}), ErrState) {
		t.Error("Reset allows neither receives nor RTR")
	}
	post(t, q.Modify(Init, Attachment{}), q.PostReceive(1, nil))
	if !errors.Is(q.PostReceive(2, nil), ErrQueueFull) || !errors.Is(q.PostSend(Work{}), ErrState) {
		t.Error("Init: one receive, no sends")
	}
	if !errors.Is(q.Modify(RTS, Attachment{}), ErrState) {
		t.Error("Init to RTS")
	}
	post(t, q.Modify(RTR, Attachment{}))
	if !errors.Is(q.Modify(RTS, Attachment{}), ErrWork) || q.State() != RTR {
		t.Error("RTS without a port")
	}
	post(t, q.Modify(Error, Attachment{}))
	if w := h.poll(t); w.ID != 1 || w.Status != StatusFlushed {
		t.Errorf("%+v", w)
	}
	deep := QPAttributes{Type: UD, SendCQ: h.cq, RecvCQ: h.cq, Sends: 200, Receives: 100}
	if _, err := h.pd.CreateQP(deep); !errors.Is(err, ErrCQDepth) {
		t.Errorf("completion queue too small: %v", err)
	}
}

// TestRegions: work must lie in regions of the domain; receives need the right LocalWrite.
func TestRegions(t *testing.T) {
	_, a, b, qa, _, to := datagramPair(t, UD)
	readOnly, err := a.pd.RegisterMR(make([]byte, 10), 0, ddp.RemoteRead)
	post(t, err)
	gone, err := a.pd.RegisterMR(make([]byte, 10), 0, ddp.LocalWrite)
	post(t, err)
	gone.Deregister()
	for name, e := range map[string]SGE{
		"beyond the end": {a.mr, 1 << 20, 1}, "negative": {a.mr, -1, 1}, "other device": {b.mr, 0, 1},
		"deregistered": {gone, 0, 1}, "no region": {nil, 0, 0},
	} {
		if err := qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: []SGE{e}}); !errors.Is(err, ErrRegion) {
			t.Errorf("send, %s: %v", name, err)
		}
		if err := qa.PostReceive(0, []SGE{e}); !errors.Is(err, ErrRegion) {
			t.Errorf("receive, %s: %v", name, err)
		}
	}
	if err := qa.PostReceive(0, []SGE{{readOnly, 0, 1}}); !errors.Is(err, ErrRegion) {
		t.Errorf("receive without LocalWrite: %v", err)
	}
	post(t, qa.PostSend(Work{Opcode: rdmap.Send, To: to, List: []SGE{{readOnly, 0, 1}}}))
}

func TestNotify(t *testing.T) {
	a, b, qa, qb := connect(t, false)
	called := 0
	b.cq.Notify(true, func() { called++ })
	for _, o := range []rdmap.Opcode{rdmap.Send, rdmap.SendSE, rdmap.SendSE} {
		post(t, qb.PostReceive(0, nil), qa.PostSend(Work{Opcode: o}))
	}
	run(a, b)
	if called != 1 {
		t.Errorf("notified %d times, expected once, by the first solicited event", called)
	}
}

func TestNoAllocations(t *testing.T) {
	ca, cb, qa, qb := connect(t, true)
	_, da, db, ua, ub, to := datagramPair(t, UD)
	_, ra, rb, va, vb, rto := datagramPair(t, RD)
	for _, c := range []struct {
		name   string
		a, b   *host
		qa, qb *QP
		to     netip.AddrPort
	}{{"RC", ca, cb, qa, qb, netip.AddrPort{}}, {"UD", da, db, ua, ub, to}, {"RD", ra, rb, va, vb, rto}} {
		from, into := c.a.list(0, 5000), c.b.list(0, 5000)
		round := func() {
			post(t, c.qb.PostReceive(1, into), c.qa.PostSend(Work{Opcode: rdmap.Send, To: c.to, List: from}))
			for c.a.cq.n == 0 || c.b.cq.n == 0 {
				c.a.Progress()
				c.b.Progress()
				c.a.clock, c.b.clock = c.a.clock+time.Millisecond, c.b.clock+time.Millisecond
			}
			c.a.poll(t)
			c.b.poll(t)
		}
		round()
		if n := testing.AllocsPerRun(50, round); n != 0 {
			t.Errorf("%s: %v allocations per message", c.name, n)
		}
	}
}
