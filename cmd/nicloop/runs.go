package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/spf13/cobra"
)

// runsFlags are common to the verbs on the database of runs.
type runsFlags struct {
	db   string
	json bool
}

func newRuns() *cobra.Command {
	f := &runsFlags{}
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "Show the history of recorded runs",
		Long: `Every nicloop regress and conform records its tests in a database: seed, device, hash
of the hardware, commit, verdict, simulated cycles and time. A run is named by its
number, or by -1 for the newest, -2 for the one before, and so on.`,
	}
	cmd.PersistentFlags().StringVar(&f.db, "db", defaultMemory, "database of runs")
	cmd.PersistentFlags().BoolVar(&f.json, "json", false, "print as JSON")
	return group(cmd, f.list(), f.show(), f.diff(), f.trend(), f.gc())
}

func (f *runsFlags) store() *runs.Store { return runs.At(f.db) }

// known turns a missing record into a usage error.
func known(err error) error {
	if errors.Is(err, runs.ErrNone) {
		return usageError{err}
	}
	return err
}

// newest marks the number of a run that is counted from the newest one, see runNumbers.
const newest = "~"

// runNumbers lets nicloop runs show and diff accept -1 as a run: the parser of flags would take it
// for a flag.
func runNumbers(args []string) []string {
	if len(args) < 3 || args[0] != "runs" || args[1] != "show" && args[1] != "diff" {
		return args
	}
	args = slices.Clone(args)
	for i, a := range args {
		if rest, ok := strings.CutPrefix(a, "-"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			args[i] = newest + rest
		}
	}
	return args
}

// number parses the number of a run, or -1 and so on from the newest.
func (f *runsFlags) number(text string) (uint64, error) {
	if rest, ok := strings.CutPrefix(text, newest); ok {
		text = "-" + rest
	}
	n, err := strconv.ParseInt(text, 10, 63)
	if err != nil || n == 0 {
		return 0, misused("run %q: expected a number of nicloop runs list, or -1 for the newest", text)
	}
	if n > 0 {
		return uint64(n), nil
	}
	list, err := f.store().List()
	if err != nil {
		return 0, known(err)
	}
	if -n > int64(len(list)) {
		return 0, misused("run %d does not exist: there are %d", n, len(list))
	}
	return list[-n-1].ID, nil
}

func (f *runsFlags) get(text string) (runs.Run, []runs.Record, error) {
	id, err := f.number(text)
	if err != nil {
		return runs.Run{}, nil, err
	}
	run, list, err := f.store().Get(id)
	return run, list, known(err)
}

func (f *runsFlags) list() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the runs, the newest first", Args: checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := f.store().List()
			if err != nil {
				return known(err)
			}
			if f.json {
				return writeJSON(cmd.OutOrStdout(), &runList{list})
			}
			tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "RUN\tBEGAN\tTOOK\tDEVICE\tCOMMIT\tRESULT\tSLOWER\tFOLDER")
			for i := range list {
				r := &list[i]
				fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", r.ID, r.Began.Local().Format(time.DateTime), tookText(r), r.Device, commitText(r), countsText(r), r.Slower, r.Dir)
			}
			return tw.Flush()
		},
	}
}

func tookText(r *runs.Run) string {
	if r.Ended.IsZero() {
		return "not finished"
	}
	return r.Ended.Sub(r.Began).Round(time.Second).String()
}

func commitText(r *runs.Run) string {
	text := shortCommit(r.Commit)
	if r.Modified {
		text += "+"
	}
	return text
}

func countsText(r *runs.Run) string {
	var list []string
	for _, status := range []string{"PASS", "FAIL", "HANG", "FLAKY", "SKIP", "STOP", "NOTRUN"} {
		if n := r.Counts[status]; n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, status))
		}
	}
	if r.Error != "" {
		list = append(list, "ended early")
	}
	return strings.Join(list, ", ")
}

func (f *runsFlags) show() *cobra.Command {
	var all bool
	var html string
	cmd := &cobra.Command{
		Use: "show [RUN]", Short: "Show the failures and slowdowns of a run (default: the newest)", Args: checked(cobra.MaximumNArgs(1)),
		Example: "  nicloop runs show\n  nicloop runs show 17 --all\n  nicloop runs show -2",
		RunE: func(cmd *cobra.Command, args []string) error {
			run, list, err := f.get(strings.Join(append(args, "-1")[:1], ""))
			if err != nil {
				return err
			}
			if html != "" {
				return writeReport(html, run, list)
			}
			if f.json {
				return writeJSON(cmd.OutOrStdout(), &regression{run, list})
			}
			return showRun(cmd.OutOrStdout(), &run, list, all)
		},
	}
	completing(cmd, 1, f.choices)
	cmd.Flags().StringVar(&html, "html", "", "write the run's HTML report to `FILE`, like report.html of regress")
	cmd.Flags().BoolVar(&all, "all", false, "include the tests that passed")
	return cmd
}

// choices completes numbers of runs.
func (f *runsFlags) choices() (list []choice) {
	all, _ := f.store().List() // completion has nobody to report an error to
	for i := range all {
		r := &all[i]
		list = append(list, choice{strconv.FormatUint(r.ID, 10), fmt.Sprintf("%s on %s: %s", r.Began.Local().Format(time.DateTime), r.Device, countsText(r))})
	}
	return list
}

func showRun(w io.Writer, run *runs.Run, list []runs.Record, all bool) error {
	fmt.Fprintf(w, "run %d: %s %s on %s, seed %d, %d seeds\n", run.ID, run.Verb, strings.Join(run.Patterns, " "), run.Device, run.Seed, run.Seeds)
	fmt.Fprintf(w, "began %s, took %s including %.1f s of builds; commit %s, on %s\n", run.Began.Local().Format(time.DateTime), tookText(run), run.Build, commitText(run), run.Machine)
	if c := run.Coverage; c != nil {
		fmt.Fprintf(w, "coverage: lines %v, toggles %v, functional points %v: %s\n", c.Lines, c.Toggles, c.Points, c.Page)
	}
	fmt.Fprintf(w, "%s; logs in %s\n", countsText(run), run.Dir)
	if run.Error != "" {
		fmt.Fprintf(w, "ended early: %s\n", run.Error)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nTEST\tSEED\tSTATUS\tCYCLES\tREAL TIME\tHARDWARE")
	for i := range list {
		if r := &list[i]; all || needsAttention(r.Status) || r.Slower != nil {
			fmt.Fprintf(tw, "%s\t%d\t%s\t%d\t%.2f s\t%s\n", r.Test, r.Seed, r.Status, r.Cycles, r.Real, r.Hardware[:min(12, len(r.Hardware))])
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if all {
		showFigures(w, list)
	}
	for i := range list {
		r := &list[i]
		switch {
		case r.Slower != nil:
			fmt.Fprintf(w, "\nslower: %s\n  rerun: %s\n", slowerText(r), r.Rerun)
		case needsAttention(r.Status):
			fmt.Fprintf(w, "\n%s %s (seed %d)\n  %s\n  log:   %s\n  rerun: %s\n", r.Status, r.Test, r.Seed, strings.ReplaceAll(r.Error, "\n", "\n  "), r.Log, r.Rerun)
		}
	}
	return nil
}

// needsAttention reports whether a test of this status is shown without --all.
func needsAttention(status string) bool {
	return status != string(regress.Passed) && status != string(regress.Skipped) && status != string(regress.NotRun)
}

// showFigures prints the measurements of a sweep's runs.
func showFigures(w io.Writer, list []runs.Record) {
	for i := range list {
		r := &list[i]
		for k, x := range r.Figures {
			if k == 0 {
				fmt.Fprintf(w, "\n%s (seed %d), %s:", r.Test, r.Seed, r.Exactness)
			}
			fmt.Fprintf(w, "  %s %v", x.Name, x.Value)
		}
	}
	fmt.Fprintln(w)
}

func (f *runsFlags) diff() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "diff [BEFORE [AFTER]]", Short: "Compare verdicts and cycles of two runs (default: the newest two)",
		Long: `Compare the tests that both runs decided: their verdicts, and their cycles if both
passed. Tests that only one of the runs has are counted; --all lists them.`, Args: checked(cobra.MaximumNArgs(2)),
		Example: "  nicloop runs diff\n  nicloop runs diff 12 17\n  nicloop runs diff -5 -1",
		RunE: func(cmd *cobra.Command, args []string) error {
			names := []string{"-2", "-1"}
			copy(names, args)
			before, old, err := f.get(names[0])
			if err != nil {
				return err
			}
			after, now, err := f.get(names[1])
			if err != nil {
				return err
			}
			changes := runs.Diff(old, now)
			common, onlyBefore, onlyAfter := runs.Common(changes)
			if !all {
				changes = common
			}
			if f.json {
				return writeJSON(cmd.OutOrStdout(), &changeList{before, after, changes})
			}
			err = showDiff(cmd.OutOrStdout(), &before, &after, changes, len(common))
			for _, only := range []struct {
				n   int
				run uint64
			}{{onlyBefore, before.ID}, {onlyAfter, after.ID}} {
				if only.n > 0 && !all {
					fmt.Fprintf(cmd.OutOrStdout(), "%d tests were decided in run %d alone; --all lists them\n", only.n, only.run)
				}
			}
			return err
		},
	}
	completing(cmd, 2, f.choices)
	cmd.Flags().BoolVar(&all, "all", false, "include the tests that only one of the runs has, or whose end was interrupted")
	return cmd
}

func showDiff(w io.Writer, before, after *runs.Run, changes []runs.Change, differ int) error {
	fmt.Fprintf(w, "run %d (%s, commit %s) and run %d (%s, commit %s): %d common tests differ\n",
		before.ID, before.Device, commitText(before), after.ID, after.Device, commitText(after), differ)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range changes {
		fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%s\n", c.Test, c.Seed, sideText(c.Before), sideText(c.After), cyclesText(c))
	}
	return tw.Flush()
}

func sideText(r *runs.Record) string {
	if r == nil {
		return "-"
	}
	return r.Status
}

func cyclesText(c runs.Change) string {
	if c.Before == nil || c.After == nil || c.Before.Status != "PASS" || c.After.Status != "PASS" {
		return ""
	}
	return fmt.Sprintf("%d -> %d cycles (%+d)", c.Before.Cycles, c.After.Cycles, int64(c.After.Cycles)-int64(c.Before.Cycles))
}

func (f *runsFlags) trend() *cobra.Command {
	var device string
	cmd := &cobra.Command{
		Use: "trend PATTERN", Short: "Show the history of tests: verdict, cycles and time in each run", Args: checked(cobra.ExactArgs(1)),
		Example: "  nicloop runs trend velo/lengths\n  nicloop runs trend 'static/*' --device rtl: --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := f.store().Trend(args[0], device)
			if err != nil {
				return known(err)
			}
			if len(list) == 0 {
				return misused("no run has a test %q on %s", args[0], orAny(device))
			}
			if f.json {
				return writeJSON(cmd.OutOrStdout(), &pointList{list})
			}
			return showTrend(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().StringVar(&device, "device", "", "only on this device (default: all)")
	return cmd
}

func orAny(device string) string {
	if device == "" {
		return "any device"
	}
	return device
}

func showTrend(w io.Writer, list []runs.Point) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "TEST\tDEVICE\tSEED\tRUN\tSTATUS\tCYCLES\tCHANGE\tREAL TIME")
	var last runs.Point
	for _, p := range list {
		change := ""
		if same := p.Test == last.Test && p.Device == last.Device && p.Seed == last.Seed; !same {
			last = runs.Point{}
		}
		if p.Status == "PASS" {
			if last.Status == "PASS" && last.Cycles != p.Cycles {
				change = fmt.Sprintf("%+d", int64(p.Cycles)-int64(last.Cycles))
			}
			last = p
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%s\t%d\t%s\t%.2f s\n", p.Test, p.Device, p.Seed, p.Run, p.Status, p.Cycles, change, p.Real)
	}
	return tw.Flush()
}

func (f *runsFlags) gc() *cobra.Command {
	var keep int
	var older time.Duration
	cmd := &cobra.Command{
		Use: "gc", Short: "Delete old runs from the database; logs and waves are kept", Args: checked(cobra.NoArgs),
		Example: "  nicloop runs gc --keep 30\n  nicloop runs gc --older 2160h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case given(cmd, "keep", "older") == "":
				return misused("nothing selected for deletion: set --keep or --older")
			case keep < 0:
				return misused("--keep %d: expected 0 or more", keep)
			}
			if err := notNegative(cmd, "older"); err != nil {
				return err
			}
			list, err := f.store().List()
			if err != nil {
				return known(err)
			}
			removed, err := f.store().Collect(func(r runs.Run) bool {
				at := slices.IndexFunc(list, func(x runs.Run) bool { return x.ID == r.ID })
				return at < 0 || cmd.Flags().Changed("keep") && at < keep || cmd.Flags().Changed("older") && time.Since(r.Began) < older
			})
			fmt.Fprintf(cmd.OutOrStdout(), "%d runs deleted, %d kept\n", len(removed), len(list)-len(removed))
			return err
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 0, "number of newest runs to keep")
	cmd.Flags().DurationVar(&older, "older", 0, "delete runs older than this")
	return cmd
}
