package runs

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
)

// putText stores raw text as a run and its only record.
func putText(t testing.TB, s *Store, run, record []byte) (id uint64) {
	t.Helper()
	id, err := s.Begin(Run{Verb: "regress", Device: "model:", Began: time.Unix(1, 0)})
	require.NoError(t, err)
	setText(t, s, id, run, record)
	return id
}

// setText replaces the text of a run and of its only record.
func setText(t testing.TB, s *Store, id uint64, run, record []byte) {
	t.Helper()
	require.NoError(t, s.update(func(tx *bolt.Tx) error {
		if err := tx.Bucket(recordBucket).Put(append(number(id), 'x'), record); err != nil {
			return err
		}
		return tx.Bucket(runBucket).Put(number(id), run)
	}))
}

// TestDamagedRecord: a record that is not JSON is reported as damage, which is an environment
// error.
func TestDamagedRecord(t *testing.T) {
	s := store(t)
	id := putText(t, s, []byte(`{"verb":"regress"}`), []byte(`{"test":`))
	_, _, err := s.Get(id)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = s.List()
	require.NoError(t, err)
}

// FuzzRecords: for any values in a store, its readers return an error or what they have read.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"verb":"regress","device":"model:"}`), []byte(`{"test":"a/b","seed":1,"status":"PASS"}`))
	f.Add([]byte(`null`), []byte(`[]`))
	s := At(filepath.Join(f.TempDir(), "runs.db"))
	id, err := s.Begin(Run{Verb: "regress", Device: "model:", Began: time.Unix(1, 0)})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, run, record []byte) {
		setText(t, s, id, run, record)
		if _, _, err := s.Get(id); err != nil {
			require.ErrorIs(t, err, ErrDamaged)
		}
		for _, read := range []func() error{
			func() error { _, err := s.List(); return err },
			func() error { _, _, err := s.Last("regress", "model:"); return err },
			func() error { _, err := s.Fresh("model:"); return err },
			func() error { _, err := s.History("a/b"); return err },
			func() error { _, err := s.Trend("*", "model:"); return err },
		} {
			_ = read()
		}
	})
}
