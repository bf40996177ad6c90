package reproduce

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/mailbox"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

func small(t *testing.T, x *Experiment) *Report {
	t.Helper()
	rep, err := x.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Seed: 1, Jobs: 2})
	require.NoError(t, err)
	return rep
}

// set changes a cell in the rows that meet the conditions.
func set(column string, value any, conditions ...any) func(*Table) {
	return func(t *Table) {
		rows := t.where(conditions...).Rows
		if len(rows) == 0 {
			panic(fmt.Sprintf("no rows with %v", conditions))
		}
		for _, row := range rows {
			row[t.column(column)] = value
		}
	}
}

// scale multiplies a column in the rows that meet the conditions, and adds.
func scale(column string, factor, plus float64, conditions ...any) func(*Table) {
	return func(t *Table) {
		for _, row := range t.where(conditions...).Rows {
			c := t.column(column)
			row[c] = number(row[c])*factor + plus
		}
	}
}

type planted struct {
	good   func(*Env) *Table
	plants []func(*Table)
}

// cases are, for each experiment, a table on which every claim holds (nil: run
// it), and one wrong result for each claim.
var cases = map[string]planted{
	"fc-table1": {nil, []func(*Table){
		set("threshold", 52, "formula", "eq1", "quota", 100, "credit slots", 1),
		set("violation", "overflow", "formula", "a", "quota", 100, "explored", "2 processes"),
		set("violation", "deadlock", "formula", "b", "quota", 3, "explored", "2 processes"),
		set("verdict", "refuted", "formula", "eq1", "quota", 3, "credit slots", 2, "explored", "2 processes"),
	}},
	"fc-table3": {nil, []func(*Table){
		set("structures (bytes)", 5000.0, "flow control", "static", "processes", 1<<10),
		set("structures (bytes)", 1e9, "flow control", "dynamic", "processes", 1<<16),
		set("total (MB)", 1100.0, "flow control", "static", "processes", 1<<18),
		set("total (MB)", 300.0, "flow control", "dynamic", "processes", 1<<18),
		set("total (MB)", 2.0, "flow control", "dynamic", "processes", 1<<10),
	}},
	"fc-fig14": {nil, []func(*Table){
		set("explicit credits", 3, "block", 1), set("explicit credits", 4, "block", 2),
		set("explicit credits", 2, "block", 3), set("intended quota", 10, "block", 4),
		set("explicit credits", 0, "block", 4), set("piggybacks", 1, "block", 5),
		set("thresholds", "2 2 2", "block", 6), set("piggybacked credits", 0, "block", 7),
		set("explicit credits", 0, "block", 8),
	}},
	"fc-references": {goodReferences, []func(*Table){
		set("here / paper", 0.9, "reference", "multi-pingpong, 1 hop"), set("here / paper", 1.1, "reference", "multi-pingpong, 14 hops"),
		set("here (µs)", 50.2, "reference", "multi-pingpong, 14 hops"), set("here / paper", 0.7, "reference", "alltoall, 256 processes"),
		set("here / paper", 2.0, "reference", "alltoall, 1,024 processes"),
	}},
	"fc-fig4": {goodFig4, []func(*Table){
		scale("overhead (%)", 0.5, 0, "hops", 14), scale("overhead (%)", 1, 5, "hops", 14),
		scale("delayed (%)", 0.5, 0, "hops", 14), set("delayed (%)", 20.0, "hops", 14, "credit slots", 3, "slots", 52),
		scale("delayed (%)", 1, 30, "credit slots", 4), scale("overhead (%)", 1, 5, "credit slots", 1),
	}},
	"fc-fig6": {goodFig6, []func(*Table){
		set("overhead (%)", 35.0, "processes", 1024, "credit slots", 1, "slots", 38),
		set("delayed (%)", 10.0, "processes", 1024, "credit slots", 5, "slots", 41),
		scale("overhead (%)", 0.5, 0, "processes", 1024), scale("overhead (%)", 1, 20, "processes", 1024),
		scale("delayed (%)", 0.5, 0, "processes", 256),
	}},
	"fc-table2": {goodTable2, []func(*Table){
		set("overhead (%)", 30.0, "credit slots", 2, "slots", 57), set("delayed (%)", 0.0, "credit slots", 5, "slots", 48),
		set("overhead (%)", 2.0, "credit slots", 1),
	}},
	"fc-fig9": {goodFig9, []func(*Table){
		set("credit packets", 1001, "piggyback", "true", "slots", 10), scale("overhead (%)", 1, 9, "piggyback", "true"),
		set("credit packets", 800, "piggyback", "true"), set("piggybacks", 65, "bytes", 2048, "slots", 60),
	}},
	"fc-fig10": {goodFig10, []func(*Table){
		set("overhead (%)", 1.0, "flow control", "static", "one of", 8, "slots", 30),
		set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 2, "slots", 60),
		set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 4, "slots", 30),
		set("overhead (%)", 9.0, "flow control", "dynamic", "one of", 8, "slots", 10),
		scale("overhead (%)", 1, 30, "flow control", "dynamic", "one of", 4),
	}},
	"fc-fig16": {goodFig16, []func(*Table){
		scale("total (%)", 1.5, 0, "pattern", "alltoall", "flow control", "dynamic"),
		scale("total (%)", 1.5, 0, "pattern", "alltoall", "flow control", "dynamic"),
		scale("total (%)", 9, 0, "pattern", "multi-pingpong", "flow control", "dynamic"),
		scale("computation (%)", 9, 0, "pattern", "multi-pingpong", "flow control", "dynamic"),
	}},
	"fc-fig18": {goodFig18, []func(*Table){
		scale("overhead (%)", 3, 0, "nodes", 2, "flow control", "dynamic"), scale("overhead (%)", 3, 0, "nodes", 4, "flow control", "dynamic"),
		scale("overhead (%)", 3, 0, "nodes", 8, "flow control", "dynamic"), scale("overhead (%)", 3, 0, "nodes", 16, "flow control", "dynamic"),
	}},
	"fc-fig19": {goodFig19, []func(*Table){
		set("credits (mean)", 20.0, "phase", 6, "ranks", "first quarter"), set("credits (mean)", 5.0, "phase", 4, "ranks", "upper half"),
		set("credits (mean)", 90.0, "phase", 2, "ranks", "upper half"), set("credits (mean)", 8.2, "phase", 3, "ranks", "upper half"),
	}},
	"fc-fig20": {goodFig20, []func(*Table){
		scale("overhead (%)", 2, 0, "flow control", "dynamic", "slots", 16), scale("overhead (%)", 2, 0, "flow control", "static", "slots", 64),
		scale("overhead (%)", 0.1, 0, "flow control", "static", "slots", 16), scale("overhead (%)", 0.1, 0, "flow control", "static", "slots", 32),
		scale("overhead (%)", 9, 0, "flow control", "dynamic", "slots", 8),
	}},
	"fc-fig24": {goodFig24, []func(*Table){
		set("overhead (%)", 1.0, "benchmark", "Scatterv", "flow control", "static", "slots", 32),
		set("overhead (%)", 40.0, "benchmark", "Scatterv", "flow control", "dynamic", "per root", 50),
		set("reference (µs)", 90.0, "benchmark", "Scatterv", "per root", 50),
		scale("time (µs)", 2, 0, "benchmark", "Reduce_scatter", "flow control", "static"),
		set("overhead (%)", 1.0, "benchmark", "Gatherv", "flow control", "dynamic", "slots", 8),
	}},
}

// Every claim holds on a table as the paper describes it, and differs as soon as
// the result that contradicts it is planted: on the full grids and the thin ones.
func TestPlantedResultsDiffer(t *testing.T) {
	for _, scale := range []Scale{Small, Full} {
		for _, x := range All() {
			t.Run(fmt.Sprintf("%s/%s", x.IDs[0], scale), func(t *testing.T) { plantAll(t, x, scale) })
		}
	}
}

func plantAll(t *testing.T, x *Experiment, scale Scale) {
	c := cases[x.IDs[0]]
	require.Len(t, c.plants, len(x.claims), "one plant for each claim")
	var good *Table
	if c.good != nil {
		good = c.good(&Env{Scale: scale})
	} else {
		good = small(t, x).Table
	}
	before, err := json.Marshal(good)
	require.NoError(t, err)
	for i, plant := range c.plants {
		ours, holds := x.claims[i].judge(good)
		require.True(t, holds, "claim %q: %s", x.claims[i].text, ours)
		wrong := clone(good)
		plant(wrong)
		ours, holds = x.claims[i].judge(wrong)
		require.False(t, holds, "claim %q still holds: %s", x.claims[i].text, ours)
	}
	after, err := json.Marshal(good)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "judging must not change the table")
}

func clone(t *Table) *Table {
	c := &Table{Columns: t.Columns}
	for _, row := range t.Rows {
		c.Rows = append(c.Rows, append([]any{}, row...))
	}
	return c
}

// A simulated experiment gives the same report however many runs go on at a time,
// and says that it was scaled down.
func TestSimulatedExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates an experiment twice")
	}
	var first string
	for _, jobs := range []int{1, 3} {
		rep, err := fcFig9.Run(context.Background(), Env{Device: "model:", Scale: Small, Seed: 1, Jobs: jobs})
		require.NoError(t, err)
		b, err := json.Marshal(rep)
		require.NoError(t, err)
		if first != "" {
			require.Equal(t, first, string(b))
		}
		first = string(b)
		var out bytes.Buffer
		rep.Print(&out)
		require.Contains(t, out.String(), "SCALED DOWN (--scale small): the paper has 1,024 processes")
		require.Contains(t, out.String(), "runs on: model:, 4 nodes x 4 processes, seed 1")
		_, err = rep.Save(t.TempDir(), "f")
		require.NoError(t, err)
	}
}

// References of different patterns are different runs.
func TestReferencesAreNotMixed(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	all := e.alltoall(world{nodes: 2, procs: 2}, velo.Static, 64, 2)
	some := all
	some.active = 2
	samples, refs, err := e.compare(context.Background(), []run{all, some, all})
	require.NoError(t, err)
	require.Equal(t, refs[0], refs[2])
	require.Less(t, refs[1].time, refs[0].time)
	require.Equal(t, samples[0], samples[2])
}

// Without flow control mailboxes grow until nothing stalls; a flow control that
// lets them stall is an error, not a result.
func TestReferenceGrows(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	r := run{world: world{nodes: 4, procs: 1}, benchmark: "Scatterv", iterations: 30}
	r.flow = velo.None
	s, err := e.perform(context.Background(), r, nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.slots, 80)
	r.slots = 1
	_, stalled, err := e.once(context.Background(), r, nil)
	require.True(t, err != nil || stalled > 0, "one slot per peer must stall")
}

// performOne performs one run.
func performOne(e *Env, r run) (sample, error) {
	list, err := e.sweep(context.Background(), []run{r})
	if err != nil {
		return sample{}, err
	}
	return list[0], nil
}

// Benchmarks that count as the same give the same numbers.
func TestSameBenchmarks(t *testing.T) {
	e := &Env{Device: "model:", Scale: Small, Seed: 1}
	for a, b := range sameAs {
		r := run{world: world{nodes: 2, procs: 2}, flow: velo.Dynamic, slots: 16, piggyback: true, iterations: 3, warmup: 1}
		for _, r.linear = range []bool{false, true} {
			r.benchmark = a
			one, err := performOne(e, r)
			require.NoError(t, err)
			r.benchmark = b
			other, err := performOne(e, r)
			require.NoError(t, err)
			require.Equal(t, one, other, "%s and %s", a, b)
		}
	}
}

// shortAt are the alltoalls of 2 KB, of the first hundred, in which a sender finds fewer credits
// than its message has packets. Between alltoalls a receiver keeps the credits of fewer packets
// than its threshold.
func shortAt(slots, credit int) (list []int) {
	packets, quota := host.Packets(2048), slots-credit
	threshold, kept := mailbox.Eq1.Threshold(quota, credit), 0
	for k := 1; k <= 100; k++ {
		if quota-kept < packets {
			list = append(list, k)
		}
		kept = (kept + packets) % threshold
	}
	return list
}

// FC, Equation 5: one slot below it most senders are short of credits in one of the alltoalls that
// the thin scales time, from Equation 5 on they never are.
func TestRhythm(t *testing.T) {
	e := &Env{Device: "ideal:", Scale: Small, Seed: 1}
	delayed := func(slots, credit, alltoalls int) int {
		r := e.alltoall(world{nodes: 4, procs: 4}, velo.Static, slots, credit)
		r.warmup, r.iterations = 0, alltoalls
		s, err := performOne(e, r)
		require.NoError(t, err)
		return int(s.flow.DelayedMessages)
	}
	const pairs = 16 * 15
	for credit := 1; credit <= mostCredit; credit++ {
		slots := equation5(credit) - 1
		if credit == 1 {
			slots = 64
		}
		at := shortAt(slots, credit)
		require.Greater(t, at[0], 1, "%d credit slots: the first alltoall is not timed", credit)
		require.LessOrEqual(t, at[0], 1+rhythm)
		require.Greater(t, at[1], 1+rhythm)
		require.Greater(t, delayed(slots, credit, at[0])-delayed(slots, credit, at[0]-1), pairs/2, "%d credit slots, alltoall %d", credit, at[0])
		require.Empty(t, shortAt(equation5(credit), credit))
		require.Less(t, delayed(equation5(credit), credit, 1+rhythm), pairs/5, "%d credit slots: barriers", credit)
	}
}

// Progress ends at its end, whatever runs go on at a time, and the plan is told first.
func TestProgress(t *testing.T) {
	last, of, planned := -1, 0, 0
	e := &Env{Device: "model:", Scale: Small, Seed: 1, Jobs: 2,
		Plan: func(runs, _ int, packets float64) {
			require.Equal(t, -1, last)
			require.Positive(t, packets)
			planned = runs
		},
		Step: func(done, all int) {
			require.GreaterOrEqual(t, done, last)
			last, of = done, all
		},
	}
	var runs []run
	for _, slots := range []int{10, 30, 10} {
		runs = append(runs, e.alltoall(world{nodes: 2, procs: 2}, velo.Static, slots, 2))
	}
	_, _, err := e.compare(context.Background(), runs)
	require.NoError(t, err)
	require.Equal(t, 3, planned, "two runs and one reference")
	require.Positive(t, of)
	require.InDelta(t, of, last, 1)
}

// The protocol's own claims hold; nothing simulated is involved.
func TestPureClaimsHold(t *testing.T) {
	for _, x := range All() {
		if !x.Pure {
			continue
		}
		for _, v := range small(t, x).Claims {
			require.True(t, v.Holds, "%s: %s: %s", x.IDs[0], v.Claim, v.Ours)
		}
	}
}

func TestFilesAreTheSameEachTime(t *testing.T) {
	var first map[string][]byte
	for range 2 {
		dir, files := t.TempDir(), map[string][]byte{}
		for _, x := range All() {
			if !x.Pure {
				continue
			}
			names, err := small(t, x).Save(dir, x.Name(Env{Scale: Small}))
			require.NoError(t, err)
			for _, n := range names {
				b, err := os.ReadFile(n)
				require.NoError(t, err)
				require.NotEmpty(t, b)
				files[filepath.Base(n)] = b
			}
		}
		require.NotEmpty(t, files)
		if first != nil {
			require.Equal(t, first, files)
		}
		first = files
	}
}

func TestReportSaysWhatItIs(t *testing.T) {
	var b bytes.Buffer
	small(t, fcTable1).Print(&b)
	require.Contains(t, b.String(), "runs on: the protocol code itself")
	require.NotContains(t, b.String(), "SCALED DOWN")
	require.Contains(t, b.String(), "HOLDS    the thresholds of the ten pairs\n         paper: Table 1\n         ours:  30 of 30 equal\n")
}

// What a thin grid leaves out stands in its report, and only there.
func TestReportSaysWhatIsThinned(t *testing.T) {
	x := &Experiment{IDs: []string{"x"}, PaperSize: "all", Thinned: "every second point",
		measure: func(_ context.Context, e *Env) (*Table, error) {
			e.runs, e.packets = 3, 2_500_000
			return &Table{}, nil
		}}
	for _, scale := range Scales() {
		rep, err := x.Run(context.Background(), Env{Scale: scale})
		require.NoError(t, err)
		var b bytes.Buffer
		rep.Print(&b)
		require.Contains(t, b.String(), "runs: 3, of 2.5 million packets together\n")
		require.Equal(t, scale.thin(), strings.Contains(b.String(), "THINNED: every second point\n"), scale)
		require.Equal(t, scale != Full, strings.Contains(b.String(), "SCALED DOWN"), scale)
	}
}

func TestFind(t *testing.T) {
	list, err := Find([]string{"fc-fig14", "fc-table?"})
	require.NoError(t, err)
	for _, x := range list {
		require.Contains(t, []string{"fc-table1", "fc-table2", "fc-table3", "fc-fig14"}, x.IDs[0])
	}
	_, err = Find([]string{"fc-tabel1"})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `did you mean "fc-table1"?`)
	_, err = Find([]string{"["})
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = fcTable1.Run(context.Background(), Env{Scale: "huge"})
	require.ErrorIs(t, err, drivers.ErrConfig)
}
