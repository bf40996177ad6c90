package main

import (
	"context"
	"runtime"
	"time"

	"github.com/nicloop/nicloop/host/portals/offload"
	"github.com/spf13/cobra"
)

func newCheckOffload() *cobra.Command {
	var jobs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "portals-offload",
		Short: "Examine whether an MPI rendezvous can be offloaded in full to Portals 4",
		Long: `Check both theorems of section 3.1 of the RDRP paper, which claim that a rendezvous
for MPI cannot be offloaded in full to Portals 4.

Theorem 1 is a graph of events: its cycle is found if the match bits of the get
come from the ready-to-send message (RTS), and is gone if they do not. Theorem 2
is a search over all match and ignore bits of two sends: the table of the paper as
printed and with its last row corrected, and four ways in which a get finds its
entry. Every solution is executed on real Portals 4 interfaces in every
interleaving, and so are codes with a bit per history of receives. The protocol
with sequence numbers that the paper refutes is refuted here too.

STATES counts what was checked: edges, pairs of entries, states or gets.

Exit codes: 0 as expected, 1 a result differs from the recorded one.`,
		Example: "  nicloop check portals-offload\n  nicloop check portals-offload --json",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			suite := offload.Suite()
			return checkAll(cmd, len(suite), max(jobs, 1), asJSON, func(ctx context.Context, i int) (exploration, error) {
				began := time.Now()
				o, err := suite[i].Run(ctx)
				return exploration{
					World: suite[i].Name, Want: suite[i].Want, Got: o.Got, States: o.Checked, Seconds: time.Since(began).Seconds(),
					Bound: o.Witness, Found: o.Witness, Script: o.Script,
				}, err
			})
		},
	}
	cmd.Flags().IntVarP(&jobs, "jobs", "j", runtime.NumCPU(), "proofs at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
