package reproduce

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the published verdicts into "+pageFile)

// TestPage: the page of the papers has the published verdicts.
func TestPage(t *testing.T) {
	file := filepath.Join("..", "..", pageFile)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	byHand, got, found := strings.Cut(string(text), pageMark)
	require.True(t, found, "%s has no line %q", pageFile, pageMark)
	records, err := Published()
	require.NoError(t, err)
	want := pageOf(records)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(byHand+pageMark+want), 0o644))
		return
	}
	require.Equal(t, want, got, "repair: go test ./bench/reproduce -run TestPage -update")
}

// TestPageHasBothNumbers: a claim stands with its verdict, the number of the paper, ours, and the
// interval that decided it.
func TestPageHasBothNumbers(t *testing.T) {
	x := All()[0]
	v := verdictOf(x.Claims[0].Text, judge.Differs, "4 %", 4)
	v.Paper = "< 3 %"
	page := pageOf([]Record{{ID: x.IDs[0], Scale: paper.Small, Commit: "0123456789", Samples: 1, Claims: []paper.Verdict{v}}})
	require.Contains(t, page, "commit 01234567.")
	require.Contains(t, strings.Join(strings.Fields(page), " "),
		"- **DIFFERS**: "+x.Claims[0].Text+`. Paper: \< 3 %. Ours: 4 %; judged: 4 (at most 3).`)
	require.Contains(t, page, "| FC | ")
	for line := range strings.Lines(page) {
		require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), pageColumns)
	}
}
