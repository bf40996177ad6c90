package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// executable returns the path of this program, which tasks execute.
var executable = os.Executable

// executorFlags selects where many runs are executed.
type executorFlags struct {
	name    string
	options []string
}

var executors = []string{"local", "slurm"}

func (x *executorFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&x.name, "executor", "local", "where to run: local, or slurm; then all machines must share the output folder, the cache and this program, and -j limits concurrent tasks")
	fs.StringArrayVar(&x.options, "slurm-option", nil, "an option for sbatch, such as --partition=long; repeatable")
}

func (x *executorFlags) slurm() bool { return x.name == "slurm" }

func (x *executorFlags) check() error {
	switch {
	case x.name == "local" && len(x.options) > 0:
		return misused("--slurm-option: add --executor slurm")
	case x.name == "local":
		return nil
	case !x.slurm():
		return misused("--executor %q: expected one of %v%s", x.name, executors, suggest.Nearest(x.name, executors))
	}
	if _, err := exec.LookPath("sbatch"); err != nil {
		return err
	}
	return nil
}

// perform runs tasks on the selected executor.
func (x *executorFlags) perform(ctx context.Context, dir string, tasks []batch.Task, jobs int, tell func(string), done func(int, batch.Record) error) error {
	program, err := executable()
	if err != nil || len(tasks) == 0 {
		return err
	}
	if !x.slurm() {
		return batch.Local(ctx, program, tasks, jobs, done)
	}
	s := batch.Slurm{Program: program, Dir: filepath.Join(dir, "slurm"), Jobs: jobs, Options: x.options, Tell: tell}
	return s.Run(ctx, tasks, done)
}

// newTask is the verb that a cluster executes: it runs one command of a list and writes its record.
func newTask() *cobra.Command {
	return &cobra.Command{
		Use: "task LIST INDEX", Short: "Run one task of a list on a cluster machine", Args: checked(cobra.ExactArgs(2)), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			index, err := strconv.Atoi(args[1])
			if err != nil {
				return misused("index %q: expected a number", args[1])
			}
			program, err := executable()
			if err != nil {
				return err
			}
			return batch.RunTask(cmd.Context(), program, args[0], index)
		},
	}
}

// shellWords quotes arguments for a shell.
func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = regress.Quoted(a)
	}
	return strings.Join(words, " ")
}
