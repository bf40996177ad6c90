package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A verdict is how a mutant ended: found by a stage, harmless, invalid (it does not compile) or
// survived.
type verdict struct {
	Key, File, Change string
	Line              int
	Verdict           string
}

// A judge runs the stages on the mutants of one block and records their verdicts.
type judge struct {
	*block
	options
	dir     string // results and builds of this state of the block
	mutants []mutant
	mutex   sync.Mutex
	// guards the file of the proofs' durations
	durations sync.Mutex
	known     map[string]verdict
}

func newJudge(b *block, o options) (*judge, error) {
	j := &judge{block: b, options: o, known: map[string]verdict{}, mutants: b.choose(o.count, o.seed)}
	state, err := j.stateOf()
	if err != nil {
		return nil, err
	}
	j.dir = filepath.Join(o.dir, b.name+"-"+state)
	return j, j.load()
}

// pending lists the mutants that a stage has not judged yet. A survivor names each stage that it
// survived.
func (j *judge) pending(stage string) []mutant {
	return slices.DeleteFunc(slices.Clone(j.mutants), func(m mutant) bool {
		v, ok := j.known[m.key()]
		return ok && (!strings.HasPrefix(v.Verdict, "survived ") ||
			slices.Contains(strings.Split(strings.TrimPrefix(v.Verdict, "survived "), ","), stage))
	})
}

// judge runs the stages behind the bench, which a group of blocks shares.
func (j *judge) judge() error {
	stages := []struct {
		name string
		run  func([]mutant) error
	}{{"equivalence", j.equivalence}, {"proof", j.proof}, {"regress", j.regressions}}
	for _, s := range stages {
		if !j.has(s.name) || j.late() {
			continue
		}
		left := j.pending(s.name)
		fmt.Printf("mutate: %s: %s of %d mutants\n", j.name, s.name, len(left))
		if len(left) == 0 {
			continue
		}
		if err := s.run(left); err != nil {
			return fmt.Errorf("%s: %s: %w", j.name, s.name, err)
		}
	}
	return j.report()
}

var included = regexp.MustCompile(`(?m)^\s*.include "([\w.]+)"`)

// withIncludes adds the headers of the benches, and theirs, to a list of their sources.
func withIncludes(files []string) ([]string, error) {
	for i := 0; i < len(files); i++ {
		text, err := os.ReadFile(files[i])
		if err != nil {
			return nil, err
		}
		for _, name := range included.FindAllStringSubmatch(string(text), -1) {
			f := filepath.Join("rtl/tb", name[1])
			if _, err := os.Stat(f); err == nil && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// stateOf changes with the files on which results depend: the block and the blocks below it, its
// benches with their headers, and the harnesses of its proofs.
func (j *judge) stateOf() (string, error) {
	files, err := j.sources()
	if err != nil {
		return "", err
	}
	for _, bench := range j.benches() {
		for _, f := range []string{"rtl/tb/" + bench + "_tb.cpp", "rtl/tb/" + bench + "_dut.sv"} {
			if _, err := os.Stat(f); err == nil {
				files = append(files, f)
			}
		}
	}
	proofs, err := j.proofs()
	if err != nil {
		return "", err
	}
	for _, name := range proofs {
		if f := filepath.Join("rtl/formal", name+".sv"); fileExists(f) {
			files = append(files, f)
		}
	}
	if files, err = withIncludes(files); err != nil {
		return "", err
	}
	h := sha256.New()
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		h.Write([]byte(code(string(text))))
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:8], nil
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func (j *judge) load() error {
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(j.dir, "results"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		var v verdict
		if json.Unmarshal([]byte(line), &v) == nil { // the last line may be cut
			j.known[v.Key] = v
		}
	}
	return err
}

func (j *judge) note(m mutant, how string) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	v := verdict{m.key(), m.file, m.change, m.line, how}
	if old := j.known[v.Key].Verdict; strings.HasPrefix(how, "survived ") && old != "" {
		v.Verdict = old + "," + strings.TrimPrefix(how, "survived ")
	}
	j.known[v.Key] = v
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(j.dir, "results"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// each runs judge for every mutant, some at a time. worker numbers those at a time.
func (j *judge) each(mutants []mutant, judge func(worker int, m mutant) (string, error)) error {
	return parallel(j.options, mutants, func(worker int, m mutant) error {
		how, err := judge(worker, m)
		if err != nil || how == "" {
			return err
		}
		return j.note(m, how)
	})
}

// parallel runs do for every item, o.jobs at a time, and starts no more after the deadline.
func parallel[T any](o options, items []T, do func(worker int, item T) error) error {
	queue := make(chan T, len(items))
	for _, item := range items {
		queue <- item
	}
	close(queue)
	errs := make(chan error, o.jobs)
	for w := range o.jobs {
		go func() {
			for item := range queue {
				if o.late() {
					break
				}
				if err := do(w, item); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var all error
	for range o.jobs {
		all = errors.Join(all, <-errs)
	}
	return all
}

// copyTree makes a folder with the files from which benches and proofs are built.
func copyTree(to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	for _, folder := range []string{"rtl", "scripts", "cosim/dpi"} {
		if err := os.CopyFS(filepath.Join(to, folder), os.DirFS(folder)); err != nil {
			return err
		}
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A result is how a program ended.
type result struct {
	out         string
	ok, timeout bool
	cpu         time.Duration
}

// command runs a program in a folder. After limit it is killed together with the programs that it
// started.
func command(folder string, limit time.Duration, env []string, name string, args ...string) result {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	r := result{out: out.String(), ok: err == nil, timeout: ctx.Err() != nil}
	if err != nil && r.out == "" {
		r.out = err.Error()
	}
	if cmd.ProcessState != nil {
		r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	return r
}
