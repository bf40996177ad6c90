package bench

import (
	"fmt"
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
	}
}

// TestSweepOrder is why no sweep waits for good: ranks take its messages in the order of numbers that belong to the messages.
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

// TestWave: in a row every rank behind the first begins a sweep a plane later. With nothing but work that is an iteration of four works on borders, two
// sweeps, and the planes that the last rank, and then the first, is late: also where messages of a sweep are rendezvous, whose sends wait for
// their receive.
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

// TestLines: every rank is once in each line, successors have it for predecessor, and the boxes of a line are in all slices.
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

// TestBoxes holds linesOf to what it is for: each box has one rank, and the next box in a direction is its successor's.
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

// TestFacesBehindGets is why BT waits longer with speculation: of the faces that two ranks exchange some are put and some got, and a put waits for the
// get before it (TestPutBehindGet). Without faces, or where a put that had to wait is left, a rank waits less.
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
