package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/reproduce"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/spf13/cobra"
)

func newReproduce() *cobra.Command {
	f := &reproduceFlags{}
	cmd := &cobra.Command{
		Use:   "reproduce ID…",
		Short: "Reproduce experiments of papers and judge their claims",
		Long: `Run experiments of the papers that nicloop builds on. Each prints its table, writes
rows and plots, and reports for every claim of the paper whether it HOLDS or DIFFERS
here, with both numbers. IDs may be patterns.

Experiments that depend on a seed are measured under five of them (--samples). A
claim states the region in which it holds: the 95 % interval over the seeds lies
inside (HOLDS), outside (DIFFERS), or across its border (UNDECIDED).

The rdrp experiments need no device. They simulate the paper's 5,256 nodes at scale
large (the points that decide the claims) and paper, 72 at small, 1,056 at medium.

A claim that differs is a result: the exit code is 0 unless a run fails.

With --why an experiment also tests possible reasons of its verdicts: it is repeated
with one thing changed, and judged again. SHOWN: the claim holds then; REFUTED: it
still differs; NOTHING DIFFERS: it held before.

The list shows the published verdict of every claim: the interval that decided it,
the scale, and the commit that measured it. --record adds verdicts to the file of
them, --verify repeats published experiments (all, or the given ones) in the published
configuration. It exits with 1 if a verdict or a number did not come out again.

An interrupted command keeps its finished runs in DIR/runs.jsonl. With --resume the
same program continues from there.`,
		Example: `  nicloop reproduce --list
  nicloop reproduce --verify 'fc-table?'
  nicloop reproduce fc-table1 fc-table3 fc-fig14         protocol code only: seconds
  nicloop reproduce fc-table1 fc-table2 fc-table3 fc-fig10 fc-fig15 fc-fig19 fc-fig27 -j 2
                                                         256 processes on 16 nodes, a few points: minutes
  nicloop reproduce 'fc-*' --scale small                 all on about 16 processes: minutes
  nicloop reproduce rdrp-fig1 rdrp-fig4 rdrp-fig5        a Dragonfly of 5,256 nodes: half an hour of processor time
  nicloop reproduce fc-references 'fc-fig1?' --machine both --scale medium
                                                         on our machine and on one as slow as the paper's
  nicloop reproduce 'spec-fig4.1[67]' --scale medium --why
                                                         what differs, and tests of possible reasons
  nicloop reproduce 'rdrp-*' --scale small               72 nodes: seconds
  nicloop reproduce fc-table2 --scale paper --out results   1,024 processes: hours
  nicloop reproduce fc-table2 --scale paper --out results --resume   continue an interrupted command`,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.list, "list", false, "list the claims with their published verdicts")
	fs.BoolVar(&f.verify, "verify", false, "repeat published experiments and compare verdicts and numbers")
	fs.StringVar(&f.record, "record", "", "add the verdicts to the published ones in `FILE` ("+reproduce.RecordsFile+")")
	fs.StringVar(&f.env.Device, "device", defaultReproduce, "device to run on (see nicloop device list)")
	fs.StringVar(&f.scale, "scale", string(paper.Large), "small, medium (16 and 64 processes, many points), large or paper (256 and the paper's 1,024, few points)")
	fs.StringVar(&f.machine, "machine", string(paper.OurMachine), "nicloop, paper (memory that accepts mailbox slots as slowly as the FC paper's reference requires), or both, side by side")
	fs.Int64Var(&f.env.Seed, "seed", 1, "seed of message contents and of everything that is drawn")
	fs.IntVar(&f.env.Samples, "samples", paper.DefaultSamples, "number of seeds, from --seed on, of experiments whose runs a seed changes")
	fs.BoolVar(&f.env.Why, "why", false, "also test possible reasons of verdicts: change one at a time and judge again")
	fs.IntVarP(&f.env.Jobs, "jobs", "j", 0, "number of concurrent runs (default: number of cores, at most 2; 1 at scale paper, where each may need 9 GB)")
	fs.StringVar(&f.out, "out", "reproduced", "`DIR` for rows (CSV) and plots (PNG, SVG); empty: none")
	fs.BoolVar(&f.force, "force", false, "overwrite an earlier run's files")
	fs.BoolVar(&f.resume, "resume", false, "reuse the finished runs of the same command after an interruption")
	fs.BoolVar(&f.json, "json", false, "print reports as JSON, one per line")
	cmd.RunE = f.run
	completing(cmd, 0, experimentChoices)
	return cmd
}

// defaultReproduce is the device of experiments that select none.
const defaultReproduce = "model:"

type reproduceFlags struct {
	env                       paper.Env
	scale, machine, out       string
	list, force, resume, json bool
	verify                    bool
	record                    string
}

func (f *reproduceFlags) run(cmd *cobra.Command, patterns []string) error {
	switch {
	case f.list:
		records, err := reproduce.Published()
		if err != nil {
			return err
		}
		return reproduce.List(cmd.OutOrStdout(), records)
	case f.verify:
		return f.verifyPublished(cmd, patterns)
	}
	if len(patterns) == 0 {
		return usageError{errors.New("no experiment selected: expected an ID (see --list)")}
	}
	experiments, err := reproduce.Find(patterns)
	if err != nil {
		return err
	}
	f.env.Scale = paper.Scale(f.scale)
	machines, err := machinesOf(f.machine)
	if err != nil {
		return err
	}
	if f.env.Samples < 1 {
		return misused("--samples %d: expected at least 1", f.env.Samples)
	}
	if err := f.jobs(cmd.Flags().Changed("jobs")); err != nil {
		return err
	}
	if err := f.prepare(experiments, machines); err != nil {
		return err
	}
	return f.journaled(cmd, func() error {
		for _, x := range experiments {
			if err := f.on(cmd, x, machines); err != nil {
				return err
			}
		}
		return nil
	})
}

// bothMachines is the value of --machine that runs experiments with a device twice.
const bothMachines = "both"

func machinesOf(name string) ([]paper.Machine, error) {
	if name == bothMachines {
		return paper.Machines(), nil
	}
	known := []string{bothMachines}
	for _, m := range paper.Machines() {
		if string(m) == name {
			return []paper.Machine{m}, nil
		}
		known = append(known, string(m))
	}
	return nil, misused("--machine %q: expected one of %v%s", name, known, suggest.Nearest(name, known))
}

// machinesFor returns the machines for which the results of an experiment differ.
func machinesFor(x *paper.Experiment, machines []paper.Machine) []paper.Machine {
	if x.Pure || x.Engine != "" {
		return machines[:1]
	}
	return machines
}

// on runs an experiment on each machine.
func (f *reproduceFlags) on(cmd *cobra.Command, x *paper.Experiment, machines []paper.Machine) error {
	machines = machinesFor(x, machines)
	var reports []*paper.Report
	for _, m := range machines {
		env := f.env
		env.Machine = m
		rep, err := f.one(cmd, x, env)
		if err != nil {
			return err
		}
		if err := f.recordReport(cmd, rep); err != nil {
			return err
		}
		reports = append(reports, rep)
	}
	if len(reports) < 2 || f.json {
		return nil
	}
	out := cmd.OutOrStdout()
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, strings.Join(x.IDs, ", "))
	for _, m := range machines {
		fmt.Fprintf(tw, "\t%s", m)
	}
	for i, v := range reports[0].Claims {
		fmt.Fprintf(tw, "\n%s", v.Claim)
		for _, rep := range reports {
			fmt.Fprintf(tw, "\t%s: %s", rep.Claims[i].Outcome, rep.Claims[i].Ours)
		}
	}
	fmt.Fprint(tw, "\n\n")
	return tw.Flush()
}

// journaled records finished runs until all have finished.
func (f *reproduceFlags) journaled(cmd *cobra.Command, all func() error) error {
	if f.out == "" {
		return all()
	}
	name, errOut := f.journal(), cmd.ErrOrStderr()
	j, err := paper.OpenJournal(name, f.resume)
	if err != nil {
		return usageError{err}
	}
	if _, foreign := j.Runs(); foreign > 0 {
		fmt.Fprintf(errOut, "nicloop: ignoring %[1]d runs of another build of nicloop in %[2]s; they are repeated\n", foreign, name)
	}
	f.env.Journal = j
	err = errors.Join(all(), j.Close())
	known, _ := j.Runs()
	if err == nil || known == 0 {
		return errors.Join(err, os.Remove(name))
	}
	fmt.Fprintf(errOut, "nicloop: %d finished runs are in %s; continue with the same command and --resume\n", known, name)
	return err
}

func (f *reproduceFlags) journal() string { return filepath.Join(f.out, "runs.jsonl") }

// jobs checks or selects the number of concurrent runs.
func (f *reproduceFlags) jobs(given bool) error {
	f.env.Cores = runtime.NumCPU()
	switch {
	case !given && f.env.Scale == paper.Full:
		f.env.Jobs = 1
	case !given:
		f.env.Jobs = min(2, runtime.NumCPU())
	default:
		return checkJobs(f.env.Jobs)
	}
	return nil
}

// prepare makes the directory and refuses, before anything runs, to overwrite the files of another
// run.
func (f *reproduceFlags) prepare(experiments []*paper.Experiment, machines []paper.Machine) error {
	switch {
	case f.out == "" && f.resume:
		return usageError{errors.New("--resume needs the --out of the interrupted command")}
	case f.out == "":
		return nil
	}
	if _, err := os.Stat(f.journal()); err == nil && !f.force && !f.resume {
		return usageError{fmt.Errorf("%s has the runs of an interrupted command: use --resume to continue, --force to start over", f.journal())}
	}
	for _, x := range experiments {
		for _, m := range machinesFor(x, machines) {
			env := f.env
			env.Machine = m
			rows := filepath.Join(f.out, x.Name(env)+".csv") // every report has rows
			if _, err := os.Stat(rows); err == nil && !f.force && !f.resume {
				return usageError{fmt.Errorf("%s exists: choose another --out, or --force to overwrite it", rows)}
			}
		}
	}
	if err := os.MkdirAll(f.out, 0o777); err != nil {
		return usageError{err}
	}
	return nil
}

func (f *reproduceFlags) one(cmd *cobra.Command, x *paper.Experiment, env paper.Env) (*paper.Report, error) {
	bar := newBar(cmd.ErrOrStderr(), x.IDs[0])
	env.Step, env.Building = bar.set, bar.describe
	env.Plan = func(runs, known int, packets float64) {
		text := fmt.Sprintf("%s: %d runs", x.IDs[0], runs)
		if packets > 0 {
			text += fmt.Sprintf(", about %.1f million data packets", packets)
		}
		if known > 0 {
			text += fmt.Sprintf("; %d runs are finished", known)
		}
		bar.describe(text)
	}
	begin := time.Now()
	rep, err := x.Run(cmd.Context(), env)
	bar.finish()
	if err != nil {
		return nil, err
	}
	var files []string
	if f.out != "" {
		if files, err = rep.Save(f.out, x.Name(env)); err != nil {
			return nil, err
		}
	}
	out := cmd.OutOrStdout()
	if f.json {
		line, err := encodeDocument(rep)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		return rep, err
	}
	rep.Print(out)
	if len(files) > 0 {
		fmt.Fprintf(out, "\nwritten: %s\n", strings.Join(files, " "))
	}
	_, err = fmt.Fprintf(out, "took %.1f s\n\n", time.Since(begin).Seconds())
	return rep, err
}
