package rendezvous_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/host/rendezvous/explore"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the output of testdata anew; commit it only if you can explain every line")

// TestScenarios runs the scripts of testdata; the commands are documented at explore.Script. What
// follows ---- is what a command prints; an empty line ends it.
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

// The short form of what nicloop check rendezvous does.
func TestExploration(t *testing.T) {
	for _, o := range explore.Suite(1) {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
	}
}

// Counterexamples whose mistakes the first version of host had. Their scripts are scenarios like others.
func TestCounterexamples(t *testing.T) {
	kept := map[string]bool{
		"by-address": true, "any-generation": true, "done-when-read": true, "done-when-written": true, "no-fence": true,
		"deaf-to-late-faults": true, "fatal-shortage": true, "not-shortened": true,
	}
	for _, o := range explore.Planted() {
		if !kept[o.Plant] {
			continue
		}
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Refuted, r.Verdict, o.Plant)
		path := filepath.Join("testdata", "counterexample_"+strings.ReplaceAll(o.Plant, "-", "_")+".txt")
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(r.Script), 0o666))
		}
		recorded, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(recorded), r.Script, "the shortest counterexample changed; if you know why, run with -update")
	}
}
