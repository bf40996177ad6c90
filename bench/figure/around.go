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

// A drawing is a plot with its legend. The legend stands in rows above the
// plot: whatever the points are, it covers none of them.
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

// legend draws the keys in as many rows as they need and returns their height.
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

// addMarks draws the marks over the whole range, with their texts along them.
func (f *Figure) addMarks(p *plot.Plot) {
	for _, m := range f.Marks {
		ends := plotter.XYs{{X: p.X.Min, Y: m.At}, {X: p.X.Max, Y: m.At}}
		if m.Vertical {
			ends = plotter.XYs{{X: m.At, Y: p.Y.Min}, {X: m.At, Y: p.Y.Max}}
		}
		p.Add(&markLine{ends: ends, mark: m})
	}
}

// A markLine is one mark as the library draws things.
type markLine struct {
	ends plotter.XYs
	mark Mark
}

func (m *markLine) Plot(c draw.Canvas, p *plot.Plot) {
	line := plotter.Line{XYs: m.ends, LineStyle: draw.LineStyle{Color: ink, Width: 1, Dashes: dashed(5, 3)}}
	line.Plot(c, p)
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Font = sans(tickSize)
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	at := vg.Point{X: x(m.ends[0].X) + 5, Y: y(m.ends[0].Y) + 3}
	if m.mark.Vertical { // reads upwards and ends at the top, where there are fewer points
		style.Rotation = math.Pi / 2
		style.XAlign = draw.XRight
		at = vg.Point{X: x(m.ends[1].X) - 3, Y: y(m.ends[1].Y) - 4}
		if at.X-style.Font.Size < c.Min.X { // or right of its line, where there is no room
			style.YAlign, at.X = draw.YTop, at.X+1
		}
	}
	box := style.Rectangle(m.mark.Text).Add(at)
	c.SetColor(color.NRGBA{0xff, 0xff, 0xff, 0xd8}) // over a line, the text stays readable
	c.Fill(box.Path())
	c.FillText(style, at, m.mark.Text)
}
