package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/nicloop/nicloop/host/rendezvous/explore"
	"github.com/spf13/cobra"
)

func newCheckRendezvous() *cobra.Command {
	var bound, jobs int
	var deep, asJSON bool
	cmd := &cobra.Command{
		Use:   "rendezvous",
		Short: "Prove the rendezvous protocols of long messages",
		Long: `Run the real rendezvous protocols through every interleaving of sends, receives,
messages, RMA operations and their completions in small worlds of two and three
ranks, including translation faults, shortages of memory, identifiers and
descriptors, refusals and cancellations at every step. The proved properties are
printed at the end.

The exploration is repeated with planted mistakes; each must be found. The shortest
counterexamples are printed as scenario scripts in the language of
host/rendezvous/testdata, which can be replayed.

Exit codes: 0 as expected, 1 a proof failed or a mistake was not found.`,
		Example: "  nicloop check rendezvous\n  nicloop check rendezvous --bound 3 --json\n  nicloop check rendezvous --deep -j 2   # adds a world of three ranks with 3.4e6 states",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bound < 1 || bound > explore.Levels {
				return usageError{fmt.Errorf("--bound %d: expected 1 to %d", bound, explore.Levels)}
			}
			if jobs < 1 {
				return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
			}
			suite, planted := explore.Suite(bound), explore.Planted()
			if deep {
				suite = append(suite, explore.Deep()...)
			}
			all := slices.Concat(suite, planted)
			err := checkAll(cmd, len(all), 1, asJSON, func(ctx context.Context, i int) (exploration, error) {
				o := all[i]
				o.Jobs = jobs
				r, err := explore.Run(ctx, o)
				return explored(o.String(), i < len(suite), r), err
			})
			if err == nil && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "proved in %d worlds: %s\nfound: %d planted mistakes of %d\n", len(suite), explore.Claims, len(planted), len(planted))
			}
			return err
		},
	}
	cmd.Flags().IntVar(&bound, "bound", 2, "size of the worlds: 1 takes two seconds, 2 half a minute, 3 minutes")
	cmd.Flags().BoolVar(&deep, "deep", false, "include a world that takes minutes and 3.4 GB")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "cores per exploration; the result does not depend on it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
