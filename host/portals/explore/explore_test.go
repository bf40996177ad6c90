package explore

import (
	"context"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/nicloop/nicloop/host/portals"
	"github.com/stretchr/testify/require"
)

// TestScenarios runs the scripts of testdata. To record output run with -rewrite, and commit it
// only if you can explain every line.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "../testdata", func(t *testing.T, path string) {
		var s Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Exec(d.FullCmd()) })
	})
}

func TestSuite(t *testing.T) {
	for _, o := range Suite() {
		r, err := Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, Proved, r.Verdict, "%s: %s\n%s", o.String(), r.Violation, r.Script)
		require.Positive(t, r.Ends)
		t.Logf("%s: %v", o.String(), r)
	}
}

// Mistakes of the network or of the host that the explorer must find.
func TestPlantedMistakesAreFound(t *testing.T) {
	first := func(w *World, from, to int) []portals.Packet { return w.lines[from*w.o.Ranks+to] }
	for name, c := range map[string]struct {
		world int
		hooks hooks
		want  string
	}{
		"a network that reorders a pair": {0, hooks{deliver: func(w *World, from, to int) {
			if l := first(w, from, to); len(l) > 1 {
				l = slices.Clone(l)
				l[0], l[1] = l[1], l[0]
				w.lines[from*w.o.Ranks+to] = l
			}
		}}, "overtakes"},
		"a request that is delivered twice": {0, hooks{deliver: func(w *World, from, to int) {
			if l := first(w, from, to); l[0].Kind == portals.KindPut && len(l) == 1 {
				w.lines[from*w.o.Ranks+to] = append(slices.Clone(l), l[0])
			}
		}}, ""},
		"an acknowledgement that is delivered twice": {0, hooks{deliver: func(w *World, from, to int) {
			if l := first(w, from, to); l[0].Kind == portals.KindAck {
				w.lines[from*w.o.Ranks+to] = append(slices.Clone(l), l[0])
			}
		}}, "answers no operation"},
		"an acknowledgement for another operation": {0, hooks{deliver: func(w *World, from, to int) {
			if l := slices.Clone(first(w, from, to)); l[0].Kind == portals.KindAck {
				l[0].ID ^= 1
				w.lines[from*w.o.Ranks+to] = l
			}
		}}, ""},
		"a failure that is reported as success": {5, hooks{deliver: func(w *World, from, to int) {
			if l := slices.Clone(first(w, from, to)); l[0].Kind == portals.KindAck {
				l[0].Fail = portals.FailNone
				w.lines[from*w.o.Ranks+to] = l
			}
		}}, "acknowledged with OK"},
		"a receive whose ignore bits are not set": {1, hooks{append: func(m *portals.MatchEntry) { m.IgnoreBits = 0 }}, ""},
		"a receive that is not used up": {0, hooks{append: func(m *portals.MatchEntry) {
			m.Options &^= portals.MEUseOnce
		}}, ""},
		"a receive without overflow events": {0, hooks{append: func(m *portals.MatchEntry) {
			m.Options |= portals.MEEventOverDisable
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := run(context.Background(), Suite()[c.world], c.hooks)
			require.NoError(t, err)
			require.Equal(t, Refuted, r.Verdict)
			require.Contains(t, r.Violation, c.want)
			require.Contains(t, r.Script, "violation: ")
		})
	}
}

// An event queue without flow control loses events, and the explorer says so.
func TestLossWithoutFlowControlIsFound(t *testing.T) {
	o := Suite()[5]
	o.Flow, o.Events = false, 1
	r, err := Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, Refuted, r.Verdict)
	require.Contains(t, r.Violation, "events dropped")
}
