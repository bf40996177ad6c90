package rendezvous_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/nicloop/nicloop/host/rendezvous/explore"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the counterexamples of testdata anew")

// TestScenarios runs the scripts in testdata; explore.Script documents the commands. Use -rewrite
// to record new output, and commit it only if you can explain every changed line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var s explore.Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Exec(d.FullCmd()) })
	})
}

// TestExploration is the short form of nicloop check rendezvous.
func TestExploration(t *testing.T) {
	for _, o := range explore.Suite(1) {
		r, err := explore.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, explore.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
	}
}

// Counterexamples of mistakes that an early version of host contained. Their scripts are ordinary
// scenarios.
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
