package sweep

import (
	"errors"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers/suggest"
	"go.yaml.in/yaml/v3"
)

// A plot is a figure of the rows. Rows that differ only in their seed form one point: the mean,
// with bars from minimum to maximum or of one standard deviation.
type plot struct {
	name, kind     string
	x, y, z        string
	by             []string
	facet          string
	where          []expression
	width, height  float64 // mm; 0: default
	formats        []string
	title          string
	xLabel, yLabel string
	xUnit, yUnit   string
	zUnit          string
	xScale, yScale string
	errors         string
	position       position
}

var (
	plotKeys   = []string{"name", "kind", "x", "y", "z", "by", "where", "title", "x_label", "y_label", "x_unit", "y_unit", "z_unit", "x_scale", "y_scale", "errors", "facet", "width", "height", "formats"}
	plotKinds  = []string{"lines", "bars", "heatmap"}
	plotErrors = []string{"range", "deviation", "none"}
	plotScales = map[string]figure.Scale{"linear": figure.Linear, "log2": figure.Log2, "log10": figure.Log10}
)

func (r *reader) plots(e entry) (list []plot, err error) {
	var errs []error
	for _, n := range r.list(e.value) {
		p, err := r.plot(n)
		if err == nil && slices.ContainsFunc(list, func(q plot) bool { return q.name == p.name }) {
			err = p.position.errorf("there are two plots %q", p.name)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, p)
	}
	return list, errors.Join(errs...)
}

func (r *reader) plot(n *yaml.Node) (p plot, err error) {
	entries, err := r.mapping(n, "a plot", plotKeys)
	if err != nil {
		return p, err
	}
	p = plot{kind: "lines", xScale: "linear", yScale: "linear", errors: "range", position: r.at(n)}
	words := map[string]*string{
		"name": &p.name, "kind": &p.kind, "x": &p.x, "y": &p.y, "z": &p.z, "title": &p.title, "x_label": &p.xLabel, "y_label": &p.yLabel,
		"x_unit": &p.xUnit, "y_unit": &p.yUnit, "z_unit": &p.zUnit, "x_scale": &p.xScale, "y_scale": &p.yScale, "errors": &p.errors,
		"facet": &p.facet,
	}
	lengths := map[string]*float64{"width": &p.width, "height": &p.height}
	var errs []error
	for _, x := range entries {
		switch x.key {
		case "by":
			p.by, err = r.texts(x.value, x.key)
		case "where":
			p.where, err = r.conditions(x)
		case "width", "height":
			if err = r.decode(x.value, x.key, lengths[x.key]); err == nil && !(*lengths[x.key] >= 30 && *lengths[x.key] <= 1000) {
				err = x.where.errorf("%s %g: expected 30 to 1000 mm", x.key, *lengths[x.key])
			}
		case "formats":
			p.formats, err = r.texts(x.value, x.key)
		default:
			*words[x.key], err = r.text(x.value, x.key)
		}
		errs = append(errs, err)
	}
	for _, c := range []struct {
		key, got string
		known    []string
	}{{"kind", p.kind, plotKinds}, {"errors", p.errors, plotErrors}, {"x_scale", p.xScale, []string{"linear", "log2", "log10"}}, {"y_scale", p.yScale, []string{"linear", "log2", "log10"}}} {
		if !slices.Contains(c.known, c.got) {
			errs = append(errs, p.position.errorf("%s %q%s; known: %s", c.key, c.got, suggest.Nearest(c.got, c.known), strings.Join(c.known, ", ")))
		}
	}
	for _, format := range p.formats {
		if !slices.Contains(figure.Formats, format) {
			errs = append(errs, p.position.errorf("formats: %q%s; known: %s (png, svg and csv are always written)",
				format, suggest.Nearest(format, figure.Formats), strings.Join(figure.Formats, ", ")))
		}
	}
	return p, errors.Join(errs...)
}
