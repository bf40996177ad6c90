package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/stretchr/testify/require"
)

// TestFiguresHaveGaps: runs that hang, fail or do not exist are marked gaps of every kind of
// figure.
func TestFiguresHaveGaps(t *testing.T) {
	text := strings.Replace(good, "plots:\n", `plots:
  - {name: gaps, x: slots, y: time_ns, by: [what], facet: nodes, where: bytes == 8, y_scale: log10, width: 85, formats: [pdf]}
  - {name: heat, kind: heatmap, x: slots, y: what, z: time_ns, where: [nodes == 4, bytes == 8]}
  - {name: some, kind: bars, x: slots, y: time_ns, by: [what], where: [bytes == 8, nodes == 4, 'what == "a" || slots == 8']}
`, 1)
	f, err := parse("good.yaml", []byte(text), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	records := make([]*batch.Record, len(points))
	for i := range points {
		switch records[i] = measured(&points[i], 5); {
		case strings.Contains(points[i].Label, "nodes=4,what=b,slots=8"):
			records[i] = &batch.Record{Exit: 4, Error: "hangs"}
		case strings.Contains(points[i].Label, "nodes=2,what=b,slots=16") && points[i].Seed == 5:
			records[i] = &batch.Record{Exit: 1, Error: "fails"}
		}
	}
	table, err := f.NewTable(points, records)
	require.NoError(t, err)
	figures, empty, err := f.Draw(table)
	require.NoError(t, err)
	require.Empty(t, empty)

	gaps := figures["gaps"]
	require.Len(t, gaps.Series, 4)
	last := gaps.Series[3]
	require.Equal(t, "b nodes 4 hang", last.Name+" "+last.Facet+" "+last.Points[0].Gap)
	require.Contains(t, gaps.Notes, "1 points are means of fewer seeds")
	require.Equal(t, "time", gaps.Y.Label)
	require.Equal(t, "ns", gaps.Y.Unit)
	require.InDelta(t, 3.346, gaps.Width, 1e-3)
	require.Equal(t, [][]string{{""}, {"hang"}}, figures["heat"].Heat.Gaps)

	some := figures["some"].Series
	require.Equal(t, "hang", some[1].Points[0].Gap)
	for name, fig := range figures {
		require.NoError(t, fig.Save(filepath.Join(t.TempDir(), name)))
	}
	for i := range records {
		records[i] = &batch.Record{Exit: 4, Error: "hangs"}
	}
	table, err = f.NewTable(points, records)
	require.NoError(t, err)
	_, empty, err = f.Draw(table)
	require.NoError(t, err)
	require.Len(t, empty, 6)
}

// TestWords: names of columns become labels with the unit once.
func TestWords(t *testing.T) {
	for column, want := range map[string]string{"half_us": "half|µs", "overhead_percent": "overhead|%", "credit_slots": "credit slots|", "bytes": "bytes|"} {
		a := axisOf(column, "", "", "linear")
		require.Equal(t, want, a.Label+"|"+a.Unit)
	}
	a := axisOf("time_us", "time (µs)", "µs", "linear")
	require.Equal(t, "time (µs)|", a.Label+"|"+a.Unit)
	a = axisOf("time_us", "relative time", "", "linear")
	require.Equal(t, "relative time|", a.Label+"|"+a.Unit, "the file's label is not changed")
}

// TestAllMistakesAtOnce: one command reports the mistakes of all keys, in order of their lines.
func TestAllMistakesAtOnce(t *testing.T) {
	text := strings.NewReplacer("x={nodes}'", "x={ndoes}', slotz: 4", "cycles / 2", "cycels / 2", "rows[].time_us", "rows[].tiem_us",
		"kind: bars", "kind: bras", "y: slots, z: stall", "y: slots, z: stall, colour: red").Replace(good)
	_, err := parse("x.yaml", []byte(text), fake{})
	var lines []string
	for _, line := range strings.Split(err.Error(), "\n") {
		lines = append(lines, line[:strings.Index(line, ": ")])
	}
	require.Equal(t, "x.yaml:4 x.yaml:4 x.yaml:16 x.yaml:21 x.yaml:24 x.yaml:25", strings.Join(lines, " "), "%v", err)
	var e *Error
	require.ErrorAs(t, err, &e)
}

// picky accepts slots up to 8.
type picky struct{ fake }

func (picky) Check(args []string) error {
	if strings.Contains(strings.Join(args, " "), "--slots=16") {
		return errors.New("--slots 16: expected at most 8")
	}
	return nil
}

// TestRunsAreCheckedBeforeAnyRuns: a value that the verb refuses is reported once, at its line,
// with the number of runs that have it.
func TestRunsAreCheckedBeforeAnyRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(good, "kind: bars", "kind: bras", 1)), 0o644))
	_, _, err := Plan(context.Background(), file, picky{})
	require.ErrorContains(t, err, file+":9: nicloop run a --device=model:?x=2 --nodes=2 --slots=16 --credit-slots=2 --seed=5 --json: --slots 16: expected at most 8 (4 of 12 runs)")
	require.ErrorContains(t, err, `:24: kind "bras"`)
	require.Equal(t, 2, len(strings.Split(err.Error(), "\n")))
}

// TestPlotsAreCheckedBeforeAnyRuns: plots that could not be drawn after the runs are refused.
func TestPlotsAreCheckedBeforeAnyRuns(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"by: [nodes, what]", "by: [nodes]", "plot one: several runs at each slots, because what varies: add it to by or facet, or fix it with where"},
		{"x: slots, y: time_ns", "x: what, y: time_ns", `plot one: what "a" is no number: bars show names`},
		{"slots: [8, 16]", "slots: [0, 16]", ""},
		{"kind: bars", "kind: bars, y_scale: log10", "plot two: bars on a logarithmic axis"},
		{"kind: bars", "kind: bars, width: 8500", "width 8500: expected 30 to 1000 mm"},
		{"kind: bars", "kind: bars, formats: [pdff]", `formats: "pdff", did you mean "pdf"?`},
		{"z: stall", "z: stall, facet: what", "a heatmap has no by and no facet"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if c.want == "" {
			text, c.want = strings.Replace(text, "by: [nodes, what]", "by: [nodes, what], x_scale: log2", 1), "no position on the x axis of scale log2"
		}
		_, err := parse("x.yaml", []byte(text), fake{})
		require.ErrorContains(t, err, c.want)
	}
}

// TestWhen: only the points for which a condition holds have a flag, and they are not repeated.
func TestWhen(t *testing.T) {
	text := strings.NewReplacer("flags: {", "flags: {credit-slots: {value: 3, when: 'what == \"b\"'}, ",
		"zips:\n  - slots: [8, 16]\n    credit-slots: [1, 2]\n", "",
		"  what: [a, b]\n", "  what: [a, b]\n  slots: {values: [8, 16], when: 'what == \"b\"'}\n").Replace(good)
	f, err := parse("x.yaml", []byte(text), fake{})
	require.NoError(t, err)
	points, err := f.Points(t.Context(), fake{})
	require.NoError(t, err)
	var args []string
	for _, p := range points {
		if p.Seed == 5 {
			args = append(args, strings.Join(p.Args, " "))
		}
	}
	require.Equal(t, []string{
		"run a --device=model:?x=2 --nodes=2 --seed=5 --json",
		"run b --credit-slots=3 --device=model:?x=2 --nodes=2 --slots=8 --seed=5 --json",
		"run b --credit-slots=3 --device=model:?x=2 --nodes=2 --slots=16 --seed=5 --json",
		"run a --device=model:?x=4 --nodes=4 --seed=5 --json",
		"run b --credit-slots=3 --device=model:?x=4 --nodes=4 --slots=8 --seed=5 --json",
	}, args)
	require.Equal(t, "nodes=2,what=a", points[0].Label)
	for old, want := range map[string]string{"when: 'what ==": "when: 'whta ==", "{values: [8, 16], when": "{vlaues: [8, 16], when"} {
		f, err := parse("x.yaml", []byte(strings.Replace(text, old, want, 1)), fake{})
		if err == nil {
			_, err = f.Points(t.Context(), fake{})
		}
		require.ErrorContains(t, err, "did you mean")
	}
}
