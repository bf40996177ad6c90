package main

import (
	"fmt"
	"runtime/debug"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the hardware description it speaks",
		Args:  checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			version, commit, dirty := "devel", "unknown", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					switch {
					case s.Key == "vcs.revision":
						commit = s.Value
					case s.Key == "vcs.modified" && s.Value == "true":
						dirty = " (modified)"
					}
				}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nicloop %s\ncommit %s%s\nhardware description %d, hash 0x%016x\n",
				version, commit, dirty, regs.VersionValue, regs.DescHashValue)
			return err
		},
	}
}
