package figure

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lineEnds are the names of lines at their right ends, instead of a legend.
type lineEnds struct {
	list []lineEnd // from the lowest
	text draw.TextStyle
	z    sizes
}

type lineEnd struct {
	name  string
	at    float64 // Y of the last point
	shift vg.Length
	look  look
}

// Limits of names at the ends of lines.
const (
	maxDirect      = 6
	maxDirectShare = 0.22 // of the width
)

// ends returns the names of lines, or nil if they do not fit: if lines end at different X, if names
// are long, or if they would be far from their lines.
func (f *Figure) ends(p *plot.Plot, keys []key, c draw.Canvas, text draw.TextStyle) *lineEnds {
	if f.Heat != nil || len(f.Groups) > 0 || len(keys) < 2 || len(keys) > maxDirect {
		return nil
	}
	e := &lineEnds{text: text, z: f.sizes()}
	right := f.Series[0].Points[len(f.Series[0].Points)-1].X
	for i, s := range f.Series {
		last := s.Points[len(s.Points)-1]
		if last.Gap != "" || last.X != right || last.X < p.X.Max || s.Name == "" || last.Y > p.Y.Max || last.Y < p.Y.Min {
			return nil
		}
		e.list = append(e.list, lineEnd{name: s.Name, at: last.Y, look: f.lookOf(i, s.Name)})
	}
	if e.width() > maxDirectShare*(c.Max.X-c.Min.X) || slices.ContainsFunc(f.Marks, func(m Mark) bool { return m.Vertical }) {
		return nil
	}
	slices.SortStableFunc(e.list, func(a, b lineEnd) int { return cmp.Compare(a.at, b.at) })
	data := p.DataCanvas(draw.Crop(c, 0, -e.width(), 0, 0))
	_, y := p.Transforms(&data)
	line := 1.15 * text.Font.Size
	for i := range e.list {
		if i == 0 {
			continue
		}
		low := y(e.list[i-1].at) + e.list[i-1].shift
		if e.list[i].shift = max(0, low+line-y(e.list[i].at)); e.list[i].shift > line {
			return nil
		}
	}
	return e
}

func (e *lineEnds) width() (w vg.Length) {
	for _, l := range e.list {
		w = max(w, e.text.Width(l.name))
	}
	return w + e.z.marker + 6
}

// draw writes the names beside a plot that has been drawn into c.
func (e *lineEnds) draw(c draw.Canvas, p *plot.Plot) {
	data := p.DataCanvas(c)
	_, y := p.Transforms(&data)
	for _, l := range e.list {
		style := e.text
		style.Color = l.look.color
		c.FillText(style, vg.Point{X: data.Max.X + e.z.marker + 5, Y: y(l.at) + l.shift}, l.name)
	}
}
