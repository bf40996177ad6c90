package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// barSeries implements plot.Plotter for the bars of a series, and plot.Thumbnailer for its sample.
type barSeries struct {
	points        []Point
	width, offset vg.Length
	look          look
	gap           draw.GlyphStyle
}

// addBars draws the bars of a group side by side over its name.
func (f *Figure) addBars(p *plot.Plot, series []Series) (keys []key, err error) {
	width, _ := f.size()
	_, cols := f.grid()
	n := len(series)
	bar := 0.62 * width / vg.Length(cols*len(f.Groups)*(n+1))
	z := f.sizes()
	for i, s := range series {
		l := f.lookOf(i, s.Name)
		b := &barSeries{points: s.Points, width: bar, offset: bar * (vg.Length(i) - vg.Length(n-1)/2), look: l}
		b.gap = draw.GlyphStyle{Color: l.color, Radius: min(1.2*z.marker, bar/2), Shape: cross{}}
		p.Add(b)
		if reach := s.errorBars(l, b.offset, true); len(reach.points) > 0 {
			p.Add(reach)
		}
		keys = append(keys, key{s.Name, []plot.Thumbnailer{b}})
	}
	p.NominalX(f.Groups...)
	p.X.Min, p.X.Max = -0.5, float64(len(f.Groups))-0.5
	p.X.Padding = 0
	return keys, nil
}

// Plot draws a cross at the baseline for a bar without a value.
func (b *barSeries) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	within := func(v float64) vg.Length { return y(min(max(v, p.Y.Min), p.Y.Max)) }
	for i, pt := range b.points {
		at := x(float64(i)) + b.offset
		if pt.Gap != "" {
			c.DrawGlyph(b.gap, vg.Point{X: at, Y: within(0) + 1.5*b.gap.Radius})
			continue
		}
		b.fill(c, at-b.width/2, within(min(0, pt.Y)), at+b.width/2, within(max(0, pt.Y)))
	}
}

// fill draws a bar with its hatching.
func (b *barSeries) fill(c draw.Canvas, x0, y0, x1, y1 vg.Length) {
	box := vg.Rectangle{Min: vg.Point{X: x0, Y: y0}, Max: vg.Point{X: x1, Y: y1}}
	c.SetColor(b.look.color)
	c.Fill(box.Path())
	style := draw.LineStyle{Color: paper, Width: 0.9}
	area := draw.Canvas{Canvas: c.Canvas, Rectangle: box}
	reach := (x1 - x0) + (y1 - y0)
	for _, slope := range b.look.hatch {
		for d := vg.Length(0); d < 2*reach; d += hatchDistance {
			line := []vg.Point{{X: x0, Y: y0 + d}, {X: x0 + reach, Y: y0 + d + reach*slope}}
			if slope > 0 {
				line[0].Y, line[1].Y = line[0].Y-reach, line[1].Y-reach
			}
			c.StrokeLines(style, area.ClipLinesXY(line)...)
		}
	}
	c.StrokeLines(draw.LineStyle{Color: ink, Width: 0.7},
		[]vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}, {X: x0, Y: y0}})
}

// Thumbnail implements plot.Thumbnailer.
func (b *barSeries) Thumbnail(c *draw.Canvas) { b.fill(*c, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y) }

// DataRange implements plot.DataRanger; bars begin at zero.
func (b *barSeries) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, p := range b.points {
		if p.Gap == "" {
			ymin, ymax = min(ymin, p.Y), max(ymax, p.Y)
		}
	}
	return 0, float64(len(b.points) - 1), ymin, math.Max(ymax, ymin)
}
