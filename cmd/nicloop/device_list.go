package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/spf13/cobra"
)

type schemeList struct {
	List []registry.Backend `json:"schemes"`
}

func newDeviceList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list [SCHEME]", Short: "List the schemes of devices, or the keys of one scheme", Args: checked(cobra.MaximumNArgs(1)),
		Long: `List the schemes of devices, or the keys of one scheme.

A device is SCHEME:[PATH][?KEY=VALUE&…]. The second column of keys is a value: the default, or an example.`,
		Example: "  nicloop device list\n  nicloop device list rtl\n  nicloop device list model --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			list := registry.Backends()
			if len(args) == 1 {
				i := slices.IndexFunc(list, func(b registry.Backend) bool { return b.Scheme == args[0] || b.Scheme+":" == args[0] })
				if i < 0 {
					return usageError{fmt.Errorf("device list %s: expected one of %v", args[0], schemes(list))}
				}
				list = list[i : i+1]
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), schemeList{list})
			}
			tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, b := range list {
				fmt.Fprintf(tw, "%s:\t%s\n", b.Scheme, b.Doc)
			}
			if err := tw.Flush(); err != nil || len(args) == 0 {
				return err
			}
			for _, k := range list[0].Keys {
				if k.Doc != "" {
					fmt.Fprintf(tw, "  %s=%s\t%s\n", k.Name, k.Value, k.Doc)
				}
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON (docs/json.md)")
	completing(cmd, 1, func() (words []choice) {
		for _, b := range registry.Backends() {
			words = append(words, choice{b.Scheme, b.Doc})
		}
		return words
	})
	return cmd
}

func schemes(list []registry.Backend) (names []string) {
	for _, b := range list {
		names = append(names, b.Scheme)
	}
	return names
}
