package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A key is a line of the legend.
type key struct {
	name   string
	thumbs []plot.Thumbnailer
}

// A drawing is a plot with its legend. The legend is above the plot, so that it never covers
// points.
type drawing struct {
	plot  *plot.Plot
	title string
	keys  []key
	text  draw.TextStyle
}

const (
	margin     = vg.Length(8)
	keyHeight  = vg.Length(16)
	thumbWidth = vg.Length(30)
	keyGap     = vg.Length(16)
)

func (d *drawing) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -1.5*margin, margin, -margin)
	if d.title != "" {
		style := d.text
		style.Font = sans(titleSize)
		style.XAlign, style.YAlign = draw.XCenter, draw.YTop
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y}, d.title)
		c = draw.Crop(c, 0, 0, 0, -style.Height(d.title)-margin)
	}
	c = draw.Crop(c, 0, 0, 0, -d.legend(c))
	d.plot.Draw(c)
}

// legend draws the keys in as many rows as needed and returns their height.
func (d *drawing) legend(c draw.Canvas) vg.Length {
	if len(d.keys) == 0 || len(d.keys) == 1 && d.keys[0].name == "" {
		return 0
	}
	x, y := c.Min.X, c.Max.Y-keyHeight
	for _, k := range d.keys {
		width := thumbWidth + 5 + d.text.Width(k.name)
		if x > c.Min.X && x+width > c.Max.X {
			x, y = c.Min.X, y-keyHeight
		}
		thumb := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y + 3}, Max: vg.Point{X: x + thumbWidth, Y: y + keyHeight - 3},
		}}
		for _, t := range k.thumbs {
			t.Thumbnail(&thumb)
		}
		c.FillText(d.text, vg.Point{X: x + thumbWidth + 5, Y: y + keyHeight/2}, k.name)
		x += width + keyGap
	}
	return c.Max.Y - y + margin/2
}

// addMarks draws the marks over the whole range, with their texts.
func (f *Figure) addMarks(p *plot.Plot) {
	if len(f.Marks) > 0 {
		p.Add(marks(f.Marks))
	}
}

// marks implements plot.Plotter for all marks of a figure.
type marks []Mark

func (ms marks) Plot(c draw.Canvas, p *plot.Plot) { ms.plot(c, p) }

// plot draws the marks and returns the rectangles of their texts.
func (ms marks) plot(c draw.Canvas, p *plot.Plot) (taken []vg.Rectangle) {
	for _, m := range ms {
		ends := plotter.XYs{{X: p.X.Min, Y: m.At}, {X: p.X.Max, Y: m.At}}
		if m.Vertical {
			ends = plotter.XYs{{X: m.At, Y: p.Y.Min}, {X: m.At, Y: p.Y.Max}}
		}
		line := plotter.Line{XYs: ends, LineStyle: draw.LineStyle{Color: ink, Width: 1, Dashes: dashed(5, 3)}}
		line.Plot(c, p)
		taken = append(taken, m.label(c, p, ends, taken))
	}
	return taken
}

// label writes the mark's text where it does not overlap another and returns its rectangle.
func (m Mark) label(c draw.Canvas, p *plot.Plot, ends plotter.XYs, taken []vg.Rectangle) vg.Rectangle {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Font = sans(tickSize)
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	at := vg.Point{X: x(ends[0].X) + 5, Y: y(ends[0].Y) + 3}
	if m.Vertical { // vertical text ends at the top, where there are fewer points
		style.Rotation = math.Pi / 2
		style.XAlign = draw.XRight
		at = vg.Point{X: x(ends[1].X) - 3, Y: y(ends[1].Y) - 4}
		if at.X-style.Font.Size < c.Min.X { // no space on the left: right of the line
			style.YAlign, at.X = draw.YTop, at.X+1
		}
	}
	box := style.Rectangle(m.Text)
	for i := 0; i < len(taken); i++ {
		if overlap(box.Add(at), taken[i]) { // move along the line, past the texts that are there
			if m.Vertical {
				at.Y = taken[i].Min.Y - 4
			} else {
				at.X = taken[i].Max.X + 5
			}
			i = -1
		}
	}
	box = box.Add(at)
	c.SetColor(color.NRGBA{0xff, 0xff, 0xff, 0xd8}) // keep the text readable over lines
	c.Fill(box.Path())
	c.FillText(style, at, m.Text)
	return box
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
