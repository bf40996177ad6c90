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

// What of the cache is kept when something is built: what was used lately, as far as there is room.
const (
	keepFor   = 30 * 24 * time.Hour
	keepBytes = 4 << 30
)

// A Stock is one entry of the cache, as people see it.
type Stock struct {
	Hash  string    `json:"hash"`
	What  string    `json:"what"`
	Tool  string    `json:"tool,omitempty"`
	Bytes int64     `json:"bytes"`
	Built time.Time `json:"built,omitzero"`
	Used  time.Time `json:"used"`
	// Wrong says why it would be built again; "" if it is whole. Only [VerifyStock] looks.
	Wrong string `json:"wrong,omitempty"`
}

// CacheDir is where the cache lies.
func CacheDir() (string, error) {
	c, err := openCache(nil)
	return c.dir, err
}

// ListStock lists the cache, what was used last first.
func ListStock() ([]Stock, error) {
	c, err := openCache(nil)
	if err != nil {
		return nil, err
	}
	return c.list()
}

// VerifyStock lists it too, and hashes every file of it.
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

// CleanStock removes what was not used for so long, all if that is 0, and says how much. What is
// being built stays.
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

// removeLeftovers removes what belongs to no entry: receipts, lists of trees, logs of failed
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
			continue // gone meanwhile
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

// remove removes an entry that nobody builds. A simulator that runs does not mind.
func (c cache) remove(hash string) (done bool) {
	c.unlessBusy(hash, func() { done = os.RemoveAll(c.path(hash)) == nil })
	return done
}

// prune removes what was not used for long, and from the longest unused on what has no room.
func (c cache) prune(unused time.Duration, room int64) {
	list, err := c.list()
	if err != nil {
		return // it only grows
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
