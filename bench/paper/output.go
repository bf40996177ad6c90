package paper

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

// Name is the stem of the report's files: what ran on what.
func (x *Experiment) Name(env Env) string {
	if x.Pure || x.Engine != "" {
		return fmt.Sprintf("%s-%s", x.IDs[0], env.Scale)
	}
	backend, _, _ := strings.Cut(env.Device, ":")
	return fmt.Sprintf("%s-%s-%s%s", x.IDs[0], backend, env.Scale, env.Machine.suffix())
}

// Save writes the figures and the rows under dir/name and gives the files' names.
func (rep *Report) Save(dir, name string) ([]string, error) {
	base := filepath.Join(dir, name)
	files := []string{base + ".csv"}
	columns, rows := rep.rows()
	if err := figure.SaveRows(base+".csv", columns, rows); err != nil {
		return nil, err
	}
	for i, r := range rep.Reasons {
		name := fmt.Sprintf("%s-why-%d.csv", base, i+1)
		if err := figure.SaveRows(name, r.Table.Columns, r.Table.strings()); err != nil {
			return nil, err
		}
		files = append(files, name)
	}
	for i, f := range rep.figures {
		stem := base + "-plot"
		if len(rep.figures) > 1 {
			stem = fmt.Sprintf("%s-plot-%c", base, 'a'+i)
		}
		if err := f.Save(stem); err != nil {
			return nil, err
		}
		files = append(files, stem+".png", stem+".svg", stem+".csv")
	}
	return files, nil
}

// rows are those of all samples. Several have their seed in front.
func (rep *Report) rows() (columns []string, rows [][]string) {
	if len(rep.samples) < 2 {
		return rep.Table.Columns, rep.Table.strings()
	}
	for i, t := range rep.samples {
		for _, row := range t.strings() {
			rows = append(rows, append([]string{fmt.Sprint(rep.Seed + int64(i))}, row...))
		}
	}
	return append([]string{"seed"}, rep.Table.Columns...), rows
}

// Print writes the report for people.
func (rep *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%s: %s (%s)\n", strings.Join(rep.IDs, ", "), rep.Title, rep.Paper)
	switch {
	case rep.Engine != "":
		fmt.Fprintf(w, "runs on: %s, %s, seed %d\n", rep.Engine, strings.Join(rep.Worlds, "; "), rep.Seed)
	case rep.Device == "":
		fmt.Fprintln(w, "runs on: the protocol code itself, no device")
	default:
		fmt.Fprintf(w, "runs on: %s, %s, seed %d\n", rep.Device, strings.Join(rep.Worlds, "; "), rep.Seed)
		if rep.Machine == PaperMachine {
			fmt.Fprintf(w, "machine: the paper's, as ours but that memory takes %v for a mailbox slot\n", paperSlotTime)
		}
	}
	if rep.Runs > 0 {
		fmt.Fprintf(w, "runs: %d, of %.1f million packets together\n", rep.Runs, float64(rep.Packets)/1e6)
	}
	if rep.ScaledDown {
		fmt.Fprintf(w, "SCALED DOWN (--scale %s): the paper has %s\n", rep.Scale, rep.PaperSize)
	}
	if rep.Thinned != "" {
		fmt.Fprintf(w, "THINNED: %s\n", rep.Thinned)
	}
	fmt.Fprintln(w)
	rep.Table.print(w)
	fmt.Fprintln(w)
	switch {
	case rep.Freedom == "":
		fmt.Fprintln(w, "samples: one; every seed gives the same rows")
	case rep.Samples == 1:
		fmt.Fprintf(w, "samples: one, so there are no intervals; seeds vary %s\n", rep.Freedom)
	default:
		fmt.Fprintf(w, "samples: %d seeds, which vary %s; the table is that of seed %d\n", rep.Samples, rep.Freedom, rep.Seed)
	}
	for _, v := range rep.Claims {
		v.print(w)
	}
	rep.printReasons(w)
}

// print writes a verdict with its margins: of five checks or fewer each one, of more those that do
// not hold.
func (v Verdict) print(w io.Writer) {
	fmt.Fprintf(w, "%-9s  %s\n           paper: %s\n           ours:  %s\n", v.Outcome, v.Claim, v.Paper, v.Ours)
	var shown []string
	for _, c := range v.Checks {
		if len(v.Checks) <= shownChecks || c.Outcome != judge.Holds {
			shown = append(shown, c.String())
		}
	}
	more := ""
	if len(shown) > shownChecks {
		more, shown = fmt.Sprintf("; and %d more", len(shown)-shownChecks), shown[:shownChecks]
	}
	if len(shown) > 0 {
		fmt.Fprintf(w, "           %s: %s%s\n", v.sampled(), strings.Join(shown, "; "), more)
	}
}

const shownChecks = 5

func (v Verdict) sampled() string {
	if v.Samples == 1 {
		return "1 sample"
	}
	return fmt.Sprintf("%d samples, 95 %%", v.Samples)
}

func (t *Table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, strings.Join(t.Columns, "\t")+"\t")
	for _, row := range t.Rows {
		for _, cell := range row {
			if v, ok := cell.(float64); ok {
				fmt.Fprintf(tw, "%.2f\t", v)
				continue
			}
			fmt.Fprintf(tw, "%v\t", cell)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}
