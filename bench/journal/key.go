package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// DeviceFiles identifies the contents of the files that a device URI names: its parameters and its
// tree of RTL. It is part of a run's key, so that a run with changed files is measured again. A
// file that is missing, or a URI that cannot be parsed, is reported by the run, not here.
func DeviceFiles(device string) (string, error) {
	_, query, _ := strings.Cut(device, "?")
	keys, err := url.ParseQuery(query)
	if err != nil {
		return "", nil
	}
	var files strings.Builder
	for _, name := range []string{"params", "src"} {
		file := keys.Get(name)
		if file == "" {
			continue
		}
		if name == "src" {
			file = filepath.Join(file, "rtl")
		}
		hash, err := Digest(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(&files, " %s %s", name, hash)
	}
	return files.String(), nil
}

// Digest hashes a file, or all files of a directory with their paths.
func Digest(name string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(h, "%s\x00", path)
		_, err = io.Copy(h, f)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), err
}
