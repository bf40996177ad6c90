package vtime

import (
	"math/rand"
	"sort"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

func TestQueueOrdersByTimeThenScheduling(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewSource(seed))
	var q queue
	var want []entry
	for i := range 2000 {
		at := drivers.Time(rnd.Intn(50))
		p := &Proc{id: i}
		q.push(at, p)
		want = append(want, entry{at: at, seq: uint64(i + 1), proc: p})
		if rnd.Intn(3) == 0 { // interleave pops with pushes
			sort.Slice(want, func(i, j int) bool { return want[i].before(want[j]) })
			require.Same(t, want[0].proc, q.pop().proc)
			want = want[1:]
		}
	}
	sort.Slice(want, func(i, j int) bool { return want[i].before(want[j]) })
	for _, w := range want {
		require.Same(t, w.proc, q.pop().proc, "seed %d", seed)
	}
	require.Zero(t, q.len())
}
