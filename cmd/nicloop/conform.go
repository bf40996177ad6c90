package main

import (
	"runtime"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/spf13/cobra"
)

func newConform() *cobra.Command {
	o := regress.Options{NoWaves: true}
	var list bool
	var junit string
	f := &nightFlags{}
	cmd := &cobra.Command{
		Use:   "conform [PATTERN…]",
		Short: "Check that a backend does what every other one does",
		Long: `Run the cases that every backend must pass alike: VELO, RMA, MPI's matching
rules, and every collective against a naive reference. They are the tests of
regress that are tagged "conform"; a pattern is one of regress.

What a backend cannot do is skipped, with the reason. Under a failure stands the
line that reproduces it.

` + exitText,
		Example: `  nicloop conform --device ideal:
  nicloop conform --device rtl: 'collectives/*' --seed 7
  nicloop conform --list`,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Device, "device", defaultDevice(), "what stands behind the driver (nicloop device list)")
	fs.Int64Var(&o.Seed, "seed", 1, "seed")
	addSeeds(fs, &o)
	fs.BoolVarP(&list, "list", "l", false, "list the cases and stop")
	fs.IntVarP(&o.Jobs, "jobs", "j", max(1, runtime.NumCPU()/2), "cases at a time")
	fs.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "real time of one case")
	fs.StringVarP(&o.Dir, "output", "o", "", "folder for logs and results (default: a new one in nicloop-out)")
	f.add(fs)
	fs.StringVarP(&junit, "xunit", "x", "", "also write results.xml to `FILE`")
	completing(cmd, 0, testChoices(regress.Conformance))
	cmd.RunE = func(cmd *cobra.Command, patterns []string) error {
		tests, err := regress.Select(regress.Conformance(), patterns)
		if err != nil {
			return err
		}
		if list {
			return listTests(cmd, tests)
		}
		f.patterns = patterns
		return runTests(cmd, "conform", tests, o, junit, f)
	}
	return cmd
}
