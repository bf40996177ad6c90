package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/nicloop/nicloop/host/iwarp/explore"
	"github.com/spf13/cobra"
)

func newCheckIWARP() *cobra.Command {
	var jobs int
	var deep, asJSON bool
	cmd := &cobra.Command{
		Use:   "iwarp",
		Short: "Prove that reliable datagrams of iWARP survive loss, reordering and restarts",
		Long: `Run two real endpoints of the reliable datagram transport (queue pairs of type RD)
through every interleaving of sends, receives, timeouts and datagrams that are
delivered in any order, lost or duplicated. The properties that are proved are printed
at the end.

The exploration is repeated with planted mistakes in the datagrams, such as an
acknowledgement that is sent too early; each must be found. A counterexample is
printed as a scenario script that replays.

Exit codes: 0 all proved and all mistakes found, 1 not.`,
		Example: "  nicloop check iwarp\n  nicloop check iwarp --deep      adds three messages without buffers, and restarts",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jobs < 1 {
				return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
			}
			suite := explore.Suite()
			if deep {
				suite = append(suite, explore.Deep()...)
			}
			planted := explore.Planted()
			all := slices.Concat(suite, planted)
			err := checkAll(cmd, len(all), jobs, asJSON, func(ctx context.Context, i int) (exploration, error) {
				r, err := explore.Run(ctx, all[i])
				return explored(all[i].String(), i < len(suite), r), err
			})
			if err == nil && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "proved in %d worlds: %s\nfound: %d planted mistakes of %d\n",
					len(suite), explore.Claims, len(planted), len(planted))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "include the worlds that take a minute")
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "explorations at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
