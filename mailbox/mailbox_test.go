package mailbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/mailbox/explore"
)

// TestScenarios runs the scripts of testdata; the commands are documented at explore.Script. To
// record new output run with -rewrite, and commit it only if you can explain every line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		var s explore.Script
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return s.Exec(d.FullCmd())
		})
	})
}

// The adjustment by excess needs more events than an exploration can take; block 6 of the paper's
// trace has one. Forgetting the excess there breaks the invariant.
func TestFigure14CatchesLoseExcess(t *testing.T) {
	file, err := os.ReadFile("testdata/figure14.txt")
	require.NoError(t, err)
	var s explore.Script
	var out strings.Builder
	for _, block := range strings.Split(string(file), "\n----") {
		command := block[strings.LastIndex(strings.TrimRight(block, "\n"), "\n")+1:]
		if strings.HasPrefix(command, "new ") {
			command += " fault=lose-excess"
		}
		out.WriteString(s.Exec(command))
	}
	_, after, found := strings.Cut(out.String(), "violation:")
	require.True(t, found)
	require.Contains(t, after, "thresholds sum to 6, expected current+retrieved+1 = 7")
}
