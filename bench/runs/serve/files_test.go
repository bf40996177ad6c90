package serve

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/runs"
)

// A database may name any file. Only regular files below the directory of their run are served.
func TestFilesOutsideTheRun(t *testing.T) {
	dir := t.TempDir()
	s := &Server{Store: runs.At(filepath.Join(dir, "runs.db")), Base: dir}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out2"), 0o755))
	for _, name := range []string{"secret.log", "secret.html", "out/good.log", "out/key.pem", "out2/other.log", "out/good.html", "out/good.svg"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o644))
	}
	require.NoError(t, os.Symlink("../secret.log", filepath.Join(dir, "out/link.log")))
	require.NoError(t, os.Symlink("../secret.log", filepath.Join(dir, "out/link.svg")))
	require.NoError(t, os.Symlink("good.log", filepath.Join(dir, "out/inside.log")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "out/pipe.log"), 0o600))
	names := []string{
		"out/good.log", filepath.Join(dir, "out/good.log"), "out/inside.log", // served
		"secret.log", filepath.Join(dir, "secret.log"), "out/../secret.log", "out2/other.log", "out/link.log", "out/pipe.log", "out/key.pem", "/etc/passwd", "out", "/dev/zero",
	}
	const served = 3
	add := func(r runs.Run, list ...runs.Record) uint64 {
		r.Began = time.Now()
		id, err := s.Store.Begin(r)
		require.NoError(t, err)
		_, err = s.Store.Add(id, list)
		require.NoError(t, err)
		if r.Coverage != nil {
			require.NoError(t, s.Store.Cover(id, *r.Coverage))
		}
		require.NoError(t, s.Store.End(id, 0, nil))
		return id
	}
	for i, name := range names {
		id := add(runs.Run{Verb: "regress", Dir: "out"}, runs.Record{Test: "x/one", Status: "FAIL", Error: "e", Log: name, Waves: name})
		w := ask(s, "GET", testPath(id, "/0/log"), nil)
		if i < served {
			require.Equal(t, http.StatusOK, w.Code, name)
			require.Equal(t, "text of out/good.log", w.Body.String())
		} else {
			require.Equal(t, http.StatusNotFound, w.Code, "%s: %s", name, w.Body)
		}
		require.Equal(t, http.StatusNotFound, ask(s, "GET", testPath(id, "/0/waves"), nil).Code, "%s as waves", name)
		require.Equal(t, i < served, contains(ask(s, "GET", testPath(id, ""), nil).Body.String(), testPath(id, "/0/log")), name)
	}
	id := add(runs.Run{Verb: "regress", Dir: "out", Coverage: &runs.Coverage{Page: "secret.html"}})
	require.Equal(t, http.StatusNotFound, ask(s, "GET", testPath(id, "/coverage"), nil).Code)
	id = add(runs.Run{Verb: "regress", Coverage: &runs.Coverage{Page: "secret.html"}})
	require.Equal(t, http.StatusNotFound, ask(s, "GET", testPath(id, "/coverage"), nil).Code, "a run without a directory has no files")

	// Served files must not run scripts on behalf of this server's pages.
	id = add(runs.Run{Verb: "regress", Dir: "out", Coverage: &runs.Coverage{Page: "out/good.html"}})
	w := ask(s, "GET", testPath(id, "/coverage"), nil)
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "sandbox allow-scripts")
	id = add(runs.Run{Verb: "sweep", Dir: "out"})
	w = ask(s, "GET", testPath(id, "/figure/good.svg"), nil)
	require.Equal(t, http.StatusOK, w.Code)
	policy := w.Header().Get("Content-Security-Policy")
	require.NotContains(t, policy, "script")
	require.Contains(t, policy, "sandbox")
	require.Equal(t, http.StatusNotFound, ask(s, "GET", testPath(id, "/figure/link.svg"), nil).Code)
}

func testPath(id uint64, rest string) string { return "/run/" + uintText(id) + rest }

func uintText(n uint64) string { return strconv.FormatUint(n, 10) }

func contains(text, part string) bool { return strings.Contains(text, part) }
