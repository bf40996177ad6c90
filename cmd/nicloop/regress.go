package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/coverage"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const regressLong = `Run the regression: directed tests of the NIC, then workloads with every flow
control, each verified to the byte. A pattern is a glob over test names ("velo/*")
or a tag ("smoke"). Tests tagged "deep" run only if a pattern is their name or that
tag, or with --deep.

The simulators of the tests are built first. Then a line appears for each test as
it ends, and results.xml grows.

On rtl: each test runs in lockstep with the cycle-accurate model, and fails if the
two differ: the report names the first packet, link, register or counter that
differs, the cycle, both values and the block, and divergence.gtkw shows its
signals in GTKWave. --no-lockstep judges the tests alone, for RTL whose timing
differs from the model on purpose.

A test that takes more simulated cycles than the committed baseline fails; see
--accept, --baseline and --fail-slower.

The end of a failing test is repeated from a checkpoint, with waveforms of the
cycles before the failure, and the command that reproduces it is printed. Results
are written to a new folder with results.xml (JUnit), report.html and one folder
per test.

With --tests the tests of a Go package of your own are run instead: go build makes
a program of it, which is executed with the same arguments. The baseline of cycles
is cycles.txt in its folder. The default device is the design:FILE whose key tests
names the folder.

` + exitText

const regressExamples = `  nicloop regress                       all tests on RTL
  nicloop regress -l                    list the tests
  nicloop regress smoke -j 2            the quick tests, two at a time
  nicloop regress 'dynamic/*' --seeds 20 --seed 100
  nicloop regress --seeds 50 --shard 2/4 --retry-failed --deadline 2h   one of four machines
  nicloop regress 'links/soak*' --deep --device model: --fresh-seeds --deadline 1h   a soak with fresh seeds
  nicloop regress --only-failed-last
  nicloop regress --seeds 100 --executor slurm -j 64   tests as tasks of a cluster
  nicloop regress --coverage -j 2        coverage holes by block; coverage.html has the sources
  nicloop regress --lockstep --against 'rtl:?src=../old' --device 'rtl:?src=.'   check a refactoring against the old RTL
  nicloop regress 'velo/*' --device 'rtl:?src=.'   the RTL of this checkout, as edited
  nicloop regress --new dma/copy --device design:dma.yaml   write a test of your own into ./tests
  nicloop regress --tests ./tests --device design:dma.yaml --seeds 10   the tests of your own module`

func newRegress() *cobra.Command {
	o := regress.Options{}
	var list, deep bool
	var junit string
	f := &nightFlags{}
	own := &testsFlags{}
	cmd := &cobra.Command{
		Use:     "regress [PATTERN…]",
		Short:   "Run the regression on a device",
		Long:    regressLong,
		Example: regressExamples,
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Device, "device", defaultDevice(), "device to run on (see nicloop device list)")
	fs.BoolVarP(&list, "list", "l", false, "list the tests and stop")
	fs.BoolVar(&deep, "deep", false, "include the tests tagged deep that a pattern matches; without it only their name or the tag selects them")
	fs.IntVarP(&o.Jobs, "jobs", "j", max(1, runtime.NumCPU()/2), "number of concurrent tests")
	fs.Int64Var(&o.Seed, "seed", 1, "seed")
	addSeeds(fs, &o)
	fs.BoolVar(&o.FailFast, "fail-fast", false, "stop at the first failure")
	fs.BoolVar(&o.NoWaves, "no-waves", false, "do not repeat failures with waveforms")
	fs.IntSliceVar(&o.WavesNodes, "waves-node", nil, "nodes whose internal signals are in those waveforms (default: all)")
	fs.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "limit of the real time of one test (default with --coverage: six times this)")
	fs.DurationVar(&o.Shrink, "shrink", time.Minute, "real time to search for a smaller workload with the same failure, once per kind of failure; 0: no search")
	fs.StringVarP(&o.Dir, "output", "o", "", "folder for logs and results (default: a new one in nicloop-out)")
	f.add(fs)
	f.lockstep.add(fs)
	f.speed.add(fs)
	fs.BoolVar(&f.coverage, "coverage", false, "measure coverage of RTL lines, toggles and functional points; report holes by block, write coverage.html")
	fs.StringVarP(&junit, "xunit", "x", "", "also write results.xml to `FILE`")
	own.add(fs)
	completing(cmd, 0, testChoices(listed))
	cmd.RunE = func(cmd *cobra.Command, patterns []string) error {
		if done, err := own.prepare(cmd, &o, &f.speed); err != nil || done {
			return err
		}
		tests, err := selected(patterns)
		if err != nil {
			return err
		}
		switch {
		case len(patterns) == 0 && f.failedLast: // with any patterns
			tests = listed()
		case !deep && (len(patterns) > 0 || !list):
			if tests, err = withoutDeep(cmd.ErrOrStderr(), tests, patterns); err != nil {
				return err
			}
		}
		if list {
			return listTests(cmd, tests, o.Device, f.db)
		}
		if f.coverage && given(cmd, "timeout") == "" {
			o.Timeout *= countingTakes
		}
		f.patterns = patterns
		if err := f.lockstep.set(cmd, &o); err != nil {
			return err
		}
		o.LockstepIfPossible = !o.Lockstep && !f.coverage
		if err := f.speed.set(cmd, &o, f.db); err != nil {
			return err
		}
		return runTests(cmd, "regress", tests, o, junit, f)
	}
	return cmd
}

// countingTakes multiplies the time limit of a test with coverage. The simulator itself is about 40
// times as slow.
const countingTakes = 6

// addSeeds adds the flag for several seeds, and its old name.
func addSeeds(fs *pflag.FlagSet, o *regress.Options) {
	fs.IntVar(&o.Seeds, "seeds", 1, "run each test with this many seeds, from --seed on")
	fs.IntVar(&o.Seeds, "repeat", 1, "the same as --seeds")
	_ = fs.MarkHidden("repeat")
}

// withoutDeep removes the deep tests that no pattern selects by name, and reports it.
func withoutDeep(w io.Writer, tests []regress.Test, patterns []string) ([]regress.Test, error) {
	kept, removed := regress.WithoutDeep(tests, patterns)
	switch {
	case len(removed) == 0 || len(patterns) == 0:
		return kept, nil
	case len(kept) == 0:
		return nil, misused("%s: only tests tagged deep match, such as %s: add --deep", strings.Join(patterns, " "), removed[0])
	}
	fmt.Fprintf(w, "%d tests tagged deep also match and are left out; --deep includes them\n", len(removed))
	return kept, nil
}

// runTests runs tests for a verb: regress, or a part of it.
func runTests(cmd *cobra.Command, verb string, tests []regress.Test, o regress.Options, junit string, f *nightFlags) error {
	if o.Jobs < 1 || o.Seeds < 1 {
		return misused("-j %d --seeds %d: expected at least 1 of each", o.Jobs, o.Seeds)
	}
	if err := errors.Join(checkSeeds(o.Seed, o.Seeds), positive("timeout", o.Timeout), notNegative(cmd, "shrink"), registry.Validate(o.Device)); err != nil {
		return err
	}
	if o.NoWaves && len(o.WavesNodes) > 0 {
		return misused("--waves-node has no effect with --no-waves: remove one of them")
	}
	if nothing, err := f.set(cmd, verb, &o); err != nil || nothing {
		return err
	}
	if err := f.elsewhere(cmd, &o); err != nil {
		return err
	}
	if f.coverage {
		if given(cmd, "executor") != "" {
			return misused("--coverage is merged on this machine: remove --executor")
		}
		if o.Lockstep {
			return misused("--coverage measures tests without lockstep: remove --lockstep")
		}
		if err := regress.Counting(o.Device); err != nil {
			return err
		}
		o.Coverage = coverage.New()
	}
	var err error
	if o.Dir, err = newOutput(o.Dir, verb); err != nil {
		return err
	}
	shown, err := newShow(cmd, verb, tests, &o, junit, f)
	if err != nil {
		return err
	}
	outcomes, err := regress.Run(cmd.Context(), tests, o)
	var covered *coverage.Report
	if o.Coverage != nil {
		var broken error
		covered, broken = writeCoverage(shown.memory, &o, outcomes)
		err = errors.Join(err, broken)
	}
	err = errors.Join(err, shown.close(f.people(cmd), outcomes, err))
	err = errors.Join(err, f.speed.finish(f.people(cmd), outcomes, cmd.Flags().Changed("accept")))
	if covered != nil {
		printCoverage(f.people(cmd), covered, shown.memory.run.Coverage.Page)
	}
	fmt.Fprintf(f.people(cmd), "logs, results.xml and report.html: %s\n", o.Dir)
	if f.json {
		err = errors.Join(err, writeJSON(cmd.OutOrStdout(), shown.memory.document(outcomes)))
	}
	if err != nil {
		return err
	}
	n := regress.Count(outcomes)
	switch {
	case n[regress.Hung] > 0:
		return errHung
	case n[regress.Failed]+n[regress.Flaky] > 0:
		return errFailed
	}
	return nil
}

// show prints the progress of a regression.
type show struct {
	bar     *progress
	table   *regress.Table
	results []*regress.JUnit
	memory  *recorder
}

func newShow(cmd *cobra.Command, verb string, tests []regress.Test, o *regress.Options, junit string, f *nightFlags) (*show, error) {
	s := &show{bar: newBar(cmd.ErrOrStderr(), verb)}
	files := []string{filepath.Join(o.Dir, "results.xml")}
	if junit != "" {
		files = append(files, junit)
	}
	for _, file := range files {
		j, err := regress.NewJUnit(file)
		if err != nil {
			return nil, err
		}
		s.results = append(s.results, j)
	}
	var err error
	if s.memory, err = newRecorder(f.db, verb, f.patterns, o); err != nil {
		return nil, err
	}
	o.Building = s.bar.describe
	o.Built = func(kinds int, took time.Duration) {
		for _, j := range s.results {
			j.SetBuilding(took)
		}
		s.memory.build = took
		if took > time.Second {
			s.bar.describe(fmt.Sprintf("%d simulators ready after %.1f s; running tests", kinds, took.Seconds()))
		}
	}
	s.table = regress.NewTable(f.people(cmd), tests)
	o.Done = s.done
	return s, nil
}

func (s *show) done(out regress.Outcome, done, of int) error {
	s.bar.above(func() { s.table.Add(&out) })
	s.bar.set(done, of)
	err := s.memory.add(&out)
	for _, j := range s.results {
		err = errors.Join(err, j.Add(&out))
	}
	return err
}

func (s *show) close(w io.Writer, outcomes []regress.Outcome, failure error) (err error) {
	s.bar.finish()
	s.table.Close(outcomes)
	for _, j := range s.results {
		err = errors.Join(err, j.Close(outcomes))
	}
	return errors.Join(err, s.memory.close(w, failure), s.memory.report(outcomes))
}

// nightFlags configure long regressions: which part to run, for how long, and where to record it.
type nightFlags struct {
	patterns   []string
	shard, db  string
	deadline   time.Duration
	freshSeeds bool
	failedLast bool
	json       bool
	executor   executorFlags
	retries    int
	lockstep   lockstepFlags
	coverage   bool
	speed      speedFlags // of regress alone
}

func (f *nightFlags) add(fs *pflag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "print the run and its tests as JSON at the end; progress lines are written to standard error")
	fs.StringVar(&f.shard, "shard", "", "run part `I/N` of the tests and seeds: N machines with one command each run all of them, each once")
	fs.IntVar(&f.retries, "retry-failed", 0, "repeat a failing test with the same seed, once or N times: a test that passes then is flaky, otherwise broken")
	fs.Lookup("retry-failed").NoOptDefVal = "1"
	fs.BoolVar(&f.failedLast, "only-failed-last", false, "run the tests that failed in the last run, with the same seeds")
	fs.DurationVar(&f.deadline, "deadline", 0, "after all tests, continue with new seeds until this much time has passed; no test begins after it")
	fs.BoolVar(&f.freshSeeds, "fresh-seeds", false, "start with an unused seed: the time in seconds, or one above the last recorded run (--db)")
	fs.StringVar(&f.db, "db", defaultMemory, "database of runs (see nicloop runs); empty: do not record")
	f.executor.add(fs)
}

// set copies the flags into the options of a run. nothing reports that there is nothing to run.
func (f *nightFlags) set(cmd *cobra.Command, verb string, o *regress.Options) (nothing bool, err error) {
	if err := notNegative(cmd, "deadline"); err != nil {
		return false, err
	}
	if f.retries < 0 {
		return false, misused("--retry-failed=%d: expected 0 or more", f.retries)
	}
	o.Retries = f.retries
	if f.shard != "" {
		var rest string
		if n, _ := fmt.Sscanf(f.shard+" ", "%d/%d%s", &o.Shard, &o.Shards, &rest); n != 2 || o.Shard < 1 || o.Shard > o.Shards {
			return false, misused("--shard %q: expected I/N with 1 <= I <= N, such as 2/4", f.shard)
		}
	}
	if f.deadline > 0 {
		o.Deadline = time.Now().Add(f.deadline)
	}
	if f.freshSeeds {
		if err := f.setFreshSeed(cmd, o); err != nil {
			return false, err
		}
	}
	switch {
	case f.failedLast && (f.deadline > 0 || given(cmd, "seed", "seeds", "repeat") != ""):
		return false, misused("--only-failed-last uses the seeds of the last run: remove --seed, --seeds and --deadline")
	case f.failedLast && f.db == "":
		return false, misused("--only-failed-last needs the database of runs: set --db")
	case f.failedLast:
		var last runs.Run
		if last, o.Only, err = failedLast(f.db, verb, o); err == nil && len(o.Only) == 0 {
			return true, f.nothing(cmd, last)
		}
	case f.deadline > 0 && f.db != "":
		if o.Fresh, err = runs.At(f.db).Fresh(o.Device); errors.Is(err, runs.ErrNone) || errors.Is(err, runs.ErrDamaged) {
			err = nil // the first run, or the first after the file was damaged
		}
	}
	return false, err
}

// setFreshSeed selects a first seed that no run has used. A machine without a database of runs,
// such as a clean clone every night, uses the time; no run uses more than one seed per second.
func (f *nightFlags) setFreshSeed(cmd *cobra.Command, o *regress.Options) error {
	if name := given(cmd, "seed"); name != "" || f.failedLast {
		return misused("--fresh-seeds selects the seed: remove --seed and --only-failed-last")
	}
	o.Seed = time.Now().Unix()
	if f.db == "" {
		return nil
	}
	seed, err := runs.At(f.db).Fresh(o.Device)
	if errors.Is(err, runs.ErrNone) {
		return nil
	}
	o.Seed = max(o.Seed, seed)
	return err
}

// people returns the writer of progress lines.
func (f *nightFlags) people(cmd *cobra.Command) io.Writer {
	if f.json {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// nothing reports that no test of the last run failed.
func (f *nightFlags) nothing(cmd *cobra.Command, last runs.Run) error {
	fmt.Fprintf(f.people(cmd), "no test failed in run %d\n", last.ID)
	if f.json {
		return writeJSON(cmd.OutOrStdout(), &regression{Run: last, Tests: []runs.Record{}})
	}
	return nil
}

// newOutput makes a new or uses an empty output folder.
func newOutput(dir, kind string) (string, error) {
	if dir != "" {
		if left, err := os.ReadDir(dir); err == nil && len(left) > 0 {
			return "", usageError{fmt.Errorf("output folder %s is not empty: choose another one; results are not overwritten", dir)}
		}
		return dir, os.MkdirAll(dir, 0o755)
	}
	if err := os.MkdirAll("nicloop-out", 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		dir := filepath.Join("nicloop-out", fmt.Sprintf("%s-%03d", kind, i))
		if err := os.Mkdir(dir, 0o755); !os.IsExist(err) {
			return dir, err
		}
	}
}
