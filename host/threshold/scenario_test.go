package threshold_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/host/threshold/explore"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the output of testdata anew; commit it only if you can explain every line")

// TestScenarios runs the scripts of testdata; the commands are documented at explore.Script. What follows ---- is what a
// command prints; an empty line ends it.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			recorded, err := os.ReadFile(path)
			require.NoError(t, err)
			got := replay(string(recorded))
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
				return
			}
			require.Equal(t, string(recorded), got)
		})
	}
}

// replay runs the commands of a scenario and gives it with the output of now.
func replay(scenario string) string {
	var s explore.Script
	var b strings.Builder
	output := false
	for line := range strings.Lines(scenario) {
		text := strings.TrimRight(line, "\n")
		switch {
		case output:
			if output = text != ""; !output {
				b.WriteString("\n")
			}
		case text == "----":
			output = true
		case text == "" || strings.HasPrefix(text, "#"):
			b.WriteString(line)
		default:
			fmt.Fprintf(&b, "%s\n----\n%s", text, s.Exec(text))
		}
	}
	return b.String()
}

// The short form of what nicloop check threshold does.
func TestExploration(t *testing.T) {
	for _, o := range explore.Suite(1) {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.Positive(t, r.Ends)
	}
}

// Every planted mistake is found, and its counterexample replays.
func TestPlanted(t *testing.T) {
	for _, o := range explore.Planted() {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Refuted, r.Verdict, o.String())
		require.Equal(t, r.Script, strings.TrimRight(replay(r.Script), "\n")+"\n", o.Plant)
	}
}
