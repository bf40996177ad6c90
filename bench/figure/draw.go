package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A look is the style of a series. Neighbours differ in brightness, dash and marker.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	marker draw.GlyphDrawer
}

var looks = []look{
	{color.NRGBA{0x0b, 0x2e, 0x59, 0xff}, nil, draw.CircleGlyph{}},
	{color.NRGBA{0xe0, 0x7b, 0x12, 0xff}, dashed(6, 2), draw.BoxGlyph{}},
	{color.NRGBA{0x1f, 0x7a, 0x6b, 0xff}, dashed(2, 2), draw.PyramidGlyph{}},
	{color.NRGBA{0x8f, 0xb8, 0xde, 0xff}, nil, draw.SquareGlyph{}},
	{color.NRGBA{0x9c, 0x1f, 0x4b, 0xff}, dashed(8, 2, 2, 2), draw.RingGlyph{}},
	{color.NRGBA{0x6f, 0x6f, 0x6f, 0xff}, dashed(4, 4), draw.CrossGlyph{}},
	{color.NRGBA{0xd8, 0xb8, 0x2a, 0xff}, dashed(10, 3), draw.TriangleGlyph{}},
	{color.NRGBA{0x00, 0x00, 0x00, 0xff}, dashed(1, 3), draw.PlusGlyph{}},
}

func dashed(points ...vg.Length) []vg.Length { return points }

func lookOf(i int) look { return looks[i%len(looks)] }

var (
	ink  = color.Gray{0x20}
	grid = color.Gray{0xdd}
)

const (
	titleSize  = font.Length(13)
	labelSize  = font.Length(12)
	tickSize   = font.Length(10.5)
	lineWidth  = vg.Length(1.6)
	markerSize = vg.Length(3.2)
)

// style sets fonts and axes.
func (f *Figure) style(p *plot.Plot) {
	for _, a := range []struct {
		axis *plot.Axis
		want *Axis
	}{{&p.X, &f.X}, {&p.Y, &f.Y}} {
		a.axis.Label.Text = a.want.text()
		a.axis.Label.TextStyle.Font = sans(labelSize)
		a.axis.Label.TextStyle.Color = ink
		a.axis.Label.Padding = 4
		a.axis.Tick.Label.Font = sans(tickSize)
		a.axis.Tick.Label.Color = ink
		a.axis.LineStyle.Color, a.axis.Tick.LineStyle.Color = ink, ink
		switch a.want.Scale {
		case Linear:
			a.axis.Tick.Marker = plot.TickerFunc(withZero)
		case Log10:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
		case Log2:
			a.axis.Scale, a.axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTwo)
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

func (f *Figure) addLines(p *plot.Plot) (keys []key, err error) {
	for i, s := range f.Series {
		points := make(plotter.XYs, len(s.Points))
		for k, pt := range s.Points {
			points[k] = plotter.XY{X: pt.X, Y: pt.Y}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, &Error{f.Title, fmt.Sprintf("series %q: %v", s.Name, err)}
		}
		l := lookOf(i)
		line.LineStyle = draw.LineStyle{Color: l.color, Width: lineWidth, Dashes: l.dashes}
		marks.GlyphStyle = draw.GlyphStyle{Color: l.color, Radius: markerSize, Shape: l.marker}
		p.Add(line, marks)
		if bars := s.errorBars(l, 0, false); len(bars.points) > 0 {
			p.Add(bars)
		}
		keys = append(keys, key{s.Name, []plot.Thumbnailer{line, marks}})
	}
	return keys, nil
}

// addBars draws the bars of a group side by side over its name.
func (f *Figure) addBars(p *plot.Plot) (keys []key, err error) {
	width, _ := f.size()
	n := len(f.Series)
	bar := 0.62 * width / vg.Length(len(f.Groups)*(n+1))
	for i, s := range f.Series {
		values := make(plotter.Values, len(s.Points))
		for k, pt := range s.Points {
			values[k] = pt.Y
		}
		b, err := plotter.NewBarChart(values, bar)
		if err != nil {
			return nil, &Error{f.Title, fmt.Sprintf("series %q: %v", s.Name, err)}
		}
		b.Color = lookOf(i).color
		b.LineStyle = draw.LineStyle{Color: ink, Width: 0.7}
		b.Offset = bar * (vg.Length(i) - vg.Length(n-1)/2)
		p.Add(b)
		if bars := s.errorBars(lookOf(i), b.Offset, true); len(bars.points) > 0 {
			p.Add(bars)
		}
		keys = append(keys, key{s.Name, []plot.Thumbnailer{b}})
	}
	p.NominalX(f.Groups...)
	p.X.Min, p.X.Max = -0.5, float64(len(f.Groups))-0.5
	p.X.Padding = 0
	return keys, nil
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

// withZero labels zero if the axis crosses it, because the sign of a gain matters. The library
// might choose -5, 10 and 25.
func withZero(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	zero := func(t plot.Tick) bool { return t.Label != "" && math.Abs(t.Value) < (high-low)*1e-9 }
	if low >= 0 || high <= 0 || slices.ContainsFunc(ticks, zero) {
		return ticks
	}
	return multiples(low, high)
}

// multiples labels multiples of 1, 2 or 5 times a power of ten: three to seven of them.
func multiples(low, high float64) (ticks []plot.Tick) {
	const most = 6
	exponent := math.Floor(math.Log10((high - low) / most))
	step := math.Pow(10, exponent)
	for _, m := range []float64{2, 5, 10} {
		if (high-low)/step > most {
			step = m * math.Pow(10, exponent)
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step))))
	for i := int(math.Ceil(low / step)); float64(i) <= high/step; i++ {
		v := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', digits, 64)})
	}
	return ticks
}

// powersOfTwo labels as many powers of two as fit.
func powersOfTwo(low, high float64) (ticks []plot.Tick) {
	const most = 9
	first, last := int(math.Floor(math.Log2(low))), int(math.Ceil(math.Log2(high)))
	every := max(1, (last-first+most-1)/most)
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-first)%every == 0 {
			t.Label = binary(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// binary formats 4096 as 4 Ki.
func binary(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 30, " Gi"}, {1 << 20, " Mi"}, {1 << 10, " Ki"}} {
		if v >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
