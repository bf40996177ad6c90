package main

import (
	"fmt"
	"runtime/debug"

	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the hardware description it speaks",
		Args:  checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			commit, dirty := v.Commit, ""
			if commit == "" {
				commit = "unknown"
			}
			if v.Modified {
				dirty = " (modified)"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "nicloop %s\ncommit %s%s\nhardware description %d, hash 0x%016x\n",
				v.Version, commit, dirty, v.Description, v.Hash)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func thisVersion() *versionInfo {
	v := &versionInfo{Version: "devel", Description: regs.VersionValue, Hash: regs.DescHashValue}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
