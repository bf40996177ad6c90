package vtime

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// scripted has the crew of a kernel change after windows drawn from a seed.
func scripted(k *Kernel, seed uint64) {
	k.loops[0].with.crew.script = rand.New(rand.NewPCG(seed, 0))
}

// seeds calls f with seeds: new ones in every run, or the one of the environment.
func seeds(t *testing.T, n int, f func(t *testing.T, seed uint64)) {
	const variable = "VTIME_SEED"
	first := uint64(time.Now().UnixNano()) % 1e6
	if s := os.Getenv(variable); s != "" {
		var err error
		first, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
		n = 1
	}
	for seed := first; seed < first+uint64(n); seed++ {
		ok := false
		defer func() {
			if !ok || t.Failed() {
				t.Logf("%s=%d go test ./cosim/vtime -run '^%s$'", variable, seed, t.Name())
			}
		}()
		f(t, seed)
		ok = true
	}
}

// TestChangesChangeNothing: one goes on alone, or all together, from any window on.
func TestChangesChangeNothing(t *testing.T) {
	const nodes = 5
	run := func(parts int, seed uint64) []string {
		c := newCrowd(t, nodes, parts, 0)
		if parts > 1 {
			scripted(c.k, seed)
		}
		var seen []string
		for range 2 {
			require.NoError(t, c.k.Run(c.chat))
			seen = append(seen, c.state()...)
		}
		for _, log := range c.logs {
			seen = append(seen, log...)
		}
		return seen
	}
	want := run(1, 0)
	seeds(t, 20, func(t *testing.T, seed uint64) {
		require.Equal(t, want, run(2, seed))
		require.Equal(t, want, run(3, seed))
	})
}
