package build

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersionAskedOnce: a program is queried once, and again when the file changes; a failing one
// is queried each time.
func TestVersionAskedOnce(t *testing.T) {
	dir := t.TempDir()
	tool, asked := filepath.Join(dir, "tool"), filepath.Join(dir, "asked")
	write := func(text string) {
		require.NoError(t, os.WriteFile(tool, []byte("#!/bin/sh\necho x >> "+asked+"\n"+text+"\n"), 0o755))
	}
	times := func() int {
		text, err := os.ReadFile(asked)
		require.NoError(t, err)
		return strings.Count(string(text), "x")
	}
	write("echo one")
	for range 3 {
		v, err := version(context.Background(), tool)
		require.NoError(t, err)
		require.Equal(t, "one", v)
	}
	require.Equal(t, 1, times())
	write("echo another")
	v, err := version(context.Background(), tool)
	require.NoError(t, err)
	require.Equal(t, "another", v)
	write("exit 1 # no more")
	for range 2 {
		_, err = version(context.Background(), tool)
		require.ErrorContains(t, err, "does not work")
	}
	require.Equal(t, 4, times())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	write("echo one")
	_, err = version(ctx, tool)
	require.ErrorIs(t, err, context.Canceled)
}
