package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/runs"
)

func night() (runs.Run, []runs.Record) {
	run := runs.Run{ID: 7, Verb: "regress", Device: "rtl:?a=1&b=<2>", Began: time.Now().Add(-time.Hour), Ended: time.Now(), Seeds: 30, Seed: 1, Machine: "m, 2 cores", Commit: strings.Repeat("c", 40)}
	var list []runs.Record
	for seed := range int64(100) {
		list = append(list, runs.Record{Test: "x/pass", Seed: seed, Status: "PASS", Cycles: uint64(100 + seed), Real: 0.5, Hardware: "h1"})
		list = append(list, runs.Record{
			Test: "x/fail", Seed: seed, Status: "FAIL", Error: fmt.Sprintf("MAGIC is 0x%x, expected 0x1 <b>\nat cycle %d", 77+seed, seed), Real: 0.25,
			Log: fmt.Sprintf("out/x.fail.seed%d/test.log", seed), Waves: "out/dump.fst", Rerun: "nicloop regress x/fail",
		})
	}
	list = append(list, runs.Record{Test: "x/skip", Status: "SKIP", Error: "no wires"}, runs.Record{Test: "x/slow", Status: "PASS", Cycles: 12, Slower: &runs.Green{Run: 3, Cycles: 11}})
	return run, list
}

func TestReport(t *testing.T) {
	run, list := night()
	var b strings.Builder
	require.NoError(t, Write(&b, "out", run, list))
	text := b.String()
	require.Equal(t, 1, strings.Count(text, "<details"), "failures that differ in numbers only are one group")
	require.Contains(t, text, "MAGIC is N, expected N &lt;b&gt;")
	require.Contains(t, text, "(100)</span>")
	require.Contains(t, text, "and 40 more")
	require.Contains(t, text, `<a href="x.fail.seed0/test.log">log</a>`, "as the page finds it")
	require.Contains(t, text, "100 – 199")
	require.Contains(t, text, "no wires")
	require.Contains(t, text, `<td class="n">12</td><td class="n">11</td><td class="n">3</td>`)
	require.Contains(t, text, "rtl:?a=1&amp;b=&lt;2&gt;")
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		require.NotContains(t, text, outside, "one file, no network")
	}
	if file := os.Getenv("NICLOOP_REPORT"); file != "" { // for manual inspection
		require.NoError(t, os.WriteFile(filepath.Clean(file), []byte(text), 0o644))
	}
}

func TestReportOfNothing(t *testing.T) {
	var b strings.Builder
	require.NoError(t, Write(&b, ".", runs.Run{Verb: "regress", Error: "interrupted"}, nil))
	require.Contains(t, b.String(), "ended early")
	require.NotContains(t, b.String(), "What failed")
}
