package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Heat makes a figure a heat map: a field per name on X and Y, with its number.
type Heat struct {
	X, Y        []string
	Values      [][]float64 // [y][x]; NaN: not measured
	Gaps        [][]string  // why a value is not measured; nil: unknown
	Label, Unit string
}

func (h *Heat) check(title string) error {
	if len(h.X) == 0 || len(h.Y) == 0 || len(h.Values) != len(h.Y) {
		return &Error{title, fmt.Sprintf("heat map of %d by %d fields with %d rows", len(h.X), len(h.Y), len(h.Values))}
	}
	for _, row := range h.Values {
		if len(row) != len(h.X) {
			return &Error{title, fmt.Sprintf("heat map: a row of %d fields, expected %d", len(row), len(h.X))}
		}
		for _, v := range row {
			if math.IsInf(v, 0) {
				return &Error{title, fmt.Sprintf("heat map: %v cannot be drawn, expected a finite number", v)}
			}
		}
	}
	if low, high := h.bounds(); low > high {
		return &Error{title, "heat map without a measured value"}
	}
	return nil
}

func (h *Heat) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range h.Values {
		for _, v := range row {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

// shade maps a value to a ramp from nearly white to the darkest line colour, by brightness only.
func shade(v, low, high float64) (fill color.Color, dark bool) {
	share := 0.0
	if high > low {
		share = (v - low) / (high - low)
	}
	darkest, light := looks[0].color, color.NRGBA{0xee, 0xf4, 0xfa, 0xff}
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + share*(float64(b)-float64(a)) + 0.5) }
	return color.NRGBA{mix(light.R, darkest.R), mix(light.G, darkest.G), mix(light.B, darkest.B), 0xff}, share > 0.5
}

// widest is as wide as the widest result of short.
const widest = "00.000"

// fields implements plot.Plotter for the heat map.
type fields struct {
	heat *Heat
	text draw.TextStyle
}

func (f *fields) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	low, high := f.heat.bounds()
	for i, row := range f.heat.Values {
		for k, v := range row {
			if math.IsNaN(v) {
				c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: f.text.Font.Size / 3, Shape: cross{}}, vg.Point{X: x(float64(k)), Y: y(float64(i))})
				continue
			}
			fill, dark := shade(v, low, high)
			box := vg.Rectangle{
				Min: vg.Point{X: x(float64(k) - 0.5), Y: y(float64(i) - 0.5)}, Max: vg.Point{X: x(float64(k) + 0.5), Y: y(float64(i) + 0.5)},
			}
			c.SetColor(fill)
			c.Fill(box.Path())
			style := f.text
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			style.Color = ink
			if dark {
				style.Color = color.White
			}
			if size := box.Size(); style.Width(widest) > size.X || style.Height(widest) > size.Y {
				continue // no space for the number
			}
			c.FillText(style, vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}, short(v))
		}
	}
}

// short formats a number with about three digits.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e5 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// addHeat adds the fields and their names to the axes.
func (f *Figure) addHeat(p *plot.Plot) (keys []key, err error) {
	text := p.X.Tick.Label
	text.Font = sans(f.sizes().tick)
	p.Add(&fields{f.Heat, text})
	p.NominalX(some(f.Heat.X)...)
	p.NominalY(some(f.Heat.Y)...)
	p.X.Min, p.X.Max = -0.5, float64(len(f.Heat.X))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(f.Heat.Y))-0.5
	p.X.Padding, p.Y.Padding = 0, 0
	return nil, nil
}

// some omits names if there are too many to be readable.
func some(names []string) []string {
	const most = 20
	every := (len(names) + most - 1) / most
	list := make([]string, len(names))
	for i := 0; i < len(names); i += every {
		list[i] = names[i]
	}
	return list
}

func (h *Heat) what() string {
	a := Axis{Label: h.Label, Unit: h.Unit}
	return a.text()
}

// legendText describes the colours, because a heat map has no legend.
func (h *Heat) legendText() string {
	low, high := h.bounds()
	return fmt.Sprintf("%s: %s to %s", h.what(), short(low), short(high))
}

func (h *Heat) rows() (rows [][]string) {
	for i, y := range h.Y {
		for k, x := range h.X {
			if v := h.Values[i][k]; !math.IsNaN(v) {
				rows = append(rows, []string{x, y, number(v)})
			}
		}
	}
	return rows
}
