package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/stretchr/testify/require"
)

// fake is a program with one verb.
type fake struct{}

type fakeDocument struct {
	Cycles uint64 `json:"cycles"`
	Device struct {
		Hash string `json:"hash"`
	} `json:"device"`
	Rows []fakeRow `json:"rows"`
	NICs []struct {
		Stall int `json:"stall_cycles"`
	} `json:"nics"`
}

type fakeRow struct {
	Bytes int     `json:"bytes"`
	Time  float64 `json:"time_us"`
}

func (fake) Find(words []string) (Verb, []string, error) {
	if len(words) == 0 || words[0] != "run" {
		return Verb{}, nil, errors.New(`unknown verb, did you mean "run"?`)
	}
	return Verb{"run", []string{"device", "nodes", "slots", "credit-slots", "seed", "json"}, "rtl:", "2", []reflect.Type{reflect.TypeFor[*fakeDocument]()}}, words[1:], nil
}

func (fake) Check(args []string) error {
	if strings.Contains(strings.Join(args, " "), "--nodes=x") {
		return errors.New(`invalid argument "x"`)
	}
	return nil
}

const good = `schema: 1
name: good
verb: run {what}
flags: {device: 'model:?x={nodes}'}
axes:
  nodes: [2, 4]
  what: [a, b]
zips:
  - slots: [8, 16]
    credit-slots: [1, 2]
where:
  - nodes * slots <= 32
seeds: {first: 5, count: 2}
values:
  bytes: rows[].bytes
  time_us: rows[].time_us
  stall: max(nics[].stall_cycles)
  cycles: cycles
derived:
  time_ns: 1000 * time_us
  half: cycles / 2
plots:
  - {name: one, x: slots, y: time_ns, by: [nodes, what], where: bytes == 8}
  - {name: two, kind: bars, x: what, y: half, where: 'bytes == 8 && nodes == 2 && slots == 8'}
  - {name: three, kind: heatmap, x: nodes, y: slots, z: stall, where: 'what == "a" && bytes == 9'}
`

func TestPoints(t *testing.T) {
	f, err := parse("good.yaml", []byte(good), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	require.Len(t, points, 2*3*2, "nodes 4 has no room for slots 16")
	require.Equal(t, "run a --device=model:?x=2 --nodes=2 --slots=8 --credit-slots=1 --seed=5 --json", strings.Join(points[0].Args, " "))
	require.Equal(t, "run a --device=model:?x=2 --nodes=2 --slots=8 --credit-slots=1 --seed=6 --json", strings.Join(points[1].Args, " "))
	require.Equal(t, "run b --device=model:?x=4 --nodes=4 --slots=8 --credit-slots=1 --seed=6 --json", strings.Join(points[11].Args, " "))
	require.Equal(t, "good/nodes=2,what=a,slots=8,credit_slots=1", f.Test(&points[0]))
}

// Flags are set in front of the words that a verb passes on, behind "--".
func TestPointsOfAProgram(t *testing.T) {
	text := strings.Replace(good, "run {what}", "run -- ./program {what} --size", 1)
	f, err := parse("good.yaml", []byte(text), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	require.Equal(t, "run --device=model:?x=2 --nodes=2 --slots=8 --credit-slots=1 --seed=5 --json -- ./program a --size",
		strings.Join(points[0].Args, " "))
}

// A cancelledProgram cancels a context when the first point is checked.
type cancelledProgram struct {
	fake
	cancel  func()
	checked *int
}

func (p cancelledProgram) Check([]string) error {
	*p.checked++
	p.cancel()
	return nil
}

// TestPointsCancelled: planning of a large sweep ends as soon as it is interrupted.
func TestPointsCancelled(t *testing.T) {
	f, err := parse("good.yaml", []byte(strings.Replace(good, "count: 2", "count: 100000", 1)), fake{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	checked := 0
	_, err = f.Points(ctx, cancelledProgram{cancel: cancel, checked: &checked})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, checked)
}

// TestMistakes: every mistake is reported with its line and a suggestion.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"axes:", "axs:", `x.yaml:5: unknown key "axs" in a sweep, did you mean "axes"?`},
		{"name: good", "nmae: good", `x.yaml:2: unknown key "nmae"`},
		{"verb: run {what}", "verb: rnu", `x.yaml:3: unknown verb`},
		{"schema: 1", "schema: 2", `x.yaml:1: schema 2: this program reads 1`},
		{"schema: 1", "schema: one", `x.yaml:1: schema: "one" is no int`},
		{"  nodes: [2, 4]", "  ndoes: [2, 4]", `x.yaml:4: {nodes} is no axis, did you mean "ndoes"?`},
		{"x={nodes}'}\naxes:\n  nodes: [2, 4]", "x=1'}\naxes:\n  ndoes: [2, 4]", `x.yaml:6: run has no flag "ndoes", did you mean "nodes"?`},
		{"  nodes: [2, 4]", "  nodes: [2, 2]", `x.yaml:6: axis nodes has 2 twice`},
		{"  nodes: [2, 4]", "  nodes: [2, [4]]", `x.yaml:6: axis nodes: expected one value`},
		{"  nodes: [2, 4]", "  nodes: []", `x.yaml:6: axis nodes: expected at least one value`},
		{"  nodes: [2, 4]", "  nodes: [2, 4]\n  nodes: [3]", `x.yaml:7: key "nodes" stands twice`},
		{"  nodes: [2, 4]", "  nodes: [2, x]", `x.yaml:12: nodes * slots <= 32: nodes * slots (mismatched types`},
		{"flags: {", "flags: {device: x, ", `x.yaml:4: key "device" stands twice`},
		{"verb: run {what}", "verb: run {what} --nodes=x", `x.yaml:3: nicloop run a --nodes=x`},
		{"{what}", "{waht}", `x.yaml:3: {waht} is no axis, did you mean "what"?`},
		{"credit-slots: [1, 2]", "credit-slots: [1, 2, 3]", `x.yaml:10: credit-slots has 3 values, slots in the same zip has 2`},
		{"flags: {", "flags: {seed: 4, ", `x.yaml:4: flag "seed" is not for sweeps: give seeds`},
		{"nodes * slots", "nodes * slotz", `x.yaml:12: nodes * slotz <= 32: there is no column "slotz", did you mean "slots"?`},
		{"nodes * slots <= 32", "nodes * slots", `x.yaml:12: nodes * slots: expected a condition`},
		{"nodes * slots <= 32", "nodes > 64", `where leaves no run`},
		{"count: 2", "cuont: 2", `x.yaml:13: unknown key "cuont" in seeds, did you mean "count"?`},
		{"count: 2", "count: 9000000000000000000", `x.yaml:3: axes and seeds have more than 10000000 combinations`},
		{"count: 2", "count: 0", `x.yaml:13: count 0: expected at least 1`},
		{"rows[].bytes", "rows[].btyes", `x.yaml:15: rows[].btyes: there is no key "btyes", did you mean "bytes"?`},
		{"rows[].bytes", "rows.bytes", `x.yaml:15: rows.bytes: rows is a list: write rows[]`},
		{"rows[].bytes", "rows[]", `x.yaml:15: rows[] is no single value`},
		{"max(nics[].stall_cycles)", "nics[].stall_cycles", `x.yaml:17: stall goes through nics[], others through rows[]`},
		{"  bytes:", "  nodes:", `x.yaml:15: there is a column "nodes" already`},
		{"  bytes:", "  status:", `x.yaml:15: there is a column "status" already`},
		{"1000 * time_us", "1000 * tiem_us", `x.yaml:20: 1000 * tiem_us: there is no column "tiem_us", did you mean "time_us"?`},
		{"x: slots, y: time_ns", "x: slots, y: tmie_ns", `x.yaml:23: plot one: there is no column "tmie_ns", did you mean "time_ns"?`},
		{"kind: bars", "kind: bras", `x.yaml:24: kind "bras", did you mean "bars"?`},
		{"name: three", "name: two", `x.yaml:25: there are two plots "two"`},
		{"schema: 1", "schema: [", `x.yaml:`},
		{"flags: {", "flags: &a {", `x.yaml:4: anchors and aliases are not read`},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		require.NotEqual(t, good, text, c.old)
		f, err := parse("x.yaml", []byte(text), fake{})
		if err == nil {
			_, err = f.Points(t.Context(), fake{})
		}
		var e *Error
		require.ErrorAs(t, err, &e, "%s", c.new)
		require.Contains(t, err.Error(), c.want, "%s", c.new)
	}
}

// measured is the output of the fake verb at a point.
func measured(p *Point, seed float64) *batch.Record {
	text := fmt.Sprintf(`{"schema":"run","cycles":%d,"device":{"hash":"abc"},"rows":[{"bytes":8,"time_us":%g},{"bytes":9,"time_us":2.5}],"nics":[{"stall_cycles":3},{"stall_cycles":7}]}`,
		7, seed/8+float64(len(p.Label)))
	return &batch.Record{Result: json.RawMessage(text), Machine: "m"}
}

func TestRows(t *testing.T) {
	f, err := parse("good.yaml", []byte(good), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	records := make([]*batch.Record, len(points))
	for i := range points {
		records[i] = measured(&points[i], float64(points[i].Seed))
	}
	records[3] = &batch.Record{Exit: 4, Error: "nicloop: rank 3 waits\nfor ever", Machine: "m"}
	records[4] = nil // not finished
	table, err := f.NewTable(points, records)
	require.NoError(t, err)
	rows := table.Strings()
	require.Len(t, rows, 2*10+1)
	require.Equal(t, "nodes what slots credit_slots seed bytes time_us stall cycles time_ns half status device hardware_hash exactness machine error", strings.Join(table.Columns, " "))
	require.Equal(t, "2|a|8|1|5|8|37.625|7|7|37625|3.5|PASS|model:?x=2|abc|cycles of the RTL, by the model|m|", strings.Join(rows[0], "|"))
	require.Equal(t, "2|a|16|2|6|||||||HANG|model:?x=2|unknown|cycles of the RTL, by the model|m|rank 3 waits", strings.Join(rows[6], "|"))

	figures, empty, err := f.Draw(table)
	require.NoError(t, err)
	require.Empty(t, empty)
	require.Equal(t, []string{"mean of 2 seeds, bars: least to most", "2 points are means of fewer seeds"}, figures["one"].Notes)
	one := figures["one"].Series
	require.Len(t, one, 4)
	require.Equal(t, 37687.5, one[0].Points[0].Y, "mean of two seeds")
	require.Equal(t, 62.5, one[0].Points[0].Low)
	require.Equal(t, []string{"a", "b"}, figures["two"].Groups)
	require.Equal(t, 7.0, figures["three"].Heat.Values[0][0])
	for name, fig := range figures {
		require.NoError(t, fig.Save(filepath.Join(t.TempDir(), name)))
	}

	f.Plots[0].by = nil
	figures, _, err = f.Draw(table)
	require.ErrorContains(t, err, "good.yaml:23: plot one: several rows at slots 8 with the same seed")
	require.Len(t, figures, 2, "the others are drawn")
}

// TestDeviceAxis: a row contains its device only once.
func TestDeviceAxis(t *testing.T) {
	text := strings.Replace(strings.Replace(good, "flags: {device: 'model:?x={nodes}'}", "flags: {}", 1), "  what: [a, b]", "  what: [a, b]\n  device: ['rtl:', 'ideal:']", 1)
	text = text[:strings.Index(text, "plots:")]
	f, err := parse("x.yaml", []byte(text), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	rows, err := f.Rows(&points[0], measured(&points[0], 5))
	require.NoError(t, err)
	columns, _ := f.header()
	require.Equal(t, "nodes what device slots credit_slots seed bytes time_us stall cycles time_ns half status hardware_hash exactness machine error", strings.Join(columns, " "))
	require.Len(t, rows[0], len(columns))
	require.Equal(t, cell{"cycles of the RTL", types.UntypedString}, rows[0][len(columns)-3])
	require.Len(t, f.Figures(rows), 12)
	_, err = parse("x.yaml", []byte(strings.Replace(good, "what: [a, b]", "what: [a, b]\n  machine: [1]", 1)), fake{})
	require.ErrorContains(t, err, "x.yaml:8: axis machine: there is a column of that name in every row")
}

func TestChanges(t *testing.T) {
	f, err := parse("good.yaml", []byte(good), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	make1 := func(at int) *Table {
		records := make([]*batch.Record, len(points))
		for i := range points {
			seed := 5.0
			if i == at {
				seed = 6
			}
			records[i] = measured(&points[i], seed)
		}
		records[11] = nil
		table, err := f.NewTable(points, records)
		require.NoError(t, err)
		return table
	}
	before, after := make1(-1), make1(2)
	file := filepath.Join(t.TempDir(), "rows.csv")
	save := func(t1 *Table) {
		text := strings.Join(t1.Columns, ",") + "\n"
		for _, row := range t1.Strings() {
			text += `"` + strings.Join(row, `","`) + "\"\n"
		}
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	save(before)
	list, err := before.Changes(file)
	require.NoError(t, err)
	require.Empty(t, list)
	list, err = after.Changes(file)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, Change{"2,a,16,2,5 row 1", "time_us", "38.625", "38.75"}, list[0])
	share, ok := list[0].Share()
	require.True(t, ok)
	require.InDelta(t, 0.3236, share, 1e-3)
	require.Equal(t, "time_ns", list[1].Column)

	after.rows = after.rows[2:]
	list, err = after.Changes(file)
	require.NoError(t, err)
	require.Len(t, list, 4, "and two rows that are gone")
	require.NoError(t, os.WriteFile(file, []byte("a,b\n"), 0o644))
	_, err = after.Changes(file)
	require.ErrorContains(t, err, "has no column nodes")
}

// TestJournal: complete lines of a truncated journal are recovered, and nothing else.
func TestJournal(t *testing.T) {
	f, err := parse("good.yaml", []byte(good), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("this program"), 0o755))
	j, err := OpenJournal(name, program, false)
	require.NoError(t, err)
	ends := []int{}
	for i := range 3 {
		r := *measured(&points[i], 5)
		if i == 1 {
			r = batch.Record{Exit: 1, Error: "broke"}
		}
		require.NoError(t, j.Put(&points[i], r))
		info, err := os.Stat(name)
		require.NoError(t, err)
		ends = append(ends, int(info.Size()))
	}
	require.NoError(t, j.Close())
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for n := 0; n <= len(whole); n += 1 + n%5 {
		require.NoError(t, os.WriteFile(name, whole[:n], 0o644))
		j, err := OpenJournal(name, program, true)
		require.NoError(t, err)
		for i := range points {
			_, ok, err := j.Get(&points[i])
			require.NoError(t, err)
			require.Equal(t, i != 1 && i < 3 && n >= ends[i], ok, "point %d of %d bytes: what failed is tried again", i, n)
		}
		require.NoError(t, j.Close())
		left, err := os.ReadFile(name)
		require.NoError(t, err)
		require.True(t, len(left) == 0 || left[len(left)-1] == '\n')
	}
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("another program"), 0o755))
	require.NoError(t, os.WriteFile(name, whole, 0o644))
	j, err = OpenJournal(name, other, true)
	require.NoError(t, err)
	require.Equal(t, 3, j.Foreign())
	require.NoError(t, j.Close())
}
