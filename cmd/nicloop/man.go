package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages of all verbs into a folder",
		Example: `  nicloop man ~/.local/share/man/man1     then: man nicloop-run
  nicloop man /tmp/man1 && man -l /tmp/man1/nicloop-sweep.1`,
		Args: checked(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			forMan(root)
			date := commitDate()
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "nicloop", Manual: "nicloop", Date: &date}, args[0]); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(args[0], "nicloop*.1"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d pages in %s\n", len(pages), args[0])
			return err
		},
	}
}

// forMan indents lists of help texts further, so that the generator keeps their lines.
func forMan(cmd *cobra.Command) {
	var b strings.Builder
	before := ""
	for line := range strings.Lines(cmd.Long) {
		if strings.HasPrefix(line, "  ") {
			if !strings.HasPrefix(before, "  ") && before != "\n" {
				b.WriteByte('\n')
			}
			b.WriteString("  ")
		}
		b.WriteString(line)
		before = line
	}
	cmd.Long = b.String()
	for _, c := range cmd.Commands() {
		forMan(c)
	}
}

// commitDate returns the date of this program's commit, so that equal programs write equal pages.
func commitDate() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t.UTC()
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
