package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/nicloop/nicloop/host/threshold/explore"
	"github.com/spf13/cobra"
)

func newCheckThreshold() *cobra.Command {
	var bound, jobs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "threshold",
		Short: "Prove that a change of an eager threshold loses nothing, and find planted mistakes",
		Long: `Run the real core of eager thresholds through every interleaving of sends, changes
that either side begins, messages, bytes that land, receives, idle buffers and memory
that is short, for small worlds of two and three ranks, with the full and the partial
in-band handshake; and the one for receivers that are not ready through every
interleaving of receives, cancelled ones too, fragments that land or are refused, and
pages that the hardware forgets late. What is proved is said at the end.

The same is done with mistakes planted around the core, each of which must be
found; the shortest counterexamples are printed as scenario scripts, in the language
of host/threshold/testdata, that replay.

Exit codes: 0 as expected, 1 a proof failed or a mistake was not found.`,
		Example: "  nicloop check threshold\n  nicloop check threshold --bound 1 --json",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bound < 1 || bound > explore.Levels {
				return usageError{fmt.Errorf("--bound %d: expected 1 to %d", bound, explore.Levels)}
			}
			if jobs < 1 {
				return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
			}
			suite, planted := explore.Suite(bound), explore.Planted()
			all := slices.Concat(suite, planted)
			err := checkAll(cmd, len(all), jobs, asJSON, func(ctx context.Context, i int) (exploration, error) {
				r, err := explore.Run(ctx, all[i])
				return explored(all[i].String(), i < len(suite), r), err
			})
			if err == nil && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "proved in %d worlds: %s\nfound: %d planted mistakes of %d\n", len(suite), explore.Claims, len(planted), len(planted))
			}
			return err
		},
	}
	cmd.Flags().IntVar(&bound, "bound", 2, "how large the worlds are: 1 takes two seconds, 2 a minute")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "explorations at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
