package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// thumbSpace is the distance of a sample of the legend from its name.
const thumbSpace = vg.Length(5)

// A key is a line of the legend.
type key struct {
	name   string
	thumbs []plot.Thumbnailer
}

// draw draws title, legend, panels and notes. The legend is above the plot, so that it never covers
// points. Lines have their names at the right instead, if all fit.
func (f *Figure) draw(c draw.Canvas) error {
	panels, keys, err := f.panels()
	if err != nil {
		return err
	}
	z := f.sizes()
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, z.margin, -1.5*z.margin, z.margin, -z.margin)
	text := panels[0][0].X.Tick.Label
	text.XAlign, text.YAlign = draw.XLeft, draw.YCenter
	title := f.Title
	if f.Heat != nil {
		title += "\n" + f.Heat.legendText()
	}
	if title != "" {
		style := text
		style.Font = sans(z.title)
		style.XAlign, style.YAlign = draw.XCenter, draw.YTop
		title = wrap(style, title, c.Max.X-c.Min.X)
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y}, title)
		c = draw.Crop(c, 0, 0, 0, -style.Height(title)-z.margin)
	}
	if notes := f.notes(); notes != "" {
		style := text
		style.YAlign = draw.YBottom
		notes = wrap(style, notes, c.Max.X-c.Min.X)
		c.FillText(style, c.Min, notes)
		c = draw.Crop(c, 0, 0, style.Height(notes)+z.margin, 0)
	}
	if len(panels) == 1 && len(panels[0]) == 1 {
		p := panels[0][0]
		if ends := f.ends(p, keys, c, text); ends != nil {
			c = draw.Crop(c, 0, -ends.width(), 0, 0)
			p.Draw(c)
			ends.draw(c, p)
			return nil
		}
		p.Draw(draw.Crop(c, 0, 0, 0, -legend(c, keys, text, z)))
		return nil
	}
	c = draw.Crop(c, 0, 0, 0, -legend(c, keys, text, z))
	drawPanels(f.sharedLabels(c, text), panels, z)
	return nil
}

// sharedLabels writes the labels of the axes of all panels, and returns the rest of the canvas.
func (f *Figure) sharedLabels(c draw.Canvas, style draw.TextStyle) draw.Canvas {
	style.Font = sans(f.sizes().label)
	high := style.Font.Size * 1.4
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	c.FillText(style, vg.Point{X: c.Center().X + high/2, Y: c.Min.Y}, f.X.text())
	style.Rotation, style.YAlign = math.Pi/2, draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Center().Y + high/2}, f.Y.text())
	return draw.Crop(c, high, 0, high, 0)
}

// drawPanels draws plots in rows. Their axes are aligned, and their areas are equal.
func drawPanels(c draw.Canvas, panels [][]*plot.Plot, z sizes) {
	rows, cols := len(panels), len(panels[0])
	left, right := make([]vg.Length, cols), make([]vg.Length, cols)
	below, above := make([]vg.Length, rows), make([]vg.Length, rows)
	around := func(p *plot.Plot) (l, r, b, t vg.Length) { // space that axes and title need
		tile := draw.Crop(c, 0, -(c.Max.X-c.Min.X)*vg.Length(cols-1)/vg.Length(cols), (c.Max.Y-c.Min.Y)*vg.Length(rows-1)/vg.Length(rows), 0)
		data := p.DataCanvas(tile)
		return data.Min.X - tile.Min.X, tile.Max.X - data.Max.X, data.Min.Y - tile.Min.Y, tile.Max.Y - data.Max.Y
	}
	width := c.Max.X - c.Min.X - z.gap*vg.Length(cols-1)
	height := c.Max.Y - c.Min.Y - z.gap/2*vg.Length(rows-1)
	for i, row := range panels {
		for k, p := range row {
			if p != nil {
				l, r, b, t := around(p)
				left[k], right[k] = max(left[k], l), max(right[k], r)
				below[i], above[i] = max(below[i], b), max(above[i], t)
			}
		}
		height -= below[i] + above[i]
	}
	for k := range left {
		width -= left[k] + right[k]
	}
	width, height = width/vg.Length(cols), height/vg.Length(rows)
	y := c.Max.Y
	for i, row := range panels {
		x := c.Min.X
		for k, p := range row {
			if p != nil {
				l, r, b, t := around(p)
				p.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: x + left[k] - l, Y: y - above[i] - height - b},
					Max: vg.Point{X: x + left[k] + width + r, Y: y - above[i] + t}}})
			}
			x += left[k] + width + right[k] + z.gap
		}
		y -= above[i] + height + below[i] + z.gap/2
	}
}

// legend draws the keys in aligned columns, as many as fit, and returns their height.
func legend(c draw.Canvas, keys []key, text draw.TextStyle, z sizes) vg.Length {
	if len(keys) == 0 || len(keys) == 1 && keys[0].name == "" {
		return 0
	}
	widths := columnsOf(keys, text, z.thumb+thumbSpace, z.gap, c.Max.X-c.Min.X)
	rows := (len(keys) + len(widths) - 1) / len(widths)
	x := c.Min.X
	for i, k := range keys {
		if i > 0 && i%rows == 0 {
			x += widths[i/rows-1] + z.gap
		}
		y := c.Max.Y - z.key*vg.Length(1+i%rows)
		thumb := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y + z.key/5}, Max: vg.Point{X: x + z.thumb, Y: y + z.key*4/5},
		}}
		for _, t := range k.thumbs {
			t.Thumbnail(&thumb)
		}
		c.FillText(text, vg.Point{X: x + z.thumb + thumbSpace, Y: y + z.key/2}, k.name)
	}
	return z.key*vg.Length(rows) + z.margin/2
}

// columnsOf returns the widths of the columns of a legend, which is filled column by column. It has
// as few rows as possible.
func columnsOf(keys []key, text draw.TextStyle, extra, gap, width vg.Length) (widths []vg.Length) {
	for rows := 1; ; rows++ {
		widths = nil
		total := -gap
		for from := 0; from < len(keys); from += rows {
			widest := vg.Length(0)
			for _, k := range keys[from:min(from+rows, len(keys))] {
				widest = max(widest, extra+text.Width(k.name))
			}
			widths, total = append(widths, widest), total+widest+gap
		}
		if total <= width || rows >= len(keys) {
			return widths
		}
	}
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
	style.Font = p.X.Tick.Label.Font
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
