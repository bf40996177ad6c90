package sweep

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/batch"
	"github.com/nicloop/nicloop/drivers"
	"github.com/stretchr/testify/require"
)

// FuzzFile: a sweep file is refused with its line, or its points can be listed.
func FuzzFile(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("schema: 1\nname: x\nverb: run a\nvalues: {bytes: rows[].bytes}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		begin := time.Now()
		file, err := parse("x.yaml", text, fake{})
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_, _ = file.Points(ctx, fake{})
		require.Less(t, time.Since(begin), 10*time.Second)
	})
}

// FuzzChanges: a damaged rows.csv of --against is a configuration error.
func FuzzChanges(f *testing.F) {
	file, err := parse("good.yaml", []byte(good), fake{})
	require.NoError(f, err)
	points, err := file.Points(context.Background(), fake{})
	require.NoError(f, err)
	records := make([]*batch.Record, len(points))
	records[0] = measured(&points[0], 1)
	table, err := file.NewTable(points, records)
	require.NoError(f, err)
	f.Add([]byte("nodes,what,slots,credit_slots,seed,status\n2,a,8,1,5,passed\n"))
	f.Add([]byte("nodes,what\n2\n"))
	name := filepath.Join(f.TempDir(), "rows.csv")
	f.Fuzz(func(t *testing.T, text []byte) {
		require.NoError(t, os.WriteFile(name, text, 0o600))
		if _, err := table.Changes(name); err != nil {
			require.ErrorIs(t, err, drivers.ErrConfig)
		}
	})
}
