package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that is cut anywhere gives its whole lines, and what is written then stands behind them.
func TestCutAnywhere(t *testing.T) {
	const whole = "1\n22\n333\n"
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	for cut := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(name, []byte(whole[:cut]), 0o600))
		var got []int
		f, err := Open(name, 0o600, true, func(b []byte) error {
			var n int
			got = append(got, n)
			return json.Unmarshal(b, &got[len(got)-1])
		})
		require.NoError(t, err)
		require.NoError(t, f.Append(4))
		require.NoError(t, f.Close())
		lines := []int{1, 22, 333}[:len(got)]
		require.Equal(t, lines, append([]int{}, got...))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, []string{"4\n", "1\n4\n", "1\n22\n4\n", "1\n22\n333\n4\n"}[len(got)], string(text))
	}
}

// What is no line of a journal is told, and stays as it is.
func TestForeignFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	require.NoError(t, os.WriteFile(name, []byte("1\nx\n2\n"), 0o600))
	_, err := Open(name, 0o600, true, func(b []byte) error { var n int; return json.Unmarshal(b, &n) })
	require.ErrorContains(t, err, "at byte 2")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "1\nx\n2\n", string(text))
}
