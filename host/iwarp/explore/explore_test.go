package explore

import (
	"strings"
	"testing"

	"github.com/nicloop/nicloop/mailbox/modelcheck"
	"github.com/stretchr/testify/require"
)

func TestSuite(t *testing.T) {
	for _, o := range Suite() {
		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, modelcheck.Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.Positive(t, r.Ends)
		t.Logf("%s: %v", o.String(), r)
	}
}

// TestPlantedMistakesAreFound also replays every counterexample.
func TestPlantedMistakesAreFound(t *testing.T) {
	for _, o := range Planted() {
		r, err := Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, modelcheck.Refuted, r.Verdict, o.String())
		t.Logf("%s: %s", o.Plant, r.Violation)
		var s Script
		output := ""
		for block := range strings.SplitSeq(r.Script, "\n\n") {
			if command, _, found := strings.Cut(block, "\n----\n"); found {
				output += s.Exec(command)
			}
		}
		if !strings.Contains(r.Violation, "livelock") {
			require.Contains(t, output, "violation: "+r.Violation)
		}
	}
}

func TestParse(t *testing.T) {
	for _, o := range append(Suite(), Planted()...) {
		back, err := Parse(strings.Fields(o.String())[1:])
		require.NoError(t, err)
		require.Equal(t, o, back)
	}
	for _, word := range []string{"forth=9", "forth=x", "plant=no", "nothing"} {
		_, err := Parse([]string{word})
		require.Error(t, err, word)
	}
}
