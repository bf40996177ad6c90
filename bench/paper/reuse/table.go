package reuse

import (
	"context"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func adaptation() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"reuse-adaptation"}, Title: "The table of buffers stops growing when few of them are used again",
		Paper: "SPEC, sections 5.3.4 and 5.5.2", PaperSize: "applications on 16 processes",
		Measure: measureReuseTable, Plot: plotReuseTable,
		Mutations: []paper.Mutation{{
			What: "the table never stops growing", Mutate: paper.MutateRun(func(c *bench.Config) { c.Reuse.Endless = true }), Claims: []string{stopsGrowing},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) { return measureTables(ctx, e, []int{0}) },
		}},
		Claims: []paper.Claim{
			{
				Text:  stopsGrowing,
				Paper: "stops", Judge: func(t *paper.Table) judge.Finding {
					return sizes(t, func(share, part float64) (judge.Check, bool) {
						return judge.Below(part, max(10, 5*share+2)), share < 20
					})
				},
			},
			{
				Text:  "above it does not",
				Paper: "(goes on)", Judge: func(t *paper.Table) judge.Finding {
					return sizes(t, func(share, part float64) (judge.Check, bool) { return judge.Equal(part, 100), share >= 20 })
				},
			},
			{
				Text:  "what is used often is found all the same",
				Paper: "(adaptive)", Judge: func(t *paper.Table) judge.Finding {
					v, w := t.Where("table", adaptiveTable).Values("without a copy (%)"), t.Where("table", endlessTable).Values("without a copy (%)")
					most := 0.0
					for i := range v {
						most = max(most, w[i]-v[i])
					}
					return judge.Of(fmt.Sprintf("%.2f points fewer without a copy at most", most),
						judge.Below(most, 1))
				},
			},
			{
				Text:  "where it stops, messages take less longer than with a table that goes on",
				Paper: "2 % instead of 6 % (AMG2006)", Judge: func(t *paper.Table) judge.Finding {
					v, w := t.Only("slower (%)", "used often (%)", 0, "table", adaptiveTable), t.Only("slower (%)", "used often (%)", 0, "table", endlessTable)
					return judge.Of(fmt.Sprintf("%.2f %% instead of %.2f %%", v, w), judge.Less(v, w, judge.Points))
				},
			},
		},
	}
}

const (
	adaptiveTable = "adaptive"
	endlessTable  = "endless"
	tableBytes    = 512
	tableBuffers  = 1000
	tableBuckets  = 256 // few, so that so few buffers fill them
)

// sizes lists what part of the buffers the adaptive table holds.
func sizes(t *paper.Table, is func(share, part float64) (judge.Check, bool)) judge.Finding {
	rows := t.Where("table", adaptiveTable)
	shares, parts := rows.Values("used often (%)"), rows.Values("in the table (%)")
	var said []string
	var checks []judge.Check
	for i := range shares {
		said = append(said, fmt.Sprintf("%.0f %%: %.0f", shares[i], parts[i]))
		if c, ok := is(shares[i], parts[i]); ok {
			checks = append(checks, c)
		}
	}
	return judge.Of("percent of all buffers, by share used often: "+strings.Join(said, ", "), checks...)
}

const stopsGrowing = "below 20 % of buffers that are used often the table stops growing, where these are 20 % of it"

func measureReuseTable(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return measureTables(ctx, e, []int{0, 5, 10, 15, 25, 50})
}

// measureTables measures both tables for shares of buffers that are used often.
func measureTables(ctx context.Context, e *paper.Env, shares []int) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"used often (%)", "table", "buffers", "in the table (%)", "entries per look-up", "copied (µs)", "with the table (µs)", "slower (%)", "without a copy (%)"}}
	tables := []string{adaptiveTable, endlessTable}
	var runs []reuseRun
	for _, share := range shares {
		runs = append(runs, tableRun(host.ReuseCopy, share, false))
		for _, table := range tables {
			runs = append(runs, tableRun(host.ReuseAdapt, share, table == endlessTable))
		}
	}
	s, err := measureReuse(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	for _, share := range shares {
		before := s[0]
		for i, table := range tables {
			after := s[1+i]
			t.Add(share, table, tableBuffers, 100*float64(after.buffers)/tableBuffers, after.looked, before.time, after.time, -gain(before, after), after.direct)
		}
		s = s[1+len(tables):]
	}
	return t, nil
}

// tableRun uses some buffers of each twenty forty times, the others once. A registration pays after
// twenty uses, so that runs are short.
func tableRun(mode host.ReuseMode, share int, endless bool) reuseRun {
	return reuseRun{
		World: reusePair(), mode: mode, bytes: tableBytes, endless: endless, arena: (tableBuffers + 1) * reuseStep(tableBytes, false),
		change: func(c *host.Reuse) { c.Buckets = tableBuckets },
		cost:   func(c *host.Cost) { c.Pin, c.PinPage = 3600*drivers.Nanosecond, 0 },
		body: func(x *reuseRank) (drivers.Time, error) {
			list, err := x.buffers(tableBuffers, tableBytes, false)
			if err != nil {
				return 0, err
			}
			i, left := -1, 0
			return x.pingpong(0, func(int) []byte {
				if left == 0 {
					i++
					if left = 1; i%20 < share*20/100 {
						left = 40
					}
				}
				if i == len(list) {
					return nil
				}
				left--
				return list[i]
			})
		},
	}
}

func plotReuseTable(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "The table of buffers, by how many are used often",
		X:     figure.Axis{Label: "buffers that are used often", Unit: "%"},
		Y:     figure.Axis{Label: "in the table", Unit: "% of all buffers", Min: figure.At(0), Max: figure.At(105)},
	}
	for _, table := range []string{adaptiveTable, endlessTable} {
		f.Series = append(f.Series, figure.Series{Name: table, Points: t.Where("table", table).Points("used often (%)", "in the table (%)")})
	}
	return []*figure.Figure{f}
}
