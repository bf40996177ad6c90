package reproduce

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/stretchr/testify/require"
)

// TestPublishedVerdicts repeats the published experiments that need no device. If one differs,
// record it again with nicloop reproduce --record, and explain the difference.
func TestPublishedVerdicts(t *testing.T) {
	records, err := Published()
	require.NoError(t, err)
	repeated := 0
	for _, r := range records {
		list, err := Find([]string{r.ID})
		require.NoError(t, err, "the published experiment %s does not exist", r.ID)
		if !list[0].Pure {
			continue
		}
		rep, err := list[0].Run(context.Background(), r.Env())
		require.NoError(t, err)
		require.Empty(t, r.Compare(rep.Claims), r.ID)
		repeated++
	}
	require.Positive(t, repeated)
}

func verdictOf(claim string, o judge.Outcome, ours string, mean float64) paper.Verdict {
	return paper.Verdict{Claim: claim, Ours: ours, Outcome: o, Checks: []judge.Interval{{Want: "at most 3", Mean: mean, Outcome: o}}}
}

// TestCompare: a claim that is new, gone, or has another verdict, text or interval is a change.
func TestCompare(t *testing.T) {
	r := Record{Claims: []paper.Verdict{verdictOf("a", judge.Holds, "2 %", 2), verdictOf("b", judge.Differs, "4 %", 4)}}
	require.Empty(t, r.Compare(r.Claims))
	for _, now := range [][]paper.Verdict{
		{r.Claims[0]}, append(r.Claims[:2:2], verdictOf("c", judge.Holds, "", 0)),
		{r.Claims[0], verdictOf("b", judge.Holds, "4 %", 4)},
		{r.Claims[0], verdictOf("b", judge.Differs, "5 %", 4)},
		{r.Claims[0], verdictOf("b", judge.Differs, "4 %", 4.001)},
	} {
		changes := r.Compare(now)
		require.Len(t, changes, 1)
		require.NotEqual(t, "a", changes[0].Claim)
	}
}

// TestMerge: records are replaced, ordered as experiments and scales, and read as written.
func TestMerge(t *testing.T) {
	var list []Record
	for _, r := range []Record{
		{ID: "adapt-fig9", Scale: paper.Small}, {ID: "fc-table1", Scale: paper.Large}, {ID: "fc-table1", Scale: paper.Small, Commit: "old"},
		{ID: "fc-table1", Scale: paper.Small, Commit: "new"},
	} {
		list = Merge(list, r)
	}
	require.Equal(t, []Record{
		{ID: "fc-table1", Scale: paper.Small, Commit: "new"}, {ID: "fc-table1", Scale: paper.Large}, {ID: "adapt-fig9", Scale: paper.Small},
	}, list)
	name := filepath.Join(t.TempDir(), "records")
	none, err := ReadRecords(name)
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, WriteRecords(name, list))
	got, err := ReadRecords(name)
	require.NoError(t, err)
	require.Equal(t, list, got)
}

// TestList: every claim has a line, with its published verdict if it has one.
func TestList(t *testing.T) {
	text := All()[0].Claims[0].Text
	var out bytes.Buffer
	require.NoError(t, List(&out, []Record{
		{ID: All()[0].IDs[0], Scale: paper.Large, Commit: "0123456789", Claims: []paper.Verdict{verdictOf(text, judge.Differs, "", 4)}},
	}))
	claims := 0
	for _, x := range All() {
		claims += len(x.Claims)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, claims+1)
	require.Regexp(t, `large +DIFFERS +4 \(at most 3\) +01234567 +`, lines[1])
	require.Regexp(t, ` - +- +- +- +`, lines[2])
}
