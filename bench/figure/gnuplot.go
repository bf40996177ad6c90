package figure

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// saveGnuplot writes a gnuplot script that contains its data, for people who draw their own
// figures. It draws the figure into a PDF file beside it.
func (f *Figure) saveGnuplot(path string) error {
	var b strings.Builder
	w, h := f.size()
	fmt.Fprintf(&b, "# gnuplot %s\nset terminal pdfcairo size %.3fin,%.3fin font 'sans,%.1f'\nset output %s\n",
		filepath.Base(path), w.Points()/72, h.Points()/72, float64(f.sizes().tick), quoted(Base(filepath.Base(path))+".gnuplot.pdf"))
	fmt.Fprintf(&b, "set encoding utf8\nset termoption noenhanced\nset title %s\nset xlabel %s\nset ylabel %s\nset key outside top\nset grid\n",
		quoted(f.Title), quoted(f.X.text()), quoted(f.Y.text()))
	switch {
	case f.Heat != nil:
		f.gnuplotHeat(&b)
	case len(f.Groups) > 0:
		f.gnuplotBars(&b)
	default:
		f.gnuplotLines(&b)
	}
	return write(path, func(o io.Writer) error { _, err := io.WriteString(o, b.String()); return err })
}

// quoted is a text of a gnuplot script.
func quoted(s string) string { return strconv.Quote(s) }

// gnuplotLines writes a block of data for each series. An empty line interrupts a line at a gap.
func (f *Figure) gnuplotLines(b *strings.Builder) {
	for _, name := range []string{"x", "y"} {
		a := &f.X
		if name == "y" {
			a = &f.Y
		}
		if a.Scale == Log2 {
			fmt.Fprintf(b, "set logscale %s 2\n", name)
		}
		if a.Scale == Log10 {
			fmt.Fprintf(b, "set logscale %s\n", name)
		}
	}
	var plots []string
	for i, s := range f.Series {
		fmt.Fprintf(b, "$series%d << EOD\n# x y below above\n", i+1)
		for _, p := range s.Points {
			if p.Gap != "" {
				fmt.Fprintf(b, "\n# %s: %s\n", number(p.X), p.Gap)
				continue
			}
			fmt.Fprintln(b, number(p.X), number(p.Y), number(p.Low), number(p.High))
		}
		b.WriteString("EOD\n")
		name := s.Name
		if s.Facet != "" {
			name = s.Facet + ", " + name
		}
		plots = append(plots, fmt.Sprintf("$series%d using 1:2 with linespoints title %s", i+1, quoted(name)))
		if f.reaches() {
			plots = append(plots, fmt.Sprintf("$series%d using 1:2:($2-$3):($2+$4) with yerrorbars notitle", i+1))
		}
	}
	fmt.Fprintf(b, "plot %s\n", strings.Join(plots, ", \\\n  "))
}

// gnuplotBars writes a row for each group and a column for each series; a gap is NaN.
func (f *Figure) gnuplotBars(b *strings.Builder) {
	b.WriteString("$bars << EOD\n")
	for g, group := range f.Groups {
		b.WriteString(quoted(group))
		for _, s := range f.Series {
			v := "NaN"
			if s.Points[g].Gap == "" {
				v = number(s.Points[g].Y)
			}
			b.WriteString(" " + v)
		}
		b.WriteByte('\n')
	}
	b.WriteString("EOD\nset style data histograms\nset style fill solid 0.8 border\nset yrange [0:*]\n")
	var plots []string
	for i, s := range f.Series {
		labels := ""
		if i == 0 {
			labels = ":xtic(1)"
		}
		plots = append(plots, fmt.Sprintf("$bars using %d%s title %s", i+2, labels, quoted(s.Name)))
	}
	fmt.Fprintf(b, "plot %s\n", strings.Join(plots, ", \\\n  "))
}

// gnuplotHeat writes x, y and the value of each field, with the names of the axes.
func (f *Figure) gnuplotHeat(b *strings.Builder) {
	b.WriteString("$fields << EOD\n")
	for i, row := range f.Heat.Values {
		for k, v := range row {
			text := "NaN"
			if !math.IsNaN(v) {
				text = number(v)
			}
			fmt.Fprintln(b, k, i, text)
		}
	}
	b.WriteString("EOD\n")
	for _, axis := range []string{"x", "y"} {
		names := f.Heat.X
		if axis == "y" {
			names = f.Heat.Y
		}
		var tics []string
		for i, name := range names {
			tics = append(tics, fmt.Sprintf("%s %d", quoted(name), i))
		}
		fmt.Fprintf(b, "set %stics (%s)\n", axis, strings.Join(tics, ", "))
	}
	fmt.Fprintf(b, "set cblabel %s\nplot $fields using 1:2:3 with image notitle\n", quoted(f.Heat.what()))
}
