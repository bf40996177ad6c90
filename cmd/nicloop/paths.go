package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/nicloop/nicloop/bench"
	"github.com/spf13/cobra"
)

// pathTable is the table by which a send selects its path.
type pathTable struct {
	Paths []bench.PathRow `json:"paths"` // in the order in which a send is offered to them
}

// explainPaths prints the selection table of a configuration and runs nothing.
func (f *runFlags) explainPaths(cmd *cobra.Command, c bench.Config) error {
	rows, err := bench.Paths(cmd.Context(), c)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), pathTable{rows})
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "A send takes the first path that accepts it.\n\n  PATH\tACCEPTS")
	for i, r := range rows {
		fmt.Fprintf(tw, "%d %s\t%s\n", i+1, r.Path, r.Takes)
	}
	return tw.Flush()
}
