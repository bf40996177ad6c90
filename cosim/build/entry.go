package build

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A manifest lists the contents of a cache entry, so that damage is detected before the entry is
// executed.
type manifest struct {
	What  string    `json:"what"`
	Tool  string    `json:"tool"`
	Built time.Time `json:"built"`
	Files []entry   `json:"files"`
}

// An entry is one file of it.
type entry struct {
	Name       string `json:"name"`
	Bytes      int64  `json:"bytes"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable,omitempty"`
}

const manifestFile = "manifest.json"

// absent is the result of check for an entry that was never built, or was deleted.
const absent = "it is not there"

// seal writes the manifest of a directory and syncs everything to disk. It removes group write
// permission, which tools may have left because of the user's umask.
func seal(dir string, t thing) error {
	m := manifest{What: t.what, Tool: t.tool, Built: time.Now().UTC().Truncate(time.Second)}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			err = os.Chmod(name, info.Mode().Perm()&^0o022)
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info.Size() == 0 {
			return fmt.Errorf("%s is empty: is the disk full?", name)
		}
		sum, err := sumOf(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		m.Files = append(m.Files, entry{rel, info.Size(), sum, info.Mode()&0o100 != 0})
		return errors.Join(err, syncPath(name))
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, manifestFile)
	return errors.Join(os.WriteFile(name, text, 0o644), syncPath(name), syncPath(dir))
}

func syncPath(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func sumOf(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func readManifest(dir string) (m manifest, err error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	return m, err
}

// check describes what is wrong with an entry; "" if it is valid.
func check(dir string) string {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return absent
	}
	if why := Foreign(dir); why != "" {
		return "its folder " + why
	}
	m, err := readManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it has no list of its files"
	case err != nil:
		return "the list of its files cannot be read: " + err.Error()
	case len(m.Files) == 0:
		return "the list of its files is empty"
	}
	for _, f := range m.Files {
		if why := f.check(filepath.Join(dir, f.Name)); why != "" {
			return f.Name + " " + why
		}
	}
	return ""
}

func (e *entry) check(name string) string {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return "does not exist"
	case !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Size() != e.Bytes:
		return fmt.Sprintf("has %d bytes, expected %d", info.Size(), e.Bytes)
	case e.Executable && info.Mode()&0o100 == 0:
		return "is not executable"
	}
	if why := foreignInfo(info); why != "" {
		return why
	}
	sum, err := knownSum(name, info)
	switch {
	case err != nil:
		return "cannot be read: " + err.Error()
	case sum != e.SHA256:
		return "has other contents than were built"
	}
	return ""
}

// sums caches hashes computed by this process, by file identity, because a program opens many
// sessions.
var sums sync.Map

type sumKey struct {
	name                 string
	inode                uint64
	bytes, changed, nsec int64
}

func knownSum(name string, info fs.FileInfo) (string, error) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return sumOf(name)
	}
	key := sumKey{name, s.Ino, s.Size, int64(s.Ctim.Sec), int64(s.Ctim.Nsec)}
	if sum, ok := sums.Load(key); ok {
		return sum.(string), nil
	}
	sum, err := sumOf(name)
	if err == nil {
		sums.Store(key, sum)
	}
	return sum, err
}

// Foreign explains why somebody else could have written a file or directory; "" if not.
func Foreign(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return "cannot be looked at: " + err.Error()
	}
	return foreignInfo(info)
}

func foreignInfo(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() && s.Uid != 0 {
		return fmt.Sprintf("belongs to user %d, and would be run as user %d", s.Uid, os.Geteuid())
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Sprintf("may be written by others (mode %04o)", info.Mode().Perm())
	}
	return ""
}
