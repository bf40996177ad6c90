package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// TestPencils: the grid of so many ranks, and that what is south of one has it to its north.
func TestPencils(t *testing.T) {
	require.Equal(t, pencils{1, 2}, pencilsOf(2))
	require.Equal(t, pencils{2, 2}, pencilsOf(4))
	require.Equal(t, pencils{1, 5}, pencilsOf(5))
	require.Equal(t, pencils{3, 4}, pencilsOf(12))
	for ranks := 2; ranks <= 64; ranks++ {
		g := pencilsOf(ranks)
		sides := 0
		for rank := range ranks {
			for h, peer := range g.neighbours(rank) {
				if peer >= 0 {
					require.Equal(t, rank, g.neighbours(peer)[heading(h).back()], "%d ranks, %d to %d", ranks, rank, peer)
					sides++
				}
			}
		}
		require.Equal(t, 2*g.sides(), sides, "%d ranks", ranks)
		round := 0
		for rank := range ranks {
			inside := g.neighbours(rank)
			for h, peer := range g.around(rank) {
				if peer < 0 {
					continue
				}
				require.Equal(t, rank, g.around(peer)[heading(h).back()], "%d ranks, %d to %d", ranks, rank, peer)
				require.True(t, inside[h] < 0 || inside[h] == peer, "%d ranks, %d to %d: not around the end of the grid", ranks, rank, peer)
				round++
			}
		}
		require.Equal(t, round, luRoundSends(ranks, 1)[0].messages, "%d ranks", ranks)
	}
}

// TestSweepOrder is why no sweep waits for good: ranks take its messages in the order of numbers
// that belong to the messages.
func TestSweepOrder(t *testing.T) {
	for _, ranks := range []int{2, 5, 6, 12, 16} {
		g := pencilsOf(ranks)
		number := func(from int, h heading, k int) int { return 2*(from/g.columns+from%g.columns) + 4*k + int(h) }
		for rank := range ranks {
			last, peers := -1, g.neighbours(rank)
			after := func(n int) {
				require.Greater(t, n, last, "rank %d of %d", rank, ranks)
				last = n
			}
			for k := range 3 {
				for _, h := range []heading{south, east} {
					if peer := peers[h.back()]; peer >= 0 {
						after(number(peer, h, k))
					}
				}
				for _, h := range []heading{south, east} {
					if peers[h] >= 0 {
						after(number(rank, h, k))
					}
				}
			}
		}
	}
}

// TestWave: in a row every rank behind the first begins a sweep a plane later. With nothing but
// work that is an iteration of four works on borders, two sweeps, and the planes that the last
// rank, and then the first, is late: also where messages of a sweep are rendezvous, whose sends
// wait for their receive.
func TestWave(t *testing.T) {
	const plane = 10 * drivers.Millisecond
	for _, ranks := range []int{2, 3, 5} {
		for _, n := range []int{1024, luBorder * 4096} {
			c := appOn("lu", ranks, n)
			c.Rendezvous, c.Compute, c.Iterations, c.Warmup = host.RGET, luPlanes*plane, 1, 0
			row := runApp(t, c)
			want := (6*luPlanes + 2*drivers.Time(ranks-1)) * plane
			require.InDelta(t, float64(want+plane/4), float64(row.Iteration), float64(plane/4), "%d ranks, %d bytes", ranks, n)
		}
	}
}

// TestLines: every rank is once in each line, successors have it for predecessor, and the boxes of
// a line are in all slices.
func TestLines(t *testing.T) {
	for q := 2; q <= 6; q++ {
		for rank := range q * q {
			for d, l := range linesOf(rank, q) {
				what := fmt.Sprintf("rank %d of %d, direction %d", rank, q*q, d)
				require.Equal(t, rank, linesOf(l.successor, q)[d].predecessor, what)
				at := rank
				for range q {
					at = linesOf(at, q)[d].successor
				}
				require.Equal(t, rank, at, what)
			}
		}
	}
}

// TestBoxes holds linesOf to what it is for: each box has one rank, and the next box in a direction
// is its successor's.
func TestBoxes(t *testing.T) {
	for q := 2; q <= 5; q++ {
		owner := map[[3]int]int{}
		for rank := range q * q {
			for z := range q { // a diagonal, from the slice z = 0
				owner[[3]int{(rank%q + z) % q, (rank/q - z + q) % q, z}] = rank
			}
		}
		require.Len(t, owner, q*q*q)
		for box, rank := range owner {
			for d, l := range linesOf(rank, q) {
				next := box
				next[d] = (next[d] + 1) % q
				require.Equal(t, owner[next], l.successor, "q %d: box %v in direction %d", q, box, d)
			}
		}
	}
}

func TestSquare(t *testing.T) {
	for ranks, ok := range map[int]bool{2: false, 3: false, 4: true, 5: false, 8: false, 9: true, 16: true} {
		c := appOn("bt", ranks, 64)
		if err := square(&c); ok {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, drivers.ErrConfig)
		}
	}
	c := appOn("bt", 7, 64)
	require.ErrorContains(t, square(&c), "the nearest are 4 and 9")
}

// TestFacesBehindGets is why BT waits longer with speculation: of the faces that two ranks exchange
// some are put and some got, and a put waits for the get before it (TestPutBehindGet). Without
// faces, or where a put that had to wait is left, a rank waits less.
func TestFacesBehindGets(t *testing.T) {
	if testing.Short() {
		t.Skip("is long")
	}
	waits := func(name string, p host.Rendezvous) drivers.Time {
		c := appOn(name, 4, 128<<10)
		c.Rendezvous, c.AlwaysSpeculate, c.Iterations = p, p == host.Spec, 8
		c.Compute, c.Jitter = 400*drivers.Microsecond, 20
		s := runApp(t, c).App
		return s.Wait + s.Send
	}
	for name, less := range map[string]bool{"bt": false, "bt-sweeps": true, "bt-send": true} {
		before, after := waits(name, host.RGET), waits(name, host.Spec)
		require.Equal(t, less, after < before*9/10, "%s: %v, before %v", name, after, before)
	}
}

// TestGetsOfOnePeer is why BT's exchange of faces waits longer if all are begun at one time: a rank
// performs its gets one after the other. If two ranks get from the same third one first, the fourth
// has nothing to give meanwhile, and then the third; in the other order nobody waits.
func TestGetsOfOnePeer(t *testing.T) {
	const n, late = 64 << 10, 5 * drivers.Microsecond
	took := func(second [4]int) drivers.Time { // by rank: whom the givers 1 and 2 send to late
		c := Default("")
		c.Device, c.Nodes, c.Sizes = "ideal:", 4, []int{2 * n}
		var ends [4]drivers.Time
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			begin := r.Isend
			peers := [2]int{0, 3}
			if r.ID() == 0 || r.ID() == 3 {
				peers, begin = [2]int{1, 2}, r.Irecv
			} else if second[r.ID()] == 0 {
				peers = [2]int{3, 0}
			}
			if err := r.Barrier(); err != nil {
				return err
			}
			began := r.Now()
			if r.ID() == 2 && second[1] == second[2] {
				r.Compute(late) // its messages are both behind those of rank 1
			}
			var list []*host.Request
			for i, peer := range peers {
				b, err := r.Alloc(n)
				if err != nil {
					return err
				}
				if i == 1 && second[1] != second[2] {
					r.Compute(late)
				}
				q, err := begin(peer, tagApp, b)
				if err != nil {
					return err
				}
				list = append(list, q)
			}
			err := r.Waitall(list)
			ends[r.ID()] = r.Now() - began
			return err
		}))
		return slices.Max(ends[:])
	}
	apart, same := took([4]int{1: 3, 2: 0}), took([4]int{1: 3, 2: 3})
	require.Greater(t, float64(same), 1.3*float64(apart))
}

// TestOtherMachines: what experiments change does what it says. Gets that take half as long again,
// puts that do not; memory that is half as fast beside a computation, and as fast as ever beside
// none.
func TestOtherMachines(t *testing.T) {
	iteration := func(p host.Rendezvous, compute drivers.Time, change func(*Config)) float64 {
		c := appOn("exchange2", 2, 128<<10)
		c.Rendezvous, c.AlwaysSpeculate, c.Compute = p, p == host.Spec, compute
		c.Cost.CopyByte = 0 // nothing but bytes that move
		change(&c)
		return float64(runApp(t, c).Iteration)
	}
	as := func(*Config) {}
	longer := func(c *Config) { c.GetsLonger = 50 }
	half := func(c *Config) { c.Beside = 50 }
	require.InEpsilon(t, 1.45*iteration(host.RGET, 0, as), iteration(host.RGET, 0, longer), 0.05)
	require.Equal(t, iteration(host.RPUT, 0, as), iteration(host.RPUT, 0, longer))
	alone := iteration(host.Spec, 0, as)
	require.InEpsilon(t, alone, iteration(host.Spec, 0, half), 0.01)
	// What is moved beside a computation of half of that time is behind then. A NIC that reads and
	// writes at a time writes at two thirds of line rate anyway.
	compute := drivers.Time(alone / 2)
	require.Greater(t, iteration(host.Spec, compute, half)-iteration(host.Spec, compute, as), alone/10)
	whole := func(c *Config) { c.Beside = 100 }
	require.InEpsilon(t, iteration(host.Spec, compute, as), iteration(host.Spec, compute, whole), 0.01)
	for _, change := range []func(*Config){
		func(c *Config) { c.GetsLonger = 101 }, func(c *Config) { c.Beside = -1 }, func(c *Config) { c.Beside, c.Procs = 50, 2 },
		func(c *Config) { c.Beside, c.NVM = 50, []NVM{{Node: 0, Num: 1, Den: 8, Depth: NVMDepth}} },
	} {
		c := appOn("exchange2", 2, 128<<10)
		change(&c)
		require.ErrorIs(t, c.Validate(), drivers.ErrConfig)
	}
}
