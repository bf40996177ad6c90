package figure

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// gaps returns the reasons of all points without a value.
func (f *Figure) gaps() (reasons []string) {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Gap != "" {
				reasons = append(reasons, p.Gap)
			}
		}
	}
	if f.Heat != nil {
		for i, row := range f.Heat.Values {
			for k, v := range row {
				if !math.IsNaN(v) {
					continue
				}
				reason := "not measured"
				if f.Heat.Gaps != nil {
					reason = f.Heat.Gaps[i][k]
				}
				reasons = append(reasons, reason)
			}
		}
	}
	return reasons
}

func (f *Figure) points() (n int) {
	for _, s := range f.Series {
		n += len(s.Points)
	}
	return n
}

// notes returns the text under the plot. It counts gaps by their reason.
func (f *Figure) notes() string {
	notes := slices.Clone(f.Notes)
	reasons := f.gaps()
	var kinds []string
	for _, r := range reasons {
		if !slices.Contains(kinds, r) {
			kinds = append(kinds, r)
		}
	}
	var counts []string
	for _, kind := range kinds {
		n := 0
		for _, r := range reasons {
			if r == kind {
				n++
			}
		}
		counts = append(counts, fmt.Sprintf("%d %s", n, kind))
	}
	if len(counts) > 0 {
		of := f.points()
		if f.Heat != nil {
			of = len(f.Heat.X) * len(f.Heat.Y)
		}
		notes = append(notes, fmt.Sprintf("× no value at %d of %d points: %s", len(reasons), of, strings.Join(counts, ", ")))
	}
	return strings.Join(notes, "; ")
}

// gapMarks implements plot.Plotter for the gaps of lines: crosses above the plot, where there are
// no points. Many series without a value at one X are one cross with their number.
type gapMarks struct {
	at     map[float64][]color.Color // of the series without a value, by X
	radius vg.Length
	text   draw.TextStyle
}

// maxCrosses is the number of crosses above each other.
const maxCrosses = 4

// newGapMarks returns the gaps of a panel, or nil if it has none.
func (f *Figure) newGapMarks(series []Series, text draw.TextStyle) *gapMarks {
	g := &gapMarks{at: map[float64][]color.Color{}, radius: f.sizes().marker, text: text}
	g.text.XAlign, g.text.YAlign = draw.XCenter, draw.YBottom
	for i, s := range series {
		for _, p := range s.Points {
			if p.Gap != "" {
				g.at[p.X] = append(g.at[p.X], f.lookOf(i, s.Name).color)
			}
		}
	}
	if len(g.at) == 0 {
		return nil
	}
	return g
}

func (g *gapMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, v := range slices.Sorted(maps.Keys(g.at)) {
		colors := g.at[v]
		if len(colors) > maxCrosses {
			c.FillText(g.text, vg.Point{X: x(v), Y: c.Max.Y + g.radius}, fmt.Sprintf("%d×", len(colors)))
			continue
		}
		for i, color := range colors {
			style := draw.GlyphStyle{Color: color, Radius: g.radius}
			cross{}.DrawGlyph(&c, style, vg.Point{X: x(v), Y: c.Max.Y + g.radius*(2+2.4*vg.Length(i))})
		}
	}
}

// DataRange implements plot.DataRanger, so that gaps are within the plot.
func (g *gapMarks) DataRange() (xmin, xmax, ymin, ymax float64) {
	xs := slices.Sorted(maps.Keys(g.at))
	return xs[0], xs[len(xs)-1], math.Inf(1), math.Inf(-1)
}

// height is the space above the plot that the marks need.
func (g *gapMarks) height() (h vg.Length) {
	for _, colors := range g.at {
		one := g.radius * (3 + 2.4*vg.Length(len(colors)-1))
		if len(colors) > maxCrosses {
			one = g.radius + g.text.Font.Size
		}
		h = max(h, one)
	}
	return h
}

// cross is the mark of a gap.
type cross struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (cross) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := 0.9 * style.Radius
	line := draw.LineStyle{Color: style.Color, Width: 0.4 * style.Radius}
	c.StrokeLine2(line, at.X-r, at.Y-r, at.X+r, at.Y+r)
	c.StrokeLine2(line, at.X-r, at.Y+r, at.X+r, at.Y-r)
}
