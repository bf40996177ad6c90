package figure

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// style sets fonts and axes.
func (f *Figure) style(p *plot.Plot) {
	z := f.sizes()
	for _, a := range []struct {
		axis *plot.Axis
		want *Axis
	}{{&p.X, &f.X}, {&p.Y, &f.Y}} {
		a.axis.Label.Text = a.want.text()
		a.axis.Label.TextStyle.Font = sans(z.label)
		a.axis.Label.TextStyle.Color = ink
		a.axis.Label.Padding = z.margin / 2
		a.axis.Tick.Label.Font = sans(z.tick)
		a.axis.Tick.Label.Color = ink
		a.axis.LineStyle.Color, a.axis.Tick.LineStyle.Color = ink, ink
		switch a.want.Scale {
		case Linear:
			a.axis.Tick.Marker = plot.TickerFunc(multiples)
		case Log10:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTen)
		case Log2:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(f.powersOfTwo)
		}
	}
	lines := plotter.NewGrid()
	lines.Horizontal.Color, lines.Vertical.Color = grid, grid
	if len(f.Groups) > 0 {
		lines.Vertical.Width = 0
	}
	p.Add(lines)
}

func sans(size font.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// addNew appends a name that is not in the list.
func addNew(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

func (f *Figure) hasFacets() bool {
	return slices.ContainsFunc(f.Series, func(s Series) bool { return s.Facet != "" })
}

// facets returns the names of the panels, in order of the series.
func (f *Figure) facets() (names []string) {
	for _, s := range f.Series {
		names = addNew(names, s.Facet)
	}
	if len(names) == 0 {
		return []string{""} // a heat map
	}
	return names
}

// grid returns the number of rows and columns of panels.
func (f *Figure) grid() (rows, cols int) {
	n := len(f.facets())
	cols = min(3, int(math.Ceil(math.Sqrt(float64(n)))))
	if f.Width > 0 && f.Width < 4 {
		cols = min(cols, 2)
	}
	return (n + cols - 1) / cols, cols
}

// panels builds a plot for each facet, in rows, and the legend. All have the same axes.
func (f *Figure) panels() (grid [][]*plot.Plot, keys []key, err error) {
	rows, cols := f.grid()
	grid = make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	var all []*plot.Plot
	for i, name := range f.facets() {
		p, more, err := f.panel(name)
		if err != nil {
			return nil, nil, err
		}
		for _, k := range more {
			if !slices.ContainsFunc(keys, func(o key) bool { return f.hasFacets() && o.name == k.name }) {
				keys = append(keys, k)
			}
		}
		if f.hasFacets() { // the labels are shared
			p.X.Label.Text, p.Y.Label.Text = "", ""
		}
		grid[i/cols][i%cols] = p
		all = append(all, p)
	}
	if f.Heat == nil {
		unite(all)
		for _, p := range all {
			f.ranges(p)
		}
	}
	return grid, keys, nil
}

// unite gives all panels the range of the union.
func unite(all []*plot.Plot) {
	for _, axis := range []func(*plot.Plot) *plot.Axis{func(p *plot.Plot) *plot.Axis { return &p.X }, func(p *plot.Plot) *plot.Axis { return &p.Y }} {
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range all {
			low, high = min(low, axis(p).Min), max(high, axis(p).Max)
		}
		for _, p := range all {
			axis(p).Min, axis(p).Max = low, high
		}
	}
}

// panel builds the plot of a facet.
func (f *Figure) panel(facet string) (*plot.Plot, []key, error) {
	p := plot.New()
	p.BackgroundColor = nil
	f.style(p)
	if f.Heat != nil {
		keys, err := f.addHeat(p)
		f.addMarks(p)
		return p, keys, err
	}
	var series []Series
	for _, s := range f.Series {
		if s.Facet == facet {
			series = append(series, s)
		}
	}
	p.Title.Padding = 0
	if p.Title.Text = facet; facet != "" {
		p.Title.TextStyle.Font = sans(f.sizes().label)
		p.Title.Padding = 2
	}
	add := f.addLines
	if len(f.Groups) > 0 {
		add = f.addBars
	}
	keys, err := add(p, series)
	f.addMarks(p)
	return p, keys, err
}

// wrap breaks a text into lines that fit a width. Line breaks in the text remain.
func wrap(style draw.TextStyle, s string, width vg.Length) string {
	var lines []string
	for _, paragraph := range strings.Split(s, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			longer := strings.TrimSpace(line + " " + word)
			if line != "" && style.Width(longer) > width {
				lines, longer = append(lines, line), word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// ranges widens the axes to marks, error bars and zero.
func (f *Figure) ranges(p *plot.Plot) {
	for _, m := range f.Marks {
		axis := &p.Y
		if m.Vertical {
			axis = &p.X
		}
		axis.Min, axis.Max = min(axis.Min, m.At), max(axis.Max, m.At)
	}
	if f.Y.Scale == Linear && p.Y.Min > 0 {
		p.Y.Min = 0 // a truncated axis would exaggerate small differences
	}
	fix(&p.X, &f.X)
	fix(&p.Y, &f.Y)
}

// fix applies the requested bounds and widens an empty range.
func fix(axis *plot.Axis, want *Axis) {
	if want.Min != nil {
		axis.Min = *want.Min
	}
	if want.Max != nil {
		axis.Max = *want.Max
	}
	if axis.Max > axis.Min {
		return
	}
	if want.Scale == Linear {
		axis.Min, axis.Max = axis.Min-1, axis.Min+1
	} else {
		axis.Min, axis.Max = axis.Min/2, axis.Min*2
	}
}
