package harness_test

import (
	"flag"
	"testing"
)

var deep = flag.Bool("deep", false, "run the tests that build simulators of their own, too")

// needsDeep skips a test that builds further simulators, of ten seconds each, unless it is asked
// for.
func needsDeep(t *testing.T) {
	t.Helper()
	if !*deep {
		t.Skip("builds a simulator of its own: run with: go test ./cosim/harness -deep")
	}
}
