package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
)

func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(runNumbers(args))
	root.SetIn(in)
	printed := &output{w: out}
	root.SetOut(printed)
	root.SetErr(errOut)
	verb, err := root.ExecuteContextC(ctx)
	err = printed.and(err)
	if err != nil && ctx.Err() != nil && !stopped(err) {
		err = errors.Join(fmt.Errorf("interrupted: %w", context.Cause(ctx)), err)
	}
	code := exitCode(err)
	if err != nil && !errors.Is(err, errFailed) && !errors.Is(err, errHung) {
		fmt.Fprintf(errOut, "nicloop: %s\n", printable(err.Error()))
		if code == exitUsage {
			fmt.Fprintln(errOut, "see nicloop help"+strings.TrimPrefix(verb.CommandPath(), root.Name()))
		}
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "nicloop",
		Short: "Hardware-in-the-loop co-simulation of FPGA network interfaces",
		Long: `nicloop builds the RTL of an EXTOLL-style NIC with Verilator, runs it behind a
socket bridge, and runs Go host software over it: VELO endpoints with static and
dynamic mailbox flow control, message passing, workloads.

` + exitText,
		Example: `  nicloop doctor                  check the installed tools
  nicloop regress                 the regression on RTL
  nicloop run pingpong --nodes 2  measure a ping-pong`,
		SilenceUsage: true, SilenceErrors: true,
	}
	var verbose bool
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log each step of each layer, to standard error")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		logrus.SetOutput(cmd.ErrOrStderr())
		logrus.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, TimestampFormat: "15:04:05.000"})
		logrus.SetLevel(logrus.WarnLevel)
		if verbose {
			logrus.SetLevel(logrus.DebugLevel)
		}
		if path := cmd.CommandPath(); strings.HasPrefix(path, "nicloop runs") || path == "nicloop device log" || path == "nicloop device diff" {
			cmd.SetOut(printableWriter{cmd.OutOrStdout()}) // they print contents of files
		}
		return errors.Join(checkBounds(cmd), checkDeviceOutputs(cmd))
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{nearestFlag(cmd, err)}
	})
	root.AddCommand(newRun(), newRanks(), newPart(), newRuns(), newSweep(), newTask(), newServe(), newBisect(), newBudget(), newCalibrate(), newIMB(), newMPI(), newFabric(), newReproduce(), newRegress(), newConform(), newCheck(), newDesign(), newDevice(), newIWARP(), newVM(), newBench(), newCache(), newDissector(), newDoctor(), newVersion(), newMan())
	root.SetHelpCommand(newHelp())
	root.Version = thisVersion().line()
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// nearestFlag suggests the flag nearest to an unknown one.
func nearestFlag(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *flag) { known = append(known, f.Name) })
	return fmt.Errorf("%w%s", err, suggest.Nearest(name, known))
}

// checked turns a wrong number of arguments into a usage error.
func checked(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}
