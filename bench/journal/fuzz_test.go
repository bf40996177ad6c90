package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// A journal with any contents is refused and left as it is, or gives its lines and takes new ones.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"a\":2}\n{\"a"))
	f.Add([]byte("\n"))
	name := filepath.Join(f.TempDir(), "runs.jsonl")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(name, text, 0o600))
		var lines int
		count := func(b []byte) error {
			lines++
			var v map[string]any
			return json.Unmarshal(b, &v)
		}
		j, err := Open(name, 0o600, true, count)
		if err != nil {
			require.ErrorIs(t, err, drivers.ErrConfig)
			left, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Equal(t, string(text), string(left))
			return
		}
		require.NoError(t, j.Append(map[string]any{}))
		require.NoError(t, j.Close())
		whole := lines
		lines = 0
		j, err = Open(name, 0o600, true, count)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.Equal(t, whole+1, lines)
	})
}
