package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/host/rendezvous"
	"github.com/stretchr/testify/require"
)

func TestWrongRequests(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		_, send := r.Isend(2, 0, nil)
		_, tag := r.Isend(0, -1, nil)
		_, large := r.Isend(0, 1<<32+5, nil)
		_, source := r.Irecv(-2, 0, nil)
		_, pattern := r.Irecv(0, -2, nil)
		_, wide := r.Recv(0, 1<<32+5, nil)
		_, probe := r.Probe(9, 0)
		_, _, iprobe := r.Iprobe(0, MaxTag+1)
		_, _, any := r.Waitany([]*Request{nil})
		for i, err := range []error{send, tag, large, source, pattern, wide, probe, iprobe, any, r.Send(-1, 0, nil)} {
			if !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		return nil
	})
}

// Many requests complete in any order; those that wait for credits are counted.
func TestWaitanyAndTest(t *testing.T) {
	g := newRig(t, plan{nodes: 2, procs: 1})
	require.NoError(t, g.run(func(r *Rank) error {
		var list []*Request
		var bufs [][]byte
		for k := range 30 {
			b := letter(900, k)
			var q *Request
			var err error
			if r.ID() == 0 {
				q, err = r.Isend(1, k, b)
			} else {
				clear(b)
				q, err = r.Irecv(0, 29-k, b)
			}
			if err != nil {
				return err
			}
			list, bufs = append(list, q), append(bufs, b)
		}
		for range list {
			i, st, err := r.Waitany(list)
			if err != nil {
				return err
			}
			if r.ID() == 1 {
				if err := expect(bufs[i], st.Tag); err != nil {
					return err
				}
			}
			list[i] = nil
		}
		q, err := r.Irecv(1-r.ID(), 99, make([]byte, 4))
		if err != nil {
			return err
		}
		if _, ok, err := r.Test(q); err != nil || r.ID() == 0 && (ok || q.Done()) {
			return fmt.Errorf("done before it was sent: %v", err)
		}
		if err := r.Send(1-r.ID(), 99, []byte("done")); err != nil {
			return err
		}
		for {
			if st, ok, err := r.Test(q); ok || err != nil {
				if st != (Status{1 - r.ID(), 99, 4}) {
					return fmt.Errorf("%+v", st)
				}
				return err
			}
		}
	}))
	require.NotZero(t, g.ranks[0].Stats().DelayedMessages)
	require.NotZero(t, g.ranks[0].Now())
}

// A packet that no correct peer sends is an error that describes it, not a panic.
func TestNonsenseFromPeers(t *testing.T) {
	head := func(h path.Header) []byte {
		b := make([]byte, HeaderBytes)
		h.Put(b)
		return b
	}
	control := func(c rendezvous.Control) []byte {
		b := make([]byte, rendezvous.ControlBytes)
		c.Put(b)
		return b
	}
	for what, b := range map[string][]byte{
		"length of a message's first packet = 3":               {1, 2, 3},
		"magic and kind of a message header = 0x0":             make([]byte, HeaderBytes),
		"length of a message header = 5000":                    head(path.Header{Length: 5000}),
		"lost, doubled or out of order":                        head(path.Header{Seq: 7}),
		"bytes of message 0 = 2, expected the 1 of its header": append(head(path.Header{Length: 1}), 1, 2),
		"control message of 3 bytes":                           append(head(path.Header{Kind: path.Rendezvous}), 1, 2, 3),
		"control message of kind 0":                            append(head(path.Header{Kind: path.Rendezvous}), make([]byte, rendezvous.ControlBytes)...),
		"has no path":                                          append(head(path.Header{Kind: path.RTS}), control(rendezvous.Control{Kind: rendezvous.RTS, Bytes: 9000})...),
	} {
		p := plan{nodes: 2, procs: 1}
		if strings.HasPrefix(what, "control message") {
			p = inPairs(RGET)
		}
		g := newRig(t, p)
		require.ErrorContains(t, g.run(func(r *Rank) error {
			if r.ID() == 1 {
				return r.Endpoint().Send(0, b)
			}
			_, err := r.Recv(1, 0, nil)
			return err
		}), what)
		for _, retry := range []func(r *Rank) error{
			func(r *Rank) error { _, err := r.Probe(1, 0); return err },
			func(r *Rank) error { _, err := r.Mprobe(1, 0); return err },
			func(r *Rank) error {
				q, err := r.Irecv(1, 0, nil)
				if err == nil {
					_, _, err = r.Waitany([]*Request{q})
				}
				return err
			},
			func(r *Rank) error {
				q, err := r.Irecv(1, 0, nil)
				for ok := false; err == nil && !ok; {
					_, ok, err = r.Test(q)
				}
				return err
			},
		} {
			g := newRig(t, p)
			require.ErrorContains(t, g.run(func(r *Rank) error {
				if r.ID() == 1 {
					return r.Endpoint().Send(0, b)
				}
				return retry(r)
			}), what)
		}
	}
}

// A message that waits for an identifier delays later messages, but not control messages. One that
// is cancelled before it has an identifier leaves the queue.
func TestHeldMessages(t *testing.T) {
	p := inPairs(RGET)
	p.rma.IDs = 1
	g := newRig(t, p)
	require.NoError(t, g.run(func(r *Rank) error {
		peer := 1 - r.ID()
		var list []*Request
		for k := range 4 {
			n := 5000
			if k == 3 {
				n = 10
			}
			q, err := r.Isend(peer, 0, letter(n, k))
			if err != nil {
				return err
			}
			list = append(list, q)
		}
		if err := r.Cancel(list[1]); err != nil {
			return err
		}
		for _, k := range []int{0, 2, 3} {
			b := make([]byte, 5000)
			st, err := r.Recv(peer, 0, b)
			if err != nil {
				return err
			}
			if err := expect(b[:st.Bytes], k); err != nil {
				return err
			}
		}
		if _, err := r.Wait(list[1]); !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("%v, expected that it is cancelled", err)
		}
		return r.Waitall([]*Request{list[0], list[2], list[3]})
	}))
}

// Waitall returns the first error of several.
func TestWaitall(t *testing.T) {
	launch(t, plan{nodes: 2, procs: 1}, func(r *Rank) error {
		if r.ID() == 0 {
			return errors.Join(r.Send(1, 1, []byte{1, 2}), r.Send(1, 2, []byte{1}))
		}
		var list []*Request
		for tag := 1; tag <= 2; tag++ {
			q, err := r.Irecv(0, tag, make([]byte, 1))
			if err != nil {
				return err
			}
			list = append(list, q)
		}
		if err := r.Waitall(list); !errors.Is(err, ErrTruncated) {
			return fmt.Errorf("%v, expected a message that was too long", err)
		}
		return nil
	})
}
