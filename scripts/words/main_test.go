package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	for name, want := range map[string][]string{
		"maxWays": {"max", "ways"}, "wr_place": {"wr", "place"}, "PLACE": {"place"}, "kCommandLane": {"k", "command", "lane"},
		"NICPool": {"nic", "pool"}, "replace": {"replace"}, "always": {"always"}, "rota2": {"rota"}, "u_turn": {"u", "turn"}, "turns.go": {"turns", "go"},
	} {
		require.Equal(t, want, split(name), name)
	}
}

// Names are checked in code, terms in what stands beside it.
func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		file, content string
		lines         []int // of the findings
	}{
		{"host/depot.go", "package host\n", []int{0}},
		{"host/x.go", "package host\n\nvar lanes []int\n", []int{3}},
		{"host/x.go", "package host\n\nvar s sync.Pool // of places\n", []int{3}},
		{"host/x.go", "package host\n\n// It takes place, and turns up in place of another.\nfunc replace() {}\n", nil},
		{"host/x.go", "package host\n\n// A line waits for a place.\n\nvar _ = \"// no place\" // they take turns\n", []int{3, 5, 5}},
		{"host/x.go", "package host\n\nvar _ = `\n// two places\n` + turn\n", []int{5, 4}},
		{"host/x.go", "package host\n\nvar _ = '`' + '\\x41' + '\"' + lane + \"\"\n", []int{3}},
		{"rtl/core/x.sv", "logic turn;  // whose turn it is\nalways_ff @(posedge clk) turned <= `PLACE;\n", []int{1, 2, 1}},
		{"rtl/core/link_tx.sv", "logic places;\nlogic lanes;\n", []int{2}},
		{"rtl/tb/x.cpp", "/* a\nlane */ int ways;\n", []int{2, 2}},
		{"bench/sweep/x.go", "package sweep\n\ntype cell struct{}\n", nil},
		{"bench/x.go", "package bench\n\ntype cell struct{}\n", []int{3}},
		{"docs/x.md", "A pool of packets\nthe only place\n16 places\n", []int{1, 3}},
	} {
		var lines []int
		for _, f := range check(tc.file, []byte(tc.content)) {
			lines = append(lines, f.line)
		}
		require.Equal(t, tc.lines, lines, "%s: %s", tc.file, tc.content)
	}
}
