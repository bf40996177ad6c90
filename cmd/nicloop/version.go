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
		Short: "Print the version, the commit and the supported hardware description",
		Args:  checked(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\nhardware description %d, hash 0x%016x\n",
				v.line(), v.Description, v.Hash)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// version is the version of the next or the latest release, see CHANGELOG.md.
const version = "0.3.0"

// line is what --version prints.
func (v *versionInfo) line() string {
	commit, dirty := v.Commit, ""
	if commit == "" {
		commit = "unknown"
	}
	if v.Modified {
		dirty = " (modified)"
	}
	return fmt.Sprintf("nicloop %s, commit %s%s", v.Version, commit, dirty)
}

func thisVersion() *versionInfo {
	v := &versionInfo{Version: version, Description: regs.VersionValue, Hash: regs.DescHashValue}
	info, ok := debug.ReadBuildInfo()
	if !ok || userTests != "" { // the commit would be that of the user's module
		return v
	}
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
