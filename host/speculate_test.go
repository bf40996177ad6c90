package host

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/stretchr/testify/require"
)

// speculation returns the counters of both ranks of a world and checks that their heaps are intact.
func speculation(t *testing.T, p plan, body func(r *Rank) error) (sender, receiver rendezvous.Stats) {
	t.Helper()
	g := newRig(t, p)
	require.NoError(t, g.run(body))
	for i, r := range g.ranks {
		require.NoError(t, r.engine.DMA.CheckWhole(), "rank %d", i)
		require.Zero(t, r.rendezvous.Live(), "rank %d", i)
	}
	return g.ranks[0].RendezvousStats(), g.ranks[1].RendezvousStats()
}

const later = 20 * drivers.Microsecond

// receiveLetter receives a letter of n bytes from rank 0.
func receiveLetter(r *Rank, q *Request, b []byte, n, k int) error {
	st, err := r.Wait(q)
	if err != nil || st != (Status{0, int(q.op.Received.Tag), n}) {
		return fmt.Errorf("letter %d: %+v, %w", k, st, err)
	}
	return expect(b[:n], k)
}

// SPEC, section 4.2.1: the send uses the RTR of an early receiver and puts at once, without a call
// at the receiver.
func TestEarlyReceiver(t *testing.T) {
	sender, receiver := speculation(t, inPairs(Spec), func(r *Rank) error {
		b := make([]byte, 70000)
		if r.ID() == 0 {
			r.Compute(later)
			return r.Send(1, 3, letter(60000, 1))
		}
		q, err := r.Irecv(0, 3, b)
		if err != nil {
			return err
		}
		r.Compute(100 * later)
		begun := r.Now()
		if err := receiveLetter(r, q, b, 60000, 1); err != nil {
			return err
		}
		if copied := r.engine.Cost.CopyByte * 60000; r.Now()-begun > copied+drivers.Microsecond {
			return fmt.Errorf("waited for %v, with its copy of %v", r.Now()-begun, copied)
		}
		return nil
	})
	require.EqualValues(t, 1, sender.Claimed)
	require.EqualValues(t, 1, receiver.Offered)
	require.EqualValues(t, 1, receiver.Used)
}

// An RTR costs its receiver a registration, whether or not a message uses it: the buffer is looked
// up in the registration cache when the receive is posted.
func TestUnusedRTRIsCharged(t *testing.T) {
	took := map[drivers.Time]drivers.Time{}
	const cheap, dear = drivers.Nanosecond, 20 * drivers.Microsecond
	for _, register := range []drivers.Time{cheap, dear} {
		g := newRig(t, inPairs(Spec))
		for _, r := range g.ranks {
			r.engine.Cost.Register = register
		}
		require.NoError(t, g.run(func(r *Rank) error {
			if r.ID() == 0 {
				r.Compute(10 * later)
				return r.Send(1, 3, letter(10, 1))
			}
			b := make([]byte, 5000)
			from := r.Now()
			q, err := r.Irecv(0, 3, b)
			if err != nil {
				return err
			}
			took[register] = r.Now() - from
			return receiveLetter(r, q, b, 10, 1)
		}))
		stats := g.ranks[1].RendezvousStats()
		require.EqualValues(t, 1, stats.Offered)
		require.Zero(t, stats.Used)
	}
	require.GreaterOrEqual(t, took[dear]-took[cheap], dear-cheap)
}

// Section 4.2.1: a receive makes progress when it is posted and finds an RTS that has arrived, so
// it sends no RTR.
func TestEarlySender(t *testing.T) {
	_, receiver := speculation(t, inPairs(Spec), func(r *Rank) error {
		b := make([]byte, 70000)
		if r.ID() == 0 {
			return r.Send(1, 3, letter(60000, 1))
		}
		r.Compute(3 * later)
		q, err := r.Irecv(0, 3, b)
		if err != nil {
			return err
		}
		if q.op.Holder == nil {
			return errors.New("the RTS was not seen")
		}
		return receiveLetter(r, q, b, 60000, 1)
	})
	require.Zero(t, receiver.Offered)
}

// Section 4.2.3, "Mispredicted RTR": short messages match receives with buffers for long ones.
func TestMispredicted(t *testing.T) {
	for _, late := range []drivers.Time{0, later} {
		sizes := []int{9, 5000, 2048, 0, 6000, 7000, 1}
		sender, receiver := speculation(t, inPairs(Spec), func(r *Rank) error {
			var list []*Request
			bufs := make([][]byte, len(sizes))
			if r.ID() == 0 {
				r.Compute(late)
			}
			for k, n := range sizes {
				var q *Request
				var err error
				if r.ID() == 0 {
					q, err = r.Isend(1, 3, letter(n, k))
				} else {
					bufs[k] = make([]byte, 8000)
					q, err = r.Irecv(0, 3, bufs[k])
				}
				if err != nil {
					return err
				}
				list = append(list, q)
			}
			for k, q := range list {
				if r.ID() == 0 {
					if _, err := r.Wait(q); err != nil {
						return err
					}
				} else if err := receiveLetter(r, q, bufs[k], sizes[k], k); err != nil {
					return err
				}
			}
			return nil
		})
		if late > 0 {
			require.EqualValues(t, 3, sender.Claimed)
			require.EqualValues(t, len(sizes), receiver.Offered)
		}
		require.Equal(t, sender.Claimed, receiver.Used)
	}
}

// Section 4.2.3, "Exceptions to ambiguous destination problem": a receive that expects a short
// message or has a wildcard sends no RTR. While it waits, no receive that could match the same
// message sends one.
func TestNoOffer(t *testing.T) {
	for name, first := range map[string]struct{ source, tag, room, offered int }{
		"eager":      {0, 3, EagerMax, 0},
		"any source": {AnySource, 3, 5000, 0},
		"any tag":    {0, AnyTag, 5000, 0},
		"other tag":  {0, 4, EagerMax, 1}, // cannot match the same message
		"as it":      {0, 3, 5000, 2},
	} {
		_, receiver := speculation(t, inPairs(Spec), func(r *Rank) error {
			if r.ID() == 0 {
				r.Compute(later)
				tag := max(first.tag, 3)
				return errors.Join(r.Send(1, tag, letter(min(first.room, 4000), 0)), r.Send(1, 3, letter(3000, 1)))
			}
			a, b := make([]byte, first.room), make([]byte, 5000)
			q, err := r.Irecv(first.source, first.tag, a)
			if err != nil {
				return err
			}
			p, err := r.Irecv(0, 3, b)
			if err != nil {
				return err
			}
			return errors.Join(receiveLetter(r, q, a, min(first.room, 4000), 0), receiveLetter(r, p, b, 3000, 1))
		})
		require.EqualValues(t, first.offered, receiver.Offered, name)
	}
}

// A receive from a rank of the same node, or from the rank itself, sends no RTR.
func TestNoOfferToTheSameNode(t *testing.T) {
	p := inPairs(Spec)
	p.nodes, p.procs, p.local = 1, 2, true
	_, receiver := speculation(t, p, func(r *Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 3, letter(5000, 0))
		}
		b, c := make([]byte, 5000), make([]byte, 5000)
		q, err := r.Irecv(0, 3, b)
		if err != nil {
			return err
		}
		own, err := r.Irecv(1, 4, c)
		if err != nil {
			return err
		}
		if err := r.Send(1, 4, letter(5000, 1)); err != nil {
			return err
		}
		_, err = r.Wait(own)
		return errors.Join(err, expect(c, 1), receiveLetter(r, q, b, 5000, 0))
	})
	require.Zero(t, receiver.Offered)
}

// A message longer than the offered buffer is put as far as it fits, and the receive reports the
// truncation.
func TestOfferTooShort(t *testing.T) {
	sender, _ := speculation(t, inPairs(Spec), func(r *Rank) error {
		if r.ID() == 0 {
			r.Compute(later)
			return r.Send(1, 3, letter(6000, 0))
		}
		b := make([]byte, 5000)
		st, err := r.Recv(0, 3, b)
		if !errors.Is(err, ErrTruncated) || st != (Status{0, 3, 6000}) {
			return fmt.Errorf("%+v, %v", st, err)
		}
		return expect(b, 0)
	})
	require.EqualValues(t, 1, sender.Claimed)
}

// A receive whose RTR has been sent is cancelled when the sender has returned the RTR; the next
// receive matches the message. Meanwhile the receive waits as one without a message.
func TestCancelOfAnOffer(t *testing.T) {
	sender, receiver := speculation(t, inPairs(Spec), func(r *Rank) error {
		if r.ID() == 0 {
			for r.Now() < 3*later {
				if _, _, err := r.Iprobe(1, 9); err != nil {
					return err
				}
				r.Compute(drivers.Microsecond)
			}
			return r.Send(1, 3, letter(5000, 0))
		}
		a, b := bytes.Repeat([]byte{7}, 5000), make([]byte, 5000)
		q, err := r.Irecv(0, 3, a)
		if err != nil {
			return err
		}
		p, err := r.Irecv(0, 3, b)
		if err != nil {
			return err
		}
		r.engine.Waiting = &q.op
		if w := r.Waiting().String(); w != "receive from rank 0 (tag 3): no matching message" {
			return errors.New(w)
		}
		if err := errors.Join(r.Cancel(q), r.Cancel(q)); err != nil {
			return err
		}
		if _, err := r.Wait(q); !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("%v, expected it cancelled", err)
		}
		if r.Stats().MessagesReceived != 0 || !bytes.Equal(a, bytes.Repeat([]byte{7}, 5000)) {
			return errors.New("a cancelled receive has received a message")
		}
		return receiveLetter(r, p, b, 5000, 0)
	})
	require.EqualValues(t, 2, receiver.Offered)
	require.Zero(t, sender.Claimed)
}

// Cancelling a receive whose message has been put already has no effect.
func TestCancelTooLate(t *testing.T) {
	sender, _ := speculation(t, inPairs(Spec), func(r *Rank) error {
		if r.ID() == 0 {
			r.Compute(later)
			return r.Send(1, 3, letter(50000, 0))
		}
		b := make([]byte, 50000)
		q, err := r.Irecv(0, 3, b)
		if err != nil {
			return err
		}
		r.Compute(later + 5*drivers.Microsecond)
		if err := r.Cancel(q); err != nil {
			return err
		}
		return receiveLetter(r, q, b, 50000, 0)
	})
	require.EqualValues(t, 1, sender.Claimed)
}

// Nonblocking collectives begin their messages while progress is made.
func TestCollectivesSpeculate(t *testing.T) {
	p := inPairs(Spec)
	p.nodes, p.procs = 2, 2
	launch(t, p, func(r *Rank) error {
		for k := range 3 {
			b := make([]byte, 9000)
			if r.ID() == k {
				copy(b, letter(9000, k))
			}
			q, err := r.Ibcast(k, b)
			if err != nil {
				return err
			}
			in, out := make([]byte, 4*3000), make([]byte, 4*3000)
			copy(in, letter(len(in), 10+r.ID()))
			p, err := r.Ialltoall(in, out, 3000)
			if err != nil {
				return err
			}
			if err := r.Waitall([]*Request{q, p}); err != nil {
				return err
			}
			if err := expect(b, k); err != nil {
				return err
			}
			for from := range 4 {
				if !bytes.Equal(out[3000*from:3000*(from+1)], letter(len(in), 10+from)[3000*r.ID():3000*(r.ID()+1)]) {
					return fmt.Errorf("round %d: what rank %d sent is wrong", k, from)
				}
			}
		}
		return nil
	})
}

// Sections 4.2.6 and 4.4.3, Figure 4.19: where RTRs are useless, ping-pong takes hardly longer,
// since speculation stops: for short messages into long buffers, and for long messages that both
// sides begin at the same time.
func TestCostOfSpeculation(t *testing.T) {
	for name, x := range map[string]struct {
		n, room  int
		together bool
		adapted  float64
	}{
		"eager":                   {64, 64, false, 0},
		"eager into long buffers": {64, 8000, false, 0.01},
		"2 KB into long buffers":  {2048, 8000, false, 0.005},
		"rendezvous, crossing":    {4000, 4000, true, 0.02},
	} {
		took := map[Rendezvous]drivers.Time{}
		for _, p := range []Rendezvous{RGET, Spec} {
			launch(t, inPairs(p), func(r *Rank) error {
				b, err := r.Alloc(x.room)
				if err != nil {
					return err
				}
				c, err := r.Alloc(x.n)
				if err != nil {
					return err
				}
				for round := range 600 {
					if round == 100 && r.ID() == 0 {
						took[p] = -r.Now()
					}
					q, err := r.Irecv(1-r.ID(), 0, b)
					if err != nil {
						return err
					}
					if r.ID() == 0 || x.together {
						err = r.Send(1-r.ID(), 0, c)
					}
					if err == nil {
						_, err = r.Wait(q)
					}
					if err == nil && r.ID() == 1 && !x.together {
						err = r.Send(0, 0, c)
					}
					if err != nil {
						return err
					}
				}
				if r.ID() == 0 {
					took[p] += r.Now()
				}
				return nil
			})
		}
		more := float64(took[Spec])/float64(took[RGET]) - 1
		t.Logf("%s: %v by rget, %v by spec: %+.2f %%", name, took[RGET], took[Spec], 100*more)
		require.LessOrEqual(t, more, x.adapted, name)
	}
}
