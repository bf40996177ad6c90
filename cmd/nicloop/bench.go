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
bare C++ test bench in one process, which is the upper bound for that RTL. Both
must take the same number of cycles. Rounds of both alternate, and both are
started several times.

Prints the cost of one crossing (a run of the simulator until an event), in
elapsed and in processor time of both processes, and the ratio of both sides, each
with its spread over the rounds. Goal: 0.97 of the elapsed time on an idle machine.
With --inside a crossing is a function call: the model runs in the host's process.`,
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
	cmd.Flags().IntVar(&o.Nodes, "nodes", 2, "nodes of the machine; messages travel between nodes 0 and 1")
	cmd.Flags().IntVar(&o.Starts, "starts", 4, "starts of both sides; the memory layout of a process affects its speed")
	cmd.Flags().IntVar(&o.Rounds, "rounds", 20, "rounds of each side in a start")
	cmd.Flags().IntVar(&o.Transactions, "transactions", 200, "transactions of a ping-pong round")
	cmd.Flags().BoolVar(&o.Inside, "inside", false, "run the model in the host's process (rtl:?inside=1)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
