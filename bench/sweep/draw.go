package sweep

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
)

// units are the units at the end of the names of columns.
var units = []struct{ suffix, unit string }{
	{"_ps", "ps"}, {"_ns", "ns"}, {"_us", "µs"}, {"_ms", "ms"}, {"_s", "s"}, {"_percent", "%"}, {"_mb_per_s", "MB/s"},
	{"_gbit_per_s", "Gbit/s"}, {"_bytes", "bytes"}, {"_cycles", "cycles"}, {"_packets", "packets"},
}

// inWords turns the name of a column into a label and a unit: "half_us" is "half" in "µs".
func inWords(column string) (label, unit string) {
	for _, u := range units {
		if head, ok := strings.CutSuffix(column, u.suffix); ok && head != "" {
			column, unit = head, u.unit
			break
		}
	}
	return strings.ReplaceAll(column, "_", " "), unit
}

// axisOf returns an axis of a figure. A label that the file sets is not changed, and the unit is
// written once.
func axisOf(column, label, unit, scale string) figure.Axis {
	words, own := inWords(column)
	if label == "" {
		label = words
		unit = or(unit, own)
	}
	if unit != "" && strings.HasSuffix(label, "("+unit+")") {
		unit = ""
	}
	return figure.Axis{Label: label, Unit: unit, Scale: plotScales[scale]}
}

const millimetresPerInch = 25.4

func (p *plot) draw(f *File, g *gathering) (*figure.Figure, error) {
	fig := &figure.Figure{
		Title: or(p.title, f.Name), X: axisOf(p.x, p.xLabel, p.xUnit, p.xScale), Y: axisOf(p.y, p.yLabel, p.yUnit, p.yScale),
		Notes: p.notes(g), Width: p.width / millimetresPerInch, Height: p.height / millimetresPerInch, Formats: p.formats,
	}
	switch p.kind {
	case "heatmap":
		return fig, p.heatmap(fig, g.heaps)
	case "bars":
		p.bars(fig, g.heaps)
		return fig, nil
	}
	for _, name := range seriesOf(g.heaps) {
		s := figure.Series{Name: name.series, Facet: name.facet}
		for _, h := range g.heaps {
			if h.series != name.series || h.facet != name.facet {
				continue
			}
			x, ok := h.x.number()
			switch {
			case !ok:
				return nil, p.position.errorf("plot %s: %s %q is no number: bars show names", p.name, p.x, h.x.text)
			case x <= 0 && p.xScale != "linear":
				return nil, p.position.errorf("plot %s: %s is %s in a run, which has no position on the x axis of scale %s: add where: %s > 0", p.name, p.x, h.x.text, p.xScale, p.x)
			}
			pt := p.point(h)
			pt.X = x
			s.Points = append(s.Points, pt)
		}
		slices.SortStableFunc(s.Points, func(a, b figure.Point) int { return cmp.Compare(a.X, b.X) })
		fig.Series = append(fig.Series, s)
	}
	return fig, nil
}

// seriesOf returns the series of all facets, in order of the rows.
func seriesOf(heaps []*heap) (names []spot) {
	for _, h := range heaps {
		if s := (spot{facet: h.facet, series: h.series}); !slices.Contains(names, s) {
			names = append(names, s)
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
			return cmp.Compare(x, y)
		})
	}
	for _, c := range cells {
		names = append(names, c.text)
	}
	return names
}

// bars has a bar or a gap of every series in every group.
func (p *plot) bars(fig *figure.Figure, heaps []*heap) {
	fig.Groups = distinct(heaps, func(h *heap) cell { return h.x })
	for _, name := range seriesOf(heaps) {
		s := figure.Series{Name: name.series, Facet: name.facet}
		for _, group := range fig.Groups {
			pt := figure.Point{Gap: "not run"}
			for _, h := range heaps {
				if h.series == name.series && h.facet == name.facet && h.x.text == group {
					pt = p.point(h)
				}
			}
			s.Points = append(s.Points, pt)
		}
		fig.Series = append(fig.Series, s)
	}
}

func (p *plot) heatmap(fig *figure.Figure, heaps []*heap) error {
	z := axisOf(p.z, "", p.zUnit, "linear")
	heat := &figure.Heat{
		X: distinct(heaps, func(h *heap) cell { return h.x }), Y: distinct(heaps, func(h *heap) cell { return h.y }),
		Label: z.Label, Unit: z.Unit,
	}
	heat.Values = make([][]float64, len(heat.Y))
	heat.Gaps = make([][]string, len(heat.Y))
	for i := range heat.Values {
		heat.Values[i], heat.Gaps[i] = make([]float64, len(heat.X)), make([]string, len(heat.X))
		for k := range heat.Values[i] {
			heat.Values[i][k], heat.Gaps[i][k] = math.NaN(), "not run"
		}
	}
	for _, h := range heaps {
		i, k := slices.Index(heat.Y, h.y.text), slices.Index(heat.X, h.x.text)
		pt := p.point(h)
		if heat.Gaps[i][k] = pt.Gap; pt.Gap == "" {
			heat.Values[i][k] = pt.Y
		}
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
