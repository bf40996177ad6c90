// Command mutate measures how many planted faults the benches and proofs of a block of the RTL
// find: its mutation score.
//
//	mutate [-n 200] [-seed 1] [-j 2] [-dir build/mutate] [-stages bench,equivalence,proof] [-until 05:00] [-patience 1] BLOCK…
//	mutate -list BLOCK                the mutants, without running any
//	mutate -table [-n 200] [-seed 1]  the table of rtl/README.md, from the results of the present sources
//
// A mutant changes one place of the block's source: an operator, a constant, a condition, an enable
// (an assignment that is left out). Of all places N are chosen at random. Each mutant passes the
// stages until one finds it:
//
//	bench        the benches of the block; a build contains all mutants of all blocks that share the bench, and a
//	             plusarg selects one. Only mutants that one configuration did not find run in the next.
//	equivalence  the other mutants are compared with the original (yosys, abc); one that is equal is harmless
//	proof        the proofs that contain the block, of rtl/formal/list and scripts/formal, 90 s for each mutant
//	regress      nicloop regress with the tests of -regress, on the mutant as RTL; slow, so not a default
//
// Results are kept by mutant below -dir, so an interrupted run continues where it stopped. They are
// dropped when the block, a block below it, its benches or the harness of a proof changes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

// excluded lists blocks that are only wiring to primitives or models of a vendor. They are skipped
// in a list of several.
var excluded = map[string]string{
	"acorn_litepcie": "top of a board for an external PHY core: no bench contains it",
	"gtp_clocks":     "instances of vendor primitives",
	"ice40_top":      "top of a board: pins and nic_velo",
}

type options struct {
	count, jobs int
	patience    int // factor for the limits of comparisons and proofs
	seed        int64
	dir, stages string
	regress     string
	deadline    time.Time
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.IntVar(&o.count, "n", 200, "mutants of a block")
	flags.IntVar(&o.jobs, "j", 2, "mutants that run at a time")
	flags.Int64Var(&o.seed, "seed", 1, "chooses the mutants")
	flags.IntVar(&o.patience, "patience", 1, "factor for the time limits of comparisons and proofs, for a machine with other work")
	flags.StringVar(&o.dir, "dir", "build/mutate", "folder of results and builds")
	flags.StringVar(&o.stages, "stages", "bench,equivalence,proof", "stages that run, always in this order, then regress")
	flags.StringVar(&o.regress, "regress", "links velo rma", "tests of the stage regress")
	until := flags.String("until", "", "time of day, HH:MM, at which to stop; the rest follows in the next run")
	list := flags.Bool("list", false, "print the mutants and stop")
	table := flags.Bool("table", false, "print a table of all results and stop")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *until != "" {
		clock, err := time.ParseInLocation("15:04", *until, time.Local)
		if err != nil {
			return fmt.Errorf("-until %q: expected HH:MM", *until)
		}
		now := time.Now()
		o.deadline = time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.Local)
		if o.deadline.Before(now) {
			o.deadline = o.deadline.AddDate(0, 0, 1)
		}
	}
	if *table {
		return printTable(o)
	}
	if flags.NArg() == 0 {
		return errors.New("usage: mutate [flags] BLOCK…; see -h")
	}
	failed := false
	var judges []*judge
	for _, name := range flags.Args() {
		b, err := readBlock(name)
		if err != nil {
			return err
		}
		if *list {
			for _, m := range b.choose(o.count, o.seed) {
				fmt.Println(m)
			}
			continue
		}
		if _, ok := excluded[name]; ok && flags.NArg() > 1 {
			continue
		}
		j, err := newJudge(b, o)
		if err != nil {
			return err
		}
		judges = append(judges, j)
	}
	for _, g := range groups(judges, o) {
		if o.late() {
			break
		}
		if err := g.run(); err != nil { // the other groups are measured all the same
			fmt.Println("mutate:", err)
			failed = true
		}
	}
	if failed {
		return errors.New("some blocks were not measured")
	}
	return nil
}

func (o *options) late() bool { return !o.deadline.IsZero() && time.Now().After(o.deadline) }

func (o *options) has(stage string) bool {
	return strings.Contains(","+o.stages+",", ","+stage+",")
}
