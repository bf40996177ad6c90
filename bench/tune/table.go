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

// near: an algorithm that is this close to the fastest stays, so that the table does not change its
// mind for nothing. safe: the fastest must beat the linear one by so much, for a row also stands
// for numbers and sizes that nobody measured.
const (
	near = 1.01
	safe = 1.05
)

// A row is a line of the table: up to so many ranks and bytes, 0 for any.
type row struct {
	ranks, bytes int
	algorithm    string
}

// group is the points of one collective, number of ranks and size.
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

// best is the fastest of those that are allowed; keep stays if it is near.
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

// beatsLinear tells whether an algorithm is faster than the linear one, by a factor.
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

// rows makes the table of a collective. Each measured number of ranks stands for all up to the next
// one, each size for all above the one before.
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
			next = nil // nobody in between
		}
		made := classRows(class, next, upTo)
		if k := len(rows) - len(made); k >= 0 && sameChoices(rows[k:], made) && (k == 0 || rows[k-1].ranks != rows[k].ranks) {
			rows = rows[:k] // the class before chose alike
		}
		rows = append(rows, made...)
		groups = rest
	}
	return rows
}

// sameRanks is how many of the first groups are of one number of ranks.
func sameRanks(groups []group) (n int) {
	for n < len(groups) && groups[n].ranks == groups[0].ranks {
		n++
	}
	return n
}

func sameChoices(a, b []row) bool {
	return slices.EqualFunc(a, b, func(x, y row) bool { return x.bytes == y.bytes && x.algorithm == y.algorithm })
}

// classRows are those of one number of ranks, which stands for all below that of next. Numbers that
// are no power of two fall through to the second choice.
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

// WriteTable prints the rows as host/table.go has them.
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

// A Slower is a choice of the table in host that takes longer than the linear algorithm.
type Slower struct {
	Collective string  `json:"collective"`
	Ranks      int     `json:"ranks"`
	Bytes      int     `json:"bytes"`
	Algorithm  string  `json:"algorithm"`
	Ratio      float64 `json:"ratio"` // of its time to that of the linear one
}

// Slower lists the choices that take more than so many times what the linear algorithm takes.
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

// Write prints the times, a line for each size, with a star beside what the table in host chooses.
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
