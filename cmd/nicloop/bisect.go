package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nicloop/nicloop/bench/bisect"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
)

func newBisect() *cobra.Command {
	f := &bisectFlags{}
	cmd := &cobra.Command{
		Use:   "bisect TEST",
		Short: "Find the commit that broke a test, or made it slower",
		Long: `Find the first commit at which a test fails. The command needs a git checkout of
nicloop. It builds commits in a temporary worktree and runs the test with the same
seed on the same device. Packages and simulators come from caches.

Without --good the search begins at the last commit at which the test passed, as
recorded by earlier runs (--db). Commits that do not build, or that lack the test,
are skipped.

With --tests the commits are those of your own repository: each is checked out, and
this nicloop runs the tests of that folder on it. The description of a design in the
same repository is the one of the commit.`,
		Example: `  nicloop bisect velo/lengths --good v1.2
  nicloop bisect dynamic/alltoall --seed 17               since it passed last
  nicloop bisect velo/kinds --device model: --good HEAD~40 --slower-than 210
  nicloop bisect dma/copy --tests ./tests --good HEAD~10   a test of your own, on your design`,
		Args: checked(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.o.Device, "device", "rtl:", "device to run on (see nicloop device list)")
	fs.Int64Var(&f.o.Seed, "seed", 1, "seed")
	fs.StringVar(&f.o.Good, "good", "", "a commit at which the test passed (default: the last recorded one)")
	fs.StringVar(&f.o.Bad, "bad", "HEAD", "a later commit at which it fails")
	fs.Uint64Var(&f.o.SlowerThan, "slower-than", 0, "treat a pass with more than this number of `CYCLES` as a failure")
	fs.StringVar(&f.o.Repo, "repository", ".", "a folder inside the checkout")
	fs.StringVar(&f.own.dir, "tests", "", testsFlagText)
	fs.StringVar(&f.db, "db", defaultMemory, "database of runs")
	fs.DurationVar(&f.timeout, "timeout", 0, "abort after this much real time (default: no limit)")
	fs.BoolVar(&f.json, "json", false, "print as JSON")
	completing(cmd, 1, testChoices(suite.List))
	return cmd
}

type bisectFlags struct {
	o       bisect.Options
	own     testsFlags
	db      string
	timeout time.Duration
	json    bool
}

func (f *bisectFlags) run(cmd *cobra.Command, test string) error {
	f.o.Test = test
	if err := notNegative(cmd, "timeout"); err != nil {
		return err
	}
	if err := f.selectTests(cmd); err != nil {
		return err
	}
	if err := registry.Validate(f.o.Device); err != nil {
		return err
	}
	if f.o.Good == "" {
		var err error
		if f.o.Good, err = f.green(); err != nil {
			return err
		}
	}
	ctx, cancel := withTimeout(cmd.Context(), f.timeout)
	defer cancel()
	f.o.Tell = func(t bisect.Trial) { printTrial(cmd.ErrOrStderr(), &t) }
	res, err := bisect.Run(ctx, f.o)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), res)
	}
	return printBisection(cmd.OutOrStdout(), res)
}

// selectTests finds the tests of a user, and their device.
func (f *bisectFlags) selectTests(cmd *cobra.Command) (err error) {
	o := regress.Options{Device: f.o.Device}
	if f.o.Tests, err = f.own.selectTests(cmd, &o); err != nil || f.o.Tests == "" {
		return err
	}
	f.o.Device = o.Device
	f.o.Program, err = os.Executable()
	return err
}

// green returns the commit at which the test passed last.
func (f *bisectFlags) green() (string, error) {
	g, err := runs.At(f.db).Green(f.o.Test, f.o.Device, f.o.Seed)
	if err != nil {
		return "", known(err)
	}
	if g.Commit == "" {
		return "", misused("%s has no commit at which %s passed on %s with seed %d: specify one with --good", f.db, f.o.Test, f.o.Device, f.o.Seed)
	}
	return g.Commit, nil
}

func printTrial(w io.Writer, t *bisect.Trial) {
	cycles := ""
	if t.Cycles > 0 {
		cycles = fmt.Sprintf(", %d cycles", t.Cycles)
	}
	fmt.Fprintf(w, "%-4s %s %s (%.0f s%s) %s\n", t.Verdict, shortCommit(t.Commit), t.Subject, t.Real, cycles, t.Why)
}

func printBisection(w io.Writer, res *bisect.Result) error {
	subject := func(commit string) string {
		for _, t := range res.Trials {
			if t.Commit == commit {
				return t.Subject
			}
		}
		return ""
	}
	if len(res.Found) == 1 {
		_, err := fmt.Fprintf(w, "%s: the first bad commit is %s %s\n", res.Test, res.Found[0], subject(res.Found[0]))
		return err
	}
	fmt.Fprintf(w, "%s: the first bad commit is one of these %d; the commits between them could not be tested:\n", res.Test, len(res.Found))
	for _, c := range res.Found {
		fmt.Fprintf(w, "  %s %s\n", c, subject(c))
	}
	return nil
}
