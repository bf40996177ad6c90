package host

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/stretchr/testify/require"
)

func notReadyPlan(p Rendezvous) plan {
	return withEager(p, Eager{Handshake: threshold.NotReady})
}

// exchangeStream lets two ranks post their receives and then send n bytes of DMA memory each way
// while they compute. With late, rank 1 posts its receive only after that.
func exchangeStream(r *Rank, n, times int, late bool, p Rendezvous) (waited drivers.Time, err error) {
	peer := 1 - r.ID()
	out, err := r.Alloc(n)
	if err != nil {
		return 0, err
	}
	in, err := r.Alloc(n)
	if err != nil {
		return 0, err
	}
	for k := range times {
		if err := r.Barrier(); err != nil {
			return 0, err
		}
		copy(out, letter(n, 2*k+r.ID()))
		var rq *Request
		if !late || r.ID() == 0 {
			if rq, err = r.Irecv(peer, 1, in); err != nil {
				return 0, err
			}
		}
		sq, err := r.Isend(peer, 1, out)
		if err != nil {
			return 0, err
		}
		r.Compute(60 * drivers.Microsecond)
		if rq == nil {
			if rq, err = r.Irecv(peer, 1, in); err != nil {
				return 0, err
			}
		}
		began := r.Now()
		if err := r.Waitall([]*Request{rq, sq}); err != nil {
			return 0, fmt.Errorf("time %d by %s: %w", k, p, err)
		}
		waited = r.Now() - began
		if err := expect(in, 2*k+peer); err != nil {
			return 0, fmt.Errorf("time %d by %s: %w", k, p, err)
		}
	}
	return waited, nil
}

// A message is put into a receive that is posted first while both ranks compute, without a copy.
// For a late receive, the sender retries until it is posted.
func TestNotReady(t *testing.T) {
	const n, times = 16 << 10, 20
	for _, p := range []Rendezvous{RGET, RPUT, Chunked} {
		for _, late := range []bool{false, true} {
			var left [2]drivers.Time
			stats := runEager(t, notReadyPlan(p), func(r *Rank) (err error) {
				left[r.ID()], err = exchangeStream(r, n, times, late, p)
				return err
			})
			for i, s := range stats {
				l := s.Streams
				require.EqualValues(t, 1, l.Asked, "%s late %t", p, late)
				require.Equal(t, 1, l.Streams)
				require.Greater(t, l.Put, uint64(times/2))
				require.EqualValues(t, stats[1-i].Streams.Put, l.Readied+l.Late)
				if !late {
					require.Less(t, l.NotReady, uint64(4), "the first may come too early")
					require.Greater(t, l.Readied, uint64(times/2))
					require.Less(t, left[i], DefaultCost().CopyByte*n/2, "no copy, and nothing left to move")
				}
			}
			if late {
				require.Greater(t, stats[0].Streams.NotReady, uint64(times/2))
			}
		}
	}
}

// Messages of all lengths and paths keep their order and their bytes while streams open.
func TestNotReadyTraffic(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for _, p := range []Rendezvous{RGET, RPUT, Chunked} {
		for seed := range seeds {
			pl := withEager(p, Eager{Handshake: threshold.NotReady, Policy: threshold.Policy{Window: 2, Losing: 1}})
			pl.nodes, pl.procs, pl.heap = 3, 2, 2<<20
			stats := runEager(t, pl, func(r *Rank) error { return traffic(r, seed) })
			var put, refused, late uint64
			for _, s := range stats {
				put, refused, late = put+s.Streams.Put, refused+s.Streams.NotReady, late+s.Streams.Late
			}
			require.Positive(t, late, "%s seed %d", p, seed)
			require.Positive(t, put, "%s seed %d", p, seed)
			require.Positive(t, refused, "%s seed %d", p, seed)
		}
	}
}

// openStreamTo makes rank 0 open a stream of tag 1 to rank 1, by messages of n bytes without
// overlap.
func openStreamTo(r *Rank, n int, buf []byte) error {
	for range 6 {
		if err := r.Barrier(); err != nil {
			return err
		}
		var q *Request
		var err error
		if r.ID() == 0 {
			q, err = r.Isend(1, 1, buf[:n])
		} else {
			q, err = r.Irecv(0, 1, buf[:n])
		}
		if err != nil {
			return err
		}
		r.Compute(50 * drivers.Microsecond)
		if _, err := r.Wait(q); err != nil {
			return err
		}
	}
	return r.Barrier()
}

// A receive that was announced can be cancelled: the sender does not write to it, and the message
// goes to the next receive. The same holds for messages that do not fit their stream, that are
// outside DMA memory, or that meet a receive from any source or a short one.
func TestNotReadyFallbacks(t *testing.T) {
	const n = 8 << 10
	for name, body := range map[string]func(r *Rank, in []byte) error{
		"cancelled": func(r *Rank, in []byte) error {
			if r.ID() == 0 {
				if err := r.Barrier(); err != nil {
					return err
				}
				return r.Send(1, 1, letter(n, 3))
			}
			q, err := r.Irecv(0, 1, in)
			if err != nil {
				return err
			}
			if err := r.Cancel(q); err != nil {
				return err
			}
			if q.op.Holder == nil {
				return errors.New("the receive was not ready before its message")
			}
			if err := r.Barrier(); err != nil {
				return err
			}
			if _, err := r.Wait(q); !errors.Is(err, ErrCancelled) {
				return fmt.Errorf("%w, expected it to be cancelled", err)
			}
			if _, err := r.Recv(0, 1, in); err != nil {
				return err
			}
			return expect(in[:n], 3)
		},
		"lengths": func(r *Rank, in []byte) error {
			for k, length := range []int{2 * n, 100, n, 0, n - 1} {
				if r.ID() == 0 {
					if err := r.Send(1, 1, letter(length, k)); err != nil {
						return err
					}
					continue
				}
				from := []int{0, AnySource}[k%2]
				st, err := r.Recv(from, 1, in)
				if err != nil || st.Bytes != length {
					return fmt.Errorf("%+v, %w", st, err)
				}
				if err := expect(in[:length], k); err != nil {
					return err
				}
			}
			return nil
		},
		"truncated": func(r *Rank, in []byte) error {
			if r.ID() == 0 {
				return r.Send(1, 1, letter(n, 5))
			}
			copy(in, letter(len(in), 6))
			if st, err := r.Recv(0, 1, in[:3000]); st.Bytes != n || !errors.Is(err, ErrTruncated) {
				return fmt.Errorf("%+v, %w", st, err)
			}
			if err := expect(in[:3000], 5); err != nil {
				return err
			}
			if string(in[3000:]) != string(letter(len(in), 6)[3000:]) {
				return errors.New("bytes behind the receive were written")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			stats := runEager(t, notReadyPlan(RGET), func(r *Rank) error {
				buf, err := r.Alloc(2 * n)
				if err != nil {
					return err
				}
				if err := openStreamTo(r, n, buf); err != nil {
					return err
				}
				return body(r, buf)
			})
			require.Equal(t, 1, stats[1].Streams.Streams)
			require.Positive(t, stats[0].Streams.Put)
		})
	}
}

// Options that exclude each other are rejected.
func TestNotReadyConfig(t *testing.T) {
	for _, c := range []RMA{
		{Protocol: RGET, Eager: &Eager{Handshake: threshold.NotReady, Threshold: 8192}},
		{Protocol: Spec, Eager: &Eager{Handshake: threshold.NotReady}},
		{Protocol: RGET, Eager: &Eager{Handshake: threshold.NotReady}, Reuse: Reuse{Mode: ReuseCopy}},
	} {
		require.ErrorIs(t, checkNotReady(&c), drivers.ErrConfig)
	}
}
