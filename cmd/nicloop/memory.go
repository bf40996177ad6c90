package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/runs/report"
	"github.com/nicloop/nicloop/drivers/userfile"
	"github.com/sirupsen/logrus"
)

// defaultMemory is the database of runs, in the folder of their outputs.
const defaultMemory = "nicloop-out/runs.db"

// A recorder adds the tests of a regression to the database of runs, in batches.
type recorder struct {
	store   *runs.Store // nil: runs are not recorded
	failed  error       // the error after which the store is no longer written
	run     runs.Run
	pending []runs.Record
	flushed time.Time
	cost    time.Duration
	build   time.Duration
	slower  []runs.Record
}

// newRecorder begins a run.
func newRecorder(file, verb string, patterns []string, o *regress.Options) (*recorder, error) {
	r := &recorder{flushed: time.Now()}
	commit, modified := commitOf(o.Device)
	host, _ := os.Hostname()
	r.run = runs.Run{
		Verb: verb, Began: time.Now().UTC().Truncate(time.Millisecond), Device: o.Device, Commit: commit, Modified: modified, Patterns: patterns,
		Seed: o.Seed, Seeds: o.Seeds, Machine: fmt.Sprintf("%s, %d cores, %s", host, runtime.NumCPU(), runtime.GOARCH), Dir: o.Dir,
	}
	if o.Shards > 0 {
		r.run.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	if file == "" {
		return r, nil
	}
	var err error
	r.store = runs.At(file)
	r.run.ID, err = r.store.Begin(r.run)
	if errors.Is(err, runs.ErrDamaged) || errors.Is(err, runs.ErrLocked) {
		logrus.WithField("layer", "runs").Warnf("this run is not recorded: %v", err)
		r.store, err = nil, nil
	}
	return r, err
}

// recordOf makes the record of a test.
func recordOf(o *regress.Outcome) runs.Record {
	rec := runs.Record{
		Test: o.Test.Name, Seed: o.Seed, Device: o.Device, Hardware: o.Hardware, Status: string(o.Status), Cycles: o.Cycles(), Simulated: int64(o.Simulated), Real: o.Real.Seconds(),
		Began: o.Began.UTC().Truncate(time.Millisecond), Runs: o.Runs, Log: o.Log, Waves: o.Waves, Rerun: o.Rerun,
		Signature: o.Signature(), Divergence: o.Parted, Shortest: o.Shortest,
	}
	if o.Err != nil {
		rec.Error = o.Err.Error()
	}
	return rec
}

func (r *recorder) add(o *regress.Outcome) error {
	if r.store == nil {
		return nil
	}
	r.pending = append(r.pending, recordOf(o))
	if time.Since(r.flushed) < max(time.Second, 20*r.cost) {
		return nil
	}
	return r.flush()
}

func (r *recorder) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	begin := time.Now()
	slower, err := r.store.Add(r.run.ID, r.pending)
	r.slower = append(r.slower, slower...)
	r.pending, r.flushed = nil, time.Now()
	r.cost = r.flushed.Sub(begin)
	if err != nil { // the tests continue; close reports the error
		r.failed, r.store = err, nil
	}
	return nil
}

// close ends the run and prints the tests that became slower.
func (r *recorder) close(w io.Writer, failure error) error {
	r.run.Ended, r.run.Build = time.Now(), r.build.Seconds()
	if failure != nil {
		r.run.Error = failure.Error()
	}
	if r.store == nil {
		return r.failed
	}
	if err := r.flush(); err != nil || r.failed != nil {
		return errors.Join(err, r.failed)
	}
	var err error
	if c := r.run.Coverage; c != nil {
		err = errors.Join(err, r.store.Cover(r.run.ID, *c))
	}
	err = errors.Join(err, r.store.End(r.run.ID, r.build.Seconds(), failure))
	if len(r.slower) > 0 {
		fmt.Fprintln(w, "\nslower than their last pass, in simulated cycles:")
		for i := range r.slower {
			fmt.Fprintln(w, "  "+slowerText(&r.slower[i]))
		}
	}
	fmt.Fprintf(w, "run %d: nicloop runs show %d\n", r.run.ID, r.run.ID)
	return err
}

// report writes report.html into the folder of the run.
func (r *recorder) report(outcomes []regress.Outcome) error {
	return writeReport(filepath.Join(r.run.Dir, "report.html"), r.run, r.records(outcomes))
}

// document returns the document of --json.
func (r *recorder) document(outcomes []regress.Outcome) *regression {
	doc := &regression{r.run, r.records(outcomes)}
	doc.Run.Counts, doc.Run.Slower = map[string]int{}, len(r.slower)
	for i := range doc.Tests {
		doc.Run.Counts[doc.Tests[i].Status]++
	}
	return doc
}

// records converts outcomes into records and marks the slower ones.
func (r *recorder) records(outcomes []regress.Outcome) []runs.Record {
	slower := map[regress.Pick]*runs.Green{}
	for i := range r.slower {
		slower[regress.Pick{Test: r.slower[i].Test, Seed: r.slower[i].Seed}] = r.slower[i].Slower
	}
	list := make([]runs.Record, 0, len(outcomes))
	for i := range outcomes {
		rec := recordOf(&outcomes[i])
		rec.Slower = slower[regress.Pick{Test: rec.Test, Seed: rec.Seed}]
		list = append(list, rec)
	}
	return list
}

func writeReport(file string, run runs.Run, list []runs.Record) error {
	if err := userfile.Check(file, false); errors.Is(err, userfile.ErrExists) {
		return misused("%s exists: choose another name", file)
	}
	return userfile.Write(file, func(w io.Writer) error { return report.Write(w, filepath.Dir(file), run, list) })
}

func slowerText(r *runs.Record) string {
	text := fmt.Sprintf("%s (seed %d): %d cycles, %d in run %d", r.Test, r.Seed, r.Cycles, r.Slower.Cycles, r.Slower.Run)
	if r.Slower.Commit != "" {
		text += " (commit " + shortCommit(r.Slower.Commit) + ")"
	}
	return text
}

func shortCommit(commit string) string { return commit[:min(10, len(commit))] }

// commitOf returns the commit under test: of the working tree that rtl:?src= names, or of this
// program.
func commitOf(device string) (commit string, modified bool) {
	_, query, _ := strings.Cut(device, "?")
	if keys, err := url.ParseQuery(query); err == nil && keys.Get("src") != "" {
		return gitCommit(keys.Get("src"))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
	}
	if commit != "" {
		return commit, modified
	}
	// go run does not embed the commit. Then the current folder is the checkout, or an unrelated one.
	text, err := os.ReadFile("go.mod")
	if err != nil || !bytes.HasPrefix(text, []byte("module github.com/nicloop/nicloop\n")) {
		return "", false
	}
	return gitCommit(".")
}

func gitCommit(dir string) (commit string, modified bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	head, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "HEAD").Output()
	if err != nil {
		return "", false // no checkout, or git is missing
	}
	changes, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err == nil && len(changes) > 0
}

// failedLast returns the tests and seeds that failed in the newest run.
func failedLast(file, verb string, o *regress.Options) (run runs.Run, picks []regress.Pick, err error) {
	run, list, err := runs.At(file).Last(verb, o.Device)
	if errors.Is(err, runs.ErrNone) {
		return run, nil, misused("--only-failed-last: %s has no complete run of %s on %s", filepath.Clean(file), verb, o.Device)
	}
	for _, r := range list {
		if regress.Status(r.Status).Bad() {
			picks = append(picks, regress.Pick{Test: r.Test, Seed: r.Seed})
		}
	}
	return run, picks, err
}
