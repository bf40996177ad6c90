package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
)

var adaptFig8 = &Experiment{
	IDs: []string{"adapt-fig8"}, Title: "Dynamic eager thresholds in a 3D stencil, by the number of processes",
	Paper: "ADAPT, section 5.2, Figure 8", PaperSize: "128 KB, up to 8,192 processes",
	measure: measureAdapt8, plot: plotAdapt8,
	claims: []claim{
		{"without computation dynamic takes a little longer than the default, at every size", "a slight hit", slightHit},
		{"where copies cost eight times as much it takes longer", "memory copies are the hit", slightHitCopies},
		{"overlap is much better, at every size", "much better", betterEverywhere},
		{"and so is the time beside a computation", "better", fasterEverywhere},
	},
}

var adapt8Columns = []string{"processes", "setting", "copies cost", "alone (µs)", "overlap (%)", "beside (µs)"}

func (e *Env) adaptWorlds() []world {
	switch e.Scale {
	case Small:
		return []world{{nodes: 4, procs: 1}, {nodes: 8, procs: 1}}
	case Medium:
		return []world{{nodes: 8, procs: 1}, {nodes: 16, procs: 1}, {nodes: 27, procs: 1}}
	}
	return []world{{nodes: 8, procs: 1}, {nodes: 27, procs: 1}, {nodes: 64, procs: 1, dims: "4x4x4"}}
}

func measureAdapt8(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: adapt8Columns}
	bytes := 128 << 10
	if e.Scale == Small {
		bytes = 32 << 10
	}
	var runs []adaptRun
	for _, w := range e.adaptWorlds() {
		for _, s := range []string{adaptDefault, adaptDynamic} {
			for _, copies := range []int{1, slowCopies} {
				runs = append(runs, adaptRun{world: w, workload: "stencil", setting: s, bytes: bytes, steps: 3, warmup: 10, copies: copies})
			}
		}
	}
	samples, err := e.adaptSweep(ctx, runs)
	if err != nil {
		return nil, err
	}
	for i, s := range samples {
		t.add(runs[i].ranks(), runs[i].setting, runs[i].copies, micro(s.Alone), 100*s.Overlap, micro(s.Overall))
	}
	return t, nil
}

func (t *Table) byProcesses(column string) (by, dynamic []float64) {
	return plain(t, adaptDefault).values(column), plain(t, adaptDynamic).values(column)
}

func slightHit(t *Table) (string, bool) {
	least, most := hit(t, 1)
	return fmt.Sprintf("%.2f to %.2f times as long", least, most), least > 1 && most < 1.5
}

func slightHitCopies(t *Table) (string, bool) {
	least, most := hit(t, slowCopies)
	return fmt.Sprintf("%.2f to %.2f times as long", least, most), least > 1
}

// hit is by how much dynamic takes longer alone.
func hit(t *Table, copies int) (least, most float64) {
	of := func(setting string) []float64 {
		return t.where("setting", setting, "copies cost", copies).values("alone (µs)")
	}
	by, dynamic := of(adaptDefault), of(adaptDynamic)
	var v []float64
	for i := range by {
		v = append(v, dynamic[i]/by[i])
	}
	return slices.Min(v), slices.Max(v)
}

func betterEverywhere(t *Table) (string, bool) {
	by, dynamic := t.byProcesses("overlap (%)")
	holds := true
	for i := range by {
		holds = holds && dynamic[i] >= by[i]+25
	}
	return fmt.Sprintf("%.0f to %.0f %%, by default %.0f to %.0f %%", slices.Min(dynamic), slices.Max(dynamic), slices.Min(by), slices.Max(by)), holds
}

func fasterEverywhere(t *Table) (string, bool) {
	by, dynamic := t.byProcesses("beside (µs)")
	var v []float64
	for i := range by {
		v = append(v, saved(dynamic[i], by[i]))
	}
	return fmt.Sprintf("%.0f to %.0f %% less", slices.Min(v), slices.Max(v)), slices.Min(v) > 0
}

func plotAdapt8(t *Table) (list []*figure.Figure) {
	for _, column := range adapt8Columns[3:] {
		f := &figure.Figure{Title: "3D stencil: " + column, X: figure.Axis{Label: "processes"}, Y: figure.Axis{Label: column, Min: figure.At(0)}}
		for _, s := range []string{adaptDefault, adaptDynamic} {
			f.Series = append(f.Series, figure.Series{Name: s, Points: plain(t, s).points("processes", column)})
		}
		list = append(list, f)
	}
	return list
}
