package iwarp

import (
	"bytes"
	"errors"
	"testing"

	"github.com/nicloop/nicloop/host/iwarp/rdmap"
	"github.com/nicloop/nicloop/host/iwarp/term"
)

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
