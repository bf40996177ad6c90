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

// The database may be somebody else's: what it names is not to be trusted. A file is served only if
// it lies below the directory of its own run, also when symbolic links are followed, is a regular
// file, and has an extension that such a file has.

// extensions are those of the files of a record or run, as addresses call them.
var extensions = map[string][]string{
	"log": {".log"}, "waves": {".fst", ".vcd"}, "divergence": {".fst", ".vcd"}, "signals": {".gtkw"}, "coverage": {".html"}, "figure": {".svg"},
}

// Policies for what comes from a file: it must not act for the pages of this server. Without
// allow-same-origin a sandbox has an origin of its own, so scripts of a coverage page reach
// nothing.
const (
	figurePolicy   = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
	coveragePolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox allow-scripts"
)

// open opens a file of a run, which is called what.
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
	// Looked at before it is opened: opening a pipe would wait.
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

// isThere tells whether open would find a file.
func (s *Server) isThere(run *runs.Run, what, name string) bool {
	f, _, err := s.open(run, what, name)
	if err == nil {
		f.Close()
	}
	return err == nil
}

// send gives a file of a run.
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
