package runs

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	bolt "go.etcd.io/bbolt"
)

func store(t *testing.T) *Store { return At(filepath.Join(t.TempDir(), "out", "runs.db")) }

func green(test string, seed int64, cycles uint64) Record {
	return Record{Test: test, Seed: seed, Device: "model:", Status: passed, Cycles: cycles}
}

// night stores a finished run with some records.
func night(t *testing.T, s *Store, commit string, list ...Record) (uint64, []Record) {
	id, err := s.Begin(Run{Verb: "regress", Device: "model:", Commit: commit, Began: time.Now()})
	require.NoError(t, err)
	slower, err := s.Add(id, list)
	require.NoError(t, err)
	require.NoError(t, s.End(id, 1.5, nil))
	return id, slower
}

func TestOneCycleCounts(t *testing.T) {
	s := store(t)
	first, slower := night(t, s, "a", green("x/one", 1, 1000), green("x/one", 2, 1000))
	require.Empty(t, slower)
	failed := green("x/one", 1, 5000)
	failed.Status = "FAIL"
	other := green("x/one", 1, 9999)
	other.Device = "rtl:"
	_, slower = night(t, s, "b", failed, other)
	require.Empty(t, slower, "a failure is not slow, and another device is another matter")
	id, slower := night(t, s, "c", green("x/one", 1, 1001), green("x/one", 2, 1000))
	require.Len(t, slower, 1)
	require.Equal(t, &Green{Run: first, Commit: "a", Cycles: 1000}, slower[0].Slower)
	_, slower = night(t, s, "d", green("x/one", 1, 1001), green("x/one", 2, 999))
	require.Empty(t, slower, "told once, not every night")

	run, list, err := s.Get(id)
	require.NoError(t, err)
	require.Equal(t, 1, run.Slower)
	require.Equal(t, map[string]int{passed: 2}, run.Counts)
	require.Len(t, list, 2)
	require.NotNil(t, list[0].Slower)
	require.InDelta(t, 1.5, run.Build, 0)
}

func TestTrendAndCollect(t *testing.T) {
	s := store(t)
	var ids []uint64
	for i := range uint64(3) {
		id, _ := night(t, s, "", green("x/one", 1, 10+i), green("x/only", 1, 5), green("y/one", 1, 7))
		ids = append(ids, id)
	}
	list, err := s.Trend("x/one", "")
	require.NoError(t, err)
	require.Len(t, list, 3, "x/only begins alike and is another test")
	for i, p := range list {
		require.Equal(t, ids[i], p.Run)
		require.EqualValues(t, 10+i, p.Cycles)
	}
	list, err = s.Trend("*/one", "model:")
	require.NoError(t, err)
	require.Len(t, list, 6)
	list, err = s.Trend("*/one", "rtl:")
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = s.Trend("x/[", "")
	require.Error(t, err)

	removed, err := s.Collect(func(r Run) bool { return r.ID == ids[1] })
	require.NoError(t, err)
	require.Len(t, removed, 2)
	all, err := s.List()
	require.NoError(t, err)
	require.Len(t, all, 1)
	list, err = s.Trend("*/*", "")
	require.NoError(t, err)
	require.Len(t, list, 3, "the history of the others went with them")
	_, _, err = s.Get(ids[0])
	require.ErrorIs(t, err, ErrNone)
	_, slower := night(t, s, "", green("x/one", 1, 13))
	require.Len(t, slower, 1, "what passed last is still known")
	fresh, err := s.Fresh("model:")
	require.NoError(t, err)
	require.EqualValues(t, 2, fresh)
}

func TestDiff(t *testing.T) {
	bad := green("x/broke", 1, 3)
	bad.Status = "HANG"
	changes := Diff(
		[]Record{green("x/same", 1, 3), green("x/broke", 1, 3), green("x/slow", 1, 3), green("x/gone", 1, 3)},
		[]Record{green("x/same", 1, 3), bad, green("x/slow", 1, 4), green("x/slow", 2, 4)})
	var names []string
	for _, c := range changes {
		names = append(names, c.Test)
	}
	require.Equal(t, []string{"x/broke", "x/slow", "x/gone", "x/slow"}, names)
	require.Nil(t, changes[2].After)
	require.Nil(t, changes[3].Before)
	interrupted := green("x/slow", 1, 2)
	interrupted.Status = stopped
	changes = Diff([]Record{green("x/slow", 1, 3), green("x/gone", 1, 3), green("x/broke", 1, 3)}, []Record{interrupted, green("x/new", 1, 4), bad})
	common, before, after := Common(changes)
	require.Len(t, common, 1)
	require.Equal(t, "x/broke", common[0].Test)
	require.Equal(t, []int{2, 1}, []int{before, after})
}

// TestAtATime: several processes, represented by several stores, add to one file while another
// reads.
func TestAtATime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := At(file)
			id, err := s.Begin(Run{Verb: "regress"})
			if err != nil {
				t.Error(err)
				return
			}
			for k := range int64(5) {
				if _, err := s.Add(id, []Record{green("x/one", k, 1)}); err != nil {
					t.Error(err)
				}
				if _, err := s.List(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	list, err := At(file).List()
	require.NoError(t, err)
	require.Len(t, list, 4)
	for _, r := range list {
		require.Equal(t, 5, r.Counts[passed])
	}
}

// TestDamaged: a file that is not a valid store is reported, and not changed.
func TestDamaged(t *testing.T) {
	_, err := store(t).List()
	require.ErrorIs(t, err, ErrNone)
	s := store(t)
	night(t, s, "", green("x/one", 1, 1))
	text, err := os.ReadFile(s.file)
	require.NoError(t, err)
	for _, n := range []int{10, 4096, 5000, len(text) / 2} {
		broken := At(filepath.Join(t.TempDir(), "runs.db"))
		broken.wait = time.Second
		require.NoError(t, os.WriteFile(broken.file, text[:n], 0o644))
		_, err := broken.List()
		require.Error(t, err, "%d bytes", n)
		require.True(t, errors.Is(err, drivers.ErrEnvironment), "%d bytes: %v", n, err)
	}
}

// TestDamagedPageReleasesEverything: reading a damaged page leaks no descriptor, lock or mapping.
// The next run moves the file aside.
func TestDamagedPageReleasesEverything(t *testing.T) {
	s := store(t)
	for range 20 {
		night(t, s, "", green("x/one", 1, 1), green("x/two", 1, 1))
	}
	text, err := os.ReadFile(s.file)
	require.NoError(t, err)
	for at := 2 * os.Getpagesize(); at < len(text); at++ { // except for the two meta pages
		text[at] = 0xa5
	}
	require.NoError(t, os.WriteFile(s.file, text, 0o644))
	s.wait = 2 * time.Second

	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(list)
	}
	before := descriptors()
	for range 100 {
		_, err := s.List()
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorIs(t, err, drivers.ErrEnvironment)
	}
	require.InDelta(t, before, descriptors(), 3)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	require.NotContains(t, string(maps), s.file)

	id, _ := night(t, s, "", green("x/one", 1, 1)) // fails if the lock was leaked
	require.EqualValues(t, 1, id)
	aside, err := os.ReadFile(s.file + ".damaged-1")
	require.NoError(t, err)
	require.Equal(t, text, aside)
}

// TestVersions: files of older programs can be read, without the newer fields; a file of another
// version is refused and not changed.
func TestVersions(t *testing.T) {
	s := store(t)
	require.NoError(t, s.update(func(tx *bolt.Tx) error {
		return errors.Join(
			tx.Bucket(runBucket).Put(number(1), []byte(`{"id":1,"verb":"regress","began":"2026-11-01T00:00:00Z","device":"rtl:","seed":1,"seeds":1,"machine":"m","dir":"d","build_s":1,"counts":{"PASS":1},"slower":0}`)),
			tx.Bucket(recordBucket).Put(append(number(1), number(1)...), []byte(`{"test":"x/one","seed":1,"device":"rtl:","status":"PASS","cycles":7,"real_s":0.5,"rerun":"r"}`)))
	}))
	_, list, err := s.Get(1)
	require.NoError(t, err)
	require.Equal(t, []Record{{Test: "x/one", Seed: 1, Device: "rtl:", Status: passed, Cycles: 7, Real: 0.5, Rerun: "r"}}, list)

	require.NoError(t, s.update(func(tx *bolt.Tx) error { return tx.Bucket(metaBucket).Put([]byte("version"), []byte("9")) }))
	before, err := os.ReadFile(s.file)
	require.NoError(t, err)
	_, err = s.Begin(Run{Verb: "regress"})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorContains(t, err, `has version "9", this program reads 1: name another with --db`)
	_, err = s.List()
	require.ErrorIs(t, err, drivers.ErrConfig)
	after, err := os.ReadFile(s.file)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestLocked: waiting for a file locked by another process ends with an error that explains it.
func TestLocked(t *testing.T) {
	s := store(t)
	night(t, s, "", green("x/one", 1, 1))
	require.NoError(t, s.with(false, func(*bolt.DB) error {
		impatient := At(s.file)
		impatient.wait = 60 * time.Millisecond
		_, err := impatient.List()
		require.ErrorIs(t, err, drivers.ErrEnvironment)
		require.ErrorContains(t, err, "timeout")
		return nil
	}))
}
