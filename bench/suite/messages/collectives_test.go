package messages

import (
	"slices"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// options runs tests on the functional NIC.
func options(t *testing.T) regress.Options {
	return regress.Options{Device: "ideal:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

// runOne runs one body as a test on the functional NIC.
func runOne(t *testing.T, body func(*regress.T) error) regress.Outcome {
	t.Helper()
	o := options(t)
	o.NoWaves = true
	out, err := regress.Run(t.Context(), []regress.Test{{Name: "x/one", Run: body}}, o)
	require.NoError(t, err)
	return out[0]
}

// TestWrongCollectivesAreSeen plants a fault into each collective: one byte of
// what the first of the ranks that the reference speaks about got.
func TestWrongCollectivesAreSeen(t *testing.T) {
	for _, x := range collectives {
		call := x.call
		x.call = func(c *host.Comm, d *Draw) ([]byte, error) {
			got, err := call(c, d)
			if len(got) > 0 {
				got[len(got)-1] ^= 1
			}
			return got, err
		}
		out := runOne(t, func(t *regress.T) error {
			return inWorlds(t, func() round { return func(_ *host.Rank, c *host.Comm, d *Draw) error { return x.check(c, d) } })
		})
		require.Equal(t, regress.Failed, out.Status, x.name)
		require.ErrorContains(t, out.Err, x.name+" at rank")
	}
}

// TestEveryNonblockingIsCompared: each has the reference of the one that waits, and a wrong byte is
// seen.
func TestEveryNonblockingIsCompared(t *testing.T) {
	require.Len(t, beginners, len(collectives))
	defer func(list []beginner) { beginners = list }(beginners)
	for _, x := range slices.Clone(beginners) {
		begin := x.begin
		x.begin = func(c *host.Comm, d *Draw) ([]byte, *host.Request, error) {
			got, q, err := begin(c, d)
			if len(got) > 0 {
				got = append(slices.Clone(got[:len(got)-1]), got[len(got)-1]^1) // it is never written
			}
			return got, q, err
		}
		beginners = []beginner{x}
		out := runOne(t, func(t *regress.T) error { return inSplitWorlds(t, atOnce) })
		require.Equal(t, regress.Failed, out.Status, x.name)
		require.ErrorContains(t, out.Err, x.name+" at rank")
	}
}

// TestALeakyBarrierIsSeen: ranks that do not wait are told.
func TestALeakyBarrierIsSeen(t *testing.T) {
	out := runOne(t, func(t *regress.T) error {
		return inWorlds(t, func() round {
			check := barriers()
			return func(r *host.Rank, c *host.Comm, d *Draw) error {
				if c.Size() < 3 || c.ID() > 1 {
					return check(r, c, d)
				}
				// Two of the group meet alone: the others are not waited for.
				g, err := r.Group([]int{c.World(0), c.World(1)})
				if err != nil {
					return err
				}
				return check(r, g, d)
			}
		})
	})
	require.NotEqual(t, regress.Passed, out.Status)
}
