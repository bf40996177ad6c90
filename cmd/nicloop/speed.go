package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/bench/cycles"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/suite"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// speedFlags decide whether a test that passes has taken too many cycles.
type speedFlags struct {
	accept, file, slower string
	percent              float64 // of --fail-slower
	base                 *cycles.Baseline
	kind                 string
	store                *runs.Store // of --fail-slower
	commit               string
	tests                string // folder of the tests of a user; "": those of the NIC
	rerun                string // flags of a command that runs them
}

const noBaseline = "none"

func (f *speedFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.accept, "accept", "", "write the cycles of the tests that pass into the baseline, with this `REASON`, instead of comparing")
	fs.StringVar(&f.file, "baseline", "", "`FILE` of the baseline of cycles (default: that of this program, with --accept "+suite.CyclesFile+"); none: do not compare")
	fs.StringVar(&f.slower, "fail-slower", "", "fail tests without a baseline that take `PERCENT` more cycles than their last pass, such as 2%; a src= tree is compared with rtl: of the same commit")
}

// set prepares the verdict on the speed of each test.
func (f *speedFlags) set(cmd *cobra.Command, o *regress.Options, db string) error {
	f.kind = baselineKind(o.Device)
	accepting := cmd.Flags().Changed("accept")
	switch {
	case accepting && strings.TrimSpace(f.accept) == "":
		return misused("--accept: expected a reason, such as --accept 'one more stage in the router'")
	case accepting && (o.Seed != cycles.Seed || given(cmd, "seeds", "repeat", "fresh-seeds", "deadline", "coverage", "only-failed-last") != ""):
		return misused("--accept: the baseline is of seed %d alone: remove --seed, --seeds, --fresh-seeds, --deadline, --coverage and --only-failed-last", cycles.Seed)
	case accepting && f.slower != "":
		return misused("--accept and --fail-slower: expected one of them")
	}
	if err := f.setPercent(cmd, db, o); err != nil {
		return err
	}
	if err := f.load(accepting); err != nil {
		return err
	}
	if !accepting {
		o.Slow = f.judge
	}
	return nil
}

// setPercent parses --fail-slower.
func (f *speedFlags) setPercent(cmd *cobra.Command, db string, o *regress.Options) (err error) {
	if !cmd.Flags().Changed("fail-slower") {
		return nil
	}
	f.percent, err = strconv.ParseFloat(strings.TrimSuffix(f.slower, "%"), 64)
	switch {
	case err != nil || !(f.percent >= 0 && f.percent < 1e6):
		return misused("--fail-slower %q: expected a percentage of at least 0, such as 2%%", f.slower)
	case db == "":
		return misused("--fail-slower needs the database of runs: set --db")
	case given(cmd, "executor") != "":
		return misused("--fail-slower: tasks of a cluster do not read the database of runs: remove --executor")
	}
	f.store = runs.At(db)
	f.commit, _ = commitOf(o.Device)
	o.Flags += " --fail-slower " + f.slower
	return nil
}

// load reads the baseline.
func (f *speedFlags) load(accepting bool) (err error) {
	switch {
	case accepting && f.file == noBaseline:
		return misused("--accept writes the baseline: --baseline %s cannot be changed", noBaseline)
	case f.file == noBaseline:
		f.base, err = cycles.Parse("")
		return err
	case f.file == "" && f.tests != "":
		f.file = userBaseline(f.tests)
		if _, err := os.Stat(f.file); errors.Is(err, os.ErrNotExist) && !accepting {
			f.file = noBaseline
			return f.load(false)
		}
	case f.file == "" && !accepting:
		f.base, err = suite.Cycles()
		return err
	case f.file == "":
		root, err := moduleRoot()
		if err != nil {
			return err
		}
		f.file = filepath.Join(root, suite.CyclesFile)
	}
	text, err := userfile.Read(f.file, userfile.TextLimit)
	if errors.Is(err, os.ErrNotExist) && accepting {
		err = nil
	}
	if err == nil {
		f.base, err = cycles.Parse(string(text))
	}
	if err != nil {
		return usageError{fmt.Errorf("--baseline %s: %w", f.file, err)}
	}
	return nil
}

// moduleRoot returns the checkout that contains the current folder.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if text, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(text), "module github.com/nicloop/nicloop\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", misused("--accept: the current folder is in no checkout of nicloop: name the file with --baseline FILE")
		}
		dir = filepath.Dir(dir)
	}
}

// hasFixedCycles reports whether the same test with the same seed takes the same number of cycles.
func hasFixedCycles(o *regress.Outcome) bool { return o.Cycles() > 0 && !o.Test.WallClock }

// judge is the verdict on a test that passed.
func (f *speedFlags) judge(o *regress.Outcome) error {
	if !hasFixedCycles(o) {
		return nil
	}
	if e, ok := f.base.Find(f.kind, o.Test.Name); ok && o.Seed == cycles.Seed {
		remedy := fmt.Sprintf("nicloop regress %s --device %s%s --accept REASON", regress.Quoted(o.Test.Name), regress.Quoted(o.Device), f.rerun)
		return regress.SlowerThan(o, e.Cycles, o.Test.Tolerance, fmt.Sprintf("baseline on %s (%s)", f.kind, e.Reason), remedy)
	}
	if f.store == nil {
		return nil
	}
	g, err := f.store.Reference(o.Test.Name, o.Device, o.Seed, f.commit)
	if err != nil || g.Cycles == 0 {
		return nil // no earlier run, or a damaged database, which the recorder reports
	}
	source := fmt.Sprintf("last pass in run %d", g.Run)
	if g.Commit != "" {
		source += " (commit " + shortCommit(g.Commit) + ")"
	}
	return regress.SlowerThan(o, g.Cycles, max(f.percent, o.Test.Tolerance), source, "")
}

// maxListed is the number of faster tests that are listed.
const maxListed = 5

// finish prints the tests that became faster, or writes the accepted baseline.
func (f *speedFlags) finish(w io.Writer, outcomes []regress.Outcome, accepting bool) error {
	if f.base == nil {
		return nil
	}
	if accepting {
		return f.write(w, outcomes)
	}
	faster, missing := 0, 0
	for i := range outcomes {
		o := &outcomes[i]
		if o.Status != regress.Passed || o.Seed != cycles.Seed || !hasFixedCycles(o) {
			continue
		}
		e, ok := f.base.Find(f.kind, o.Test.Name)
		switch {
		case !ok:
			missing++
		case o.Cycles() < e.Cycles:
			if faster++; faster == 1 {
				fmt.Fprintln(w, "\nfaster than the baseline; --accept REASON makes that the new one:")
			}
			if faster <= maxListed {
				fmt.Fprintf(w, "  %s: %d cycles, %d before (%+.1f %%)\n", o.Test.Name, o.Cycles(), e.Cycles, 100*(float64(o.Cycles())/float64(e.Cycles)-1))
			}
		}
	}
	if faster > maxListed {
		fmt.Fprintf(w, "  and %d others\n", faster-maxListed)
	}
	if missing > 0 && f.base.Has(f.kind) {
		fmt.Fprintf(w, "%d tests have no baseline of cycles for %s: --accept REASON adds them\n", missing, f.kind)
	}
	return nil
}

func (f *speedFlags) write(w io.Writer, outcomes []regress.Outcome) error {
	changed := 0
	for i := range outcomes {
		o := &outcomes[i]
		if o.Status == regress.Passed && hasFixedCycles(o) && f.base.Set(cycles.Entry{Kind: f.kind, Test: o.Test.Name, Cycles: o.Cycles(), Reason: f.accept}) {
			changed++
		}
	}
	fmt.Fprintf(w, "%d entries of %s changed in %s\n", changed, f.kind, f.file)
	if changed == 0 {
		return nil
	}
	return userfile.Write(f.file, f.base.Write)
}

// forTasks returns the --baseline of the tasks of a cluster. Accepted changes are not judged there.
func (f *speedFlags) forTasks() string {
	switch {
	case f.accept != "":
		return noBaseline
	case f.file == "" || f.file == noBaseline:
		return f.file
	}
	file, err := filepath.Abs(f.file)
	if err != nil {
		return f.file
	}
	return file
}
