package figure

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

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
	// Notes are sentences under the plot, in front of the number of gaps.
	Notes []string
	// Width and Height are in inches; 0: 6 by 4, or a height that suits the width and the facets.
	// Text, lines and markers of narrow figures are smaller, so that they can be printed unscaled.
	Width, Height float64
	// Formats are the formats in addition to PNG, SVG and CSV: pdf, tex (PGF), gp (gnuplot).
	Formats []string
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
	// Facet is the name of the panel that shows the series. Series with equal names look the same in
	// all panels. If no series has a facet, there is one panel.
	Facet string
}

// A Point is a value in the units of the axes, with its lowest and highest measurement.
type Point struct {
	X, Y, Low, High float64
	// Gap is why the point has no value, such as "hang". The other numbers except X are ignored.
	Gap string
}

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

// saveCSV writes the points as drawn.
func (f *Figure) saveCSV(path string) error {
	header := []string{"series", f.X.text(), f.Y.text()}
	var rows [][]string
	if f.Heat != nil {
		return SaveRows(path, []string{f.X.text(), f.Y.text(), f.Heat.what()}, f.Heat.rows())
	}
	reach, gaps := f.reaches(), len(f.gaps()) > 0
	for _, c := range []struct {
		isUsed bool
		names  []string
	}{{f.hasFacets(), []string{"facet"}}, {reach, []string{"below", "above"}}, {gaps, []string{"gap"}}} {
		if c.isUsed {
			header = append(header, c.names...)
		}
	}
	for _, s := range f.Series {
		for i, p := range s.Points {
			x, y := number(p.X), number(p.Y)
			if len(f.Groups) > 0 {
				x = f.Groups[i]
			}
			if p.Gap != "" {
				y = ""
			}
			row := []string{s.Name, x, y}
			if f.hasFacets() {
				row = append(row, s.Facet)
			}
			if reach {
				row = append(row, number(p.Low), number(p.High))
			}
			if gaps {
				row = append(row, p.Gap)
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
	if n := len(f.gaps()); n > 0 && n == f.points() {
		return &Error{f.Title, "no point has a value"}
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
		if p.Gap != "" {
			continue
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
