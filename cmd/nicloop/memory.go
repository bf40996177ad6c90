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
)

// defaultMemory is where runs are remembered: beside the folders that they write.
const defaultMemory = "nicloop-out/runs.db"

// A recorder adds the tests of a regression to the memory of runs, some at a time.
type recorder struct {
	store   *runs.Store
	id      uint64
	pending []runs.Record
	flushed time.Time
	cost    time.Duration
	build   time.Duration
	slower  []runs.Record
}

// newRecorder begins a run. Without a file nothing is remembered, and the recorder is nil.
func newRecorder(file, verb string, patterns []string, o *regress.Options) (*recorder, error) {
	if file == "" {
		return nil, nil
	}
	r := &recorder{store: runs.At(file), flushed: time.Now()}
	commit, modified := commitOf(o.Device)
	host, _ := os.Hostname()
	run := runs.Run{
		Verb: verb, Began: time.Now().UTC().Truncate(time.Millisecond), Device: o.Device, Commit: commit, Modified: modified, Patterns: patterns,
		Seed: o.Seed, Seeds: o.Seeds, Machine: fmt.Sprintf("%s, %d cores, %s", host, runtime.NumCPU(), runtime.GOARCH), Dir: o.Dir,
	}
	if o.Shards > 0 {
		run.Shard = fmt.Sprintf("%d/%d", o.Shard, o.Shards)
	}
	var err error
	r.id, err = r.store.Begin(run)
	return r, err
}

func (r *recorder) add(o *regress.Outcome) error {
	if r == nil {
		return nil
	}
	rec := runs.Record{
		Test: o.Test.Name, Seed: o.Seed, Device: o.Device, Hardware: o.Hardware, Status: string(o.Status), Cycles: o.Cycles(), Real: o.Real.Seconds(),
		Began: o.Began.UTC().Truncate(time.Millisecond), Runs: o.Runs, Log: o.Log, Waves: o.Waves, Rerun: o.Rerun,
	}
	if o.Err != nil {
		rec.Error = o.Err.Error()
	}
	r.pending = append(r.pending, rec)
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
	slower, err := r.store.Add(r.id, r.pending)
	r.slower = append(r.slower, slower...)
	r.pending, r.flushed = nil, time.Now()
	r.cost = r.flushed.Sub(begin)
	return err
}

// close ends the run and says what became slower.
func (r *recorder) close(w io.Writer, failure error) error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.flush(), r.store.End(r.id, r.build.Seconds(), failure))
	if len(r.slower) > 0 {
		fmt.Fprintln(w, "\nslower in simulated cycles than when they passed last:")
		for i := range r.slower {
			fmt.Fprintln(w, "  "+slowerText(&r.slower[i]))
		}
	}
	fmt.Fprintf(w, "run %d: nicloop runs show %d\n", r.id, r.id)
	return err
}

func slowerText(r *runs.Record) string {
	text := fmt.Sprintf("%s (seed %d): %d cycles, %d in run %d", r.Test, r.Seed, r.Cycles, r.Slower.Cycles, r.Slower.Run)
	if r.Slower.Commit != "" {
		text += " (commit " + shortCommit(r.Slower.Commit) + ")"
	}
	return text
}

func shortCommit(commit string) string { return commit[:min(10, len(commit))] }

// commitOf is the commit of what is tested: of the working tree that rtl:?src= names, else of this program.
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
	// go run leaves it out; then this is the checkout, or some folder that has nothing to do with it.
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
		return "", false // no checkout, or no git
	}
	changes, err := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--untracked-files=no").Output()
	return strings.TrimSpace(string(head)), err == nil && len(changes) > 0
}

// failedLast are the tests and seeds that failed in the newest run.
func failedLast(file, verb string, o *regress.Options) (run runs.Run, picks []regress.Pick, err error) {
	run, list, err := runs.At(file).Last(verb, o.Device)
	if errors.Is(err, runs.ErrNone) {
		return run, nil, misused("--only-failed-last: %s knows no run of %s on %s that came to its end", filepath.Clean(file), verb, o.Device)
	}
	for _, r := range list {
		if regress.Status(r.Status).Bad() {
			picks = append(picks, regress.Pick{Test: r.Test, Seed: r.Seed})
		}
	}
	return run, picks, err
}
