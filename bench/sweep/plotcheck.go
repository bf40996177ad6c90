package sweep

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers/suggest"
)

// checkPlots finds everything that would prevent a figure after the runs.
func (f *File) checkPlots() error {
	var errs []error
	for i := range f.Plots {
		errs = append(errs, f.checkPlot(&f.Plots[i]))
	}
	return errors.Join(errs...)
}

func (f *File) checkPlot(p *plot) error {
	columns, _ := f.header()
	if !nameShape.MatchString(p.name) {
		return p.position.errorf("plot: expected a name of small letters and digits")
	}
	need := append([]string{p.x, p.y}, p.by...)
	if p.facet != "" {
		need = append(need, p.facet)
	}
	if p.kind == "heatmap" {
		need = append(need, p.z)
	} else if p.z != "" {
		return p.position.errorf("plot %s: z belongs to a heatmap", p.name)
	}
	var errs []error
	for _, name := range need {
		if !slices.Contains(columns, name) {
			errs = append(errs, p.position.errorf("plot %s: there is no column %q%s; known: %s", p.name, name, suggest.Nearest(name, columns), strings.Join(columns, ", ")))
		}
	}
	if p.kind == "heatmap" && (len(p.by) > 0 || p.facet != "") {
		errs = append(errs, p.position.errorf("plot %s: a heatmap has no by and no facet: narrow it with where", p.name))
	}
	if p.kind == "bars" && p.yScale != "linear" {
		errs = append(errs, p.position.errorf("plot %s: bars on a logarithmic axis have no meaningful length: use lines", p.name))
	}
	if len(errs) == 0 {
		errs = append(errs, f.checkPosition(p), f.checkUnique(p))
	}
	return errors.Join(errs...)
}

// axis returns the values of an axis by the name of its column.
func (f *File) axis(column1 string) ([]cell, bool) {
	for _, zip := range f.Axes {
		for _, a := range zip {
			if column(a.name) == column1 {
				return a.values, true
			}
		}
	}
	return nil, false
}

// checkPosition refuses values of an axis that have no position on the x axis of the plot.
func (f *File) checkPosition(p *plot) error {
	values, ok := f.axis(p.x)
	if !ok || p.kind != "lines" {
		return nil
	}
	for _, c := range values {
		v, ok := c.number()
		switch {
		case !ok && !strings.Contains(c.text, "{"):
			return p.position.errorf("plot %s: %s %q is no number: bars show names", p.name, p.x, c.text)
		case ok && v <= 0 && p.xScale != "linear":
			return p.position.errorf("plot %s: %s is %s in a run, which has no position on the x axis of scale %s: add where: %s > 0", p.name, p.x, c.text, p.xScale, p.x)
		}
	}
	return nil
}

// checkUnique refuses plots in which several runs have the same position: some axis varies that is
// neither an axis of the plot nor fixed by where.
func (f *File) checkUnique(p *plot) error {
	shown := append([]string{p.x}, p.by...)
	if p.kind == "heatmap" {
		shown = append(shown, p.y)
	}
	if p.facet != "" {
		shown = append(shown, p.facet)
	}
	for _, name := range shown {
		if _, ok := f.axis(name); !ok && name != "seed" {
			return nil // a measured column may tell runs apart
		}
	}
	for _, zip := range f.Axes {
		if len(zip[0].values) < 2 || slices.ContainsFunc(zip, func(a axis) bool { return slices.Contains(shown, column(a.name)) }) {
			continue
		}
		if slices.ContainsFunc(zip, func(a axis) bool { return f.isFixed(p, column(a.name)) }) {
			continue
		}
		name := column(zip[0].name)
		return p.position.errorf("plot %s: several runs at each %s, because %s varies: add it to by or facet, or fix it with where", p.name, p.x, name)
	}
	return nil
}

// isFixed reports whether a condition of the plot or of the file mentions a column.
func (f *File) isFixed(p *plot, name string) bool {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
	return slices.ContainsFunc(append(slices.Clone(p.where), f.Where...), func(x expression) bool { return word.MatchString(x.text) })
}
