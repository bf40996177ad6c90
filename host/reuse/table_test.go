package reuse

import (
	"flag"
	"fmt"
	"math/rand"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

var seed = flag.Int64("seed", 1, "seed of random tests")

func at(n int) func(int) int { return func(int) int { return n } }

// TestScenarios runs the scripts in testdata; exec documents their commands. Use -rewrite to record
// new output, and commit it only if you can explain every changed line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var w *world
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) (output string) {
			output, w = w.exec(d.FullCmd())
			return output
		})
	})
}

// steps are the possible operations in a small world.
func steps(addresses int) (list []func(*world) error) {
	for a := range addresses {
		at := uint64(8 + 8*a)
		list = append(list,
			func(w *world) error { _, err := w.use(at, 4); return err },
			func(w *world) error { return w.move(at, 8) })
	}
	return append(list,
		func(w *world) error { _, err := w.use(8, 8); return err },
		func(w *world) error { return w.finish() },
		func(w *world) error { w.refuse = true; return nil },
		func(w *world) error { return w.move(8, 8*addresses) })
}

// walk tries every sequence of steps up to a depth.
func walk(c Config, plant string, addresses, depth int) (int, error) {
	list := steps(addresses)
	n := 0
	path := make([]int, 0, depth)
	var from func() error
	from = func() error {
		w := newWorld(c, plant)
		for k, i := range path {
			if err := list[i](w); err != nil {
				return fmt.Errorf("steps %v: %w", path[:k+1], err)
			}
		}
		n++
		if err := w.close(addresses); err != nil {
			return fmt.Errorf("steps %v, then all ends: %w", path, err)
		}
		if len(path) == depth {
			return nil
		}
		for i := range list {
			path = append(path, i)
			if err := from(); err != nil {
				return err
			}
			path = path[:len(path)-1]
		}
		return nil
	}
	err := from()
	return n, err
}

// close completes all reads. Nothing may be left afterwards.
func (w *world) close(addresses int) error {
	for len(w.reads) > 0 {
		if err := w.finish(); err != nil {
			return err
		}
	}
	w.table.Invalidate(0, uint64(8+8*addresses))
	if err := w.check(); err != nil {
		return err
	}
	if w.table.Len() != 0 || len(w.alive) != 0 {
		return fmt.Errorf("%w: %d buffers and %d registrations are left", errUnsafe, w.table.Len(), len(w.alive))
	}
	return nil
}

func smallWorlds() []Config {
	return []Config{
		{Buckets: 1, Buffers: 2, Registered: 1, Threshold: at(1)},
		{Buckets: 1, Buffers: 1, Registered: 1, Threshold: at(2)},
		{Buckets: 2, Buffers: 2, Registered: 2, Threshold: at(2)},
		{Buckets: 2, Buffers: 3, Registered: 1, Threshold: at(1), Endless: true},
	}
}

// TestExhaustive: every sequence of uses, completions, moves and refusals in small tables.
func TestExhaustive(t *testing.T) {
	depth := 6
	if testing.Short() {
		depth = 5
	}
	for _, c := range smallWorlds() {
		n, err := walk(c, "", 2, depth)
		require.NoError(t, err, "%+v", c)
		t.Logf("%d sequences", n)
	}
}

func TestMistakesAreFound(t *testing.T) {
	for _, plant := range []string{"no-hold", "no-invalidate"} {
		found := 0
		for _, c := range smallWorlds() {
			if _, err := walk(c, plant, 2, 5); err != nil {
				require.ErrorIs(t, err, errUnsafe)
				found++
			}
		}
		require.NotZero(t, found, plant)
	}
}

// TestRandom runs longer sequences on larger tables.
func TestRandom(t *testing.T) {
	rnd := rand.New(rand.NewSource(*seed))
	for range 50 {
		c := Config{Buckets: 1 << rnd.Intn(5), Buffers: 1 + rnd.Intn(20), Registered: 1 + rnd.Intn(6), Threshold: at(1 + rnd.Intn(5)), Endless: rnd.Intn(2) == 0}
		w := newWorld(c, "")
		for range 2000 {
			require.NoError(t, w.random(rnd.Intn(100), rnd.Intn(40), rnd.Intn(64)), "reproduce with: go test ./host/reuse -run TestRandom -seed %d", *seed)
		}
		require.NoError(t, w.close(400))
	}
}

func (w *world) random(what, a, n int) error {
	at := uint64(8 + 8*a)
	switch {
	case what < 70:
		_, err := w.use(at, 1+n%8)
		return err
	case what < 90:
		return w.finish()
	case what < 92:
		w.refuse = true
		return nil
	}
	return w.move(at, 8*(1+n%4))
}

func FuzzTable(f *testing.F) {
	f.Add([]byte{3, 2, 1, 2, 0, 1, 1, 0, 1, 1, 80, 0, 0, 95, 1, 1})
	f.Add([]byte{0, 0, 0, 0, 0, 1, 1, 95, 1, 1, 0, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 4 {
			return
		}
		c := Config{Buckets: 1 << (b[0] % 4), Buffers: 1 + int(b[1]%8), Registered: 1 + int(b[2]%4), Threshold: at(1 + int(b[3]%4))}
		w := newWorld(c, "")
		for b = b[4:]; len(b) >= 3; b = b[3:] {
			require.NoError(t, w.random(int(b[0]%100), int(b[1]%40), int(b[2])))
		}
		require.NoError(t, w.close(400))
	})
}

// TestAdaptation: the table stops growing below 20 % of registered buffers, not above (section
// 5.3.4).
func TestAdaptation(t *testing.T) {
	for _, x := range []struct {
		reused int // of 10 buffers
		grows  bool
	}{{0, false}, {1, false}, {3, true}, {5, true}} {
		for _, endless := range []bool{false, true} {
			table := mix(t, Config{Threshold: at(4), Endless: endless}, 4000, x.reused)
			if endless || x.grows {
				require.Equal(t, 4000, table.Len(), "%d of 10 reused, endless %v", x.reused, endless)
				require.Zero(t, table.Stats().Stopped)
			} else {
				require.Less(t, table.Len(), 2500, "%d of 10 reused", x.reused)
				require.Greater(t, table.Len(), 500)
				require.NotZero(t, table.Stats().Stopped)
			}
		}
	}
}

// mix uses a number of buffers in turn; of every ten, some are used often.
func mix(t *testing.T, c Config, buffers, reused int) *Table[int] {
	table, err := New[int](c)
	require.NoError(t, err)
	c.Registered = buffers
	table.Config.Registered = buffers
	for i := range buffers {
		uses := 1
		if i%10 < reused {
			uses = 20
		}
		for range uses {
			if u := table.Use(uint64(4096*(i+1)), 4096); u.Verdict == Register {
				require.Equal(t, Direct, table.Registered(u.Ref, 4096, i))
			}
		}
	}
	return table
}

// TestPhases: after a phase of unsuitable buffers, a few new ones that are used often are
// registered.
func TestPhases(t *testing.T) {
	table := mix(t, Config{Threshold: at(8)}, 4000, 0)
	stopped := table.Len()
	uses := 0
	for direct := 0; direct < 100; uses++ {
		at := uint64(1<<40 + 4096*(uses%10))
		u := table.Use(at, 4096)
		if u.Verdict == Register {
			table.Registered(u.Ref, 4096, uses)
		}
		if u.Verdict == Direct {
			direct++
		}
		require.Less(t, uses, 1000)
	}
	require.LessOrEqual(t, table.Len(), stopped+10)
	t.Logf("10 buffers are used without a copy after %d uses", uses)
}

// TestThresholds: the paper's costs (Table 5.3, fast path, in copies of 1 KB) yield the paper's
// thresholds.
func TestThresholds(t *testing.T) {
	c := Costs{CopyByte: 1. / 1024, Register: 224, Page: 16}
	for kb, want := range map[int]int{4: 60, 8: 32} {
		require.Equal(t, want+1, c.Pays(kb<<10), "more than what just pays")
		require.InDelta(t, want/4, c.Threshold(kb<<10, DefaultPortion), 1)
	}
	for kb, want := range map[int]int{1: 200, 2: 110, 3: 76, 5: 48, 6: 40, 7: 36} {
		require.InEpsilon(t, want, c.Pays(kb<<10), 0.21, "%d KB", kb)
	}
	c.Look = 64. / 1024
	require.Zero(t, c.Pays(64))
	require.Zero(t, c.Threshold(64, DefaultPortion))
	require.NotZero(t, c.Threshold(128, DefaultPortion))
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{}, {Threshold: at(1), Buckets: 3}, {Threshold: at(1), Buffers: -1}, {Threshold: at(1), Registered: -1}, {Threshold: at(1), Share: -1}} {
		_, err := New[int](c)
		require.Error(t, err, "%+v", c)
	}
}

// BenchmarkUse measures the CPU time of a lookup of a known and of a new buffer, as used in host's
// cost model.
func BenchmarkUse(b *testing.B) {
	for _, x := range []struct {
		name    string
		buffers int
	}{{"same", 1}, {"64", 64}, {"1000", 1000}, {"new", 1 << 30}} {
		b.Run(x.name, func(b *testing.B) {
			table, err := New[int](Config{Threshold: at(1 << 30)})
			require.NoError(b, err)
			for i := range b.N {
				table.Use(uint64(4096*(i%x.buffers)), 4096)
			}
			b.ReportMetric(float64(table.Stats().Looked)/float64(b.N), "entries/op")
		})
	}
}
