package figure

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/nicloop/nicloop/drivers/userfile"
)

// A Figure has lines over a numeric x axis or, with Groups, bars side by side, or is a heat map.
type Figure struct {
	Title  string
	X, Y   Axis
	Series []Series
	Marks  []Mark
	// Groups makes it a bar chart with one bar of every series per name.
	Groups []string
	// Heat makes it a heat map, which has no series.
	Heat *Heat
	// Width and Height are in inches; 0: 6 by 4.
	Width, Height float64
}

// An Axis has a label and, unless it is a count, a unit.
type Axis struct {
	Label, Unit string
	Scale       Scale
	// Min and Max fix the range; nil: determined by the points.
	Min, Max *float64
}

// A Scale maps values to positions on an axis.
type Scale int

// The scales. Log2 labels powers of two like sizes: 64, 4 Ki, 1 Mi.
const (
	Linear Scale = iota
	Log10
	Log2
)

// A Series is one line, or one kind of bar: then Points[i] belongs to Groups[i] and X is ignored.
type Series struct {
	Name   string
	Points []Point
}

// A Point is a value in the units of the axes, with its lowest and highest measurement.
type Point struct{ X, Y, Low, High float64 }

// A Mark is a dashed line across the whole figure with a text, such as a paper's claim.
type Mark struct {
	// Vertical marks are at an X, others at a Y.
	Vertical bool
	At       float64
	Text     string
}

// At returns a bound for Axis.Min or Max.
func At(v float64) *float64 { return &v }

// An Error describes why a figure cannot be drawn.
type Error struct{ Figure, What string }

func (e *Error) Error() string { return fmt.Sprintf("figure %q: %s", e.Figure, e.What) }

// Files lists the files that [Figure.Save] writes.
func Files(path string) []string {
	base := Base(path)
	return []string{base + ".png", base + ".svg", base + ".csv"}
}

// Save writes PATH.png, PATH.svg and PATH.csv; an extension of path is removed.
func (f *Figure) Save(path string) error {
	d, err := f.drawing()
	if err != nil {
		return err
	}
	base := Base(path)
	w, h := f.size()
	svg := vgsvg.New(w, h)
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(200))}
	d.draw(draw.New(svg))
	d.draw(draw.New(png))
	return errors.Join(
		write(base+".svg", func(o io.Writer) error { _, err := svg.WriteTo(o); return err }),
		write(base+".png", func(o io.Writer) error { _, err := png.WriteTo(o); return err }),
		f.saveCSV(base+".csv"))
}

// Base returns path without the extensions that Save writes.
func Base(path string) string {
	switch ext := filepath.Ext(path); ext {
	case ".png", ".svg", ".csv":
		return strings.TrimSuffix(path, ext)
	}
	return path
}

// wrapped breaks a long title after a comma.
func (f *Figure) wrapped() string {
	w, _ := f.size()
	most := int(w / vg.Inch * 12) // characters
	if len(f.Title) <= most {
		return f.Title
	}
	at := strings.LastIndex(f.Title[:most], ", ")
	if at < 0 {
		return f.Title
	}
	return f.Title[:at+1] + "\n" + f.Title[at+2:]
}

func (f *Figure) size() (w, h vg.Length) {
	w, h = 6*vg.Inch, 4*vg.Inch
	if f.Width > 0 {
		w = vg.Length(f.Width) * vg.Inch
	}
	if f.Height > 0 {
		h = vg.Length(f.Height) * vg.Inch
	}
	return w, h
}

// saveCSV writes the points as drawn.
func (f *Figure) saveCSV(path string) error {
	header := []string{"series", f.X.text(), f.Y.text()}
	var rows [][]string
	if f.Heat != nil {
		return SaveRows(path, []string{f.X.text(), f.Y.text(), f.Heat.what()}, f.Heat.rows())
	}
	reach := f.reaches()
	if reach {
		header = append(header, "below", "above")
	}
	for _, s := range f.Series {
		for i, p := range s.Points {
			x := number(p.X)
			if len(f.Groups) > 0 {
				x = f.Groups[i]
			}
			row := []string{s.Name, x, number(p.Y)}
			if reach {
				row = append(row, number(p.Low), number(p.High))
			}
			rows = append(rows, row)
		}
	}
	return SaveRows(path, header, rows)
}

// reaches reports whether a point has an error bar.
func (f *Figure) reaches() bool {
	for _, s := range f.Series {
		for _, p := range s.Points {
			if p.Low != 0 || p.High != 0 {
				return true
			}
		}
	}
	return false
}

// SaveRows writes the rows of a figure with all columns as CSV.
func SaveRows(path string, header []string, rows [][]string) error {
	for i, r := range rows {
		if len(r) != len(header) {
			return &Error{path, fmt.Sprintf("row %d has %d fields, expected %d as in the header", i, len(r), len(header))}
		}
	}
	return write(path, func(o io.Writer) error {
		return csv.NewWriter(o).WriteAll(append([][]string{header}, rows...))
	})
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func write(path string, content func(io.Writer) error) error { return userfile.Write(path, content) }

// text returns the axis label with its unit.
func (a *Axis) text() string {
	if a.Unit == "" {
		return a.Label
	}
	return fmt.Sprintf("%s (%s)", a.Label, a.Unit)
}

// check rejects everything that the plotting library would draw wrongly or panic on.
func (f *Figure) check() error {
	if f.Heat != nil {
		return f.Heat.check(f.Title)
	}
	if len(f.Series) == 0 {
		return &Error{f.Title, "no series: expected at least one"}
	}
	for _, s := range f.Series {
		if err := f.checkSeries(s); err != nil {
			return err
		}
	}
	for _, m := range f.Marks {
		axis := &f.Y
		if m.Vertical {
			axis = &f.X
		}
		if err := f.checkValue(axis, m.At, "mark "+strconv.Quote(m.Text)); err != nil {
			return err
		}
	}
	for _, a := range []*Axis{&f.X, &f.Y} {
		for _, bound := range []*float64{a.Min, a.Max} {
			if bound != nil {
				if err := f.checkValue(a, *bound, "bound of axis "+strconv.Quote(a.Label)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *Figure) checkSeries(s Series) error {
	name := "series " + strconv.Quote(s.Name)
	switch {
	case len(s.Points) == 0:
		return &Error{f.Title, name + " has no points"}
	case len(f.Groups) > 0 && len(s.Points) != len(f.Groups):
		return &Error{f.Title, fmt.Sprintf("%s has %d bars, expected %d, one for each group", name, len(s.Points), len(f.Groups))}
	case len(f.Groups) > 0 && f.Y.Scale != Linear:
		return &Error{f.Title, "bars on a logarithmic axis have no meaningful length: use lines"}
	}
	for _, p := range s.Points {
		if len(f.Groups) == 0 {
			if err := f.checkValue(&f.X, p.X, name); err != nil {
				return err
			}
		}
		for _, y := range []float64{p.Y, p.Y - p.Low, p.Y + p.High} {
			if err := f.checkValue(&f.Y, y, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Figure) checkValue(a *Axis, v float64, who string) error {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return &Error{f.Title, fmt.Sprintf("%s: %v cannot be drawn, expected a finite number", who, v)}
	case a.Scale != Linear && v <= 0:
		return &Error{f.Title, fmt.Sprintf("%s: %v on the logarithmic axis %q, expected more than 0", who, v, a.Label)}
	}
	return nil
}

// drawing builds the plot that both formats contain.
func (f *Figure) drawing() (*drawing, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	p := plot.New()
	f.style(p)
	add := f.addLines
	switch {
	case f.Heat != nil:
		add = f.addHeat
	case len(f.Groups) > 0:
		add = f.addBars
	}
	keys, err := add(p)
	if err != nil {
		return nil, err
	}
	if f.Heat == nil {
		f.ranges(p)
	}
	f.addMarks(p)
	text := p.X.Tick.Label
	text.XAlign, text.YAlign = draw.XLeft, draw.YCenter
	title := f.wrapped()
	if f.Heat != nil {
		title += "\n" + f.Heat.legendText()
	}
	return &drawing{plot: p, title: title, keys: keys, text: text}, nil
}
