package main

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/bench/coverage"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/drivers/userfile"
	hdl "github.com/nicloop/nicloop/rtl"
)

// writeCoverage writes the annotated sources and records the figures.
func writeCoverage(m *recorder, o *regress.Options, outcomes []regress.Outcome) (*coverage.Report, error) {
	r := regress.Coverage(o.Coverage, outcomes)
	name := filepath.Join(o.Dir, "coverage.html")
	share := func(c coverage.Count) runs.Share { return runs.Share{Seen: c.Seen, Of: c.Of} }
	m.run.Coverage = &runs.Coverage{Lines: share(r.Lines), Toggles: share(r.Toggles), Points: share(r.Functional), Page: name}
	return r, userfile.Write(name, func(w io.Writer) error { return r.HTML(w, sourcesOf(o.Device)) })
}

// printCoverage prints the coverage holes.
func printCoverage(w io.Writer, r *coverage.Report, page string) {
	r.Text(w)
	fmt.Fprintf(w, "annotated sources: %s\n", page)
}

// sourcesOf returns the RTL of a device: that of a working tree, or the embedded one.
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
