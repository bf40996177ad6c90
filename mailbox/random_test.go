package mailbox_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/mailbox/explore"
)

var seedFlag = flag.Uint64("seed", 0, "run the random tests with this seed only")

// seeds runs f with several seeds, or with the one of the command line.
func seeds(t *testing.T, n uint64, f func(t *testing.T, r *rand.Rand)) {
	for seed := uint64(1); seed <= n; seed++ {
		if *seedFlag != 0 {
			seed = *seedFlag
			n = 0
		}
		t.Run(fmt.Sprintf("seed%d", seed), func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("panic: %v", p)
				}
				if t.Failed() {
					t.Logf("again: go test ./mailbox -run '%s' -seed=%d", t.Name(), seed)
				}
			}()
			f(t, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

// short is a number, or another where only short tests are wanted.
func short(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

// twin is a Flow that asks a second implementation the same and panics where they differ.
type twin struct {
	mailbox.Flow
	n    naive
	self int
	want []mailbox.Control // control packets of the second one
}

func (w *twin) Send(peer int, room bool) mailbox.Grant {
	g := w.Flow.Send(peer, room)
	var want mailbox.Grant
	want, w.want = w.n.send(peer, room)
	if g != want {
		panic(fmt.Sprintf("rank %d Send(%d, %v) = %+v, the naive one says %+v", w.self, peer, room, g, want))
	}
	w.compare(peer)
	return g
}

func (w *twin) Retrieve(r mailbox.Retrieved) error {
	err := w.Flow.Retrieve(r)
	w.want = w.n.retrieve(r)
	w.compare(r.From)
	return err
}

func (w *twin) Next() (mailbox.Control, bool) {
	c, ok := w.Flow.Next()
	var want mailbox.Control
	if len(w.want) > 0 {
		want, w.want = w.want[0], w.want[1:]
	}
	if c != want {
		panic(fmt.Sprintf("rank %d Next() = %+v, the naive one says %+v", w.self, c, want))
	}
	return c, ok
}

func (w *twin) compare(peer int) {
	if got, want := w.Describe(peer), w.n.describe(peer); got != want {
		panic(fmt.Sprintf("states differ:\n%s\n%s (naive)", got, want))
	}
}

func randomConfig(r *rand.Rand, most int) mailbox.Config {
	c := mailbox.Config{Procs: 2 + r.IntN(most-1), CreditSlots: 1 + r.IntN(4), Piggyback: r.IntN(3) > 0, Division: mailbox.Division(r.IntN(3))}
	c.DataSlots = (c.Procs - 1) * (c.CreditSlots + r.IntN(20))
	if c.Division == mailbox.GrantExcess {
		c.DataSlots += r.IntN(c.Procs - 1)
	}
	return c
}

// churn is random traffic that changes: at any time a few pairs do most of the sending, so that a
// dynamic flow control always has something to move. It panics when a check fails.
func churn(r *rand.Rand, w *explore.World, procs, steps int) {
	var busy [][2]int
	for step := range steps {
		if step%1000 == 0 {
			busy = busy[:0]
			for range 1 + r.IntN(3) {
				from := r.IntN(procs)
				busy = append(busy, [2]int{from, (from + 1 + r.IntN(procs-1)) % procs})
			}
		}
		from := r.IntN(procs)
		other := (from + 1 + r.IntN(procs-1)) % procs
		switch r.IntN(8) {
		case 0:
			if r.IntN(4) == 0 {
				w.Settle()
			}
			w.Send(from, other, r.IntN(2) == 0)
		case 1, 2, 3:
			p := busy[r.IntN(len(busy))]
			w.Send(p[0], p[1], r.IntN(2) == 0)
		case 4, 5:
			w.Deliver(from, other)
		default:
			w.Retrieve(from)
		}
		if err := w.Check(); err != nil {
			panic(fmt.Sprintf("step %d: %v", step, err))
		}
	}
	w.Settle()
}

// traffic is churn that must end with everybody able to send.
func traffic(t *testing.T, r *rand.Rand, w *explore.World, procs, steps int) {
	churn(r, w, procs, steps)
	require.NoError(t, w.Check())
	for from := range procs {
		for to := range procs {
			if from != to {
				require.Positive(t, w.Flow(from).Credits(to), "rank %d has no credit for rank %d although all is quiet", from, to)
			}
		}
	}
}

func TestStaticAgainstNaive(t *testing.T) {
	againstNaive(t, mailbox.NewStatic, newNaiveStatic)
}

func TestDynamicAgainstNaive(t *testing.T) {
	againstNaive(t, mailbox.NewDynamic, newNaiveDynamic)
}

func againstNaive(t *testing.T, start func(mailbox.Config) (mailbox.Flow, error), second func(mailbox.Config) naive) {
	seeds(t, 40, func(t *testing.T, r *rand.Rand) {
		c := randomConfig(r, 7)
		if c.Division != mailbox.GrantExcess { // the naive ones divide the slots by dealing them out
			c.DataSlots -= c.DataSlots % (c.Procs - 1)
		}
		w, err := explore.NewWorld(c, func(c mailbox.Config) (mailbox.Flow, error) {
			f, err := start(c)
			return &twin{Flow: f, n: second(c), self: c.Self}, err
		})
		require.NoError(t, err)
		traffic(t, r, w, c.Procs, short(6000, 2500))
	})
}

// same is a Flow that asks a static one the same.
type same struct {
	mailbox.Flow
	static mailbox.Flow
}

func (s *same) Send(peer int, room bool) mailbox.Grant {
	g, want := s.Flow.Send(peer, room), s.static.Send(peer, room)
	if g != want {
		panic(fmt.Sprintf("Send: dynamic %+v, static %+v", g, want))
	}
	return g
}

func (s *same) Retrieve(r mailbox.Retrieved) error {
	return errors.Join(s.Flow.Retrieve(r), s.static.Retrieve(r))
}

func (s *same) Next() (mailbox.Control, bool) {
	c, ok := s.Flow.Next()
	want, wantOK := s.static.Next()
	if c != want || ok != wantOK {
		panic(fmt.Sprintf("Next: dynamic %+v, static %+v", c, want))
	}
	return c, ok
}

// FC paper, section 6.3: "if the dynamic flow control protocol was configured with no dynamic
// region, then it would provide the same behavior than the static flow control".
func TestDynamicWithoutDynamicRegionIsStatic(t *testing.T) {
	seeds(t, 30, func(t *testing.T, r *rand.Rand) {
		c := randomConfig(r, 6)
		c.DataSlots = (c.Procs - 1) * c.CreditSlots
		w, err := explore.NewWorld(c, func(c mailbox.Config) (mailbox.Flow, error) {
			d, err := mailbox.NewDynamic(c)
			require.NoError(t, err)
			s, err := mailbox.NewStatic(c)
			return &same{d, s}, err
		})
		require.NoError(t, err)
		traffic(t, r, w, c.Procs, short(6000, 2500))
	})
}

// Long runs of larger worlds than the explorer can take: invariants, conservation and quiescence.
// The rare events must have happened, or the runs say little.
func TestRandomWorlds(t *testing.T) {
	var all mailbox.Stats
	seeds(t, 30, func(t *testing.T, r *rand.Rand) {
		c := randomConfig(r, 12)
		c.DataSlots += r.IntN(10)
		for _, start := range []func(mailbox.Config) (mailbox.Flow, error){mailbox.NewStatic, mailbox.NewDynamic} {
			w, err := explore.NewWorld(c, start)
			require.NoError(t, err)
			traffic(t, r, w, c.Procs, short(10000, 4000))
			for rank := range c.Procs {
				s := w.Flow(rank).Stats()
				all.Steals += s.Steals
				all.ListShifts += s.ListShifts
				all.Requests += s.Requests
				all.Responses += s.Responses
				all.BlockedReturns += s.BlockedReturns
				all.Deficits += s.Deficits
				all.Excesses += s.Excesses
			}
		}
	})
	t.Logf("%+v", all)
	if *seedFlag == 0 {
		require.NotContains(t, fmt.Sprint(all.Steals, all.ListShifts, all.Requests, all.Responses, all.BlockedReturns, all.Deficits, all.Excesses, " "), " 0 ")
	}
}

// The comparison with the naive implementation is worth something only if it sees mistakes: it
// does see them.
func TestNaiveCatchesFaults(t *testing.T) {
	for _, fault := range explore.Faults() {
		t.Run(fault.String(), func(t *testing.T) {
			require.True(t, caughtByNaive(fault), "40 random runs did not show it")
		})
	}
}

func caughtByNaive(fault explore.Fault) bool {
	for seed := range uint64(40) {
		if differs(fault, rand.New(rand.NewPCG(seed, 1))) {
			return true
		}
	}
	return false
}

func differs(fault explore.Fault, r *rand.Rand) (caught bool) {
	defer func() { caught = recover() != nil }()
	c := randomConfig(r, 5)
	c.Piggyback = true
	c.Division = mailbox.GrantExcess
	start := func(c mailbox.Config) (mailbox.Flow, error) {
		f, err := explore.Dynamic.Start(c, mailbox.Eq1, fault)
		return &twin{Flow: f, n: newNaiveDynamic(c), self: c.Self}, err
	}
	w, err := explore.NewWorld(c, start)
	if err != nil {
		panic(err)
	}
	churn(r, w, c.Procs, 4000)
	return false
}
