package main

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/tune"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

// slowerThanLinear is how much longer a choice of the table may take than the linear algorithm.
const slowerThanLinear = 1.02

func newBenchCollectives() *cobra.Command {
	o := tune.Default()
	var asJSON, table bool
	cmd := &cobra.Command{
		Use:   "collectives [COLLECTIVE…]",
		Short: "Measure the algorithms of the collectives, and the table that chooses among them",
		Long: `Measure every algorithm of the collectives at several numbers of ranks and sizes, in
simulated time, and print them side by side, with a star beside the one that the
library chooses. A choice that takes over 2 % longer than everybody talking to
everybody directly makes the command fail. With --table print what the measured
times would choose, as host/table.go has it.`,
		Example: "  nicloop bench collectives\n  nicloop bench collectives allreduce bcast --ranks 16,64 --sizes 64,4096,65536\n  nicloop bench collectives --table",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := pickCollectives(&o, names); err != nil {
				return err
			}
			bar := newBar(cmd.ErrOrStderr(), "bench collectives")
			o.Progress = bar.set
			rep, err := tune.Run(cmd.Context(), o)
			bar.finish()
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			switch {
			case asJSON:
				err = writeJSON(w, rep)
			case table:
				rep.WriteTable(w)
				return nil
			default:
				rep.Write(w)
			}
			if slower := rep.Slower(slowerThanLinear); err == nil && len(slower) > 0 {
				x := slices.MaxFunc(slower, func(a, b tune.Slower) int { return int(1e6 * (a.Ratio - b.Ratio)) })
				return fmt.Errorf("%d choices take over 2 %% longer than the linear algorithm; the worst: %s of %s, %d ranks, %d bytes: %.2f times", len(slower), x.Algorithm, x.Collective, x.Ranks, x.Bytes, x.Ratio)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Device, "device", o.Device, "what stands behind the driver (nicloop device list)")
	fs.IntSliceVar(&o.Ranks, "ranks", o.Ranks, "numbers of ranks, one on each node")
	sizesVar(fs, &o.Sizes, "sizes", o.Sizes, "bytes of a message, or of a block of it where each pair of ranks has one")
	fs.BoolVar(&table, "table", false, "print the table that the times would make")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.MarkFlagsMutuallyExclusive("table", "json")
	return cmd
}

// pickCollectives takes the named ones; none: all that have a choice.
func pickCollectives(o *tune.Options, names []string) error {
	if len(names) == 0 {
		return nil
	}
	all := o.Collectives
	o.Collectives = nil
	for _, name := range names {
		i := slices.IndexFunc(all, func(k host.Collective) bool { return k.String() == name })
		if i < 0 {
			var known []string
			for _, k := range all {
				known = append(known, k.String())
			}
			return misused("no collective %q%s; known: %v", name, suggest.Nearest(name, known), known)
		}
		o.Collectives = append(o.Collectives, all[i])
	}
	return nil
}
