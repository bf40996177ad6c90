package iwarp

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/nicloop/nicloop/host/iwarp/ddp"
	"github.com/nicloop/nicloop/host/iwarp/rdmap"
)

func post(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
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
