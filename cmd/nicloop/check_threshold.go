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
		Short: "Prove that changes of an eager threshold lose no message",
		Long: `Run the real protocol of eager thresholds through every interleaving of sends,
changes begun by either side, messages, arriving bytes, receives, idle buffers and
memory shortages in small worlds of two and three ranks, with the full and the
partial in-band handshake. Run the protocol for not-ready receivers through every
interleaving of receives (also cancelled ones), fragments that arrive or are refused,
and pages that the hardware drops late. The proved properties are printed at the end.

The exploration is repeated with planted mistakes; each must be found. The shortest
counterexamples are printed as scenario scripts in the language of
host/threshold/testdata, which can be replayed.

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
	cmd.Flags().IntVar(&bound, "bound", 2, "size of the worlds: 1 takes two seconds, 2 a minute")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "number of concurrent explorations")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
