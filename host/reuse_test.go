package host

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host/path"
	"github.com/nicloop/nicloop/rma"
	"github.com/stretchr/testify/require"
)

// reusing is a world of two ranks whose eager messages travel by RMA. Buffers are registered after
// a few uses.
func reusing(mode ReuseMode) plan {
	p := inPairs(RGET)
	p.rma.Reuse = Reuse{Mode: mode, Portion: 10, Entries: 4}
	return p
}

// Messages of all lengths arrive in order, before and after their receives, by ring, VELO and
// rendezvous, although their buffers are overwritten as soon as they are sent.
func TestRingMessages(t *testing.T) {
	for i, mode := range []ReuseMode{ReuseCopy, ReuseAdapt, ReuseAdapt} {
		p := reusing(mode)
		if i == 2 { // translation tables so small that entries must be evicted
			p.tables = 64 + 8*100
		}
		g := newRig(t, p)
		require.NoError(t, g.run(func(r *Rank) error { return ringMessages(r, *seed) }), "reproduce with: go test ./host -run TestRingMessages -seed %d", *seed)
		s := g.ranks[0].Reused()
		require.NotZero(t, s.Copied)
		require.NotZero(t, s.Other, "some found no entry")
		if mode == ReuseAdapt {
			require.NotZero(t, s.Direct)
		} else {
			require.Zero(t, s.Direct)
		}
		for i, r := range g.ranks {
			require.NoError(t, r.ring.CheckIdle(), "rank %d", i)
		}
	}
}

// ringMessages lets both ranks exchange rounds of messages of random lengths and tags, received
// early or late, by tag or by any tag.
func ringMessages(r *Rank, seed int64) error {
	const rounds, batch, tags = 60, 8, 3
	sizes := []int{0, 8, 127, 128, 129, 1000, 2048, 2049, 4096, 8192, 9216, 9217, 20000}
	both := rand.New(rand.NewSource(seed))
	own := rand.New(rand.NewSource(seed + int64(r.ID()) + 1))
	var buffers [][]byte
	for i := range batch {
		b := make([]byte, 20000) // the last bytes are outside DMA memory
		if i < batch-2 {
			var err error
			if b, err = r.Alloc(len(b)); err != nil {
				return err
			}
		}
		buffers = append(buffers, b)
	}
	peer := 1 - r.ID()
	for round := range rounds {
		var lengths, tag []int
		for range batch {
			lengths, tag = append(lengths, sizes[both.Intn(len(sizes))]), append(tag, both.Intn(tags))
		}
		anyTag := both.Intn(2) == 0
		var sends []*Request
		for i, b := range buffers {
			b = b[:lengths[i]]
			copy(b, letter(len(b), round*batch+i))
			q, err := r.Isend(peer, tag[i], b)
			if err != nil {
				return err
			}
			if q.Done() {
				clear(b)
			}
			sends = append(sends, q)
		}
		r.Compute(drivers.Time(own.Intn(40)) * drivers.Microsecond)
		if err := receiveRound(r, peer, round*batch, lengths, tag, anyTag, own); err != nil {
			return err
		}
		if err := r.Waitall(sends); err != nil {
			return err
		}
	}
	return nil
}

// receiveRound receives a batch in sending order, or by tag in a random order.
func receiveRound(r *Rank, peer, first int, lengths, tag []int, anyTag bool, own *rand.Rand) error {
	order := own.Perm(len(lengths))
	left := map[int][]int{} // messages by tag
	for i, t := range tag {
		left[t] = append(left[t], i)
	}
	for k := range lengths {
		i, source, t := k, AnySource, AnyTag
		if !anyTag {
			t = tag[order[k]]
			source = peer
			i = left[t][0]
			left[t] = left[t][1:]
		}
		b := make([]byte, lengths[i]+own.Intn(2)*5)
		if own.Intn(3) == 0 {
			if _, _, err := r.Iprobe(source, t); err != nil {
				return err
			}
		}
		st, err := r.Recv(source, t, b)
		if want := (Status{peer, tag[i], lengths[i]}); err != nil || st != want {
			return fmt.Errorf("message %d: %+v, %v, expected %+v", first+i, st, err, want)
		}
		if err := expect(b[:st.Bytes], first+i); err != nil {
			return err
		}
	}
	return nil
}

// A late receiver delays no other message: messages without a ring entry take another path, and all
// are received in order.
func TestLateReceiver(t *testing.T) {
	const messages, n, late = 30, 500, 2 * drivers.Millisecond
	p := reusing(ReuseCopy)
	g := newRig(t, p)
	var sent drivers.Time
	require.NoError(t, g.run(func(r *Rank) error {
		b, err := r.Alloc(n)
		if err != nil {
			return err
		}
		if r.ID() == 0 {
			if err := r.Send(1, 0, []byte{1}); err != nil { // too short to request a ring
				return err
			}
			for k := range messages {
				copy(b, letter(n, k))
				if err := r.Send(1, k%2, b); err != nil {
					return err
				}
				clear(b)
			}
			sent = r.Now()
			return nil
		}
		if _, err := r.Recv(0, 0, b); err != nil {
			return err
		}
		for r.Now() < late { // make progress without a receive
			r.Compute(drivers.Microsecond)
			if _, _, err := r.Iprobe(0, 7); err != nil {
				return err
			}
		}
		for _, tag := range []int{1, 0} {
			for k := tag; k < messages; k += 2 {
				if _, err := r.Recv(0, tag, b); err != nil {
					return err
				}
				if err := expect(b, k); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	s := g.ranks[0].Reused()
	require.EqualValues(t, 4, s.Copied, "as many as there are entries")
	require.EqualValues(t, messages-4, s.Other)
	require.Less(t, sent, late)
	require.Zero(t, g.ranks[1].ring.Unreturned(0), "all were given back")
}

// Freed memory is removed from the table and from the hardware. A later send from the same address
// sends the new bytes.
func TestFreedBuffers(t *testing.T) {
	const n = 5000
	g := newRig(t, reusing(ReuseAdapt))
	require.NoError(t, g.run(func(r *Rank) error {
		var at uint64
		for life := range 4 {
			b, err := r.Alloc(n)
			if err != nil {
				return err
			}
			where, _ := r.engine.DMA.Locate(b)
			if life > 0 && where != at {
				return fmt.Errorf("life %d begins at %d, not at %d again", life, where, at)
			}
			at = where
			before := r.Reused()
			for k := range 30 {
				if r.ID() == 1 {
					if _, err := r.Recv(0, 0, b); err != nil {
						return err
					}
					if err := expect(b, life*50+k); err != nil {
						return err
					}
					if err := r.Send(0, 1, nil); err != nil {
						return err
					}
					continue
				}
				copy(b, letter(n, life*50+k))
				if err := r.Send(1, 0, b); err != nil {
					return err
				}
				if _, err := r.Recv(1, 1, nil); err != nil {
					return err
				}
			}
			if s := r.Reused(); r.ID() == 0 {
				copied := int(s.Copied + s.Other - before.Copied - before.Other)
				if s.Direct == before.Direct || copied < 5 || s.Pins != before.Pins+1 {
					return fmt.Errorf("life %d: %+v after %+v: a new buffer must be registered anew", life, s, before)
				}
				if r.ring.Registrations() != 1 {
					return fmt.Errorf("%d registrations", r.ring.Registrations())
				}
			}
			if err := r.Free(b); err != nil {
				return err
			}
			if r.ring.Registrations() != 0 || r.Reused().Buffers != 0 {
				return fmt.Errorf("life %d: the table still knows freed memory", life)
			}
			if err := r.Free(b); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("freed twice: %v", err)
			}
			// what lay there is mapped elsewhere now: whoever used it still would meet a fault, or somebody
			// else's bytes
			other, err := r.engine.DMA.Port.Register(r.engine.DMA.HeapBase+1<<18, 8192, 3)
			if err != nil {
				return err
			}
			r.engine.DMA.Port.Release(other)
		}
		return nil
	}))
}

// A buffer that the hardware is reading is not freed.
func TestFreeUnderWay(t *testing.T) {
	g := newRig(t, reusing(ReuseAdapt))
	require.NoError(t, g.run(func(r *Rank) error {
		b, err := r.Alloc(9000)
		if err != nil {
			return err
		}
		refused := false
		for k := range 20 {
			if r.ID() == 1 {
				if _, err := r.Recv(0, 0, b); err != nil {
					return err
				}
				if err := expect(b, k); err != nil {
					return err
				}
				continue
			}
			copy(b, letter(len(b), k))
			q, err := r.Isend(1, 0, b)
			if err != nil {
				return err
			}
			if q.op.Holder == path.Holder(r.ring) && !q.Done() {
				if err := r.Free(b); !errors.Is(err, drivers.ErrConfig) {
					return fmt.Errorf("given back while it is read: %v", err)
				}
				refused = true
			}
			if _, err := r.Wait(q); err != nil {
				return err
			}
			r.Compute(30 * drivers.Microsecond)
		}
		if r.ID() == 0 && !refused {
			return errors.New("nothing was sent without a copy")
		}
		return r.Free(b)
	}))
}

// Puts and gets of a window: buffers used once and often, in and outside DMA memory, longer than an
// intermediate buffer.
func TestWindow(t *testing.T) {
	for i, mode := range []ReuseMode{ReuseCopy, ReuseAdapt, ReuseCopy, ReuseAdapt} {
		p := reusing(mode)
		p.nodes = 3
		g := newRig(t, p)
		require.NoError(t, g.run(func(r *Rank) error {
			const n, rounds = 20000, 12
			mine, err := r.Alloc(3 * n)
			if err != nil {
				return err
			}
			w, err := r.NewWindow(mine)
			if err != nil {
				return err
			}
			out, err := r.Alloc(n)
			if err != nil {
				return err
			}
			in := make([]byte, n)
			if i >= 2 {
				w.CopyLate()
			}
			next, last := (r.ID()+1)%3, (r.ID()+2)%3
			for k := range rounds {
				size := []int{1, 100, 4096, 9216, n}[k%5]
				copy(out, letter(size, k))
				for _, to := range []int{next, last, r.ID()} {
					if err := w.Put(to, r.ID()*n, out[:size]); err != nil {
						return err
					}
				}
				if err := w.Fence(); err != nil {
					return err
				}
				for from := range 3 {
					if err := expect(mine[from*n:][:size], k); err != nil {
						return fmt.Errorf("round %d at %d from %d: %w", k, r.ID(), from, err)
					}
				}
				for piece := range 40 { // more than there are intermediate buffers
					if err := w.Get(last, last*n+piece*100, in[piece*100:][:100]); err != nil {
						return err
					}
				}
				if err := w.Fence(); err != nil {
					return err
				}
				if err := expect(in[:min(size, 4000)], k); err != nil {
					return fmt.Errorf("pieces of round %d: %w", k, err)
				}
				for _, b := range [][]byte{in, out} {
					clear(b)
					if err := w.Get(next, last*n, b[:size]); err != nil {
						return err
					}
					if err := w.Fence(); err != nil {
						return err
					}
					if err := expect(b[:size], k); err != nil {
						return fmt.Errorf("get of round %d: %w", k, err)
					}
				}
			}
			for _, err := range []error{w.Put(3, 0, out), w.Put(next, 3*n-1, out), w.Get(next, -1, out)} {
				if !errors.Is(err, drivers.ErrConfig) {
					return fmt.Errorf("%v, expected a refusal", err)
				}
			}
			if err := w.Free(); err != nil {
				return err
			}
			if err := w.Put(next, 0, out); !errors.Is(err, drivers.ErrConfig) {
				return fmt.Errorf("%v, expected that the window is freed", err)
			}
			return nil
		}))
		for _, r := range g.ranks {
			require.Equal(t, mode == ReuseAdapt, r.Reused().Direct > 0)
			require.NoError(t, r.ring.CheckIdle())
		}
	}
}

// Broadcasts and scatters send from reused buffers without a copy.
func TestReuseInCollectives(t *testing.T) {
	p := reusing(ReuseAdapt)
	p.nodes = 4
	g := newRig(t, p)
	require.NoError(t, g.run(func(r *Rank) error {
		const n = 4096
		b, err := r.Alloc(n)
		if err != nil {
			return err
		}
		all, err := r.Alloc(4 * n)
		if err != nil {
			return err
		}
		for _, name := range Scatter.Algorithms() {
			if err := r.SetAlgorithm(Scatter, name); err != nil {
				return err
			}
			if err := r.SetAlgorithm(Bcast, "binomial"); err != nil {
				return err
			}
			for k := range 20 {
				if r.ID() == 0 {
					copy(b, letter(n, k))
				}
				if err := r.Bcast(0, b); err != nil {
					return err
				}
				if err := expect(b, k); err != nil {
					return err
				}
				for i := range 4 {
					copy(all[i*n:], letter(n, k+i))
				}
				if err := r.Scatter(0, all, b); err != nil {
					return err
				}
				if err := expect(b, k+r.ID()); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	require.NotZero(t, g.ranks[0].Reused().Direct)
	require.NotZero(t, g.ranks[2].Reused().Direct, "an inner rank of the tree")
}

func TestReuseRefused(t *testing.T) {
	for _, c := range []Reuse{{Mode: "sometimes"}, {Mode: ReuseCopy, Entries: 65}, {Mode: ReuseCopy, From: 10, Longest: 5}, {Mode: ReuseAdapt, Portion: 101}} {
		require.ErrorIs(t, c.Check(), drivers.ErrConfig, "%+v", c)
	}
	require.NoError(t, Reuse{}.Check())
	g := newRig(t, inPairs(RGET))
	r := g.ranks[0]
	c := g.used[0]
	c.Reuse, c.HeapBytes = Reuse{Mode: ReuseCopy}, 100000
	require.ErrorIs(t, r.UseRMA(c), drivers.ErrConfig)
	_, err := r.Alloc(100)
	require.NoError(t, err, "what the rank had before is there")
	require.NoError(t, g.run(func(r *Rank) error {
		if _, err := r.NewWindow(nil); !errors.Is(err, drivers.ErrNotSupported) {
			return fmt.Errorf("%v", err)
		}
		return nil
	}))
}

// A put into a ring that the hardware refuses ends the sending rank with the fault; no receiver
// gets wrong bytes.
func TestRingFault(t *testing.T) {
	g := newRig(t, reusing(ReuseCopy))
	err := g.run(func(r *Rank) error {
		b := make([]byte, 4000)
		peek := func() error {
			r.Compute(drivers.Microsecond)
			_, _, err := r.Iprobe(AnySource, 9)
			return err
		}
		if r.ID() == 1 {
			for r.ring.Granted(0) == 0 {
				if err := peek(); err != nil {
					return err
				}
			}
			g.unmap(r)
			if _, err := r.Recv(0, 0, b); err != nil { // the message that requested the ring
				return err
			}
			_, err := r.Recv(0, 0, b)
			return fmt.Errorf("a message that was refused ends with %w", errors.Join(err, expect(b, 1)))
		}
		if err := r.Send(1, 0, letter(1000, 0)); err != nil {
			return err
		}
		for r.Now() < 100*drivers.Microsecond { // the ring is granted, and unmapped
			if err := peek(); err != nil {
				return err
			}
		}
		if err := r.Send(1, 0, letter(4000, 1)); err != nil {
			return err
		}
		_, err := r.Recv(1, 0, b)
		return err
	})
	var fault *rma.FaultError
	require.ErrorAs(t, err, &fault)
	require.Contains(t, err.Error(), "rank 0: host: rank 0 put")
}

// Registrations that only save copies are evicted when a rendezvous finds the tables full of them.
func TestReuseYields(t *testing.T) {
	const buffers, uses, n, long = 12, 8, 8000, 100000
	p := reusing(ReuseAdapt)
	p.tables = 64 + 8*120
	g := newRig(t, p)
	require.NoError(t, g.run(func(r *Rank) error {
		size := func(i int) int {
			if i == buffers*uses {
				return long
			}
			return n
		}
		var list [][]byte
		for i := range buffers + 1 {
			b, err := r.Alloc(size(i * uses))
			if err != nil {
				return err
			}
			list = append(list, b)
		}
		for i := range buffers*uses + 1 {
			b := list[i/uses]
			if r.ID() == 1 {
				if _, err := r.Recv(0, 0, b); err != nil {
					return err
				}
				if err := expect(b, i); err != nil {
					return err
				}
				if err := r.Send(0, 1, nil); err != nil {
					return err
				}
				continue
			}
			copy(b, letter(len(b), i))
			if err := r.Send(1, 0, b); err != nil {
				return err
			}
			if _, err := r.Recv(1, 1, nil); err != nil {
				return err
			}
		}
		return nil
	}))
	s := g.ranks[0].Reused()
	require.NotZero(t, s.Direct)
	require.NotZero(t, s.Table.Evicted)
}
