package serve

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/bench/runs/report"
)

//go:embed pages
var pages embed.FS

var serverTemplates = template.Must(template.New("").Funcs(report.Parts).Funcs(template.FuncMap{
	"date":  func(t time.Time) string { return t.Local().Format(time.DateTime) },
	"short": func(s string) string { return s[:min(12, len(s))] },
	"bad":   report.IsBad,
	"took": func(r runs.Run) string {
		if r.Ended.IsZero() {
			return "not ended"
		}
		return r.Ended.Sub(r.Began).Round(time.Second).String()
	},
	"testURL": testURL,
}).ParseFS(pages, "pages/*.html"))

// A Server serves a store of runs, read-only: runs, their tests, files named by these, and figures
// of sweeps.
type Server struct {
	Store *runs.Store
	// Base is the directory to which file names in the store are relative.
	Base string
	// Token must be part of a request, unless it is "": then only requests addressed to this
	// machine are answered.
	Token string
	mux   *http.ServeMux
}

// Handler returns the HTTP handler.
func (s *Server) Handler() http.Handler {
	s.mux = http.NewServeMux()
	for pattern, page := range map[string]func(*http.Request) (string, any, error){
		"GET /{$}": s.list, "GET /run/{run}": s.run, "GET /test": s.test, "GET /failures": s.failures, "GET /coverage": s.coverage,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.page(w, r, page) })
	}
	s.mux.HandleFunc("GET /run/{run}/{record}/{file}", s.file)
	s.mux.HandleFunc("GET /run/{run}/figure/{file}", s.figure)
	s.mux.HandleFunc("GET /run/{run}/coverage", s.covered)
	return http.HandlerFunc(s.answer)
}

const cookie = "nicloop"

// pagePolicy is the content security policy of the server's pages.
var pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src " + report.ScriptSource +
	"; img-src 'self' data:; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"

// answer authorises a request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this server only shows", http.StatusMethodNotAllowed)
		return
	}
	if s.Token == "" {
		if !local(r.Host) { // protects against DNS rebinding
			http.Error(w, "this server answers to localhost", http.StatusForbidden)
			return
		}
		s.mux.ServeHTTP(w, r)
		return
	}
	if q := r.URL.Query(); s.isToken(q.Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		q.Del("token")
		r.URL.RawQuery = q.Encode() // removes the token from the URL, which users may copy
		http.Redirect(w, r, r.URL.RequestURI(), http.StatusSeeOther)
		return
	}
	if c, err := r.Cookie(cookie); err != nil || !s.isToken(c.Value) {
		http.Error(w, "open the address that nicloop serve has printed", http.StatusUnauthorized)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) isToken(got string) bool {
	return subtle.ConstantTimeCompare([]byte(got), []byte(s.Token)) == 1
}

// local reports whether a host name refers to this machine.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// page serves one page. Nothing is written before the page is complete.
func (s *Server) page(w http.ResponseWriter, r *http.Request, page func(*http.Request) (string, any, error)) {
	name, v, err := page(r)
	var b bytes.Buffer
	if err == nil {
		err = serverTemplates.ExecuteTemplate(&b, name, v)
	}
	switch {
	case errors.Is(err, runs.ErrNone), errors.Is(err, errNotThere):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(b.Bytes()) // an error means that the client has disconnected
	}
}

var errNotThere = errors.New("there is no such thing")

// shownRuns and shownFailures limit a page; filters find others.
const (
	shownRuns      = 200
	failuresWithin = 50
)

// listView is the table of runs.
type listView struct {
	Query         url.Values
	Runs          []runs.Run
	More          int
	Verbs, Device []string
}

// list shows all runs that match the filters.
func (s *Server) list(r *http.Request) (string, any, error) {
	all, err := s.Store.List()
	if err != nil && !errors.Is(err, runs.ErrNone) {
		return "", nil, err
	}
	v := listView{Query: r.URL.Query()}
	for _, x := range all {
		v.Verbs, v.Device = with(v.Verbs, x.Verb), with(v.Device, x.Device)
		if v.wanted(&x) {
			v.Runs = append(v.Runs, x)
		}
	}
	if n := len(v.Runs); n > shownRuns {
		v.Runs, v.More = v.Runs[:shownRuns], n-shownRuns
	}
	return "list.html", &v, nil
}

func with(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (v *listView) wanted(r *runs.Run) bool {
	is := func(key, got string) bool { w := v.Query.Get(key); return w == "" || w == got }
	result := "passed"
	if Bad(r) {
		result = "failed"
	}
	text := strings.ToLower(strings.Join(append([]string{r.Commit, r.Dir, r.Machine, r.Device, r.Verb}, r.Patterns...), " "))
	return is("verb", r.Verb) && is("device", r.Device) && is("result", result) && strings.Contains(text, strings.ToLower(v.Query.Get("text")))
}

// Bad reports whether a run has a failed test, or ended early.
func Bad(r *runs.Run) bool {
	bad := r.Error != ""
	for status, n := range r.Counts {
		bad = bad || n > 0 && report.IsBad(status)
	}
	return bad
}

// runView is one run.
type runView struct {
	Run     runs.Run
	Groups  []report.Group
	Tests   []report.Test
	Slower  []runs.Record
	Figures []string // figures of a sweep
	Rows    []runs.Record
	Names   []string // of figures in rows
	Covered bool     // the page of its coverage exists
}

func (s *Server) get(r *http.Request) (runs.Run, []runs.Record, error) {
	id, err := strconv.ParseUint(r.PathValue("run"), 10, 64)
	if err != nil {
		return runs.Run{}, nil, errNotThere
	}
	return s.Store.Get(id)
}

func (s *Server) run(r *http.Request) (string, any, error) {
	run, list, err := s.get(r)
	if err != nil {
		return "", nil, err
	}
	v := runView{Run: run, Tests: report.Tests(list)}
	v.Groups = report.Groups(list, func(record int, file string) string { return s.linkTo(&run, record, &list[record], file) })
	for i := range list {
		if list[i].Slower != nil {
			v.Slower = append(v.Slower, list[i])
		}
		if len(list[i].Figures) > 0 {
			v.Rows = append(v.Rows, list[i])
		}
	}
	v.Figures, v.Covered = s.figures(&run), s.isCovered(&run)
	return "run.html", &v, nil
}

// linkTo is the URL of a file of a record; "" if it does not exist.
func (s *Server) linkTo(run *runs.Run, record int, r *runs.Record, file string) string {
	if file == "" {
		return ""
	}
	for what, name := range filesOf(r) {
		if name == file && s.isThere(run, what, name) {
			return fmt.Sprintf("/run/%d/%d/%s", run.ID, record, what)
		}
	}
	return ""
}

// filesOf returns the files of a record, by their names in URLs.
func filesOf(r *runs.Record) map[string]string {
	files := map[string]string{"log": r.Log, "waves": r.Waves}
	if d := r.Divergence; d != nil {
		files["divergence"], files["signals"] = d.Waves, d.Gtkw
	}
	return files
}

func (s *Server) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.Base, file)
}

// file serves a log or waves. The path comes from the store, not from the request (see open).
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	run, list, err := s.get(r)
	i, nerr := strconv.Atoi(r.PathValue("record"))
	if err != nil || nerr != nil || i < 0 || i >= len(list) {
		http.NotFound(w, r)
		return
	}
	what := r.PathValue("file")
	name := filesOf(&list[i])[what]
	if name == "" {
		http.NotFound(w, r)
		return
	}
	kind := "text/plain; charset=utf-8"
	if what != "log" {
		kind = "application/octet-stream"
		w.Header().Set("Content-Disposition", `attachment; filename="`+saved(&list[i], what, name)+`"`)
	}
	s.send(w, r, &run, what, name, kind)
}

// saved is the name under which a browser stores a file. A GTKWave save file refers to waves by
// name, so waves keep theirs.
func saved(r *runs.Record, what, name string) string {
	if what == "waves" {
		return strings.Map(plain, r.Test) + ".fst"
	}
	return strings.Map(plain, strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))) + filepath.Ext(name)
}

func plain(c rune) rune {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
		return c
	}
	return '-'
}

// figures returns the names of the figures in the directory of a sweep.
func (s *Server) figures(run *runs.Run) (names []string) {
	if run.Verb != "sweep" || run.Dir == "" {
		return nil
	}
	list, err := os.ReadDir(s.path(run.Dir))
	if err != nil {
		return nil // moved, or removed
	}
	for _, f := range list {
		if f.Type().IsRegular() && filepath.Ext(f.Name()) == ".svg" {
			names = append(names, f.Name())
		}
	}
	return names
}

func (s *Server) figure(w http.ResponseWriter, r *http.Request) {
	run, _, err := s.get(r)
	if err != nil || !slices.Contains(s.figures(&run), r.PathValue("file")) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", figurePolicy)
	s.send(w, r, &run, "figure", filepath.Join(run.Dir, r.PathValue("file")), "image/svg+xml")
}

// testView is the history of one test.
type testView struct {
	Name    string
	Devices []deviceView
}

type deviceView struct {
	Device string
	Seeds  []seedView
}

type seedView struct {
	Seed   int64
	Charts []named
	Points []runs.Point
}

type named struct {
	Name string
	SVG  template.HTML
}

func testURL(name string) string { return "/test?" + url.Values{"name": {name}}.Encode() }

func (s *Server) test(r *http.Request) (string, any, error) {
	v := testView{Name: r.URL.Query().Get("name")}
	points, err := s.Store.History(v.Name)
	if err != nil {
		return "", nil, err
	}
	if len(points) == 0 {
		return "", nil, errNotThere
	}
	at := map[string]int{}
	for _, p := range points {
		i, ok := at[p.Device]
		if !ok {
			i = len(v.Devices)
			at[p.Device] = i
			v.Devices = append(v.Devices, deviceView{Device: p.Device})
		}
		d := &v.Devices[i]
		if n := len(d.Seeds); n == 0 || d.Seeds[n-1].Seed != p.Seed {
			d.Seeds = append(d.Seeds, seedView{Seed: p.Seed})
		}
		last := &d.Seeds[len(d.Seeds)-1]
		last.Points = append(last.Points, p)
	}
	for i := range v.Devices {
		slices.SortFunc(v.Devices[i].Seeds, func(a, b seedView) int { return cmp.Compare(a.Seed, b.Seed) })
		for k := range v.Devices[i].Seeds {
			sv := &v.Devices[i].Seeds[k]
			sv.Charts = charts(sv.Points)
		}
	}
	return "test.html", &v, nil
}

// charts shows cycles, and every measured figure.
func charts(points []runs.Point) (list []named) {
	var names []string
	for _, p := range points {
		for _, f := range p.Figures {
			names = with(names, f.Name)
		}
	}
	if slices.ContainsFunc(points, func(p runs.Point) bool { return p.Cycles > 0 }) {
		list = append(list, named{"cycles", chart(cyclesOf(points), "cycles")})
	}
	for _, name := range names {
		if name == "cycles" {
			continue
		}
		var dots []dot
		for _, p := range points {
			if i := slices.IndexFunc(p.Figures, func(f runs.Figure) bool { return f.Name == name }); i >= 0 || p.Status != "PASS" {
				d := dot{run: p.Run, status: p.Status}
				if i >= 0 {
					d.value = p.Figures[i].Value
				}
				dots = append(dots, d)
			}
		}
		list = append(list, named{name, chart(dots, name)})
	}
	return list
}

// failuresView lists failures of several runs.
type failuresView struct {
	Groups []report.Group
	Runs   int
}

// A recordID identifies a record of a run.
type recordID struct {
	run    *runs.Run
	record int
}

func (s *Server) failures(*http.Request) (string, any, error) {
	all, err := s.Store.List()
	if err != nil {
		return "", nil, err
	}
	v := failuresView{Runs: min(len(all), failuresWithin)}
	var list []runs.Record
	var from []recordID
	for k := range all[:v.Runs] {
		run := &all[k]
		if !Bad(run) {
			continue
		}
		_, records, err := s.Store.Get(run.ID)
		if err != nil {
			return "", nil, err
		}
		for i := range records {
			if report.IsBad(records[i].Status) {
				list, from = append(list, records[i]), append(from, recordID{run, i})
			}
		}
	}
	v.Groups = report.Groups(list, func(i int, file string) string {
		return s.linkTo(from[i].run, from[i].record, &list[i], file)
	})
	return "failures.html", &v, nil
}
