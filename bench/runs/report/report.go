// Package report generates the page of a regression: one self-contained HTML file that needs
// neither network nor server, for wide and narrow screens, light or dark.
//
// Failures come first, grouped by signature (the error without its numbers), then tests that became
// slower, then all tests, with a row for each and all its seeds.
package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench/runs"
)

//go:embed page.html
var page string

//go:embed style.css
var style string

//go:embed filter.js
var filter string

// Parts are template functions of every page.
var Parts = template.FuncMap{
	"style":   func() template.CSS { return template.CSS(style) },
	"script":  func() template.HTML { return template.HTML("<script>" + filter + "</script>") },
	"allowed": func() string { return ScriptSource },
	"drawing": Drawing,
}

// ScriptSource is the source in a content security policy that allows the script of pages, and no
// other.
var ScriptSource = func() string {
	sum := sha256.Sum256([]byte(filter))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

var pageTemplate = template.Must(template.New("page").Funcs(Parts).Parse(page))

// view is the contents of the page.
type view struct {
	Run      runs.Run
	Verdict  string
	Bad      bool
	Took     string
	Began    string
	Commit   string
	Command  string
	Counts   []count
	Groups   []Group
	Slower   []runs.Record
	Tests    []Test
	Records  int
	Hardware []string
	Covered  string // page of its coverage
}

type count struct {
	Status string
	N      int
}

// A Group is a set of failures with one signature.
type Group struct {
	Signature, Status string
	First             failure // in full
	Others            []failure
	More              int // number of failures left out
	Total             int
}

type failure struct {
	runs.Record
	LogLink, WavesLink     string
	DivergedLink, SaveLink string
}

func failureOf(i int, r *runs.Record, link func(i int, file string) string) failure {
	f := failure{Record: *r, LogLink: link(i, r.Log), WavesLink: link(i, r.Waves)}
	if r.Divergence != nil {
		f.DivergedLink, f.SaveLink = link(i, r.Divergence.Waves), link(i, r.Divergence.Gtkw)
	}
	return f
}

// A Test combines all seeds of a test.
type Test struct {
	Name                 string
	Pass, Bad, Skip      int
	Status               string
	MinCycles, MaxCycles uint64
	Seconds              float64
	Share                int // of the time of the longest, in percent
	Why                  string
}

// shownCases is the maximum number of listed cases per group.
const shownCases = 60

// Write writes a page that is stored in dir.
func Write(w io.Writer, dir string, run runs.Run, list []runs.Record) error {
	v := view{
		Run: run, Groups: Groups(list, func(_ int, file string) string { return link(dir, file) }), Tests: Tests(list), Records: len(list),
		Began: run.Began.Local().Format(time.DateTime), Commit: run.Commit[:min(12, len(run.Commit))],
		Command: strings.Join(append([]string{"nicloop", run.Verb}, run.Patterns...), " "),
	}
	if !run.Ended.IsZero() {
		v.Took = run.Ended.Sub(run.Began).Round(time.Second).String()
	}
	if run.Coverage != nil {
		v.Covered = link(dir, run.Coverage.Page)
	}
	v.count(list)
	return pageTemplate.Execute(w, &v)
}

var order = []string{"PASS", "FAIL", "HANG", "FLAKY", "STOP", "SKIP", "NOTRUN"}

func IsBad(status string) bool { return status == "FAIL" || status == "HANG" || status == "FLAKY" }

func (v *view) count(list []runs.Record) {
	n := map[string]int{}
	for i := range list {
		n[list[i].Status]++
		if list[i].Slower != nil {
			v.Slower = append(v.Slower, list[i])
		}
		if h := list[i].Hardware; h != "" && !slices.Contains(v.Hardware, h) {
			v.Hardware = append(v.Hardware, h)
		}
	}
	for _, s := range order {
		if n[s] > 0 {
			v.Counts = append(v.Counts, count{s, n[s]})
		}
	}
	switch bad := n["FAIL"] + n["HANG"] + n["FLAKY"]; {
	case bad > 0:
		v.Verdict, v.Bad = "failed", true
	case v.Run.Error != "":
		v.Verdict, v.Bad = "ended early", true
	default:
		v.Verdict = "passed"
	}
}

var numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+(\.[0-9]+)?`)

// signature is equal for failures with the same cause; for records without one, it is the first
// line of the error without numbers.
func signature(r *runs.Record) string {
	if r.Signature != "" {
		return r.Signature
	}
	head, _, _ := strings.Cut(r.Error, "\n")
	return numbers.ReplaceAllString(head, "N")
}

// Groups groups failures by signature. link returns the URL of a file of a record on the page.
func Groups(list []runs.Record, link func(record int, file string) string) (all []Group) {
	at := map[string]int{}
	for i := range list {
		r := &list[i]
		if !IsBad(r.Status) {
			continue
		}
		key, f := r.Status+" "+signature(r), failureOf(i, r, link)
		n, ok := at[key]
		if !ok {
			at[key] = len(all)
			all = append(all, Group{Signature: signature(r), Status: r.Status, First: f, Total: 1})
			continue
		}
		g := &all[n]
		g.Total++
		if len(g.Others)+1 == shownCases {
			g.More++
			continue
		}
		g.Others = append(g.Others, f)
	}
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(b.Total, a.Total) })
	return all
}

// link is the path of a file relative to the page.
func link(dir, file string) string {
	if file == "" {
		return ""
	}
	rel, err := filepath.Rel(dir, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

func Tests(list []runs.Record) (all []Test) {
	at := map[string]int{}
	for i := range list {
		r := &list[i]
		n, ok := at[r.Test]
		if !ok {
			n = len(all)
			at[r.Test] = n
			all = append(all, Test{Name: r.Test})
		}
		all[n].add(r)
	}
	longest := 0.0
	for i := range all {
		longest = max(longest, all[i].Seconds)
	}
	for i := range all {
		if longest > 0 {
			all[i].Share = int(100*all[i].Seconds/longest + 0.5)
		}
	}
	slices.SortFunc(all, func(a, b Test) int {
		return cmp.Or(cmp.Compare(b.Bad, a.Bad), strings.Compare(a.Name, b.Name))
	})
	return all
}

func (t *Test) add(r *runs.Record) {
	t.Seconds += r.Real
	switch {
	case r.Status == "PASS":
		if t.Pass == 0 || r.Cycles < t.MinCycles {
			t.MinCycles = r.Cycles
		}
		t.MaxCycles = max(t.MaxCycles, r.Cycles)
		t.Pass++
	case IsBad(r.Status):
		t.Bad++
	default:
		t.Skip++
		t.Why = r.Error
	}
	switch {
	case t.Bad > 0:
		t.Status = "FAIL"
	case t.Pass > 0:
		t.Status = "PASS"
	default:
		t.Status = r.Status
	}
}
