package runs

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers/registry"
	bolt "go.etcd.io/bbolt"
)

// List returns all runs, newest first.
func (s *Store) List() (list []Run, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		return tx.Bucket(runBucket).ForEach(func(_, text []byte) error {
			var r Run
			if err := decode(text, &r); err != nil {
				return err
			}
			list = append(list, r)
			return nil
		})
	})
	slices.Reverse(list)
	return list, err
}

// Get returns a run and its tests in the order in which they ended.
func (s *Store) Get(id uint64) (run Run, list []Record, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		if run, err = getRun(tx, id); err != nil {
			return err
		}
		return prefixed(tx.Bucket(recordBucket), number(id), func(_, text []byte) error {
			var r Record
			if err := decode(text, &r); err != nil {
				return err
			}
			list = append(list, r)
			return nil
		})
	})
	return run, list, err
}

// prefixed calls f for all keys with a prefix.
func prefixed(b *bolt.Bucket, prefix []byte, f func(key, value []byte) error) error {
	c := b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := f(k, v); err != nil {
			return err
		}
	}
	return nil
}

// Last returns the newest finished run of a verb on a device; ErrNone if there is none.
func (s *Store) Last(verb, device string) (run Run, list []Record, err error) {
	all, err := s.List()
	if err != nil {
		return run, nil, err
	}
	for _, r := range all {
		if r.Verb == verb && r.Device == device && !r.Ended.IsZero() {
			return s.Get(r.ID)
		}
	}
	return run, nil, ErrNone
}

// Fresh returns a seed above all seeds that were used with a device.
func (s *Store) Fresh(device string) (seed int64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		return tx.Bucket(historyBucket).ForEach(func(_, text []byte) error {
			var p Point
			if err := decode(text, &p); err != nil {
				return err
			}
			if p.Device == device && p.Seed >= seed && p.Seed < 1<<62 {
				seed = p.Seed + 1
			}
			return nil
		})
	})
	return seed, err
}

// Green returns when a test last passed; the zero value if it never did.
func (s *Store) Green(test, device string, seed int64) (g Green, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		g, err = lastPass(tx, test, device, seed)
		return err
	})
	return g, err
}

func lastPass(tx *bolt.Tx, test, device string, seed int64) (g Green, err error) {
	if text := tx.Bucket(greenBucket).Get(subject(test, device, seed)); text != nil {
		err = decode(text, &g)
	}
	return g, err
}

// Reference returns the pass with which the cycles of a test are compared. For hardware that is
// being edited (rtl:?src=DIR) that is the newest pass on a device of the same kind without src=, at
// the given commit; else the last pass on the device itself, or on one of its kind. The zero value:
// there is none.
func (s *Store) Reference(test, device string, seed int64, commit string) (g Green, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		g, err = reference(tx, test, device, seed, commit)
		return err
	})
	return g, err
}

func reference(tx *bolt.Tx, test, device string, seed int64, commit string) (g Green, err error) {
	kind := registry.Kind(device)
	if kind != device && commit != "" {
		if g, err = passAt(tx, test, kind, seed, commit); err != nil || g.Run > 0 {
			return g, err
		}
	}
	for _, d := range []string{device, kind} {
		if g, err = lastPass(tx, test, d, seed); err != nil || g.Run > 0 {
			return g, err
		}
	}
	return g, nil
}

// passAt returns the newest pass of a test on a device at a commit.
func passAt(tx *bolt.Tx, test, device string, seed int64, commit string) (g Green, err error) {
	err = prefixed(tx.Bucket(historyBucket), subject(test, device, seed), func(_, text []byte) error {
		var p Point
		if err := decode(text, &p); err != nil || p.Status != passed {
			return err
		}
		if run, err := getRun(tx, p.Run); err == nil && run.Commit == commit && !run.Modified {
			g = Green{Run: p.Run, Commit: commit, Cycles: p.Cycles}
		}
		return nil
	})
	return g, err
}

// History returns the history of one test by device and seed, oldest run first.
func (s *Store) History(test string) (list []Point, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		return prefixed(tx.Bucket(historyBucket), []byte(test+"\x00"), func(_, text []byte) error {
			var p Point
			if err := decode(text, &p); err != nil {
				return err
			}
			list = append(list, p)
			return nil
		})
	})
	return list, err
}

// Trend returns the history of the tests whose names match a pattern, test by test, oldest run
// first.
func (s *Store) Trend(pattern, device string) (list []Point, err error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	fixed, _, _ := strings.Cut(pattern, "*")
	fixed, _, _ = strings.Cut(fixed, "?")
	fixed, _, _ = strings.Cut(fixed, "[")
	err = s.view(func(tx *bolt.Tx) error {
		list = nil
		return prefixed(tx.Bucket(historyBucket), []byte(fixed), func(_, text []byte) error {
			var p Point
			if err := decode(text, &p); err != nil {
				return err
			}
			if ok, _ := path.Match(pattern, p.Test); ok && (device == "" || device == p.Device) {
				list = append(list, p)
			}
			return nil
		})
	})
	return list, err
}

// Collect removes the runs that keep rejects, and returns them. The last pass of each test is
// retained.
func (s *Store) Collect(keep func(Run) bool) (removed []Run, err error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if keep(r) {
			continue
		}
		if err := s.update(func(tx *bolt.Tx) error { return forget(tx, r.ID) }); err != nil {
			return removed, err
		}
		removed = append(removed, r)
	}
	return removed, nil
}

func forget(tx *bolt.Tx, id uint64) error {
	var keys, points [][]byte
	err := prefixed(tx.Bucket(recordBucket), number(id), func(k, text []byte) error {
		var r Record
		if err := decode(text, &r); err != nil {
			return err
		}
		keys = append(keys, slices.Clone(k))
		points = append(points, append(subject(r.Test, r.Device, r.Seed), number(id)...))
		return nil
	})
	if err != nil {
		return err
	}
	for i := range keys {
		if err := tx.Bucket(recordBucket).Delete(keys[i]); err != nil {
			return err
		}
		if err := tx.Bucket(historyBucket).Delete(points[i]); err != nil {
			return err
		}
	}
	return tx.Bucket(runBucket).Delete(number(id))
}
