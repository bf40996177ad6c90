package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench"
	"github.com/spf13/cobra"
)

// pathTable is the table by which a send finds its path.
type pathTable struct {
	Paths []bench.PathRow `json:"paths"` // in the order in which they are asked
}

// explainPaths prints the table of a configuration instead of running it.
func (f *runFlags) explainPaths(cmd *cobra.Command, c bench.Config) error {
	rows, err := bench.Paths(cmd.Context(), c)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), pathTable{rows})
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "A send takes the first path that fits.\n\n  PATH\tTAKES")
	for i, r := range rows {
		fmt.Fprintf(tw, "%d %s\t%s\n", i+1, r.Path, r.Takes)
	}
	return tw.Flush()
}
