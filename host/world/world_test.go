package world

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

var seed = flag.Uint64("seed", 1, "seed of the random programs")

const onWall = "ideal:?clock=wall"

// small returns a world configuration with few credits.
func small(nodes, procs int, p host.Rendezvous) Config {
	return Config{
		Directory: Even(nodes, procs), Velo: velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true},
		Longest: 1 << 17, Buffers: 4, Rendezvous: p, Chunk: 10000, Outstanding: 3,
	}
}

// letters returns test data that depends on sender and message number.
func letters(n, from, number int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(31*from + 7*number + i + i>>8)
	}
	return b
}

var protocols = []host.Rendezvous{host.RGET, host.RPUT, host.Chunked}

// walls are free-running devices; the second one has DMA memory in segments at a high address.
var walls = []string{onWall, onWall + "&dma_base=0x7f0000000000&dma_segment=0x200000&depth=2"}

// everywhere runs a body in every kind of world on the wall clock.
func everywhere(t *testing.T, body func(r *host.Rank) error) {
	for i, device := range walls {
		for _, p := range protocols {
			for _, local := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%s/local=%v", i, p, local), func(t *testing.T) {
					c := small(2, 2, p)
					c.Local = local
					require.NoError(t, Launch(context.Background(), device, drivers.Options{}, c, body),
						"rerun: go test ./host/world -run '%s' -seed %d", t.Name(), *seed)
				})
			}
		}
	}
}

// A message is one entry of a random schedule that all ranks know: sender, receiver, tag, length
// and number.
type message struct{ from, to, tag, bytes, number int }

func program(size, count int) (list []message) {
	rnd := rand.New(rand.NewPCG(*seed, 0))
	for i := range count {
		m := message{rnd.IntN(size), rnd.IntN(size), rnd.IntN(3), rnd.IntN(200), i}
		switch rnd.IntN(4) {
		case 0:
			m.bytes = rnd.IntN(host.EagerMax)
		case 1:
			m.bytes = host.EagerMax + 1 + rnd.IntN(30000)
		}
		list = append(list, m)
	}
	return list
}

// TestMessagesOnTheWall: concurrent messages of all lengths, from DMA memory and other memory,
// arrive intact and in order.
func TestMessagesOnTheWall(t *testing.T) {
	everywhere(t, func(r *host.Rank) error {
		var pending []*host.Request
		var check []func() error
		wait := func() error {
			err := r.Waitall(pending)
			for _, f := range check {
				err = errors.Join(err, f())
			}
			pending, check = pending[:0], check[:0]
			return err
		}
		for _, m := range program(r.Size(), 300) {
			if m.to == r.ID() {
				b := make([]byte, m.bytes)
				q, err := r.Irecv(m.from, m.tag, b)
				if err != nil {
					return err
				}
				pending = append(pending, q)
				check = append(check, func() error {
					if !bytes.Equal(b, letters(m.bytes, m.from, m.number)) {
						return fmt.Errorf("message %+v came with other bytes", m)
					}
					return nil
				})
			}
			if m.from == r.ID() {
				q, err := r.Isend(m.to, m.tag, letters(m.bytes, m.from, m.number))
				if err != nil {
					return err
				}
				pending = append(pending, q)
			}
			if m.number%40 == 39 {
				if err := wait(); err != nil {
					return err
				}
			}
		}
		return wait()
	})
}

func TestSynchronousSendsOnTheWall(t *testing.T) {
	everywhere(t, func(r *host.Rank) error {
		to, from := (r.ID()+1)%r.Size(), (r.ID()-1+r.Size())%r.Size()
		for i := range 50 {
			n := i * i
			s, err := r.Issend(to, i, letters(n, r.ID(), i))
			if err != nil {
				return err
			}
			b := make([]byte, n)
			_, err = r.Recv(from, i, b)
			if err = errors.Join(err, r.Waitall([]*host.Request{s})); err != nil {
				return err
			}
			if !bytes.Equal(b, letters(n, from, i)) {
				return fmt.Errorf("message %d of rank %d came with other bytes", i, from)
			}
		}
		return nil
	})
}

func TestCollectivesOnTheWall(t *testing.T) {
	everywhere(t, func(r *host.Rank) error {
		for round, n := range []int{8, 800, 8000} {
			root := round % r.Size()
			b := make([]byte, n)
			if r.ID() == root {
				b = letters(n, root, round)
			}
			all, in := make([]byte, n*r.Size()), make([]byte, n*r.Size())
			out := make([]byte, 0, n*r.Size())
			for p := range r.Size() {
				out = append(out, letters(n, r.ID(), p)...)
			}
			sum := make([]byte, 8)
			sum[0] = byte(r.ID() + 1)
			c, err := r.Dup()
			if err != nil {
				return err
			}
			q, err := c.Ibcast(root, b)
			if err != nil {
				return err
			}
			err = errors.Join(r.Allgather(letters(n, r.ID(), 0), all), r.Alltoall(out, in, n), r.Allreduce(sum, host.SumInt64),
				r.Waitall([]*host.Request{q}), c.Barrier())
			if err != nil {
				return err
			}
			same := bytes.Equal(b, letters(n, root, round)) && int(sum[0]) == r.Size()*(r.Size()+1)/2
			for p := range r.Size() {
				same = same && bytes.Equal(all[p*n:][:n], letters(n, p, 0)) && bytes.Equal(in[p*n:][:n], letters(n, p, r.ID()))
			}
			if !same {
				return fmt.Errorf("rank %d, round %d: other bytes than expected", r.ID(), round)
			}
		}
		return nil
	})
}

// TestStallOnTheWall: a receive without a matching send ends the run with a StallError.
func TestStallOnTheWall(t *testing.T) {
	sys, err := registry.Open(context.Background(), onWall, drivers.Options{Nodes: 2})
	require.NoError(t, err)
	defer sys.Close()
	clock := OnClock(sys)
	clock.Patience = 200 * time.Millisecond
	c := small(2, 1, host.RGET)
	c.Longest = 100
	w, err := New(clock, c)
	require.NoError(t, err)
	err = w.Run(context.Background(), func(r *host.Rank) error {
		if r.ID() == 0 {
			return r.Barrier() // and then lingers
		}
		_, err := r.Recv(0, 7, make([]byte, 8))
		return errors.Join(err, r.Barrier())
	})
	var stall *StallError
	require.ErrorAs(t, err, &stall)
	require.Equal(t, []int{0, 1}, stall.Ranks)
	require.Equal(t, "no rank makes progress for 200ms\n  rank 0: receive from rank 1 (tag 0): no matching message\n  rank 1: receive from rank 0 (tag 7): no matching message", err.Error())
}

// TestFailuresOnTheWall: the first error of a rank ends the run of all ranks, and so does
// cancellation of the context. A panic propagates to the caller of Run.
func TestFailuresOnTheWall(t *testing.T) {
	broken := errors.New("broken")
	fails := func(ctx context.Context, at int, with func() error) error {
		return Launch(ctx, onWall, drivers.Options{}, small(2, 2, host.RPUT), func(r *host.Rank) error {
			if r.ID() == at {
				return with()
			}
			return r.Barrier()
		})
	}
	err := fails(context.Background(), 2, func() error { return broken })
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "rank 2: ")
	ctx, cancel := context.WithCancelCause(context.Background())
	require.ErrorIs(t, fails(ctx, 1, func() error { cancel(broken); return nil }), broken)
	require.PanicsWithValue(t, "oops", func() { _ = fails(context.Background(), 3, func() error { panic("oops") }) })
}

// TestBlockedStoreOnTheWall: without flow control a full mailbox blocks the stores of its senders.
// Only closing the device unblocks them.
func TestBlockedStoreOnTheWall(t *testing.T) {
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	c := Config{Directory: Even(2, 1), Velo: velo.Config{Flow: velo.None, Slots: 2}}
	err := Launch(ctx, onWall, drivers.Options{}, c, func(r *host.Rank) error {
		if r.ID() == 1 { // does not receive
			time.Sleep(100 * time.Millisecond)
			cancel(enough)
			<-ctx.Done()
			return nil
		}
		for range 1000 {
			if err := r.Send(1, 0, make([]byte, 2000)); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
}

func TestDirectories(t *testing.T) {
	for want, d := range map[string]Directory{
		"rank 0 lives on node 4096 as process 0: expected nodes 0 to 4095": {{Node: 4096}},
		"ranks 0 and 2 both live on node 1 as process 3":                   {{Node: 1, VPID: 3}, {Node: 1}, {Node: 1, VPID: 3}},
		"rank 1 is of domain 7, rank 0 of 0":                               {{}, {Node: 1, Domain: 7}},
	} {
		_, err := New(&Clock{}, Config{Directory: d})
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
	c := small(2, 2, host.RGET)
	c.Mine = []int{0, 2}
	sys, err := registry.Open(context.Background(), onWall, drivers.Options{MemoryBytes: 8 << 20})
	require.NoError(t, err)
	defer sys.Close()
	_, err = New(OnClock(sys), c)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "rank 1 of node 0 is another program's")
}

// TestSimulatedTimeIsNoClock: missing capabilities are reported when the device is opened.
func TestSimulatedTimeIsNoClock(t *testing.T) {
	err := Launch(context.Background(), "ideal:", drivers.Options{}, small(2, 1, host.RGET), func(*host.Rank) error { return nil })
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	require.ErrorContains(t, err, "free-running clock")
	err = Launch(context.Background(), onWall+"&dma_segment=4096", drivers.Options{}, small(2, 1, host.RGET), func(*host.Rank) error { return nil })
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, "that the NIC finds in one piece")
}
