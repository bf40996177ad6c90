package figure

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Formats are the formats that a figure has only if they are requested.
var Formats = []string{"pdf", "tex", "gp"}

// Save writes PATH.png, PATH.svg and PATH.csv, and the files of f.Formats; an extension of path is
// removed, and requests its format.
func (f *Figure) Save(path string) error {
	base := Base(path)
	formats := f.Formats
	if ext := strings.TrimPrefix(filepath.Ext(path), "."); slices.Contains(Formats, ext) {
		formats = append(slices.Clone(formats), ext)
	}
	if err := f.check(); err != nil {
		return err
	}
	w, h := f.size()
	svg := vgsvg.New(w, h)
	png := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(200))}
	for _, c := range []vg.CanvasSizer{svg, png} {
		if err := f.draw(draw.New(c)); err != nil {
			return err
		}
	}
	errs := []error{
		write(base+".svg", func(o io.Writer) error { _, err := svg.WriteTo(o); return err }),
		write(base+".png", func(o io.Writer) error { _, err := png.WriteTo(o); return err }),
		f.saveCSV(base + ".csv"),
	}
	for _, format := range formats {
		errs = append(errs, f.saveAs(base, format))
	}
	return errors.Join(errs...)
}

func (f *Figure) saveAs(base, format string) error {
	switch format {
	case "pdf":
		return f.savePDF(base + ".pdf")
	case "tex":
		return f.savePGF(base + ".tex")
	case "gp":
		return f.saveGnuplot(base + ".gp")
	}
	return &Error{f.Title, fmt.Sprintf("format %q; known: %s", format, strings.Join(Formats, ", "))}
}

// Files lists the files that [Figure.Save] writes for a path, if f.Formats has these formats.
func Files(path string, formats ...string) (names []string) {
	if ext := strings.TrimPrefix(filepath.Ext(path), "."); slices.Contains(Formats, ext) {
		formats = append(slices.Clone(formats), ext)
	}
	for _, ext := range append([]string{"png", "svg", "csv"}, formats...) {
		names = addNew(names, Base(path)+"."+ext)
	}
	return names
}

// Base returns path without the extensions that Save writes.
func Base(path string) string {
	ext := filepath.Ext(path)
	if slices.Contains(append([]string{"png", "svg", "csv"}, Formats...), strings.TrimPrefix(ext, ".")) {
		return strings.TrimSuffix(path, ext)
	}
	return path
}

// Heights of figures without a height.
const (
	defaultWidth, defaultHeight = 6 * vg.Inch, 4 * vg.Inch
	panelShape, narrowShape     = 0.72, 0.8 // height of a panel, or of a narrow figure, by its width
)

func (f *Figure) size() (w, h vg.Length) {
	w, h = defaultWidth, defaultHeight
	if f.Width > 0 {
		w = vg.Length(f.Width) * vg.Inch
	}
	if f.Height > 0 {
		return w, vg.Length(f.Height) * vg.Inch
	}
	rows, cols := f.grid()
	switch {
	case rows > 1 || cols > 1:
		h = vg.Length(rows)*w/vg.Length(cols)*panelShape + 0.25*w
	case w < defaultWidth:
		h = w * narrowShape
	}
	return w, h + f.legendHeight(w)
}

// legendHeight is the height that a figure gains by its legend, beyond the first rows.
func (f *Figure) legendHeight(w vg.Length) vg.Length {
	z := sizesFor(w)
	var keys []key
	var names []string
	for _, s := range f.Series {
		names = addNew(names, s.Name)
	}
	for _, name := range names {
		keys = append(keys, key{name: name})
	}
	text := plot.New().X.Tick.Label
	text.Font = sans(z.tick)
	const usual = 1 // rows
	if len(keys) == 0 {
		return 0
	}
	columns := len(columnsOf(keys, text, z.thumb+thumbSpace, z.gap, w-2*z.margin))
	return z.key * vg.Length(max(0, (len(keys)+columns-1)/columns-usual))
}

// A scale of text, lines and distances. The smallest text has 7 points.
type sizes struct {
	title, label, tick vg.Length
	line, marker       vg.Length
	margin             vg.Length
	key, thumb, gap    vg.Length // height of a line of the legend, width of its sample, distance of columns
}

func (f *Figure) sizes() sizes {
	if f.Width > 0 {
		return sizesFor(vg.Length(f.Width) * vg.Inch)
	}
	return sizesFor(defaultWidth)
}

func sizesFor(w vg.Length) sizes {
	k := min(1, max(0.62, w/defaultWidth))
	return sizes{
		title: max(8.5, 13*k), label: max(8, 12*k), tick: max(7, 10.5*k),
		line: max(1.1, 1.6*k), marker: max(2.3, 3.2*k), margin: 8 * k,
		key: max(11, 16*k), thumb: 30 * k, gap: 16 * k,
	}
}
