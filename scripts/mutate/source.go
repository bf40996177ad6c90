package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A block is a module of rtl/core or rtl/board with the places at which it can be changed.
type block struct {
	name, file string
	text       string
	body       int // where the module's ports end
	sites      []site
}

// A site is an expression: the right side of an assignment, or the condition of an if.
type site struct {
	from, to int    // in text
	target   string // of a nonblocking assignment to one variable: what is assigned
	isIf     bool
	offset   int // from, without comments and blanks
}

// A mutant replaces the expression of one site.
type mutant struct {
	id, line int
	site     site
	text     string // instead of the expression
	change   string // for people
	file     string
}

func (m mutant) String() string { return fmt.Sprintf("%d %s:%d: %s", m.id, m.file, m.line, m.change) }

// key identifies a mutant in all runs, whatever comments and blanks the source has.
func (m mutant) key() string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d %s", m.site.offset, m.text)))[:16]
}

// code is a source without comments and blanks.
func code(text string) string { return strings.Join(strings.Fields(blank(text, comment)), "") }

func readBlock(name string) (*block, error) {
	for _, folder := range []string{"core", "board"} {
		file := filepath.Join("rtl", folder, name+".sv")
		if text, err := os.ReadFile(file); err == nil {
			b := &block{name: name, file: file, text: string(text)}
			b.findSites()
			return b, nil
		}
	}
	return nil, fmt.Errorf("no block %s in rtl/core and rtl/board", name)
}

var (
	comment    = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)`)
	checks     = regexp.MustCompile("(?s)`ifn?def (SYNTHESIS|FORMAL|FORMAL_BELOW|VERILATOR|ANY_POWER_UP)\\b.*?`endif")
	properties = regexp.MustCompile(`(?s)\b(assert|assume|cover)\s*\(.*?;`)
	fixed      = regexp.MustCompile(`(?s)\b(localparam|parameter|typedef|genvar|import)\b.*?;`)
	loop       = regexp.MustCompile(`\bfor\s*\(`)
	assignment = regexp.MustCompile(`([A-Za-z_][\w.]*(?:\[[^\]=]*\])*)\s*(<=|=)([^=])`)
	condition  = regexp.MustCompile(`\bif\s*\(`)
	lower      = regexp.MustCompile(`\b[a-z_][a-z0-9_]+\b`)
)

// blank replaces what must not be changed by spaces, so that places stay.
func blank(text string, what *regexp.Regexp) string {
	return what.ReplaceAllStringFunc(text, func(s string) string {
		bytes := []byte(s)
		for i, c := range bytes {
			if c != '\n' {
				bytes[i] = ' '
			}
		}
		return string(bytes)
	})
}

func (b *block) findSites() {
	t := blank(b.text, comment)
	b.body = strings.Index(t, "\n);") + 3
	t = strings.Repeat(" ", b.body) + t[b.body:]
	for _, what := range []*regexp.Regexp{checks, properties, fixed} {
		t = blank(t, what)
	}
	for _, at := range loop.FindAllStringIndex(t, -1) {
		end := closing(t, at[1]-1)
		t = t[:at[0]] + strings.Repeat(" ", end-at[0]) + t[end:]
	}
	for _, at := range condition.FindAllStringIndex(t, -1) {
		end := closing(t, at[1]-1) - 1
		if at[0] > b.body && lower.MatchString(t[at[1]:end]) {
			b.sites = append(b.sites, site{from: at[1], to: end, isIf: true})
		}
	}
	for _, at := range assignment.FindAllStringSubmatchIndex(t, -1) {
		from := at[6]
		// a comparison stands behind an open parenthesis of its line
		before := t[strings.LastIndexAny(t[:at[0]], "\n;")+1 : at[0]]
		if at[0] < b.body || depth(before) != 0 || strings.ContainsAny(before, "?=") && !strings.Contains(before, ":") {
			continue
		}
		end := from + endOfExpression(t[from:])
		s := site{from: from, to: end}
		if t[at[4]:at[5]] == "<=" {
			s.target = t[at[2]:at[3]]
		}
		if slices.ContainsFunc(b.sites, func(o site) bool { return o.from <= from && from < o.to }) {
			continue
		}
		b.sites = append(b.sites, s)
	}
	for i := range b.sites {
		b.sites[i].offset = len(code(b.text[:b.sites[i].from]))
	}
}

// closing is the place behind the parenthesis that closes the one at.
func closing(t string, at int) int {
	for i, d := at, 0; i < len(t); i++ {
		switch t[i] {
		case '(':
			d++
		case ')':
			if d--; d == 0 {
				return i + 1
			}
		}
	}
	return len(t)
}

func depth(t string) int { return strings.Count(t, "(") - strings.Count(t, ")") }

func endOfExpression(t string) int {
	d := 0
	for i, c := range t {
		switch c {
		case '(', '[', '{':
			d++
		case ')', ']', '}':
			d--
		case ';':
			if d <= 0 {
				return i
			}
		}
	}
	return len(t)
}

// swaps are changes of a token; each is tried wherever its pattern is found. The first group is
// what is replaced.
var swaps = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(` (&&) `), "||"},
	{regexp.MustCompile(` (\|\|) `), "&&"},
	{regexp.MustCompile(` (==) `), "!="},
	{regexp.MustCompile(` (!=) `), "=="},
	{regexp.MustCompile(` (<) `), "<="},
	{regexp.MustCompile(` (<=) `), "<"},
	{regexp.MustCompile(` (>) `), ">="},
	{regexp.MustCompile(` (>=) `), ">"},
	{regexp.MustCompile(` (\+) `), "-"},
	{regexp.MustCompile(` (-) `), "+"},
	{regexp.MustCompile(` (&) `), "|"},
	{regexp.MustCompile(` (\|) `), "&"},
	{regexp.MustCompile(` (\^) `), "|"},
	{regexp.MustCompile(`(!)[a-z_(]`), ""},
	{regexp.MustCompile(`(~)[a-z_({]`), ""},
	{regexp.MustCompile(`(1'b0)`), "1'b1"},
	{regexp.MustCompile(`(1'b1)`), "1'b0"},
	{regexp.MustCompile(`('0)\b`), "'1"},
	{regexp.MustCompile(`('1)\b`), "'0"},
	{regexp.MustCompile(`\[(0)\]`), "1"},
	{regexp.MustCompile(`\[(1)\]`), "0"},
	{regexp.MustCompile(`\w'\(([1-9])\)`), "0"},
	{regexp.MustCompile(`\d'd(\d)\b`), "3"},
	{regexp.MustCompile(`&& (!?[a-z_]\w*)(?: &&| \|\||$|\))`), "1'b1"},
	{regexp.MustCompile(`(?:^|\(| )(!?[a-z_]\w*) &&`), "1'b1"},
	{regexp.MustCompile(`\|\| (!?[a-z_]\w*)(?: &&| \|\||$|\))`), "1'b0"},
	{regexp.MustCompile(`(?:^|\(| )(!?[a-z_]\w*) \|\|`), "1'b0"},
}

// mutants lists every change of every site.
func (b *block) mutants() (all []mutant) {
	for _, s := range b.sites {
		old := b.text[s.from:s.to]
		add := func(at int, text, change string) {
			if slices.ContainsFunc(all, func(o mutant) bool { return o.site == s && o.text == text }) {
				return
			}
			line := 1 + strings.Count(b.text[:s.from+at], "\n")
			all = append(all, mutant{line: line, site: s, text: text, change: change, file: b.file})
		}
		if strings.Contains(old, "//") {
			continue
		}
		short := strings.Join(strings.Fields(old), " ")
		for _, w := range swaps {
			for _, at := range w.pattern.FindAllStringSubmatchIndex(old, -1) {
				add(at[2], old[:at[2]]+w.with+old[at[3]:],
					fmt.Sprintf("%q -> %q in %s", old[at[2]:at[3]], w.with, short))
			}
		}
		switch {
		case s.isIf:
			add(0, "1'b1", "if ("+short+"): always")
			add(0, "1'b0", "if ("+short+"): never")
		case s.target != "":
			add(0, s.target, s.target+" <= "+short+": left out")
		}
	}
	return all
}

// choose gives count mutants, numbered from 1, the same for the same seed and source.
func (b *block) choose(count int, seed int64) []mutant {
	all := b.mutants()
	rand.New(rand.NewSource(seed)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(count, len(all))]
	// A constant may be the one that replaces it. Dropped here, so that the choice stays the same.
	all = slices.DeleteFunc(all, func(m mutant) bool { return m.text == b.text[m.site.from:m.site.to] })
	slices.SortStableFunc(all, func(x, y mutant) int { return x.site.from - y.site.from })
	for i := range all {
		all[i].id = i + 1
	}
	return all
}

// alone is the source with one mutant.
func (b *block) alone(m mutant) string { return b.text[:m.site.from] + m.text + b.text[m.site.to:] }

// together is the source with all mutants, of which the plusarg +mutant=ID chooses one.
func (b *block) together(mutants []mutant) string {
	var out strings.Builder
	out.WriteString(b.text[:b.body])
	for _, warning := range []string{"WIDTH", "UNSIGNED", "CMPCONST", "SELRANGE", "LATCH", "UNOPTFLAT"} {
		fmt.Fprintf(&out, " /* verilator lint_off %s */", warning) // which end a build
	}
	out.WriteString(" int nl_mutant = 0; initial if (!$value$plusargs(\"mutant=%d\", nl_mutant)) nl_mutant = 0; ")
	at := b.body
	for i := 0; i < len(mutants); {
		s := mutants[i].site
		out.WriteString(b.text[at:s.from])
		out.WriteString("(")
		for ; i < len(mutants) && mutants[i].site == s; i++ {
			fmt.Fprintf(&out, "nl_mutant == %d ? (%s) : ", mutants[i].id, strings.TrimSpace(mutants[i].text))
		}
		fmt.Fprintf(&out, "(%s))", strings.TrimSpace(b.text[s.from:s.to]))
		at = s.to
	}
	out.WriteString(b.text[at:])
	return out.String()
}
