package main

import (
	"github.com/nicloop/nicloop/bench/bridgebench"
	"github.com/spf13/cobra"
)

func newBench() *cobra.Command {
	return group(&cobra.Command{Use: "bench", Short: "Measure nicloop itself"}, newBenchBridge(), newBenchCollectives())
}

func newBenchBridge() *cobra.Command {
	var o bridgebench.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bridge",
		Short: "Measure the bridge against a bare C++ test bench on the same RTL",
		Long: `Drive the same Verilated NICs twice in one run: through the bridge, and from a
bare C++ test bench in one process, which is the limit for that RTL. Both must
take the same cycles. Rounds of both alternate, and both are started several times. Prints what one crossing costs, a
run of the simulator until something happens, in elapsed and in processor time
of both processes, and the ratio of both, each with its spread over the rounds
(goal: 0.97 of elapsed time on a machine with nothing else to do). With --inside the
bridge is a call: the model is in the process of the host.`,
		Example: "  nicloop bench bridge\n  nicloop bench bridge --nodes 4 --json\n  nicloop bench bridge --inside",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			bar := newBar(cmd.ErrOrStderr(), "bench bridge")
			o.Progress, o.Step = bar.describe, bar.set
			rep, err := bridgebench.Run(cmd.Context(), o)
			bar.finish()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), rep)
			}
			rep.Write(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().IntVar(&o.Nodes, "nodes", 2, "nodes of the machine; messages go between 0 and 1")
	cmd.Flags().IntVar(&o.Starts, "starts", 4, "how often both sides are started: where a process lies in memory makes it faster or slower")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 20, "rounds of each side in a start")
	cmd.Flags().IntVar(&o.Transactions, "transactions", 200, "transactions of a ping-pong round")
	cmd.Flags().BoolVar(&o.Inside, "inside", false, "have the model in the process of the host (rtl:?inside=1)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
