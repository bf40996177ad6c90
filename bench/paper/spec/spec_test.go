package spec

import (
	"context"
	"testing"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

// goodSpec4 is as the paper has it.
func goodSpec4(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: specColumns()}
	for _, measure := range []string{measureOverlap, measureProgress} {
		for _, p := range []host.Rendezvous{host.RGET, host.Spec} {
			for _, n := range specSizes(e) {
				for _, side := range []string{bench.SendSide, bench.ReceiveSide} {
					for _, sender := range specSenders() {
						v := 95.0
						switch {
						case p == host.RGET && side == bench.ReceiveSide:
							v = 5
						case p == host.Spec && side == bench.SendSide && sender == bench.LateSender:
							v = 88
						}
						t.Add(measure, string(p), n, side, sender, v)
					}
				}
			}
		}
	}
	return t
}

func init() {
	at := func(v float64, measure string, p host.Rendezvous, side, sender string) func(*paper.Table) {
		return papertest.Set("share (%)", v, "measure", measure, "protocol", string(p), "side", side, "sender", sender, "bytes", 64<<10)
	}
	cases["spec-fig4.13"] = papertest.Case{Good: goodSpec4, Plants: []func(*paper.Table){
		at(50, measureOverlap, host.RGET, bench.ReceiveSide, bench.EarlySender),
		at(70, measureOverlap, host.Spec, bench.ReceiveSide, bench.EarlySender),
		at(91, measureOverlap, host.Spec, bench.ReceiveSide, bench.LateSender),
		at(40, measureProgress, host.Spec, bench.ReceiveSide, bench.LateSender),
		at(80, measureOverlap, host.Spec, bench.SendSide, bench.EarlySender),
		at(60, measureOverlap, host.Spec, bench.SendSide, bench.LateSender),
		at(50, measureProgress, host.Spec, bench.SendSide, bench.LateSender),
	}}
}

func TestSpeculation(t *testing.T) {
	rep, err := fig4().Run(context.Background(), paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1})
	require.NoError(t, err)
	require.Len(t, rep.Table.Rows, 2*2*2*2*2)
	for _, v := range rep.Claims[:4] {
		require.True(t, v.Holds(), "%s: %s", v.Claim, v.Ours)
	}
}

// TestSpecExperiments holds the verdicts of small runs: what differs does so for the reason that
// README.md gives.
func TestSpecExperiments(t *testing.T) {
	for _, x := range []struct {
		*paper.Experiment
		verdicts string // in the order of the claims
		reasons  string // and of the reasons: Shown, Refuted, Nothing differs
		long     bool
	}{
		{fig3(), "HDHHDHHHHHDHH", "", true}, {fig414(), "HHHHHH", "", false}, {fig416(), "HHHHDHH", "NNNSSNN", false},
		{fig417(), "DHDHHHDHHH", "SRRSRRRSNNNR", true}, {fig419(), "HHHHH", "", true},
	} {
		if x.long && testing.Short() {
			continue
		}
		env := paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2, Why: true}
		rep, err := x.Run(context.Background(), env)
		require.NoError(t, err)
		got := ""
		for _, v := range rep.Claims {
			got += string(v.Outcome[:1])
		}
		require.Equal(t, x.verdicts, got, "%s: %+v", x.IDs[0], rep.Claims)
		files, err := rep.Save(t.TempDir(), "x")
		require.NoError(t, err)
		require.Greater(t, len(files), 1+len(rep.Reasons), "%s: no figures", x.IDs[0])
		require.Equal(t, x.reasons, papertest.ReasonWords(rep), "%s: %+v", x.IDs[0], rep.Reasons)
		env.Why = false
		again, err := x.Run(context.Background(), env)
		require.NoError(t, err)
		require.Equal(t, rep.Table, again.Table, "%s: not the same again", x.IDs[0])
	}
}
