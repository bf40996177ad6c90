package imb

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/bench"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

func onIdeal(nodes, procs int, names ...string) Config {
	c := Default()
	c.Run.Device, c.Run.Nodes, c.Run.Procs = "ideal:", nodes, procs
	c.Benchmarks = names
	c.Iterations, c.Warmup = 3, 1
	return c
}

// Every benchmark verifies what it receives, so that passing means something;
// 5 and 7 processes are no powers of two, and the lengths cross the eager limit.
func TestEveryBenchmark(t *testing.T) {
	for _, linear := range []bool{false, true} {
		for _, flow := range []velo.Flow{velo.Static, velo.Dynamic} {
			c := onIdeal(7, 1)
			c.Iterations = 2
			c.MinProcs, c.Sizes, c.Linear = 5, []int{0, 100, 5000}, linear
			c.Run.Velo = velo.Config{Flow: flow, Slots: 6, CreditSlots: 2, Piggyback: true}
			rep, err := Run(context.Background(), c)
			require.NoError(t, err)
			require.Len(t, rep.Tables, 2*len(Names())-2, "5 and 7 processes, single transfers once")
			for _, table := range rep.Tables {
				require.Zero(t, table.Stalled)
				for _, r := range table.Rows {
					require.Positive(t, r.Min)
					require.LessOrEqual(t, r.Min, r.Avg)
					require.LessOrEqual(t, r.Avg, r.Max)
				}
			}
		}
	}
}

// The rates are those of IMB's definitions.
func TestRates(t *testing.T) {
	rep, err := Run(context.Background(), onIdeal(4, 1, "pingpong", "PingPing", "Sendrecv", "Exchange", "Bcast"))
	require.NoError(t, err)
	for _, table := range rep.Tables {
		transfers := map[string]float64{"PingPong": 1, "PingPing": 1, "Sendrecv": 2, "Exchange": 4, "Bcast": 0}[table.Benchmark]
		last := table.Rows[len(table.Rows)-1]
		require.InDelta(t, transfers*2048/last.Max, last.Rate, 1e-9, table.Benchmark)
	}
}

// PingPong is the workload of package bench under another name.
func TestPingPongAgrees(t *testing.T) {
	c := onIdeal(2, 1, "PingPong")
	c.Sizes, c.Sync, c.Iterations = []int{8}, false, 100
	rep, err := Run(context.Background(), c)
	require.NoError(t, err)
	p := bench.Default("pingpong")
	p.Device = "ideal:"
	res, err := bench.Run(context.Background(), p)
	require.NoError(t, err)
	require.InEpsilon(t, res.Rows[0].HalfTrip.Nanoseconds()/1000, rep.Tables[0].Rows[0].Max, 0.02)
}

func TestGroups(t *testing.T) {
	c := onIdeal(2, 4, "PingPong")
	c.Multi, c.Map = true, [2]int{4, 2}
	require.Equal(t, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, c.groups(2))
	c.Map = [2]int{}
	require.Equal(t, [][]int{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, c.groups(2))
	require.Equal(t, [][]int{{0, 1, 2}, {3, 4, 5}}, c.groups(3))
	c.Multi = false
	require.Equal(t, [][]int{{0, 1, 2}}, c.groups(3))
	bcast := byName("bcast")
	c.Run.Nodes, c.MinProcs = 11, 3
	require.Equal(t, []int{3, 6, 12, 24, 44}, c.procs(bcast))

	c = onIdeal(2, 4, "PingPong")
	c.Multi, c.PerGroup, c.Map = true, true, [2]int{4, 2}
	c.Sizes = []int{2048}
	rep, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, rep.Tables[0].Rows, 4)
	slowest := 0.0
	for _, r := range rep.Tables[0].Rows {
		slowest = max(slowest, r.Max)
	}
	c.PerGroup = false
	rep, err = Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, rep.Tables[0].Rows, 1)
	require.Equal(t, slowest, rep.Tables[0].Rows[0].Max)
}

func TestSizesOfReductions(t *testing.T) {
	c := onIdeal(2, 1)
	c.Sizes = []int{0, 1, 2048, 9, 15}
	require.Equal(t, []int{0, 8, 2048}, c.sizes(byName("Reduce")))
	require.Equal(t, []int{0, 1, 9, 15, 2048}, c.sizes(byName("Bcast")))
	require.Equal(t, []int{0}, c.sizes(byName("Barrier")))
	require.Equal(t, []int{0, 4, 8}, Log(2, 3))
}

func TestRootShift(t *testing.T) {
	roots := func(shift int) (list []int) {
		c := Config{RootShift: shift}
		for k := range 7 {
			list = append(list, c.root(k, 3))
		}
		return list
	}
	require.Equal(t, []int{0, 1, 2, 0, 1, 2, 0}, roots(1))
	require.Equal(t, []int{0, 0, 1, 1, 2, 2, 0}, roots(2))
	require.Equal(t, []int{0, 0, 0, 0, 0, 0, 0}, roots(0))
}

func TestSameConfigSameReport(t *testing.T) {
	run := func() string {
		rep, err := Run(context.Background(), onIdeal(3, 2, "Alltoall", "Allreduce"))
		require.NoError(t, err)
		b, err := json.Marshal(rep)
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, run(), run())
}

func TestOutputLooksLikeIMB(t *testing.T) {
	c := onIdeal(2, 2, "PingPong", "Exchange", "Bcast", "Barrier")
	c.Sizes = []int{64}
	rep, err := Run(context.Background(), c)
	require.NoError(t, err)
	var b bytes.Buffer
	rep.Print(&b)
	for _, want := range []string{
		"# Benchmarking PingPong\n# #processes = 2\n# ( 2 additional processes waiting in MPI_Barrier )\n",
		"       #bytes #repetitions      t[usec]   Mbytes/sec\n           64            3 ",
		"       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec\n",
		"# Benchmarking Bcast\n# #processes = 4\n" + rule + "\n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n",
		" #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n            3 ",
	} {
		require.Contains(t, b.String(), want)
	}
	require.Equal(t, 7, strings.Count(b.String(), "# Benchmarking"))
}

func TestBadConfigs(t *testing.T) {
	for want, spoil := range map[string]func(*Config){
		`unknown benchmark "Bcats", did you mean "Bcast"?`: func(c *Config) { c.Benchmarks = []string{"Bcats"} },
		"npmin 9: expected 2 to 4":                         func(c *Config) { c.MinProcs = 9 },
		"0 iterations":                                     func(c *Config) { c.Iterations = 0 },
		"no message lengths":                               func(c *Config) { c.Sizes = nil },
		"map 3x2: expected a product of 4":                 func(c *Config) { c.Map = [2]int{3, 2} },
	} {
		c := onIdeal(2, 2)
		spoil(&c)
		_, err := Run(context.Background(), c)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, want)
	}
}
