package tune

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/nicloop/nicloop/host"
)

// near: an algorithm within this factor of the fastest is kept, so that the table is stable. safe:
// the fastest algorithm must beat the linear one by this factor, because a row also applies to
// ranks and sizes that were not measured.
const (
	near = 1.01
	safe = 1.05
)

// A row is a line of the table: an upper limit of ranks and bytes; 0: none.
type row struct {
	ranks, bytes int
	algorithm    string
}

// group holds the points of one collective, number of ranks and size.
type group struct {
	kind         host.Collective
	ranks, bytes int
	points       []Point
}

func (rep *Report) groups() (list []group) {
	sorted := slices.Clone(rep.Points)
	slices.SortStableFunc(sorted, func(a, b Point) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Bytes, b.Bytes))
	})
	for _, p := range sorted {
		if n := len(list); n == 0 || list[n-1].kind != p.kind || list[n-1].ranks != p.Ranks || list[n-1].bytes != p.Bytes {
			list = append(list, group{kind: p.kind, ranks: p.Ranks, bytes: p.Bytes})
		}
		g := &list[len(list)-1]
		g.points = append(g.points, p)
	}
	return list
}

// best returns the fastest allowed algorithm, or keep if that is near.
func (g *group) best(keep string, allowed func(name string) bool) string {
	least, name := math.Inf(1), ""
	for _, p := range g.points {
		if allowed(p.Algorithm) && p.Micros < least {
			least, name = p.Micros, p.Algorithm
		}
	}
	if t, ok := g.of(keep); ok && allowed(keep) && t <= least*near {
		return keep
	}
	return name
}

// beatsLinear reports whether an algorithm is faster than the linear one by a factor.
func (g *group) beatsLinear(name string, factor float64) bool {
	t, ok := g.of(name)
	line, _ := g.of(host.Linear)
	return !ok || name == host.Linear || t*factor <= line
}

func (g *group) of(name string) (micros float64, ok bool) {
	for _, p := range g.points {
		if p.Algorithm == name {
			return p.Micros, true
		}
	}
	return 0, false
}

// rows generates the table of a collective. A measured number of ranks applies up to the next one,
// a measured size to all above the previous one.
func (rep *Report) rows(kind host.Collective) (rows []row) {
	var groups []group
	for _, g := range rep.groups() {
		if g.kind == kind {
			groups = append(groups, g)
		}
	}
	for len(groups) > 0 {
		n := sameRanks(groups)
		class, rest := groups[:n], groups[n:]
		upTo, next := 0, rest[:sameRanks(rest)]
		if len(rest) > 0 {
			upTo = rest[0].ranks - 1
		}
		if upTo == class[0].ranks {
			next = nil // no number in between
		}
		made := classRows(class, next, upTo)
		if k := len(rows) - len(made); k >= 0 && sameChoices(rows[k:], made) && (k == 0 || rows[k-1].ranks != rows[k].ranks) {
			rows = rows[:k] // same choices as the previous class
		}
		rows = append(rows, made...)
		groups = rest
	}
	return rows
}

// sameRanks is the number of leading groups with one number of ranks.
func sameRanks(groups []group) (n int) {
	for n < len(groups) && groups[n].ranks == groups[0].ranks {
		n++
	}
	return n
}

func sameChoices(a, b []row) bool {
	return slices.EqualFunc(a, b, func(x, y row) bool { return x.bytes == y.bytes && x.algorithm == y.algorithm })
}

// classRows returns the rows of one number of ranks, which apply to all numbers below that of next.
// Numbers that are not a power of two use the second choice.
func classRows(groups, next []group, upTo int) (rows []row) {
	odd := func(name string) bool { return groups[0].kind.Fits(name, 3, 0) }
	first, second := "", ""
	for i, g := range groups {
		good := func(name string) bool {
			return g.beatsLinear(name, safe) && (i >= len(next) || next[i].beatsLinear(name, 1))
		}
		first, second = g.best(first, good), g.best(second, func(name string) bool { return odd(name) && good(name) })
		bytes := g.bytes
		if i == len(groups)-1 {
			bytes = 0
		}
		names := []string{first}
		if !odd(first) && (upTo == 0 || upTo > g.ranks) {
			names = append(names, second)
		}
		if n := len(rows) - len(names); n >= 0 && (n == 0 || rows[n-1].bytes != rows[n].bytes) && sameNames(rows[n:], names) {
			rows = rows[:n]
		}
		for _, name := range names {
			rows = append(rows, row{upTo, bytes, name})
		}
	}
	return rows
}

func sameNames(rows []row, names []string) bool {
	return slices.EqualFunc(rows, names, func(r row, name string) bool { return r.algorithm == name })
}

// WriteTable prints the rows in the format of host/table.go.
func (rep *Report) WriteTable(w io.Writer) {
	for _, kind := range rep.kinds() {
		fmt.Fprintf(w, "\t%s: {\n", title(kind))
		for _, r := range rep.rows(kind) {
			fmt.Fprintf(w, "\t\t{%d, %d, %q},\n", r.ranks, r.bytes, r.algorithm)
		}
		fmt.Fprintln(w, "\t},")
	}
}

func title(k host.Collective) (name string) {
	for part := range strings.SplitSeq(k.String(), "-") {
		name += strings.ToUpper(part[:1]) + part[1:]
	}
	return name
}

func (rep *Report) kinds() (list []host.Collective) {
	for _, p := range rep.Points {
		if !slices.Contains(list, p.kind) {
			list = append(list, p.kind)
		}
	}
	slices.Sort(list)
	return list
}

// A Slower is an entry of host's table that is slower than the linear algorithm.
type Slower struct {
	Collective string  `json:"collective"`
	Ranks      int     `json:"ranks"`
	Bytes      int     `json:"bytes"`
	Algorithm  string  `json:"algorithm"`
	Ratio      float64 `json:"ratio"` // of its time to that of the linear one
}

// Slower lists the choices that take more than ratio times as long as the linear algorithm.
func (rep *Report) Slower(ratio float64) (list []Slower) {
	for _, g := range rep.groups() {
		name := g.kind.Choice(g.ranks, g.bytes)
		t, ok := g.of(name)
		line, _ := g.of(host.Linear)
		if ok && t > ratio*line {
			list = append(list, Slower{g.kind.String(), g.ranks, g.bytes, name, t / line})
		}
	}
	return list
}

// Write prints the times, one line per size, and marks the choices of host's table with a star.
func (rep *Report) Write(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, g := range rep.groups() {
		fmt.Fprintf(tw, "%s\t%d ranks\t%d bytes", g.kind, g.ranks, g.bytes)
		for _, p := range g.points {
			star := ""
			if p.Algorithm == g.kind.Choice(g.ranks, g.bytes) {
				star = "*"
			}
			fmt.Fprintf(tw, "\t%s %.2f us%s", p.Algorithm, p.Micros, star)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}
