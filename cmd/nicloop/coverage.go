package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/bench/regress"
	hdl "github.com/nicloop/nicloop/rtl"
)

// writeCoverage prints the holes, and writes the page with the sources.
func writeCoverage(w io.Writer, o *regress.Options, outcomes []regress.Outcome) error {
	r := regress.Coverage(o.Coverage, outcomes)
	r.Text(w)
	name := filepath.Join(o.Dir, "coverage.html")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := errors.Join(r.HTML(f, sourcesOf(o.Device)), f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "sources with what was seen of them: %s\n", name)
	return err
}

// sourcesOf is the RTL of a device: that of a working tree, or that in this program.
func sourcesOf(device string) fs.FS {
	_, query, _ := strings.Cut(device, "?")
	keys, err := url.ParseQuery(query)
	if err != nil || keys.Get("src") == "" {
		return hdl.Sources
	}
	dir := keys.Get("src")
	if _, err := os.Stat(filepath.Join(dir, "rtl", "core")); err == nil {
		dir = filepath.Join(dir, "rtl")
	}
	return os.DirFS(dir)
}
