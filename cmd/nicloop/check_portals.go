package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/nicloop/nicloop/host/portals/explore"
	rdrp "github.com/nicloop/nicloop/host/portals/rdrp/explore"
	rportals "github.com/nicloop/nicloop/host/portals/rportals/explore"
	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/spf13/cobra"
)

func newCheckPortals() *cobra.Command {
	return newCheckWorlds(&cobra.Command{
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
	}, worlds[explore.Options]{suite: explore.Suite(), run: explore.Run, claims: explore.Claims})
}

func newCheckRportals() *cobra.Command {
	return newCheckWorlds(&cobra.Command{
		Use:   "rportals",
		Short: "Prove the recovery of disabled portal table entries (Rportals) in small worlds",
		Long: `Run the Rportals layer over real Portals 4 interfaces through every interleaving
of puts, gets, deliveries and reads, for worlds of two and three processes whose
event queues, buffers and origin credits are as small as one or two. Proved
properties: no message is lost, duplicated or reordered, no event queue
overflows, every recovery ends.

The exploration is repeated with planted mistakes in the layer; each must be
found. Its shortest counterexample is printed as a scenario script, in the
language of host/portals/rportals/testdata, that replays.

Exit codes: 0 as expected, 1 a proof failed or a mistake was not found.`,
		Example: "  nicloop check rportals\n  nicloop check rportals --deep   # larger worlds: a minute",
	}, worlds[rportals.Options]{
		suite: rportals.Suite(), deep: rportals.Deep(), planted: rportals.Planted(), run: rportals.Run, claims: rportals.Claims,
	})
}

func newCheckRDRP() *cobra.Command {
	return newCheckWorlds(&cobra.Command{
		Use:   "rdrp",
		Short: "Prove the receiver-driven rendezvous (RDRP) on Portals 4 in small worlds",
		Long: `Run the endpoints of the receiver-driven rendezvous protocol over real Portals 4
interfaces through every interleaving of sends, receives, cancellations and
deliveries, for worlds of one to three ranks with few nonces, overflow buffers
and triggered operations. Each receive is compared with a naive model of MPI
matching. The properties that are proved are printed at the end.

The exploration is repeated with planted mistakes, among them the protocol with
sequence numbers that the RDRP paper refutes; each must be found. Its shortest
counterexample is printed as a scenario script, in the language of
host/portals/rdrp/testdata, that replays.

Exit codes: 0 as expected, 1 a proof failed or a mistake was not found.`,
		Example: "  nicloop check rdrp\n  nicloop check rdrp --deep   # larger worlds: a minute",
	}, worlds[rdrp.Options]{
		suite: rdrp.Suite(), deep: rdrp.Deep(), planted: rdrp.Planted(), run: rdrp.Run, claims: rdrp.Claims,
	})
}

// worlds are the explorations of a command.
type worlds[O fmt.Stringer] struct {
	suite, deep, planted []O
	run                  func(context.Context, O) (modelcheck.Result, error)
	claims               string
}

// newCheckWorlds adds the flags and the action that explorations have in common.
func newCheckWorlds[O fmt.Stringer](cmd *cobra.Command, w worlds[O]) *cobra.Command {
	var jobs int
	var deep, asJSON bool
	cmd.Args = checked(cobra.NoArgs)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if jobs < 1 {
			return usageError{fmt.Errorf("--jobs %d: expected 1 or more", jobs)}
		}
		suite := w.suite
		if deep {
			suite = slices.Concat(suite, w.deep)
		}
		all := slices.Concat(suite, w.planted)
		err := checkAll(cmd, len(all), jobs, asJSON, func(ctx context.Context, i int) (exploration, error) {
			r, err := w.run(ctx, all[i])
			return explored(all[i].String(), i < len(suite), r), err
		})
		if err == nil && !asJSON {
			fmt.Fprintf(cmd.OutOrStdout(), "proved in %d worlds: %s\n", len(suite), w.claims)
			if n := len(w.planted); n > 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "found: %d planted mistakes of %d\n", n, n)
			}
		}
		return err
	}
	if len(w.deep) > 0 {
		cmd.Flags().BoolVar(&deep, "deep", false, "include the explorations that take a minute")
	}
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "explorations at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
