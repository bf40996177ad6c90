package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/stretchr/testify/require"
)

// memory returns a store of two regressions and a sweep, with their files.
func memory(t *testing.T) *Server {
	dir := t.TempDir()
	s := &Server{Store: runs.At(filepath.Join(dir, "runs.db")), Base: dir}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out", "sweep"), 0o755))
	for name, text := range map[string]string{
		"out/test.log": "what <b>happened</b>", "out/dump.fst": "waves", "secret": "secret", "out/sweep/a.svg": "<svg/>", "out/sweep/rows.csv": "rows",
		"out/coverage.html": "<h1>holes</h1>", "out/divergence.fst": "other waves", "out/divergence.gtkw": "signals",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	add := func(r runs.Run, list ...runs.Record) {
		r.Began = time.Now()
		id, err := s.Store.Begin(r)
		require.NoError(t, err)
		_, err = s.Store.Add(id, list)
		require.NoError(t, err)
		if r.Coverage != nil {
			require.NoError(t, s.Store.Cover(id, *r.Coverage))
		}
		require.NoError(t, s.Store.End(id, 0, nil))
	}
	add(runs.Run{Verb: "regress", Device: "rtl:", Dir: "out", Commit: "abc"},
		runs.Record{Test: "x/one", Seed: 1, Device: "rtl:", Status: "PASS", Cycles: 1000},
		runs.Record{Test: "x/<i>two", Seed: 1, Device: "rtl:", Status: "HANG", Error: "stuck for 7 cycles <script>", Log: "out/test.log", Waves: "out/dump.fst",
			Divergence: &lockstep.Divergence{Block: "u_nic.u_router", Waves: "out/divergence.fst", Gtkw: "out/divergence.gtkw",
				Drawing: &lockstep.Drawing{To: 10, Signals: []lockstep.Waveform{{Name: "tx_<b>", Width: 1, Values: [2][]lockstep.Value{{{Value: "1"}}}}},
					Path: []lockstep.Hop{{What: lockstep.HopEnters, Heads: [2]*lockstep.Head{{}, {}}}}}}})
	add(runs.Run{Verb: "regress", Device: "model:", Dir: "out"}, runs.Record{Test: "x/one", Seed: 1, Device: "rtl:", Status: "PASS", Cycles: 1200})
	add(runs.Run{Verb: "sweep", Device: "model:", Dir: "out/sweep"},
		runs.Record{Test: "s/a=1", Seed: 1, Device: "model:", Status: "PASS", Cycles: 5, Figures: []runs.Figure{{Name: "time_us", Value: 2.5}}})
	for _, seen := range []int{50, 75} {
		add(runs.Run{Verb: "regress", Device: "rtl:", Dir: "out", Patterns: []string{"velo/*"},
			Coverage: &runs.Coverage{Lines: runs.Share{Seen: seen, Of: 100}, Toggles: runs.Share{Seen: 1, Of: 3}, Points: runs.Share{Seen: 9, Of: 45}, Page: "out/coverage.html"}})
	}
	add(runs.Run{Verb: "regress", Device: "rtl:?x=1", Dir: "out", Coverage: &runs.Coverage{Page: "secrets/coverage.html"}})
	return s
}

// ask requests a page like a browser on this machine.
func ask(s *Server, method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "127.0.0.1:8765"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

var script = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

var outside = regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)

func TestPages(t *testing.T) {
	s := memory(t)
	for _, c := range []struct {
		path       string
		code       int
		has, lacks []string
	}{
		{"/", 200, []string{`href="/run/3"`, `href="/run/1"`, "1 HANG", "<option>sweep</option>"}, nil},
		{"/?result=failed", 200, []string{`href="/run/1"`}, []string{`href="/run/2"`}},
		{"/?device=model:&verb=sweep", 200, []string{`href="/run/3"`}, []string{`href="/run/2"`}},
		{"/?text=ABC", 200, []string{`href="/run/1"`}, []string{`href="/run/3"`}},
		{"/?text=nothing", 200, []string{"no run is like that"}, nil},
		{"/run/1", 200, []string{"stuck for N cycles &lt;script&gt;", `href="/run/1/1/log"`, `href="/run/1/1/waves"`, "x/&lt;i&gt;two"}, []string{"<script>\n</script>", "<i>two"}},
		{"/run/2", 200, []string{"Slower", `<a href="/run/1">1</a>`}, nil},
		{"/run/3", 200, []string{`<img src="/run/3/figure/a.svg"`, "time_us 2.5"}, []string{"rows.csv"}},
		{"/run/9", 404, nil, nil},
		{"/run/x", 404, nil, nil},
		{"/test?name=x/one", 200, []string{"<svg", "1200", `href="/run/2"`}, nil},
		{"/test?name=s/a%3D1", 200, []string{"time_us"}, nil},
		{"/test?name=nothing", 404, nil, nil},
		{"/failures", 200, []string{"stuck for N cycles", `href="/run/1/1/waves"`, `<svg class="wave"`}, nil},
		{"/run/1/1/log", 200, []string{"what <b>happened</b>"}, nil},
		{"/run/1/1/waves", 200, []string{"waves"}, nil},
		{"/run/1/0/log", 404, nil, nil},
		{"/run/1/1/secret", 404, nil, nil},
		{"/run/1/7/log", 404, nil, nil},
		{"/run/3/figure/a.svg", 200, []string{"<svg/>"}, nil},
		{"/run/3/figure/rows.csv", 404, nil, nil},
		{"/run/3/figure/..%2F..%2Fsecret", 404, nil, []string{"secret\n"}},
		{"/run/1/figure/a.svg", 404, nil, nil},
		{"/secret", 404, nil, nil},
		{"/run/1/1/divergence", 200, []string{"other waves"}, nil},
		{"/run/1/1/signals", 200, []string{"signals"}, nil},
		{"/run/1/0/signals", 404, nil, nil},
		{"/run/1", 200, []string{`href="/run/1/1/divergence"`, `href="/run/1/1/signals"`, "u_nic.u_router", `<svg class="wave"`, "tx_&lt;b&gt;", `<svg class="sequence"`}, []string{"/coverage\">sources", "tx_<b>"}},
		{"/run/5", 200, []string{"lines 75.0 %, toggles 33.3 %, functional points 20.0 %", `href="/run/5/coverage"`, `href="/coverage">trend`}, nil},
		{"/run/5/coverage", 200, []string{"<h1>holes</h1>"}, nil},
		{"/run/6", 200, []string{"lines 100.0 %"}, []string{`href="/run/6/coverage"`}},
		{"/run/6/coverage", 404, nil, nil},
		{"/run/1/coverage", 404, nil, nil},
		{"/coverage", 200, []string{`href="/run/5/coverage"`, "run 4: 50 % of lines", "run 5: 75 % of lines", "velo/*"}, []string{`href="/run/1"`, `href="/run/6/coverage"`}},
	} {
		w := ask(s, "GET", c.path, nil)
		require.Equal(t, c.code, w.Code, "%s: %s", c.path, w.Body)
		for _, text := range c.has {
			require.Contains(t, w.Body.String(), text, c.path)
		}
		for _, text := range c.lacks {
			require.NotContains(t, w.Body.String(), text, c.path)
		}
		require.NotRegexp(t, outside, w.Body.String(), "%s wants something of the network", c.path)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		for _, script := range script.FindAllStringSubmatch(w.Body.String(), -1) {
			require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
			sum := sha256.Sum256([]byte(script[1]))
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", c.path)
		}
	}
	require.Equal(t, "text/plain; charset=utf-8", ask(s, "GET", "/run/1/1/log", nil).Header().Get("Content-Type"), "a log is no page")
}

func TestOnlyReads(t *testing.T) {
	s := memory(t)
	before, err := os.ReadFile(filepath.Join(s.Base, "runs.db"))
	require.NoError(t, err)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		require.Equal(t, http.StatusMethodNotAllowed, ask(s, method, "/run/1", nil).Code)
	}
	require.Equal(t, http.StatusOK, ask(s, "HEAD", "/", nil).Code)
	after, err := os.ReadFile(filepath.Join(s.Base, "runs.db"))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestWhoMayRead: without a token, requests addressed to this machine; with a token, requests that
// contain it.
func TestWhoMayRead(t *testing.T) {
	s := memory(t)
	for host, code := range map[string]int{"localhost:80": 200, "127.0.0.1": 200, "[::1]:8765": 200, "evil.example:8765": 403, "192.168.0.1:8765": 403, "": 403} {
		require.Equal(t, code, ask(s, "GET", "/", func(r *http.Request) { r.Host = host }).Code, host)
	}
	s.Token = "a token that is long"
	require.Equal(t, http.StatusUnauthorized, ask(s, "GET", "/", nil).Code)
	require.Equal(t, http.StatusUnauthorized, ask(s, "GET", "/?token=wrong", nil).Code)
	require.Equal(t, http.StatusUnauthorized, ask(s, "GET", "/?token=", nil).Code)
	w := ask(s, "GET", "/run/1?token=a+token+that+is+long", nil)
	require.Equal(t, http.StatusSeeOther, w.Code)
	require.Equal(t, "/run/1", w.Header().Get("Location"), "the token does not stay in the address")
	c := w.Result().Cookies()[0]
	require.True(t, c.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, c.SameSite)
	require.Equal(t, http.StatusOK, ask(s, "GET", "/run/1", func(r *http.Request) { r.AddCookie(c) }).Code)
	require.Equal(t, http.StatusUnauthorized, ask(s, "GET", "/run/1", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "wrong"}) }).Code)
}
