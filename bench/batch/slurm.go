package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
)

// Slurm runs tasks as job arrays on a Slurm cluster.
type Slurm struct {
	Program string // program of the tasks; `PROGRAM task FILE INDEX` must call [RunTask]
	Dir     string // directory for task lists, records and logs; visible to all machines
	Jobs    int    // concurrent tasks
	Options []string
	// Tell is called when an array is submitted.
	Tell func(what string)
	Log  *logrus.Logger // nil: the standard logger

	array int // number of the next array
}

var (
	arraySize = 1000 // MaxArraySize of a cluster with the default configuration
	pollEvery = time.Second
	// squeuePatience is the time for which squeue may fail: restarting a controller takes minutes.
	squeuePatience = 10 * time.Minute
)

// attempts is the limit for a task whose node is lost each time.
const attempts = 4

// A listed task includes the path of its record.
type listed struct {
	Task
	Record string `json:"record"`
}

// RunTask performs one task of a list on the machine chosen by the cluster, and stores its record.
func RunTask(ctx context.Context, program, list string, index int) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var tasks []listed
	if err := json.Unmarshal(text, &tasks); err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	if index < 0 || index >= len(tasks) {
		return fmt.Errorf("%w: task %d: %s has %d", drivers.ErrConfig, index, list, len(tasks))
	}
	if dir := tasks[index].Clean; dir != "" {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	r, err := Perform(ctx, program, tasks[index].Task)
	if err != nil {
		return err
	}
	return r.save(tasks[index].Record)
}

// A job is a task in the cluster.
type job struct {
	index    int // of the task
	tried    int
	missing  int // number of times that it had ended without a record
	finished bool
}

// Run runs tasks. done is called as each task ends; an error of done ends all tasks. A task without
// a record does not end the others; it is reported as an error at the end.
func (s *Slurm) Run(ctx context.Context, tasks []Task, done func(i int, r Record) error) (err error) {
	if s.Dir, err = filepath.Abs(s.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	var lost []error
	jobs := make([]*job, len(tasks))
	for i := range jobs {
		jobs[i] = &job{index: i}
	}
	for len(jobs) > 0 {
		some := jobs[:min(arraySize, len(jobs))]
		again, failures, err := s.submit(ctx, tasks, some, done)
		lost = append(lost, failures...)
		if err != nil {
			return errors.Join(append(lost, err)...)
		}
		jobs = append(again, jobs[len(some):]...)
	}
	if n := len(lost); n > 5 {
		lost = append(lost[:5], fmt.Errorf("and %d more", n-5))
	}
	return errors.Join(lost...)
}

// submit runs one array to its end. again lists the jobs whose nodes were lost.
func (s *Slurm) submit(ctx context.Context, tasks []Task, jobs []*job, done func(int, Record) error) (again []*job, failures []error, err error) {
	id, records, err := s.sbatch(ctx, tasks, jobs)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil || ctx.Err() != nil {
			err = errors.Join(err, cancelJob(id))
		}
	}()
	silent := silence{log: s.Log}
	for left := len(jobs); left > 0; {
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pollEvery):
		}
		waiting, err := squeue(ctx, id)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		unknown := err != nil // which tasks are queued; records are checked nevertheless
		givenUp := silent.after(err)
		for k, j := range jobs {
			if j.finished {
				continue
			}
			r, ok, err := load(records[k])
			switch {
			case err != nil:
				return nil, nil, err
			case ok:
				j.finished = true
				if err := done(j.index, r); err != nil {
					return nil, nil, err
				}
			case waiting[k] || unknown:
				continue
			default:
				retry, why := s.gone(ctx, id, k, j)
				if !j.finished {
					continue
				}
				if retry {
					again = append(again, &job{index: j.index, tried: j.tried + 1})
				} else {
					failures = append(failures, why)
				}
			}
			left--
		}
		if givenUp != nil && left > 0 {
			return again, failures, givenUp
		}
		if again != nil && left == 0 {
			s.report(fmt.Sprintf("%d tasks are submitted again: their nodes are lost", len(again)))
		}
	}
	return again, failures, ctx.Err()
}

// A silence is a period in which squeue fails.
type silence struct {
	since time.Time
	log   *logrus.Logger
}

// after records the result of a call; it returns an error when squeue has failed for too long.
func (s *silence) after(err error) error {
	switch {
	case err == nil:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = time.Now()
		logs.Layer(s.log, "batch").WithError(err).Warn("squeue fails: asking again")
	case time.Since(s.since) >= squeuePatience:
		return fmt.Errorf("squeue has failed for %v: %w", squeuePatience, err)
	}
	return nil
}

func (s *Slurm) report(what string) {
	if s.Tell != nil {
		s.Tell(what)
	}
}

// graces is how often an ended task may be seen without its record before that is believed: shared
// file systems may lag behind job states.
const graces = 3

// gone decides about a task that has left the queue without a record.
func (s *Slurm) gone(ctx context.Context, id string, k int, j *job) (retry bool, why error) {
	if j.missing++; j.missing < graces {
		return false, nil
	}
	j.finished = true
	state := stateOf(ctx, fmt.Sprintf("%s_%d", id, k))
	lostNode := slices.Contains([]string{"NODE_FAIL", "BOOT_FAIL", "PREEMPTED", ""}, state)
	logs.Layer(s.Log, "batch").WithFields(logrus.Fields{"job": id, "task": k, "state": state, "tried": j.tried + 1}).Debug("task without a record")
	if lostNode && j.tried+1 < attempts {
		return true, nil
	}
	if state == "" {
		state = "lost"
	}
	return false, fmt.Errorf("%w: a record of task %s_%d, which Slurm calls %s: see %s", drivers.ErrEnvironment, id, k, state, s.logFile(id, k))
}

func (s *Slurm) logFile(id string, k int) string {
	return filepath.Join(s.Dir, fmt.Sprintf("slurm-%s_%d.out", id, k))
}

// sbatch submits an array and returns its number and the paths of its records.
func (s *Slurm) sbatch(ctx context.Context, tasks []Task, jobs []*job) (id string, records []string, err error) {
	s.array++
	base := filepath.Join(s.Dir, fmt.Sprintf("array-%03d-%d", s.array, os.Getpid()))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", nil, err
	}
	var list []listed
	for _, j := range jobs {
		l := listed{tasks[j.index], filepath.Join(base, fmt.Sprintf("record-%05d.json", j.index))}
		list, records = append(list, l), append(records, l.Record)
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = os.WriteFile(base+".json", append(text, '\n'), 0o644)
	}
	if err != nil {
		return "", nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s task %s \"$SLURM_ARRAY_TASK_ID\"\n", shellQuoted(s.Program), shellQuoted(base+".json"))
	// Tasks of a lost node are resubmitted by this package; Slurm would wait two minutes before it
	// requeues them.
	args := append([]string{
		"--parsable", "--no-requeue", "--job-name=nicloop", "--nodes=1", "--ntasks=1",
		fmt.Sprintf("--array=0-%d%%%d", len(jobs)-1, max(1, s.Jobs)), "--output=" + filepath.Join(s.Dir, "slurm-%A_%a.out"),
	}, s.Options...)
	out, err := command(ctx, strings.NewReader(script), "sbatch", args...)
	if err != nil {
		return "", nil, err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // may be followed by the name of the cluster
	if _, err := strconv.Atoi(id); err != nil {
		return "", nil, fmt.Errorf("%w: the number of a job from sbatch, not %q", drivers.ErrEnvironment, out)
	}
	s.report(fmt.Sprintf("Slurm job %s: %d tasks, %d at a time", id, len(jobs), max(1, s.Jobs)))
	return id, records, nil
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// squeue returns the tasks of an array that are pending or running.
func squeue(ctx context.Context, id string) (waiting map[int]bool, err error) {
	out, err := command(ctx, nil, "squeue", "--noheader", "--array", "--jobs="+id, "--format=%K %t")
	if err != nil && strings.Contains(err.Error(), "Invalid job id") {
		return nil, nil // ended long ago
	}
	waiting = map[int]bool{}
	for line := range strings.Lines(out) {
		var k int
		var state string
		if n, _ := fmt.Sscan(line, &k, &state); n == 2 {
			waiting[k] = true
		}
	}
	return waiting, err
}

var jobState = regexp.MustCompile(`\bJobState=(\w+)`)

// stateOf is the state that Slurm reports for an ended task; "" if it does not know the task.
func stateOf(ctx context.Context, task string) string {
	out, err := command(ctx, nil, "scontrol", "show", "job", "--oneliner", task)
	if m := jobState.FindStringSubmatch(out); err == nil && m != nil {
		return m[1]
	}
	return ""
}

// cancelJob cancels an array. It uses a context of its own, because the caller's may have ended.
func cancelJob(id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := command(ctx, nil, "scancel", "--quiet", id)
	return err
}

// command runs a program of Slurm.
func command(ctx context.Context, in *strings.Reader, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	if in != nil {
		cmd.Stdin = in
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return out.String(), fmt.Errorf("%w: %s that works: %w: %s", drivers.ErrEnvironment, name, err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), nil
}
