package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
)

// elsewhere runs tests through an executor: each is a nicloop regress of its own with its own
// output folder.
func (f *nightFlags) elsewhere(cmd *cobra.Command, o *regress.Options) error {
	if err := f.executor.check(); err != nil || !f.executor.slurm() {
		return err
	}
	if name := given(cmd, "deadline", "fail-fast"); name != "" {
		return misused("--%s: with --executor slurm all tests are submitted at once", name)
	}
	if !cmd.Flags().Changed("jobs") {
		o.Jobs = slurmJobs
	}
	o.Elsewhere = func(ctx context.Context, list []regress.Outcome, done func(int, regress.Ending) error) error {
		tasks := make([]batch.Task, len(list))
		baseline := f.speed.forTasks()
		for i := range list {
			tasks[i] = taskOf(&list[i], o, baseline)
		}
		return f.executor.perform(ctx, o.Dir, tasks, o.Jobs, o.Building, func(i int, r batch.Record) error {
			e, err := endingOf(&r)
			if err != nil {
				return fmt.Errorf("%s (seed %d): %w", list[i].Test.Name, list[i].Seed, err)
			}
			return done(i, e)
		})
	}
	return nil
}

// slurmJobs is the default number of concurrent tasks on a cluster.
const slurmJobs = 64

func taskOf(out *regress.Outcome, o *regress.Options, file string) batch.Task {
	args := []string{
		"regress", out.Test.Name, "--device=" + out.Device, fmt.Sprintf("--seed=%d", out.Seed), "--timeout=" + o.Timeout.String(),
		"--output=" + out.Dir, "--db=", "--json",
	}
	if o.Retries > 0 {
		args = append(args, fmt.Sprintf("--retry-failed=%d", o.Retries))
	}
	if file != "" {
		args = append(args, "--baseline="+file)
	}
	if userTests != "" { // the description of a design may name other tests
		args = append(args, "--tests="+userTests)
	}
	if o.NoLockstep {
		args = append(args, "--no-lockstep")
	}
	if o.NoWaves {
		args = append(args, "--no-waves")
	}
	for _, n := range o.WavesNodes {
		args = append(args, fmt.Sprintf("--waves-node=%d", n))
	}
	return batch.Task{Args: args, Clean: out.Dir}
}

// endingOf parses the output of a nicloop regress --json of one test.
func endingOf(r *batch.Record) (e regress.Ending, err error) {
	var doc regression
	if err := json.Unmarshal(r.Result, &doc); err != nil || len(doc.Tests) != 1 {
		return e, coded{max(r.Exit, exitFailed), fmt.Errorf("on %s: expected the result of one test: %s", r.Machine, strings.TrimPrefix(r.Error, "nicloop: "))}
	}
	t := &doc.Tests[0]
	return regress.Ending{
		Status: regress.Status(t.Status), Error: t.Error, Cycles: t.Cycles, Simulated: drivers.Time(t.Simulated), Real: time.Duration(t.Real * float64(time.Second)), Began: t.Began,
		Log: t.Log, Waves: t.Waves, Hardware: t.Hardware, Runs: t.Runs,
	}, nil
}
