package build

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A report collects progress messages and statistics of a build.
type report struct {
	tell                   func(what string)
	name                   string
	start                  time.Time
	verilating, compiling  time.Duration
	compiled, fromCompiler int // C++ files compiled, and files found by ccache
}

func (s *Spec) newReport() *report {
	r := &report{tell: s.Progress, name: s.name(), start: time.Now()}
	if r.tell == nil {
		r.tell = func(string) {}
	}
	return r
}

// took runs a step and adds its duration.
func (r *report) took(d *time.Duration, step func() error) error {
	start := time.Now()
	err := step()
	*d += time.Since(start)
	return err
}

// count evaluates the log of ccache.
func (r *report) count(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return // only informational numbers are lost
	}
	hits := strings.Count(string(text), "direct_cache_hit\n") + strings.Count(string(text), "preprocessed_cache_hit\n")
	r.compiled += strings.Count(string(text), "# ") - hits
	r.fromCompiler += hits
}

func (r *report) done() {
	r.tell(fmt.Sprintf("built %s in %.1f s: verilator %.1f s, compiler %.1f s for %d files, %d more were as before",
		r.name, time.Since(r.start).Seconds(), r.verilating.Seconds(), r.compiling.Seconds(), r.compiled, r.fromCompiler))
}

// changed lists the files of a working tree that changed since its last build.
func (s *Spec) changed(c cache, in map[string][]byte) string {
	if s.Tree == "" {
		return ""
	}
	before := map[string]string{}
	text, err := os.ReadFile(s.treeFile(c))
	if err != nil || json.Unmarshal(text, &before) != nil {
		return ""
	}
	var names []string
	for _, name := range sortedNames(in) {
		if before[name] != contentHash(in[name]) {
			names = append(names, strings.TrimPrefix(name, "rtl/"))
		}
		delete(before, name)
	}
	for name := range before {
		names = append(names, strings.TrimPrefix(name, "rtl/")+" (gone)")
	}
	if len(names) == 0 {
		return ""
	}
	return "changed since the last build of " + s.Tree + ": " + strings.Join(names, " ")
}

// remember stores the state for changed. A failure costs only a line of the next report.
func (s *Spec) remember(c cache, in map[string][]byte) {
	if s.Tree == "" {
		return
	}
	now := map[string]string{}
	for name, text := range in {
		now[name] = contentHash(text)
	}
	if text, err := json.Marshal(now); err == nil {
		_ = os.WriteFile(s.treeFile(c), text, 0o644)
	}
}

func (s *Spec) treeFile(c cache) string {
	key := s.Tree + strings.Join(s.parameters(), " ")
	return filepath.Join(c.dir, "tree-"+contentHash([]byte(key))[:32]+".json")
}

func contentHash(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
