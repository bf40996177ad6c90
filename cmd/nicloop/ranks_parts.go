package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/nicloop/nicloop/bench"
)

// A partError is the failure of one of the programs.
type partError struct {
	part  *bench.Part
	text  string
	ended *exec.ExitError
}

func (e *partError) Error() string {
	return fmt.Sprintf("the program of ranks %v: %v: %s", e.part.Ranks, e.ended, strings.TrimPrefix(strings.TrimSpace(e.text), "nicloop: "))
}

func (e *partError) Unwrap() error { return e.ended }

// A stuckError is the verdict on a program that makes no progress. It counts as a hang.
type stuckError struct {
	part *bench.Part
	pid  int
	why  string
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("the program of ranks %v (process %d) %s", e.part.Ranks, e.pid, e.why)
}

// exitPeerGone is the exit code of a program that failed because a peer program had failed.
const exitPeerGone = 64

// blame ranks failures by how likely they caused the others: a stopped program, one killed by a
// signal, one that failed by itself, one whose peer was gone, one that did not notice.
func blame(err error) int {
	var p *partError
	var stuck *stuckError
	switch {
	case errors.As(err, &stuck) && stuck.why != unended:
		return 3
	case errors.As(err, &stuck):
		return -1
	case !errors.As(err, &p):
		return 1
	case p.ended.ExitCode() < 0:
		return 2
	case p.ended.ExitCode() == exitPeerGone:
		return 0
	}
	return 1
}

// Time for which a program may be stopped (as long as a simulator may be silent), and for which it
// may run after another one has failed. Programs of a world detect a death at once and a stall
// within 10 s.
const (
	stoppedFor = 30 * time.Second
	endWithin  = 40 * time.Second
	lookEvery  = 250 * time.Millisecond
)

var unended = fmt.Sprintf("did not end within %v of another one's failure, and was killed", endWithin)

// parts holds the programs of a run.
type parts struct {
	cancel context.CancelFunc // kills all programs
	failed sync.Once
	timer  *time.Timer
}

// runParts starts a program for each part. It returns the error of the program most likely to
// blame, the first of several.
func runParts(ctx context.Context, list []bench.Part) ([]bench.PartResult, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &parts{cancel: cancel}
	var all sync.WaitGroup
	failed := make(chan error, len(list))
	results := make([]bench.PartResult, len(list))
	for i := range list {
		all.Go(func() {
			if err := p.run(ctx, program, &list[i], &results[i]); err != nil {
				failed <- err
				p.failed.Do(func() { p.timer = time.AfterFunc(endWithin, cancel) })
			}
		})
	}
	all.Wait()
	if p.timer != nil {
		p.timer.Stop()
	}
	close(failed)
	cause := <-failed
	for err := range failed {
		if blame(err) > blame(cause) {
			cause = err
		}
	}
	return results, cause
}

// run runs one program. A program that is stopped for too long is killed, and all others with it.
func (p *parts) run(ctx context.Context, program string, part *bench.Part, res *bench.PartResult) error {
	spec, err := json.Marshal(part)
	if err != nil {
		return err
	}
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "part")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(spec), &out, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	stuck := &stuckError{part: part, pid: cmd.Process.Pid, why: unended}
	over, watched := make(chan struct{}), make(chan bool, 1)
	go func() { watched <- isStoppedFor(cmd.Process.Pid, stoppedFor, over) }()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err = <-exited:
		close(over)
	case stopped := <-watched:
		if stopped {
			stuck.why = fmt.Sprintf("has been stopped for %v: something sent it SIGSTOP, or a debugger holds it", stoppedFor)
			p.cancel()
		}
		<-exited
		return stuck
	}
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() == exitPeerGone:
		return coded{exitEnvironment, &partError{part, said.String(), ended}}
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return coded{ended.ExitCode(), &partError{part, said.String(), ended}}
	case errors.As(err, &ended) && ctx.Err() != nil: // killed by this command
		return stuck
	case errors.As(err, &ended): // ended by a signal
		return &partError{part, said.String(), ended}
	case err != nil:
		return err
	}
	return json.Unmarshal(out.Bytes(), res)
}

// isStoppedFor reports whether a process was stopped for the given time without interruption. It
// returns false when over is closed, and always where the system does not report process states.
func isStoppedFor(pid int, long time.Duration, over <-chan struct{}) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var since time.Time
	for {
		select {
		case <-over:
			return false
		case now := <-tick.C:
			switch {
			case !isStopped(pid):
				since = time.Time{}
			case since.IsZero():
				since = now
			case now.Sub(since) >= long:
				return true
			}
		}
	}
}

// isStopped reads the state of a process: the letter after its name, T or t if it is stopped.
func isStopped(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ")
	return strings.HasPrefix(state, "T") || strings.HasPrefix(state, "t")
}
