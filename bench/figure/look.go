package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A look is the style of a series. Neighbours differ in brightness, dash and marker.
type look struct {
	color  color.NRGBA
	dashes []vg.Length
	marker draw.GlyphDrawer
	hatch  []vg.Length // slopes of the lines on a bar
}

// looks are those of the first eight series. The cross is the mark of a gap.
var looks = []look{
	{color.NRGBA{0x0b, 0x2e, 0x59, 0xff}, nil, draw.CircleGlyph{}, nil},
	{color.NRGBA{0xe0, 0x7b, 0x12, 0xff}, dashed(6, 2), draw.BoxGlyph{}, nil},
	{color.NRGBA{0x1f, 0x7a, 0x6b, 0xff}, dashed(2, 2), draw.PyramidGlyph{}, nil},
	{color.NRGBA{0x8f, 0xb8, 0xde, 0xff}, nil, draw.SquareGlyph{}, nil},
	{color.NRGBA{0x9c, 0x1f, 0x4b, 0xff}, dashed(8, 2, 2, 2), draw.RingGlyph{}, nil},
	{color.NRGBA{0x6f, 0x6f, 0x6f, 0xff}, dashed(4, 4), diamond{}, nil},
	{color.NRGBA{0xd8, 0xb8, 0x2a, 0xff}, dashed(10, 3), draw.TriangleGlyph{}, nil},
	{color.NRGBA{0x00, 0x00, 0x00, 0xff}, dashed(1, 3), draw.PlusGlyph{}, nil},
}

// hatches are those of the first, second ... eight series.
var hatches = [][]vg.Length{nil, {1}, {-1}, {0}, {1, -1}}

const hatchDistance = vg.Length(4)

// maxSeries is the number of distinguishable series.
const maxSeries = 36

func dashed(points ...vg.Length) []vg.Length { return points }

// lookAt returns the look of the i-th series. Series of one colour differ in marker, dash and
// hatching.
func lookAt(i int) look {
	n := len(looks)
	round := i / n % len(hatches)
	l := looks[i%n]
	l.marker, l.dashes = looks[(i+3*round)%n].marker, looks[(i+round)%n].dashes
	l.hatch = hatches[round]
	return l
}

// lookOf returns the look of a series of a panel. It is the same in all panels.
func (f *Figure) lookOf(i int, name string) look {
	if f.hasFacets() {
		var names []string
		for _, s := range f.Series {
			names = addNew(names, s.Name)
		}
		for k := range names {
			if names[k] == name {
				return lookAt(k)
			}
		}
	}
	return lookAt(i)
}

// diamond is a filled square that stands on a corner.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	r := 1.2 * style.Radius
	var p vg.Path
	p.Move(vg.Point{X: at.X - r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y + r})
	p.Line(vg.Point{X: at.X + r, Y: at.Y})
	p.Line(vg.Point{X: at.X, Y: at.Y - r})
	p.Close()
	c.SetColor(style.Color)
	c.Fill(p)
}

var (
	ink   = color.Gray{0x20}
	grid  = color.Gray{0xdd}
	paper = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)
