package host

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// onNode are two ranks of one node that share memory.
func onNode() plan { return plan{nodes: 1, procs: 2, local: true} }

// A rank can send to itself, before and after it posts the receive, short and long messages.
func TestSelf(t *testing.T) {
	for _, p := range []plan{inPairs(RGET), onNode()} {
		launch(t, p, func(r *Rank) error {
			for k, n := range []int{0, 5, 5000} {
				q, err := r.Irecv(AnySource, k, make([]byte, n))
				if err != nil {
					return err
				}
				if err := r.Send(r.ID(), k, letter(n, k)); err != nil {
					return err
				}
				if st, err := r.Wait(q); err != nil || st != (Status{r.ID(), k, n}) {
					return fmt.Errorf("%+v, %v", st, err)
				}
				b := letter(n, k)
				if err := r.Send(r.ID(), k, b); err != nil {
					return err
				}
				clear(b) // the message was taken
				in := make([]byte, n)
				if _, err := r.Recv(r.ID(), k, in); err != nil {
					return err
				}
				if err := expect(in, k); err != nil {
					return err
				}
			}
			q, err := r.Issend(r.ID(), 9, []byte{1})
			if err != nil || q.Done() {
				return fmt.Errorf("a synchronous send to itself is done before its receive: %v", err)
			}
			if _, err := r.Recv(r.ID(), 9, make([]byte, 1)); err != nil {
				return err
			}
			_, err = r.Wait(q)
			return err
		})
	}
}

// A synchronous send is not done before a receive has matched it, on any path.
func TestSynchronous(t *testing.T) {
	plans := []plan{onNode()}
	for _, p := range longProtocols {
		plans = append(plans, inPairs(p))
	}
	for _, p := range plans {
		for _, n := range []int{0, 1, 2048, 6000} {
			posted := drivers.Time(0)
			launch(t, p, func(r *Rank) error {
				if r.ID() == 0 {
					if err := r.Ssend(1, 0, letter(n, 0)); err != nil {
						return err
					}
					if r.Now() < posted || posted == 0 {
						return fmt.Errorf("done at %v, the receive comes at %v", r.Now(), posted)
					}
					return nil
				}
				for r.Now() < 30*drivers.Microsecond {
					r.Compute(drivers.Microsecond)
					if _, _, err := r.Iprobe(0, 1); err != nil {
						return err
					}
				}
				posted = r.Now()
				b := make([]byte, n)
				if _, err := r.Recv(0, 0, b); err != nil {
					return err
				}
				return expect(b, 0)
			})
		}
	}
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		if _, err := r.Issend(1-r.ID(), 0, nil); !errors.Is(err, drivers.ErrNotSupported) {
			return fmt.Errorf("%v, expected that it is not supported", err)
		}
		if err := r.Ssend(5, 0, nil); !errors.Is(err, drivers.ErrConfig) {
			return fmt.Errorf("%v, expected no such rank", err)
		}
		return nil
	})
}

// A message that a matched probe has taken matches no other receive, on any path.
func TestMatchedProbe(t *testing.T) {
	for _, n := range []int{10, 2048, 6000} {
		launch(t, inPairs(RGET), func(r *Rank) error {
			if r.ID() == 0 {
				a, err := r.Isend(1, 3, letter(n, 1))
				if err != nil {
					return err
				}
				b, err := r.Isend(1, 3, letter(n, 2))
				if err != nil {
					return err
				}
				return r.Waitall([]*Request{a, b})
			}
			if m, err := r.Improbe(0, 8); m != nil || err != nil {
				return fmt.Errorf("%v, %v, expected no such message", m, err)
			}
			m, err := r.Mprobe(AnySource, AnyTag)
			if err != nil {
				return err
			}
			if m.Status != (Status{0, 3, n}) {
				return fmt.Errorf("%+v", m.Status)
			}
			b := make([]byte, n)
			if _, err := r.Recv(AnySource, AnyTag, b); err != nil {
				return err
			}
			if err := expect(b, 2); err != nil {
				return err
			}
			if st, err := m.Recv(b); err != nil || st != m.Status {
				return fmt.Errorf("%+v, %w", st, err)
			}
			if _, err := m.Recv(b); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("received twice: %v", err)
			}
			_, err1 := r.Mprobe(7, 0)
			_, err2 := r.Improbe(0, -2)
			if !errors.Is(err1, drivers.ErrConfig) || !errors.Is(err2, drivers.ErrConfig) {
				return fmt.Errorf("%v, %v", err1, err2)
			}
			return expect(b, 1)
		})
	}
}

// A cancelled request ends with ErrCancelled or completes normally.
func TestCancel(t *testing.T) {
	for _, p := range longProtocols {
		launch(t, inPairs(p), func(r *Rank) error {
			if r.ID() == 1 {
				for r.Now() < 30*drivers.Microsecond {
					r.Compute(drivers.Microsecond)
					if _, _, err := r.Iprobe(0, 9); err != nil {
						return err
					}
				}
				b := make([]byte, 5000) // receives the second message: the first was cancelled
				if _, err := r.Recv(0, 0, b); err != nil {
					return err
				}
				return expect(b, 2)
			}
			q, err := r.Irecv(1, 4, nil)
			if err == nil {
				err = r.Cancel(q)
			}
			if _, e := r.Wait(q); !errors.Is(e, ErrCancelled) {
				return fmt.Errorf("a receive: %v, %v", e, err)
			}
			first, err := r.Isend(1, 0, letter(5000, 1))
			if err != nil {
				return err
			}
			if err := r.Cancel(first); err != nil {
				return err
			}
			if _, err := r.Wait(first); !errors.Is(err, ErrCancelled) {
				return fmt.Errorf("a send: %v", err)
			}
			second, err := r.Isend(1, 0, letter(5000, 2))
			if err != nil {
				return err
			}
			if _, err := r.Wait(second); err != nil {
				return err
			}
			return r.Cancel(second) // too late: nothing happens
		})
	}
}

// Cancelling a receive from any source leaves the other receives in place.
func TestCancelFromAnySource(t *testing.T) {
	launch(t, inPairs(RGET), func(r *Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 0, []byte{1})
		}
		a, err := r.Irecv(AnySource, 0, make([]byte, 1))
		if err != nil {
			return err
		}
		b, err := r.Irecv(AnySource, 0, make([]byte, 1))
		if err != nil {
			return err
		}
		if err := r.Cancel(a); err != nil {
			return err
		}
		if i, _, err := r.Waitany([]*Request{nil, a, b}); i != 1 || !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("%d, %v", i, err)
		}
		if i, st, err := r.Waitany([]*Request{b}); i != 0 || st.Bytes != 1 {
			return fmt.Errorf("%d, %+v, %v", i, st, err)
		}
		return r.Cancel(b)
	})
}

func TestWaitingDescribesBlocker(t *testing.T) {
	g := newRig(t, inPairs(RGET))
	require.ErrorIs(t, g.run(func(r *Rank) error {
		if r.ID() == 0 {
			return r.Send(1, 2, letter(5000, 0))
		}
		_, err := r.Recv(AnySource, 7, nil)
		return err
	}), errHang)
	require.Equal(t, "rendezvous with rank 1 (tag 2): 0 of 5000 bytes moved", g.ranks[0].Waiting().String())
	require.Equal(t, "receive from any rank (tag 7): no matching message", g.ranks[1].Waiting().String())

	p := plan{nodes: 2, procs: 1}
	g = newRig(t, p)
	require.ErrorIs(t, g.run(func(r *Rank) error {
		if r.ID() == 1 {
			for range 100 {
				if err := r.Send(0, 0, letter(500, 0)); err != nil {
					return err
				}
			}
		}
		_, err := r.Recv(1-r.ID(), 7, nil)
		return err
	}), errHang)
	require.Equal(t, "receive from rank 1 (tag 7): no matching message", g.ranks[0].Waiting().String())
	require.Equal(t, "receive from rank 0 (tag 7): no matching message", g.ranks[1].Waiting().String())

	g = newRig(t, p)
	require.ErrorIs(t, g.run(func(r *Rank) error {
		for r.ID() == 1 {
			if err := r.Send(0, 0, letter(500, 0)); err != nil {
				return err
			}
		}
		return nil
	}), errHang)
	require.Contains(t, g.ranks[1].Waiting().String(), "packets sent, waits for a credit")
	require.Equal(t, "runs", g.ranks[0].Waiting().String())
}
