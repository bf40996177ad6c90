package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/nicloop/nicloop/cosim/doctor"
	"github.com/nicloop/nicloop/drivers"
	"github.com/spf13/cobra"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "List required tools, their versions, and how to install missing ones",
		Example: "  nicloop doctor\n  nicloop doctor --json",
		Args:    checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := doctor.Check()
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), &tools{found}); err != nil {
					return err
				}
			} else if err := printTools(cmd, found); err != nil {
				return err
			}
			for _, t := range found {
				if !t.OK && !t.Optional {
					return fmt.Errorf("%s: %w; install: %s", t.Name, drivers.ErrEnvironment, t.Fix)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func printTools(cmd *cobra.Command, tools []doctor.Tool) error {
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, t := range tools {
		switch {
		case t.OK:
			fmt.Fprintf(tw, "ok\t%s\t%s\t%s\n", t.Name, t.Version, t.Need)
		case t.Optional:
			fmt.Fprintf(tw, "optional\t%s\t%s\t%s; not installed; install: %s\n", t.Name, t.Version, t.Need, t.Fix)
		default:
			fmt.Fprintf(tw, "MISSING\t%s\t%s\t%s; install: %s\n", t.Name, t.Version, t.Need, t.Fix)
		}
	}
	return tw.Flush()
}
