package main

import (
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/tune"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
	"github.com/spf13/cobra"
)

// slowerThanLinear is the ratio to the linear algorithm above which a choice of the table is an
// error.
const slowerThanLinear = 1.02

func newBenchCollectives() *cobra.Command {
	o := tune.Default()
	var asJSON, table bool
	cmd := &cobra.Command{
		Use:   "collectives [COLLECTIVE…]",
		Short: "Measure the algorithms of the collectives and check the selection table",
		Long: `Measure every algorithm of the collectives at several numbers of ranks and sizes, in
simulated time, and print them side by side; a star marks the one that the library
selects. The command fails if a selected algorithm takes over 2 % longer than the
linear one. With --table it prints the table that the measured times would give, in
the form of host/table.go.`,
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
				return fmt.Errorf("%d selected algorithms take over 2 %% longer than the linear one; worst case: %s of %s, %d ranks, %d bytes: %.2f times", len(slower), x.Algorithm, x.Collective, x.Ranks, x.Bytes, x.Ratio)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Device, "device", o.Device, "device to run on (see nicloop device list)")
	fs.IntSliceVar(&o.Ranks, "ranks", o.Ranks, "numbers of ranks, one per node")
	sizesVar(fs, &o.Sizes, "sizes", o.Sizes, "bytes of a message, or of a block if each pair of ranks exchanges one")
	fs.BoolVar(&table, "table", false, "print the selection table that the measured times would give")
	fs.BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.MarkFlagsMutuallyExclusive("table", "json")
	return cmd
}

// pickCollectives selects the named collectives; without names, all with more than one algorithm.
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
