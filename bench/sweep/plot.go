package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers/suggest"
	"go.yaml.in/yaml/v3"
)

// A plot is a figure of the rows. Rows that differ only in their seed form one point: the mean,
// with bars from minimum to maximum or of one standard deviation.
type plot struct {
	name, kind     string
	x, y, z        string
	by             []string
	where          []expression
	title          string
	xLabel, yLabel string
	xUnit, yUnit   string
	zUnit          string
	xScale, yScale string
	errors         string
	position       position
}

var (
	plotKeys   = []string{"name", "kind", "x", "y", "z", "by", "where", "title", "x_label", "y_label", "x_unit", "y_unit", "z_unit", "x_scale", "y_scale", "errors"}
	plotKinds  = []string{"lines", "bars", "heatmap"}
	plotErrors = []string{"range", "deviation", "none"}
	plotScales = map[string]figure.Scale{"linear": figure.Linear, "log2": figure.Log2, "log10": figure.Log10}
)

func (r *reader) plots(e entry) (list []plot, err error) {
	for _, n := range r.list(e.value) {
		p, err := r.plot(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(q plot) bool { return q.name == p.name }) {
			return nil, p.position.errorf("there are two plots %q", p.name)
		}
		list = append(list, p)
	}
	return list, nil
}

func (r *reader) plot(n *yaml.Node) (p plot, err error) {
	entries, err := r.mapping(n, "a plot", plotKeys)
	if err != nil {
		return p, err
	}
	p = plot{kind: "lines", xScale: "linear", yScale: "linear", errors: "range", position: r.at(n)}
	words := map[string]*string{
		"name": &p.name, "kind": &p.kind, "x": &p.x, "y": &p.y, "z": &p.z, "title": &p.title, "x_label": &p.xLabel, "y_label": &p.yLabel,
		"x_unit": &p.xUnit, "y_unit": &p.yUnit, "z_unit": &p.zUnit, "x_scale": &p.xScale, "y_scale": &p.yScale, "errors": &p.errors,
	}
	for _, x := range entries {
		switch x.key {
		case "by":
			p.by, err = r.texts(x.value, x.key)
		case "where":
			p.where, err = r.conditions(x)
		default:
			*words[x.key], err = r.text(x.value, x.key)
		}
		if err != nil {
			return p, err
		}
	}
	for _, c := range []struct {
		key, got string
		known    []string
	}{{"kind", p.kind, plotKinds}, {"errors", p.errors, plotErrors}, {"x_scale", p.xScale, []string{"linear", "log2", "log10"}}, {"y_scale", p.yScale, []string{"linear", "log2", "log10"}}} {
		if !slices.Contains(c.known, c.got) {
			return p, p.position.errorf("%s %q%s; known: %s", c.key, c.got, suggest.Nearest(c.got, c.known), strings.Join(c.known, ", "))
		}
	}
	return p, nil
}

func (f *File) checkPlots() error {
	columns, _ := f.header()
	for _, p := range f.Plots {
		if !nameShape.MatchString(p.name) {
			return p.position.errorf("plot: expected a name of small letters and digits")
		}
		need := append([]string{p.x, p.y}, p.by...)
		if p.kind == "heatmap" {
			need = append(need, p.z)
		} else if p.z != "" {
			return p.position.errorf("plot %s: z belongs to a heatmap", p.name)
		}
		for _, name := range need {
			if !slices.Contains(columns, name) {
				return p.position.errorf("plot %s: there is no column %q%s; known: %s", p.name, name, suggest.Nearest(name, columns), strings.Join(columns, ", "))
			}
		}
		if p.kind == "heatmap" && len(p.by) > 0 {
			return p.position.errorf("plot %s: a heatmap has no by: narrow it with where", p.name)
		}
	}
	return nil
}

// A spot is a point that combines several seeds.
type spot struct {
	series, x, y string
}

// A heap holds the values of a spot.
type heap struct {
	spot
	x, y   cell
	values []float64
	seeds  []string
}

// Draw draws the figures of the file. Plots without a passed row are omitted, and listed in empty.
func (f *File) Draw(t *Table) (figures map[string]*figure.Figure, empty []string, err error) {
	figures = map[string]*figure.Figure{}
	for i := range f.Plots {
		p := &f.Plots[i]
		heaps, err := p.gather(t)
		if err != nil {
			return nil, nil, err
		}
		if len(heaps) == 0 {
			empty = append(empty, p.name)
			continue
		}
		if figures[p.name], err = p.draw(f, heaps); err != nil {
			return nil, nil, err
		}
	}
	return figures, empty, nil
}

func (p *plot) gather(t *Table) (list []*heap, err error) {
	at := map[spot]*heap{}
	col := func(name string) int { return slices.Index(t.Columns, name) }
	for _, row := range t.rows {
		if row[col("status")].text != Passed {
			continue
		}
		if ok, err := p.wanted(t, row); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		s := spot{x: row[col(p.x)].text}
		var series []string
		for _, b := range p.by {
			series = append(series, b+" "+row[col(b)].text)
		}
		s.series = strings.Join(series, ", ")
		if len(p.by) == 1 && row[col(p.by[0])].kind == text("").kind {
			s.series = row[col(p.by[0])].text
		}
		measured := p.y
		if p.kind == "heatmap" {
			measured, s.y = p.z, row[col(p.y)].text
		}
		v, ok := row[col(measured)].number()
		if !ok {
			continue // this row has no such number
		}
		h := at[s]
		if h == nil {
			h = &heap{spot: s, x: row[col(p.x)], y: row[col(p.y)]}
			at[s], list = h, append(list, h)
		}
		seed := ""
		if i := col("seed"); i >= 0 {
			seed = row[i].text
		}
		if slices.Contains(h.seeds, seed) {
			return nil, p.position.errorf("plot %s: several rows at %s %s%s with the same seed: narrow them with where, or tell them apart with by", p.name, p.x, s.x, comma(s.series))
		}
		h.values, h.seeds = append(h.values, v), append(h.seeds, seed)
	}
	return list, nil
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

func (p *plot) wanted(t *Table, row []cell) (bool, error) {
	if len(p.where) == 0 {
		return true, nil
	}
	s := scope{}
	for i, c := range row {
		if c != (cell{}) {
			s[t.Columns[i]] = c
		}
	}
	for i := range p.where {
		if ok, err := p.where[i].holds(s, t.Columns); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// point returns the mean of a heap with its bar.
func (p *plot) point(h *heap) figure.Point {
	sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range h.values {
		sum, low, high = sum+v, min(low, v), max(high, v)
	}
	n := float64(len(h.values))
	pt := figure.Point{Y: sum / n}
	switch {
	case n < 2 || p.errors == "none":
	case p.errors == "range":
		pt.Low, pt.High = pt.Y-low, high-pt.Y
	default:
		squares := 0.0
		for _, v := range h.values {
			squares += (v - pt.Y) * (v - pt.Y)
		}
		pt.Low = math.Sqrt(squares / (n - 1))
		pt.High = pt.Low
	}
	return pt
}

func (p *plot) draw(f *File, heaps []*heap) (*figure.Figure, error) {
	fig := &figure.Figure{
		Title: p.title, X: figure.Axis{Label: or(p.xLabel, p.x), Unit: p.xUnit, Scale: plotScales[p.xScale]},
		Y: figure.Axis{Label: or(p.yLabel, p.y), Unit: p.yUnit, Scale: plotScales[p.yScale]},
	}
	if fig.Title == "" {
		fig.Title = f.Name
	}
	if most := slices.MaxFunc(heaps, func(a, b *heap) int { return len(a.values) - len(b.values) }); len(most.values) > 1 {
		fig.Title += fmt.Sprintf("\nmean of %d seeds", len(most.values))
		if what := map[string]string{"range": "least to most", "deviation": "standard deviation"}[p.errors]; what != "" && p.kind != "heatmap" {
			fig.Title += ", bars: " + what
		}
	}
	switch p.kind {
	case "heatmap":
		return fig, p.heatmap(fig, heaps)
	case "bars":
		return fig, p.bars(fig, heaps)
	}
	for _, name := range seriesOf(heaps) {
		s := figure.Series{Name: name}
		for _, h := range heaps {
			if h.series != name {
				continue
			}
			x, ok := h.x.number()
			if !ok {
				return nil, p.position.errorf("plot %s: %s %q is no number: bars show names", p.name, p.x, h.x.text)
			}
			pt := p.point(h)
			pt.X = x
			s.Points = append(s.Points, pt)
		}
		slices.SortStableFunc(s.Points, func(a, b figure.Point) int { return compare(a.X, b.X) })
		fig.Series = append(fig.Series, s)
	}
	return fig, nil
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func seriesOf(heaps []*heap) (names []string) {
	for _, h := range heaps {
		if !slices.Contains(names, h.series) {
			names = append(names, h.series)
		}
	}
	return names
}

// distinct returns positions on an axis: numbers in ascending order, names in the order of the
// rows.
func distinct(heaps []*heap, of func(*heap) cell) (names []string) {
	var cells []cell
	numbers := true
	for _, h := range heaps {
		if c := of(h); !slices.Contains(cells, c) {
			_, ok := c.number()
			numbers = numbers && ok
			cells = append(cells, c)
		}
	}
	if numbers {
		slices.SortStableFunc(cells, func(a, b cell) int {
			x, _ := a.number()
			y, _ := b.number()
			return compare(x, y)
		})
	}
	for _, c := range cells {
		names = append(names, c.text)
	}
	return names
}

func (p *plot) bars(fig *figure.Figure, heaps []*heap) error {
	fig.Groups = distinct(heaps, func(h *heap) cell { return h.x })
	for _, name := range seriesOf(heaps) {
		s := figure.Series{Name: name}
		for _, group := range fig.Groups {
			i := slices.IndexFunc(heaps, func(h *heap) bool { return h.series == name && h.x.text == group })
			if i < 0 {
				return p.position.errorf("plot %s: %s has no bar at %s %s: narrow it with where", p.name, or(name, "it"), p.x, group)
			}
			s.Points = append(s.Points, p.point(heaps[i]))
		}
		fig.Series = append(fig.Series, s)
	}
	return nil
}

func (p *plot) heatmap(fig *figure.Figure, heaps []*heap) error {
	heat := &figure.Heat{
		X: distinct(heaps, func(h *heap) cell { return h.x }), Y: distinct(heaps, func(h *heap) cell { return h.y }),
		Label: p.z, Unit: p.zUnit,
	}
	heat.Values = make([][]float64, len(heat.Y))
	for i := range heat.Values {
		heat.Values[i] = make([]float64, len(heat.X))
		for k := range heat.Values[i] {
			heat.Values[i][k] = math.NaN()
		}
	}
	for _, h := range heaps {
		heat.Values[slices.Index(heat.Y, h.y.text)][slices.Index(heat.X, h.x.text)] = p.point(h).Y
	}
	fig.Heat = heat
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
