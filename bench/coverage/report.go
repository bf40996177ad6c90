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

// A Count is a number of points covered, and their total.
type Count struct{ Seen, Of int }

// Percent is the share of covered points; 100 if there are none.
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
	Holes          []Point // not covered, in order
}

// A Report is the merged coverage of all tests.
type Report struct {
	Lines, Toggles, Functional Count
	Blocks                     []Block  // of the RTL, by number of uncovered lines, then of holes
	Groups                     []Block  // of functional points
	Nothing                    []string // tests that contribute nothing beyond the tests before them
	Lost                       []string // tests of which a simulator was killed before it wrote its counts: they covered more
	Alone                      []Alone  // tests with points that no other test covers, by number of lines and functional points
	counts                     map[Point]uint64
}

// Alone counts the points that only one test covers, with any seed.
type Alone struct {
	Test                   string
	Lines, Toggles, Points int
}

// alone counts the points that only one test covers.
func alone(tests []*Test) (list []Alone) {
	by := map[Point]string{}
	for _, t := range tests {
		for p := range t.seen {
			if name, ok := by[p]; !ok {
				by[p] = t.Name
			} else if name != t.Name {
				by[p] = ""
			}
		}
	}
	at := map[string]*Alone{}
	for p, name := range by {
		if name == "" {
			continue
		}
		if at[name] == nil {
			at[name] = &Alone{Test: name}
		}
		switch a := at[name]; p.Kind {
		case Line:
			a.Lines++
		case Toggle:
			a.Toggles++
		default:
			a.Points++
		}
	}
	for _, a := range at {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Alone) int {
		return cmp.Or(cmp.Compare(b.Lines+b.Points, a.Lines+a.Points), cmp.Compare(b.Toggles, a.Toggles), cmp.Compare(a.Test, b.Test))
	})
	return list
}

// Report merges all tests, in the given order.
func (b *Base) Report(order func(x, y *Test) int) *Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Report{counts: map[Point]uint64{}}
	tests := slices.Clone(b.tests)
	slices.SortStableFunc(tests, order)
	for _, t := range tests {
		if t.lost {
			r.Lost = append(r.Lost, fmt.Sprintf("%s (seed %d)", t.Name, t.Seed))
		}
		before := len(r.counts)
		for p, n := range t.seen {
			r.counts[p] += n
		}
		if len(r.counts) == before {
			r.Nothing = append(r.Nothing, fmt.Sprintf("%s (seed %d)", t.Name, t.Seed))
		}
	}
	r.Alone = alone(tests)
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
		if k.File == packets || k.File == refusals || k.File == borders {
			r.Functional.Seen, r.Functional.Of = r.Functional.Seen+k.Lines.Seen, r.Functional.Of+k.Lines.Of
			r.Groups = append(r.Groups, *k)
			continue
		}
		r.Lines.Seen, r.Lines.Of = r.Lines.Seen+k.Lines.Seen, r.Lines.Of+k.Lines.Of
		r.Toggles.Seen, r.Toggles.Of = r.Toggles.Seen+k.Toggles.Seen, r.Toggles.Of+k.Toggles.Of
		r.Blocks = append(r.Blocks, *k)
	}
	lines := func(k *Block) int { return k.Lines.Of - k.Lines.Seen }
	slices.SortStableFunc(r.Blocks, func(a, b Block) int {
		return cmp.Or(cmp.Compare(lines(&b), lines(&a)), cmp.Compare(len(b.Holes), len(a.Holes)))
	})
	return r
}

func (k *Block) add(p Point, seen bool) {
	c := &k.Lines // also for functional points
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

// LineHoles returns the holes that are lines.
func (k *Block) LineHoles() (list []Point) {
	for _, p := range k.Holes {
		if p.Kind == Line {
			list = append(list, p)
		}
	}
	return list
}

// shownBlocks limits the text; the page lists all blocks.
const shownBlocks = 12

// Text prints the report.
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
	for i, a := range r.Alone {
		if i == shownBlocks || a.Lines+a.Points == 0 {
			break
		}
		fmt.Fprintf(w, "  %-20s alone has seen %d lines, %d functional points, %d toggles\n", a.Test, a.Lines, a.Points, a.Toggles)
	}
	if len(r.Lost) > 0 {
		fmt.Fprintf(w, "  have seen more than is counted here, for a simulator of theirs was killed: %s\n", strings.Join(r.Lost, ", "))
	}
	if len(r.Nothing) > 0 {
		fmt.Fprintf(w, "  add nothing to the tests before them: %s\n", strings.Join(r.Nothing, ", "))
	}
}

//go:embed page.html
var pageText string

var page = template.Must(template.New("coverage").Parse(pageText))

// A sourceLine is a line of a file with its coverage.
type sourceLine struct {
	N     int
	Text  string
	Class string // "", "seen", "hole" or "part"
	Count uint64
	Holes string // uncovered toggles
}

type pageBlock struct {
	Block
	Source []sourceLine
}

// unreached is an uncovered line of a block.
type unreached struct {
	Block string
	Line  int
	Text  string
}

// HTML writes a page with the blocks, their holes, and the annotated sources in tree.
func (r *Report) HTML(w io.Writer, tree fs.FS) error {
	view := struct {
		*Report
		Unreached []unreached
		Pages     []pageBlock
	}{Report: r}
	for _, k := range r.Blocks {
		text, err := fs.ReadFile(tree, k.File)
		if err != nil {
			return err
		}
		view.Pages = append(view.Pages, pageBlock{k, r.source(&k, string(text))})
		for _, l := range view.Pages[len(view.Pages)-1].Source {
			if l.Class == "hole" {
				view.Unreached = append(view.Unreached, unreached{k.Name, l.N, strings.TrimSpace(l.Text)})
			}
		}
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
