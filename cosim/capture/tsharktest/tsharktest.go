// Package tsharktest runs tshark over captures in tests.
//
// A test without tshark is skipped, but fails in CI. A dissector that reports an error fails the
// test.
package tsharktest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Run runs tshark with the dissector script over a capture and returns the
// lines of its output.
func Run(t testing.TB, script string, file []byte, args ...string) []string {
	t.Helper()
	path, err := exec.LookPath("tshark")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("tshark is missing: apt-get install -y tshark")
	}
	require.NoError(t, err, "in CI tshark may not be missing")
	dir := t.TempDir()
	pcap, lua := filepath.Join(dir, "test.pcapng"), filepath.Join(dir, "nicloop.lua")
	require.NoError(t, os.WriteFile(pcap, file, 0o600))
	require.NoError(t, os.WriteFile(lua, []byte(script), 0o600))
	cmd := exec.Command(path, append([]string{"-X", "lua_script:" + lua, "-r", pcap}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir) // no user settings
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	for _, line := range strings.Split(stderr.String(), "\n") {
		require.NotContains(t, line, "nicloop.lua", "the script complains")
	}
	text := strings.TrimSuffix(string(out), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Fields returns the values of fields, one line per packet that matches the filter, separated by |.
func Fields(t testing.TB, script string, file []byte, filter string, names ...string) []string {
	t.Helper()
	args := []string{"-T", "fields", "-E", "separator=|", "-Y", filter}
	for _, n := range names {
		args = append(args, "-e", n)
	}
	return Run(t, script, file, args...)
}
