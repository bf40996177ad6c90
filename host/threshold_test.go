package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/threshold"
	"github.com/stretchr/testify/require"
)

// withEager is a plan with eager thresholds.
func withEager(p Rendezvous, e Eager) plan {
	pl := inPairs(p)
	if e.Buffers == 0 {
		e.Buffers = 256 << 10
	}
	pl.rma.Eager = &e
	return pl
}

// runEager runs body and returns the counters of the channels.
func runEager(t *testing.T, p plan, body func(r *Rank) error) (list []EagerStats) {
	t.Helper()
	g := newRig(t, p)
	require.NoError(t, g.run(body))
	for _, r := range g.ranks {
		s, ok := r.EagerStats()
		require.True(t, ok)
		list = append(list, s)
	}
	return list
}

// swap lets two ranks exchange n bytes and compute meanwhile.
func swap(r *Rank, n, k int, compute drivers.Time, out, in []byte) error {
	peer := 1 - r.ID()
	copy(out, letter(n, 2*k+r.ID()))
	rq, err := r.Irecv(peer, k, in[:n])
	if err != nil {
		return err
	}
	sq, err := r.Isend(peer, k, out[:n])
	if err != nil {
		return err
	}
	r.Compute(compute)
	if err := r.Waitall([]*Request{rq, sq}); err != nil {
		return err
	}
	return expect(in[:n], 2*k+peer)
}

// Computation during long messages raises the threshold with either handshake; blocking calls do
// not.
func TestThresholdRises(t *testing.T) {
	const n, times = 16 << 10, 30
	for _, h := range []threshold.Handshake{threshold.Full, threshold.Partial} {
		for _, compute := range []drivers.Time{0, 50 * drivers.Microsecond} {
			stats := runEager(t, withEager(RGET, Eager{Handshake: h}), func(r *Rank) error {
				out, in := make([]byte, n), make([]byte, n)
				for k := range times {
					if err := swap(r, n, k, compute, out, in); err != nil {
						return err
					}
				}
				return nil
			})
			for _, s := range stats {
				if compute == 0 {
					require.Zero(t, s.Switched)
					require.Zero(t, s.MostBytes)
					continue
				}
				require.EqualValues(t, 1, s.Switched, "%v", h)
				require.Equal(t, n+1024, s.Greatest)
				require.Greater(t, s.Buffered, uint64(times/2))
				require.Positive(t, s.Spent)
			}
		}
	}
}

// A receiver that computes has its message when it waits; a rendezvous would only begin then.
func TestBufferedOverlaps(t *testing.T) {
	const n, times = 16 << 10, 12
	left := func(p plan) (last drivers.Time) {
		g := newRig(t, p)
		require.NoError(t, g.run(func(r *Rank) error {
			buf, err := r.Alloc(n)
			for k := 0; k < times && err == nil; k++ {
				if r.ID() == 0 {
					q, e := r.Isend(1, k, buf)
					if e != nil {
						return e
					}
					r.Compute(100 * drivers.Microsecond)
					_, err = r.Wait(q)
					continue
				}
				q, e := r.Irecv(0, k, buf)
				if e != nil {
					return e
				}
				r.Compute(100 * drivers.Microsecond)
				from := r.Now()
				_, err = r.Wait(q)
				last = r.Now() - from
			}
			return err
		}))
		return last
	}
	eager, rendezvous := left(withEager(RGET, Eager{})), left(inPairs(RGET))
	require.Less(t, eager, DefaultCost().CopyByte*n+drivers.Microsecond, "no more than the copy")
	require.Greater(t, rendezvous, eager)
}

// A fixed threshold applies to the second message, or to the first if all channels have it from the
// start.
func TestFixedThreshold(t *testing.T) {
	for _, all := range []bool{false, true} {
		stats := runEager(t, withEager(RPUT, Eager{Threshold: 8192, All: all}), func(r *Rank) error {
			out, in := make([]byte, 9000), make([]byte, 9000)
			if err := r.Barrier(); err != nil {
				return err
			}
			for k := range 8 {
				if err := swap(r, 8192, k, 0, out, in); err != nil {
					return err
				}
			}
			return swap(r, 9000, 9, 0, out, in) // too long
		})
		for _, s := range stats {
			require.EqualValues(t, 1, s.Switched)
			require.Equal(t, 8192, s.Greatest)
			require.Greater(t, s.Buffered, uint64(3))
			require.LessOrEqual(t, s.Buffered, uint64(8))
		}
	}
	require.ErrorContains(t, Eager{Threshold: 100}.Check(), "expected more than the 2048")
}

// A receiver without memory refuses, and messages continue by rendezvous.
func TestThresholdRefused(t *testing.T) {
	stats := runEager(t, withEager(RGET, Eager{Buffers: 4096}), func(r *Rank) error {
		out, in := make([]byte, 8192), make([]byte, 8192)
		for k := range 12 {
			if err := swap(r, 8192, k, 50*drivers.Microsecond, out, in); err != nil {
				return err
			}
		}
		return nil
	})
	require.Zero(t, stats[0].Buffered+stats[1].Buffered)
	require.Zero(t, stats[0].MostBytes)
}

// Idle buffers are released and allocated again on demand.
func TestIdleBuffers(t *testing.T) {
	g := newRig(t, withEager(RGET, Eager{Idle: 500 * drivers.Microsecond}))
	var bytes []int
	require.NoError(t, g.run(func(r *Rank) error {
		out, in := make([]byte, 16<<10), make([]byte, 16<<10)
		note := func() {
			if s, _ := r.EagerStats(); r.ID() == 0 {
				bytes = append(bytes, s.Bytes)
			}
		}
		for k := range 60 {
			n := 16 << 10
			if k >= 15 && k < 45 {
				n = 8
			}
			if err := swap(r, n, k, 100*drivers.Microsecond, out, in); err != nil {
				return err
			}
			if k == 14 || k == 44 || k == 59 {
				note()
			}
		}
		return nil
	}))
	require.Len(t, bytes, 3)
	require.Positive(t, bytes[0])
	require.Zero(t, bytes[1])
	require.Positive(t, bytes[2])
}

// A buffered message that is longer than its receive is truncated like any other.
func TestBufferedTruncated(t *testing.T) {
	runEager(t, withEager(RGET, Eager{Threshold: 8192, All: true}), func(r *Rank) error {
		if err := r.Barrier(); err != nil {
			return err
		}
		if err := r.Barrier(); err != nil {
			return err
		}
		if r.ID() == 0 {
			return r.Send(1, 1, letter(5000, 1))
		}
		b := make([]byte, 3000)
		st, err := r.Recv(0, 1, b)
		if st.Bytes != 5000 || err == nil {
			return fmt.Errorf("%+v, %w", st, err)
		}
		return expect(b, 1)
	})
}

// Messages of all lengths and paths keep their order and their bytes while channels change.
func TestThresholdTraffic(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for _, p := range longProtocols {
		for _, h := range []threshold.Handshake{threshold.Full, threshold.Partial} {
			for seed := range seeds {
				pl := withEager(p, Eager{Handshake: h, Idle: 300 * drivers.Microsecond, Buffers: 96 << 10, Policy: threshold.Policy{Window: 2}})
				pl.nodes, pl.procs, pl.heap = 3, 2, 2<<20
				stats := runEager(t, pl, func(r *Rank) error { return traffic(r, seed) })
				var buffered, switched uint64
				for _, s := range stats {
					buffered, switched = buffered+s.Buffered, switched+s.Switched
					require.LessOrEqual(t, s.MostBytes, 96<<10)
				}
				require.Positive(t, buffered, "%s %v seed %d", p, h, seed)
				require.Positive(t, switched)
			}
		}
	}
}

// traffic runs rounds in which each rank sends messages to all others and receives them from any
// source or out of order.
func traffic(r *Rank, seed uint64) error {
	const rounds, each = 8, 3
	length := func(round, from, to, i int) int {
		g := rand.New(rand.NewPCG(seed, uint64(((round*8+from)*8+to)*8+i)))
		return []int{3, 2048, 2500, 6000, 6000 + g.IntN(12000)}[g.IntN(5)]
	}
	mine := rand.New(rand.NewPCG(seed, uint64(1000+r.ID())))
	for round := range rounds {
		var list []*Request
		var check []func() error
		for peer := range r.Size() {
			if peer == r.ID() {
				continue
			}
			for _, i := range mine.Perm(each) {
				n := length(round, peer, r.ID(), i)
				in := make([]byte, n)
				q, err := r.Irecv(peer, i, in)
				if err != nil {
					return err
				}
				list, check = append(list, q), append(check, func() error { return expect(in, round+i) })
			}
		}
		if round%2 == 1 {
			r.Compute(drivers.Time(mine.IntN(100)) * drivers.Microsecond)
		}
		for peer := range r.Size() {
			for i := range each {
				if peer == r.ID() {
					continue
				}
				q, err := r.Isend(peer, i, letter(length(round, r.ID(), peer, i), round+i))
				if err != nil {
					return err
				}
				list = append(list, q)
			}
		}
		r.Compute(drivers.Time(mine.IntN(200)) * drivers.Microsecond)
		if err := r.Waitall(list); err != nil {
			return fmt.Errorf("round %d, seed %d: %w", round, seed, err)
		}
		for _, f := range check {
			if err := f(); err != nil {
				return fmt.Errorf("round %d, seed %d: %w", round, seed, err)
			}
		}
	}
	return r.Barrier()
}
