package build

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Retention: after a build, recently used entries are kept as far as there is room.
const (
	keepFor   = 30 * 24 * time.Hour
	keepBytes = 4 << 30
)

// A Stock is an entry of the cache.
type Stock struct {
	Hash  string    `json:"hash"`
	What  string    `json:"what"`
	Tool  string    `json:"tool,omitempty"`
	Bytes int64     `json:"bytes"`
	Built time.Time `json:"built,omitzero"`
	Used  time.Time `json:"used"`
	// Wrong explains why it would be rebuilt; "" if it is valid. Only [VerifyStock] checks.
	Wrong string `json:"wrong,omitempty"`
}

// CacheDir is the directory of the cache.
func CacheDir() (string, error) {
	c, err := openCache(nil)
	return c.dir, err
}

// ListStock lists the cache, most recently used first.
func ListStock() ([]Stock, error) {
	c, err := openCache(nil)
	if err != nil {
		return nil, err
	}
	return c.list()
}

// VerifyStock lists the cache and verifies the hashes of all files.
func VerifyStock() ([]Stock, error) {
	list, err := ListStock()
	if err != nil {
		return nil, err
	}
	c, err := openCache(nil)
	for i := range list {
		list[i].Wrong = check(c.path(list[i].Hash))
	}
	return list, err
}

// CleanStock removes entries that were not used for the given time (0: all) and returns them.
// Entries being built are kept.
func CleanStock(unused time.Duration) (removed []Stock, err error) {
	c, err := openCache(nil)
	if err != nil {
		return nil, err
	}
	c.sweep()
	list, err := c.list()
	for _, s := range list {
		if time.Since(s.Used) >= unused && c.remove(s.Hash) {
			removed = append(removed, s)
		}
	}
	if unused == 0 {
		c.removeLeftovers()
	}
	return removed, err
}

// removeLeftovers removes files that belong to no entry: receipts, lists of trees, logs of failed
// builds.
func (c cache) removeLeftovers() {
	for _, pattern := range []string{"receipt-*", "tree-*", "failed-*"} {
		names, _ := filepath.Glob(filepath.Join(c.dir, pattern))
		for _, name := range names {
			os.Remove(name)
		}
	}
}

func (c cache) list() (list []Stock, err error) {
	dirs, err := os.ReadDir(c.dir)
	for _, d := range dirs {
		if !d.IsDir() || strings.HasSuffix(d.Name(), ".part") {
			continue
		}
		info, err := d.Info()
		if err != nil {
			continue // removed meanwhile
		}
		s := Stock{Hash: d.Name(), What: "of another version of nicloop", Used: info.ModTime(), Bytes: sizeOf(c.path(d.Name()))}
		if m, err := readManifest(c.path(d.Name())); err == nil {
			s.What, s.Tool, s.Built = m.What, m.Tool, m.Built
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Stock) int { return cmp.Or(b.Used.Compare(a.Used), strings.Compare(a.Hash, b.Hash)) })
	return list, err
}

func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			if info, err := d.Info(); err == nil && !d.IsDir() {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// remove removes an entry unless it is being built. A running simulator is not affected.
func (c cache) remove(hash string) (done bool) {
	c.unlessBusy(hash, func() { done = os.RemoveAll(c.path(hash)) == nil })
	return done
}

// prune removes entries that were not used for long, and the least recently used ones that exceed
// the room.
func (c cache) prune(unused time.Duration, room int64) {
	list, err := c.list()
	if err != nil {
		return // the cache only grows
	}
	var bytes int64
	for _, s := range list {
		if bytes += s.Bytes; bytes <= room && time.Since(s.Used) < unused {
			continue
		}
		if c.remove(s.Hash) {
			c.tell(fmt.Sprintf("the cache forgets %s (%s), last used on %s", s.What, s.Hash[:min(12, len(s.Hash))], s.Used.Format(time.DateOnly)))
		}
	}
}
