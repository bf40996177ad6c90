package figure

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// errorBars implements plot.Plotter for vertical bars over points. Bars of bar charts are offset
// from their X.
type errorBars struct {
	points []Point // with X as drawn
	offset vg.Length
	style  draw.LineStyle
}

const capWidth = vg.Length(3)

// errorBars returns the error bars of a series, or nil.
func (s *Series) errorBars(look look, offset vg.Length, grouped bool) *errorBars {
	b := &errorBars{offset: offset, style: draw.LineStyle{Color: look.color, Width: 1}}
	if grouped {
		b.style.Color = ink
	}
	for i, p := range s.Points {
		if p.Gap != "" || p.Low == 0 && p.High == 0 {
			continue
		}
		if grouped {
			p.X = float64(i)
		}
		b.points = append(b.points, p)
	}
	return b
}

func (b *errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, pt := range b.points {
		at, low, high := x(pt.X)+b.offset, y(pt.Y-pt.Low), y(pt.Y+pt.High)
		c.StrokeLine2(b.style, at, low, at, high)
		c.StrokeLine2(b.style, at-capWidth, low, at+capWidth, low)
		c.StrokeLine2(b.style, at-capWidth, high, at+capWidth, high)
	}
}

// DataRange implements plot.DataRanger, so that the bars fit into the plot.
func (b *errorBars) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range b.points {
		xmin, xmax = min(xmin, p.X), max(xmax, p.X)
		ymin, ymax = min(ymin, p.Y-p.Low), max(ymax, p.Y+p.High)
	}
	return xmin, xmax, ymin, ymax
}
