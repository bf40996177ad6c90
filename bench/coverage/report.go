package coverage

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// A Count is how many points of how many were seen.
type Count struct{ Seen, Of int }

// Percent of the points; all of none.
func (c Count) Percent() float64 {
	if c.Of == 0 {
		return 100
	}
	return 100 * float64(c.Seen) / float64(c.Of)
}

func (c Count) String() string { return fmt.Sprintf("%d of %d (%.1f %%)", c.Seen, c.Of, c.Percent()) }

// A Block is a module, or a group of functional points.
type Block struct {
	Name, File     string
	Lines, Toggles Count
	Holes          []Point // not seen, in order
}

// A Report is what all tests have seen together.
type Report struct {
	Lines, Toggles, Functional Count
	Blocks                     []Block  // of the RTL, the one with most holes first
	Groups                     []Block  // of functional points
	Nothing                    []string // tests that have added nothing to those before them
	counts                     map[Point]uint64
}

// Report adds up. order is that of the tests.
func (b *Base) Report(order func(x, y *Test) int) *Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Report{counts: map[Point]uint64{}}
	tests := slices.Clone(b.tests)
	slices.SortStableFunc(tests, order)
	for _, t := range tests {
		before := len(r.counts)
		for p, n := range t.seen {
			r.counts[p] += n
		}
		if len(r.counts) == before {
			r.Nothing = append(r.Nothing, fmt.Sprintf("%s (seed %d)", t.Name, t.Seed))
		}
	}
	at := map[string]*Block{}
	var names []string
	for _, p := range b.all() {
		name := p.Block()
		if at[name] == nil {
			at[name] = &Block{Name: name, File: p.File}
			names = append(names, name)
		}
		at[name].add(p, r.counts[p] > 0)
	}
	for _, name := range names {
		k := at[name]
		if k.File == packets || k.File == refusals {
			r.Functional.Seen, r.Functional.Of = r.Functional.Seen+k.Lines.Seen, r.Functional.Of+k.Lines.Of
			r.Groups = append(r.Groups, *k)
			continue
		}
		r.Lines.Seen, r.Lines.Of = r.Lines.Seen+k.Lines.Seen, r.Lines.Of+k.Lines.Of
		r.Toggles.Seen, r.Toggles.Of = r.Toggles.Seen+k.Toggles.Seen, r.Toggles.Of+k.Toggles.Of
		r.Blocks = append(r.Blocks, *k)
	}
	slices.SortStableFunc(r.Blocks, func(a, b Block) int { return cmp.Compare(len(b.Holes), len(a.Holes)) })
	return r
}

func (k *Block) add(p Point, seen bool) {
	c := &k.Lines // of functional points, too
	if p.Kind == Toggle {
		c = &k.Toggles
	}
	c.Of++
	if seen {
		c.Seen++
		return
	}
	k.Holes = append(k.Holes, p)
}

// LineHoles are the holes that are lines.
func (k *Block) LineHoles() (list []Point) {
	for _, p := range k.Holes {
		if p.Kind == Line {
			list = append(list, p)
		}
	}
	return list
}

// shownBlocks bounds the text; the page has all.
const shownBlocks = 12

// Text is what is printed.
func (r *Report) Text(w io.Writer) {
	fmt.Fprintf(w, "\ncoverage: lines %v, toggles %v, functional points %v\n", r.Lines, r.Toggles, r.Functional)
	for i := range r.Blocks {
		k := &r.Blocks[i]
		if i == shownBlocks || len(k.Holes) == 0 {
			break
		}
		fmt.Fprintf(w, "  %-20s lines %v, toggles %v", k.Name, k.Lines, k.Toggles)
		if holes := k.LineHoles(); len(holes) > 0 {
			var lines []string
			for _, p := range holes {
				lines = append(lines, fmt.Sprint(p.Line))
			}
			fmt.Fprintf(w, "; not reached: %s:%s", k.File, strings.Join(slices.Compact(lines), ","))
		}
		fmt.Fprintln(w)
	}
	for _, g := range r.Groups {
		for _, p := range g.Holes {
			fmt.Fprintf(w, "  never seen: %v\n", &p)
		}
	}
	if len(r.Nothing) > 0 {
		fmt.Fprintf(w, "  add nothing to the tests before them: %s\n", strings.Join(r.Nothing, ", "))
	}
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("coverage").Parse(pageText))

// A sourceLine is one of a file, with what was seen of it.
type sourceLine struct {
	N     int
	Text  string
	Class string // "", "seen", "hole" or "part"
	Count uint64
	Holes string // toggles that were not seen
}

type pageBlock struct {
	Block
	Source []sourceLine
}

// HTML writes one page: the blocks, their holes, and the sources of tree with what was seen of each line.
func (r *Report) HTML(w io.Writer, tree fs.FS) error {
	view := struct {
		*Report
		Pages []pageBlock
	}{Report: r}
	for _, k := range r.Blocks {
		text, err := fs.ReadFile(tree, k.File)
		if err != nil {
			return err
		}
		view.Pages = append(view.Pages, pageBlock{k, r.source(&k, string(text))})
	}
	return page.Execute(w, view)
}

func (r *Report) source(k *Block, text string) (list []sourceLine) {
	for i, line := range strings.Split(text, "\n") {
		list = append(list, sourceLine{N: i + 1, Text: line})
	}
	for p, n := range r.counts {
		if p.File == k.File && p.Line >= 1 && p.Line <= len(list) {
			l := &list[p.Line-1]
			l.Class = "seen"
			if p.Kind == Line {
				l.Count = max(l.Count, n)
			}
		}
	}
	for _, p := range k.Holes {
		if p.Line < 1 || p.Line > len(list) {
			continue
		}
		l := &list[p.Line-1]
		switch {
		case p.Kind == Toggle:
			if l.Holes += p.Name + " "; l.Class != "hole" {
				l.Class = "part"
			}
		case l.Count > 0:
			l.Class = "part"
		default:
			l.Class = "hole"
		}
	}
	return list
}
