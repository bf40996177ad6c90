package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/sweep"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
)

func newSweep() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep FILE.yaml",
		Short: "Run a verb over a parameter space; write rows, figures and changes",
		Long: `Run a verb for every point that a file describes: products of axes, lists that
advance together, conditions, several seeds. bench/sweep/README.md explains files.

The output folder has rows.csv, the figures (PNG, SVG, CSV; PDF, PGF and gnuplot
on request), and the journal runs.jsonl, from which --resume continues after Ctrl-C or a kill: finished runs are
not repeated, and all files are the same as without the interruption. Every row
names its device, hardware and machine, and its exactness.

Every point is a separate process. A failed point is a row with its error; the
others continue.

` + exitText,
		Example: `  nicloop sweep slots.yaml --dry-run          number of runs and packets, and expected time
  nicloop sweep slots.yaml -j 2
  nicloop sweep slots.yaml --resume           continue after an interruption
  nicloop sweep slots.yaml -o new --against nicloop-out/sweep-slots    compare with an older sweep
  nicloop sweep slots.yaml --executor slurm -j 64    on a cluster, 64 tasks at a time`,
		Args: checked(cobra.ExactArgs(1)),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.dry, "dry-run", false, "print the planned runs and their expected time, by the database of runs, and exit")
	fs.IntVarP(&f.jobs, "jobs", "j", max(1, runtime.NumCPU()/2), "number of concurrent runs")
	fs.BoolVar(&f.resume, "resume", false, "reuse the runs that the same program has finished in the output folder")
	fs.BoolVar(&f.force, "force", false, "start over in an output folder that is not empty")
	fs.StringVar(&f.against, "against", "", "show changes since an older sweep: its folder, or its rows.csv")
	fs.StringVarP(&f.dir, "output", "o", "", "`DIR` for rows, figures and journal (default: nicloop-out/sweep-NAME)")
	fs.StringVar(&f.db, "db", defaultMemory, "database of runs (see nicloop runs); empty: do not record")
	f.executor.add(fs)
	fs.BoolVar(&f.json, "json", false, "print the result as JSON instead of tables")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) }
	return cmd
}

type sweepFlags struct {
	dry, resume, force bool
	json               bool
	jobs               int
	against, dir, db   string
	executor           executorFlags
}

// A sweeping is a sweep in progress.
type sweeping struct {
	f       *sweepFlags
	cmd     *cobra.Command
	name    string // name of the file
	file    *sweep.File
	points  []sweep.Point
	records []*batch.Record
	journal *sweep.Journal
	memory  *sweepMemory
}

func (f *sweepFlags) run(cmd *cobra.Command, name string) error {
	if err := errors.Join(checkJobs(f.jobs), f.executor.check()); err != nil {
		return err
	}
	s, err := f.read(cmd, name)
	if err != nil {
		return err
	}
	if f.dry {
		return s.plan()
	}
	if err := s.open(); err != nil {
		return err
	}
	err = s.all()
	return errors.Join(err, s.journal.Close())
}

func (f *sweepFlags) read(cmd *cobra.Command, name string) (s *sweeping, err error) {
	s = &sweeping{f: f, cmd: cmd, name: name}
	if s.file, s.points, err = sweep.Plan(cmd.Context(), name, verbs{}); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = usageError{err}
		}
		return nil, err
	}
	if f.dir == "" {
		f.dir = filepath.Join("nicloop-out", "sweep-"+s.file.Name)
	}
	if f.against != "" {
		if info, err := os.Stat(f.against); err == nil && info.IsDir() {
			f.against = filepath.Join(f.against, "rows.csv")
		}
		if _, err := os.Stat(f.against); err != nil {
			return nil, usageError{err}
		}
	}
	s.records = make([]*batch.Record, len(s.points))
	return s, nil
}

// open makes the folder and reads the records of an earlier command.
func (s *sweeping) open() (err error) {
	if left, err := os.ReadDir(s.f.dir); err == nil && len(left) > 0 && !s.f.resume && !s.f.force {
		return misused("output folder %s is not empty: use --resume to continue, --force to start over", s.f.dir)
	}
	if err := os.MkdirAll(s.f.dir, 0o755); err != nil {
		return err
	}
	program, err := executable()
	if err != nil {
		return err
	}
	if s.journal, err = sweep.OpenJournal(filepath.Join(s.f.dir, "runs.jsonl"), program, s.f.resume); err != nil {
		return err
	}
	if n := s.journal.Foreign(); n > 0 {
		fmt.Fprintf(s.cmd.ErrOrStderr(), "nicloop: ignoring %d runs of another build of nicloop in %s; they are repeated\n", n, s.f.dir)
	}
	for i := range s.points {
		r, ok, err := s.journal.Get(&s.points[i]) // may hash the sources of a device
		if err = errors.Join(err, context.Cause(s.cmd.Context())); err != nil {
			return errors.Join(err, s.journal.Close())
		}
		if ok {
			s.records[i] = &r
		}
	}
	s.memory, err = newSweepMemory(s)
	return err
}

// left returns the points without a record.
func (s *sweeping) left() (list []int) {
	for i, r := range s.records {
		if r == nil {
			list = append(list, i)
		}
	}
	return list
}

// all runs the remaining points and writes the results, also after an error.
func (s *sweeping) all() error {
	left := s.left()
	bar := newBar(s.cmd.ErrOrStderr(), "sweep")
	if known := len(s.points) - len(left); known > 0 {
		bar.describe(fmt.Sprintf("%s: %d runs, %d finished before", s.file.Name, len(s.points), known))
	}
	err := s.build(bar, left)
	if err == nil {
		bar.set(0, len(left))
		err = s.perform(left, bar)
	}
	bar.finish()
	err = errors.Join(err, s.memory.close(err))
	ended := s.write(len(s.left()) == 0)
	if n := len(s.left()); n > 0 && err != nil {
		fmt.Fprintf(s.cmd.ErrOrStderr(), "nicloop: %d of %d finished runs are in %s; continue with the same command and --resume\n", len(s.points)-n, len(s.points), s.f.dir)
	}
	return errors.Join(err, ended)
}

// build builds the simulators of the points once, before they start concurrently.
func (s *sweeping) build(bar *progress, left []int) error {
	type machine struct {
		device string
		nodes  int
	}
	done := map[machine]bool{}
	for _, i := range left {
		m := machine{s.points[i].Device, 2}
		if n, err := strconv.Atoi(s.points[i].Nodes); err == nil {
			m.nodes = n
		}
		if m.device == "" || done[m] || !registry.NeedsPreparation(m.device) {
			continue
		}
		done[m] = true
		if err := registry.Prepare(s.cmd.Context(), m.device, drivers.Options{Nodes: m.nodes, Progress: bar.describe}); err != nil {
			return err
		}
	}
	return nil
}

// perform runs points and stores their records.
func (s *sweeping) perform(left []int, bar *progress) error {
	tasks := make([]batch.Task, len(left))
	for k, i := range left {
		tasks[k] = batch.Task{Args: s.points[i].Args}
	}
	finished := 0
	done := func(k int, r batch.Record) error {
		i := left[k]
		switch r.Exit {
		case exitUsage, exitEnvironment:
			return coded{r.Exit, fmt.Errorf("nicloop %s: %s", strings.Join(s.points[i].Args, " "), strings.TrimPrefix(r.Error, "nicloop: "))}
		}
		if err := s.journal.Put(&s.points[i], r); err != nil {
			return err
		}
		s.records[i] = &r
		finished++
		bar.set(finished, len(left))
		return s.memory.add(i, &r)
	}
	return s.f.executor.perform(s.cmd.Context(), s.f.dir, tasks, s.f.jobs, bar.describe, done)
}

// write writes all result files. Figures and changes need the whole sweep.
func (s *sweeping) write(whole bool) error {
	t, err := s.file.NewTable(s.points, s.records)
	if err != nil {
		return err
	}
	rows := filepath.Join(s.f.dir, "rows.csv")
	if err := figure.SaveRows(rows, t.Columns, t.Strings()); err != nil || !whole {
		return err
	}
	figures, empty, err := s.file.Draw(t)
	files, errs := []string{rows}, []error{err}
	for name, fig := range figures { // an error of one figure does not affect the others
		base := filepath.Join(s.f.dir, name)
		err := fig.Save(base)
		if errs = append(errs, err); err == nil {
			files = append(files, figure.Files(base, fig.Formats...)...)
		}
	}
	slices.Sort(files)
	return errors.Join(append(errs, s.tell(t, files, empty))...)
}

// tell reports the result.
func (s *sweeping) tell(t *sweep.Table, files, empty []string) error {
	rep := &sweepReport{Name: s.file.Name, Run: s.memory.id, Runs: len(s.points), Files: files, Columns: t.Columns, Rows: t.Strings()}
	hung := false
	for i, r := range s.records {
		if status := sweep.StatusOf(r); status != sweep.Passed {
			rep.Failed = append(rep.Failed, failedPoint{"nicloop " + shellWords(s.points[i].Args), r.Error})
			hung = hung || status == sweep.Hung
		}
	}
	var err error
	if s.f.against != "" {
		if rep.Changes, err = s.changes(t); err != nil {
			return err
		}
	}
	if s.f.json {
		err = writeJSON(s.cmd.OutOrStdout(), rep)
	} else {
		err = s.print(rep, t, empty)
	}
	switch {
	case err != nil:
		return err
	case hung:
		return errHung
	case len(rep.Failed) > 0:
		return errFailed
	}
	return nil
}

// print reports the result as text.
func (s *sweeping) print(rep *sweepReport, t *sweep.Table, empty []string) error {
	w := s.cmd.OutOrStdout()
	printTable(w, t)
	printFailures(w, rep.Failed)
	for _, name := range empty {
		fmt.Fprintf(w, "no figure %s: no data\n", name)
	}
	fmt.Fprintf(w, "\n%d runs, %d failed; written: %s\n", rep.Runs, len(rep.Failed), strings.Join(rep.Files, " "))
	if s.f.against == "" {
		return nil
	}
	return printChanges(w, s.f.against, rep.Changes)
}

// printFailures prints one verdict for each kind of failure, with the number of runs that have it.
func printFailures(w io.Writer, failed []failedPoint) {
	var kinds []string
	alike := map[string][]failedPoint{}
	for _, p := range failed {
		kind := kindOfFailure(p.Error)
		if alike[kind] == nil {
			kinds = append(kinds, kind)
		}
		alike[kind] = append(alike[kind], p)
	}
	for _, kind := range kinds {
		first := alike[kind][0]
		fmt.Fprintf(w, "\nfailed: %s\n  %s\n", first.Command, strings.ReplaceAll(first.Error, "\n", "\n  "))
		if n := len(alike[kind]) - 1; n > 0 {
			fmt.Fprintf(w, "  %s\n", moreAlike(n))
		}
	}
}

func moreAlike(n int) string {
	if n == 1 {
		return "1 more run failed alike"
	}
	return fmt.Sprintf("%d more runs failed alike", n)
}

var (
	numbersOfErrors = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?`)
	hangOfErrors    = regexp.MustCompile(`no progress at [^:]*: ([^;]+)`)
)

// kindOfFailure is equal for hangs of one class, and for other failures with the same first line,
// apart from its numbers.
func kindOfFailure(err string) string {
	head, _, _ := strings.Cut(err, "\n")
	if m := hangOfErrors.FindStringSubmatch(head); m != nil {
		return m[1]
	}
	return numbersOfErrors.ReplaceAllString(head, "N")
}

// shownCommands limits the printed commands of a plan.
const shownCommands = 12

// shownRows limits the printed rows of a table.
const shownRows = 100

func printTable(w io.Writer, t *sweep.Table) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rows, columns := t.Strings(), slices.Index(t.Columns, "status")+1 // columns after the verdict are in the file only
	fmt.Fprintln(tw, strings.Join(t.Columns[:columns], "\t"))
	for i, row := range rows {
		if i == shownRows {
			fmt.Fprintf(tw, "and %d more\n", len(rows)-i)
			break
		}
		fmt.Fprintln(tw, strings.Join(row[:columns], "\t"))
	}
	tw.Flush()
}

// changes finds and writes the differences from an older sweep.
func (s *sweeping) changes(t *sweep.Table) ([]sweep.Change, error) {
	list, err := t.Changes(s.f.against)
	if err != nil {
		return nil, err
	}
	rows := [][]string{}
	for _, c := range list {
		rows = append(rows, []string{c.Where, c.Column, c.Before, c.After})
	}
	return list, figure.SaveRows(filepath.Join(s.f.dir, "changes.csv"), []string{"where", "column", "before", "after"}, rows)
}

func printChanges(w io.Writer, against string, list []sweep.Change) error {
	fmt.Fprintf(w, "\nchanged against %s: %d numbers\n", against, len(list))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, c := range list {
		if i == shownRows {
			fmt.Fprintf(tw, "and %d more, in changes.csv\n", len(list)-i)
			break
		}
		share := ""
		if v, ok := c.Share(); ok {
			share = fmt.Sprintf("%+.2f %%", v)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t-> %s\t%s\n", c.Where, c.Column, orDash(c.Before), orDash(c.After), share)
	}
	return tw.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// plan prints the planned runs and the expected time.
func (s *sweeping) plan() error {
	w := s.cmd.OutOrStdout()
	known, err := pastTimes(s.f.db)
	if err != nil {
		return err
	}
	packets, seconds, byRate, unknown := 0.0, 0.0, 0, 0
	for i := range s.points {
		p := &s.points[i]
		if ctx := s.cmd.Context(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, counted := packetsOf(p.Args)
		packets += n
		switch real, ok := known.of(s.file.Test(p), p.Device, p.Seed); {
		case ok:
			seconds += real
		case counted && known.rate(p.Device) > 0:
			seconds += n * known.rate(p.Device)
			byRate++
		default:
			unknown++
		}
	}
	for i := range s.points {
		if i == shownCommands {
			fmt.Fprintf(w, "and %d more\n", len(s.points)-i)
			break
		}
		fmt.Fprintf(w, "nicloop %s\n", shellWords(s.points[i].Args))
	}
	fmt.Fprintf(w, "\n%s: %d runs, about %.2f million data packets\n", s.file.Name, len(s.points), packets/1e6)
	fmt.Fprint(w, expectedTime(seconds, s.f.jobs, len(s.points), byRate, unknown))
	return nil
}

// expectedTime describes the time of a plan. Runs whose time is unknown are not part of it.
func expectedTime(seconds float64, jobs, runs, byRate, unknown int) string {
	const how = "run it once, and the database of runs has the time"
	if unknown == runs {
		return fmt.Sprintf("expected time: unknown for all %d runs; %s\n", runs, how)
	}
	round := func(seconds float64) time.Duration {
		return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond)
	}
	least := ""
	if unknown > 0 {
		least = "at least "
	}
	return fmt.Sprintf("expected time: %s%v of one core, %v with -j %d; %d runs estimated from earlier ones, %d from their packets, %d unknown\n",
		least, round(seconds), round(seconds/float64(jobs)), jobs, runs-byRate-unknown, byRate, unknown)
}
