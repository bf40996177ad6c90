package main

import (
	"runtime"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/spf13/cobra"
)

func newConform() *cobra.Command {
	o := regress.Options{NoWaves: true}
	var list bool
	var junit string
	f := &nightFlags{}
	cmd := &cobra.Command{
		Use:   "conform [PATTERN…]",
		Short: "Check that a backend behaves like all others",
		Long: `Run the cases that every backend must pass: VELO, RMA, MPI's matching rules, and
every collective against a naive reference. They are the tests of nicloop regress
with the tag "conform"; patterns are those of regress.

Cases that a backend does not support are skipped, with the reason. A failure is
reported with the command that reproduces it.

` + exitText,
		Example: `  nicloop conform --device ideal:
  nicloop conform --device rtl: 'collectives/*' --seed 7
  nicloop conform --list`,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Device, "device", defaultDevice(), "device to run on (see nicloop device list)")
	fs.Int64Var(&o.Seed, "seed", 1, "seed")
	addSeeds(fs, &o)
	fs.BoolVarP(&list, "list", "l", false, "list the cases and stop")
	fs.IntVarP(&o.Jobs, "jobs", "j", max(1, runtime.NumCPU()/2), "number of concurrent cases")
	fs.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "limit of the real time of one case")
	fs.StringVarP(&o.Dir, "output", "o", "", "folder for logs and results (default: a new one in nicloop-out)")
	f.add(fs)
	fs.StringVarP(&junit, "xunit", "x", "", "also write results.xml to `FILE`")
	completing(cmd, 0, testChoices(suite.Conformance))
	cmd.RunE = func(cmd *cobra.Command, patterns []string) error {
		tests, err := regress.Select(suite.Conformance(), patterns)
		if err != nil {
			return err
		}
		if list {
			return listTests(cmd, tests, o.Device, f.db)
		}
		f.patterns = patterns
		return runTests(cmd, "conform", tests, o, junit, f)
	}
	return cmd
}
