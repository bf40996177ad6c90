package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/nicloop/nicloop/host/portals/explore"
	"github.com/spf13/cobra"
)

func newCheckPortals() *cobra.Command {
	var jobs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "portals",
		Short: "Prove matching, flow control and triggers of the Portals 4 core in small worlds",
		Long: `Run the real Portals 4 interfaces through every interleaving of puts, appends,
deliveries and reads, for worlds of two and three ranks whose event queues and
header limits are as small as one. Each state is compared with a naive model of
matching and flow control. The properties that are proved are printed at the end.

A counterexample is printed as a scenario script, in the language of
host/portals/testdata, that replays.

Exit codes: 0 all proved, 1 a proof failed.`,
		Example: "  nicloop check portals\n  nicloop check portals --json",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jobs < 1 {
				return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
			}
			suite := explore.Suite()
			err := checkAll(cmd, len(suite), jobs, asJSON, func(ctx context.Context, i int) (exploration, error) {
				r, err := explore.Run(ctx, suite[i])
				return explored(suite[i].String(), true, r), err
			})
			if err == nil && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "proved in %d worlds: %s\n", len(suite), explore.Claims)
			}
			return err
		},
	}
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "explorations at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
