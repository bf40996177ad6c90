package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A register of block a drives a LUT of block b, which drives b's register; that drives an output.
const (
	cells = `{"modules": {"top": {
		"ports": {"clk": {"direction": "input", "bits": [2]}, "y": {"direction": "output", "bits": [5]}},
		"netnames": {"u_b.x": {"hide_name": 0, "bits": [4]}},
		"cells": {
			"ra": {"type": "FD", "attributes": {"src": "rtl/top.sv:1.1-2.2|rtl/a.sv:3.3-4.4"}, "connections": {"C": [2], "D": ["0"], "Q": [3]}},
			"lb": {"type": "LUT1", "connections": {"I": [3], "O": [4]}},
			"rb": {"type": "FD", "attributes": {"src": "rtl/b.sv:3.3-4.4|rtl/top.sv:1.1-2.2"}, "connections": {"C": [2], "D": [4], "Q": [5]}}}}}}`
	library = `{"modules": {
		"LUT1": {"ports": {"I": {"direction": "input", "bits": [2]}, "O": {"direction": "output", "bits": [3]}}, "cells": {
			"s": {"type": "$specify2", "parameters": {"T_RISE_MAX": "1111111"}, "connections": {"SRC": [2], "DST": [3]}}}},
		"FD": {"ports": {"C": {"direction": "input", "bits": [2]}, "D": {"direction": "input", "bits": [3]}, "Q": {"direction": "output", "bits": [4]}}, "cells": {
			"q": {"type": "$specify3", "parameters": {"T_RISE_MAX": "100101111"}, "connections": {"SRC": [2], "DST": [4]}},
			"d": {"type": "$specrule", "parameters": {"TYPE": "$setup", "T_LIMIT_MAX": "1010"}, "connections": {"SRC": [3], "DST": [2]}}}}}}`
	blocks = `{"modules": {"top": {"cells": {"u_a": {"type": "$paramod\\a\\N=1"}, "u_b": {"type": "b"}}}, "$paramod\\a\\N=1": {}, "b": {}}}`
)

func files(t *testing.T, texts ...string) (names []string) {
	for i, text := range texts {
		name := filepath.Join(t.TempDir(), []string{"cells", "library", "tree"}[i])
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		names = append(names, name)
	}
	return names
}

// 303 ps to the register's output, a wire and the LUT, 10 ps of set-up: counted where the path
// ends.
func TestPathAcrossBlocks(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run("top", 1, files(t, cells, library, blocks), &out))
	require.Contains(t, out.String(), "b 740 a\n")
	require.Contains(t, out.String(), "output 303 b\n")
	require.Contains(t, out.String(), "u_b.x[0]")
	require.NotContains(t, out.String(), "a 0")
}

func TestWhatCannotBeRead(t *testing.T) {
	var out strings.Builder
	loop := strings.Replace(cells, `"I": [3], "O": [4]`, `"I": [4], "O": [4]`, 1)
	require.ErrorContains(t, run("top", 0, files(t, loop, library, blocks), &out), "a loop without a register")
	require.ErrorContains(t, run("core", 0, files(t, cells, library, blocks), &out), "no module core")
	require.ErrorContains(t, run("top", 0, files(t, cells, `{}`, blocks), &out), "the library has no")
	require.Error(t, run("top", 0, files(t, cells[:40], library, blocks), &out))
}
