package threshold_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/host/scenario"
	"github.com/nicloop/nicloop/host/threshold/explore"
	"github.com/stretchr/testify/require"
)

// TestScenarios runs the scripts of testdata; the commands are documented at explore.Script. What follows ---- is what a
// command prints; an empty line ends it.
func TestScenarios(t *testing.T) { scenario.Run(t, script) }

func script() func(string) string { return new(explore.Script).Exec }

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
		require.Equal(t, r.Script, strings.TrimRight(scenario.Replay(r.Script, script()), "\n")+"\n", o.Plant)
	}
}
