package serve

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/nicloop/nicloop/bench/runs"
)

// The database may have been written by somebody else, so its file names are not trusted. A file is
// served only if it is below the directory of its own run (symbolic links are followed), is a
// regular file, and has an expected extension.

// extensions are the allowed extensions of the files of a record or run, by their names in URLs.
var extensions = map[string][]string{
	"log": {".log"}, "waves": {".fst", ".vcd"}, "divergence": {".fst", ".vcd"}, "signals": {".gtkw"}, "coverage": {".html"}, "figure": {".svg"},
}

// Content security policies for served files, which must not act on behalf of this server's pages.
// A sandbox without allow-same-origin has its own origin, so scripts of a coverage page have access
// to nothing.
const (
	figurePolicy   = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
	coveragePolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox allow-scripts"
)

// open opens a file of a run; what is its name in URLs.
func (s *Server) open(run *runs.Run, what, name string) (*os.File, fs.FileInfo, error) {
	if name == "" || run.Dir == "" || !slices.Contains(extensions[what], filepath.Ext(name)) {
		return nil, nil, fs.ErrNotExist
	}
	dir, err1 := filepath.Abs(s.path(run.Dir))
	file, err2 := filepath.Abs(s.path(name))
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	below, err := filepath.Rel(dir, file)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	// Checked before opening, because opening a pipe would block.
	if info, err := root.Stat(below); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(err, fs.ErrNotExist)
	}
	f, err := root.Open(below)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// isThere reports whether open would succeed.
func (s *Server) isThere(run *runs.Run, what, name string) bool {
	f, _, err := s.open(run, what, name)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// send serves a file of a run.
func (s *Server) send(w http.ResponseWriter, r *http.Request, run *runs.Run, what, name, kind string) {
	f, info, err := s.open(run, what, name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
}
