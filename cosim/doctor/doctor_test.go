package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesAndFixes(t *testing.T) {
	var names []string
	for _, tool := range Check() {
		names = append(names, tool.Name)
		require.NotEmpty(t, tool.Need, tool.Name)
		if tool.OK {
			require.Empty(t, tool.Problem+tool.Fix, tool.Name)
		} else {
			require.NotEmpty(t, tool.Problem, tool.Name)
			require.NotEmpty(t, tool.Fix, tool.Name)
		}
	}
	require.Equal(t, []string{"verilator", "g++", "make", "ccache", "tshark", "yosys", "yosys-smtbmc", "z3",
		"zlib.h", "memfd", "unix socket", "qemu-system-x86_64", "vm image", "mpirun", "fi_info", "gtkwave", "nextpnr-ice40", "icepack"}, names)
}

// Continuous integration installs everything but what is optional, so all of that must be found
// there.
func TestEverythingIsFound(t *testing.T) {
	if os.Getenv("CI") == "" {
		t.Skip("not in CI: tools may be missing")
	}
	for _, tool := range Check() {
		require.True(t, tool.OK || tool.Optional, "%+v", tool)
	}
}

func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	old := zlibHeader
	zlibHeader = filepath.Join(t.TempDir(), "zlib.h")
	defer func() { zlibHeader = old }()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	missing := 0
	for _, tool := range Check() {
		switch {
		case tool.Optional:
			require.False(t, tool.OK, tool.Name)
			require.Regexp(t, `^scripts/setup-debian.sh --(vm|ice40|mpi|waves)$`, tool.Fix)
		case !tool.OK:
			missing++
			require.Contains(t, tool.Fix, "apt-get install -y ")
		}
	}
	require.Equal(t, len(programs)+1, missing)
}

func TestBrokenPrograms(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	p := program{name: "thing", need: "a test", pkg: "thing", works: regexp.MustCompile(`thing (\S+)`)}
	script := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "thing"), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	script("exit 3")
	require.Contains(t, p.check().Problem, "exit status 3")
	script("echo nothing")
	require.Contains(t, p.check().Problem, "did not print")
	script("echo thing 1.2")
	require.Equal(t, Tool{Name: "thing", Need: "a test", Version: "1.2", Path: filepath.Join(dir, "thing"), OK: true}, p.check())
}

func TestJSON(t *testing.T) {
	text, err := json.Marshal(Tool{Name: "z3", Need: "proofs", OK: true})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"z3","need":"proofs","ok":true}`, string(text))
}
