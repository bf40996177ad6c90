package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench/figure"
)

// A spot is a point that combines several seeds.
type spot struct {
	facet, series, x, y string
}

// A heap holds the values of a spot.
type heap struct {
	spot
	x, y   cell
	values []float64
	gaps   []string // why runs have no value
	seeds  []string
}

// A gathering is the points of a plot, and runs without a position in it.
type gathering struct {
	heaps    []*heap
	unplaced int
}

// Draw draws the figures of the file. Plots without any value are omitted, and listed in empty. An
// error of one plot does not affect the others.
func (f *File) Draw(t *Table) (figures map[string]*figure.Figure, empty []string, err error) {
	figures = map[string]*figure.Figure{}
	var errs []error
	for i := range f.Plots {
		p := &f.Plots[i]
		g, err := p.gather(t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.ContainsFunc(g.heaps, func(h *heap) bool { return len(h.values) > 0 }) {
			empty = append(empty, p.name)
			continue
		}
		if figures[p.name], err = p.draw(f, g); err != nil {
			delete(figures, p.name)
			errs = append(errs, err)
		}
	}
	return figures, empty, errors.Join(errs...)
}

// gapOf is why a row has no value, by its status.
func gapOf(status string) string {
	if status == Hung {
		return "hang"
	}
	return "failed"
}

// gather sorts rows by their position. Runs without a value are gaps at theirs.
func (p *plot) gather(t *Table) (*gathering, error) {
	at, g := map[spot]*heap{}, &gathering{}
	col := func(name string) int { return slices.Index(t.Columns, name) }
	measured := p.y
	if p.kind == "heatmap" {
		measured = p.z
	}
	for _, row := range t.rows {
		status := row[col("status")].text
		if ok, err := p.wanted(t, row, status); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		s, ok := p.spotOf(t, row)
		if !ok {
			if status != Passed {
				g.unplaced++
			}
			continue
		}
		h := at[s]
		if h == nil {
			h = &heap{spot: s, x: row[col(p.x)], y: row[col(p.y)]}
			at[s], g.heaps = h, append(g.heaps, h)
		}
		v, isNumber := row[col(measured)].number()
		switch {
		case status != Passed:
			h.gaps = append(h.gaps, gapOf(status))
			continue
		case !isNumber:
			h.gaps = append(h.gaps, "no number")
			continue
		case v <= 0 && p.yScale != "linear" && p.kind == "lines":
			h.gaps = append(h.gaps, "not above 0")
			continue
		}
		seed := ""
		if i := col("seed"); i >= 0 {
			seed = row[i].text
		}
		if slices.Contains(h.seeds, seed) {
			return nil, p.position.errorf("plot %s: several rows at %s %s%s with the same seed: narrow them with where, or tell them apart with by", p.name, p.x, s.x, comma(s.series))
		}
		h.values, h.seeds = append(h.values, v), append(h.seeds, seed)
	}
	return g, nil
}

// spotOf is the position of a row; ok is false if a column that it needs is empty.
func (p *plot) spotOf(t *Table, row []cell) (s spot, ok bool) {
	get := func(name string) cell { return row[slices.Index(t.Columns, name)] }
	s.x = get(p.x).text
	if p.kind == "heatmap" {
		s.y = get(p.y).text
	}
	if s.x == "" || p.kind == "heatmap" && s.y == "" {
		return s, false
	}
	var series []string
	for _, b := range p.by {
		switch c := get(b); {
		case c == (cell{}) && get("status").text != Passed && slices.Index(t.Columns, b) >= t.Keys:
			return s, false // a measured column
		case c != (cell{}):
			series = append(series, nameOf(b, c))
		}
	}
	s.series = strings.Join(series, ", ")
	if p.facet != "" {
		s.facet = nameOf(p.facet, get(p.facet))
	}
	return s, true
}

// nameOf is a value in a legend: numbers have the name of their column.
func nameOf(column string, c cell) string {
	if c.kind == text("").kind {
		return c.text
	}
	label, unit := inWords(column)
	return strings.TrimSpace(label + " " + c.text + " " + unit)
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

// wanted evaluates the conditions of the plot. A condition on a column that a failed run does not
// have excludes nothing.
func (p *plot) wanted(t *Table, row []cell, status string) (bool, error) {
	if len(p.where) == 0 {
		return true, nil
	}
	s := scope{}
	for i, c := range row {
		if c != (cell{}) {
			s[t.Columns[i]] = c
		}
	}
	for i := range p.where {
		ok, err := p.where[i].holds(s, t.Columns)
		switch {
		case err != nil && isAbsent(err) && status != Passed:
			continue
		case err != nil && isAbsent(err) && p.mentionsKey(t, &p.where[i], s):
			return false, nil // a flag that this run does not have
		case err != nil || !ok:
			return false, err
		}
	}
	return true, nil
}

// mentionsKey reports whether a condition needs an axis that is empty in a row.
func (p *plot) mentionsKey(t *Table, x *expression, s scope) bool {
	return slices.ContainsFunc(t.Columns[:t.Keys], func(name string) bool {
		_, ok := s[name]
		return !ok && strings.Contains(x.text, name)
	})
}

// point returns the mean of a heap with its bar, or a gap.
func (p *plot) point(h *heap) figure.Point {
	if len(h.values) == 0 {
		if slices.Contains(h.gaps, "hang") {
			return figure.Point{Gap: "hang"}
		}
		return figure.Point{Gap: h.gaps[0]}
	}
	sum, low, high := 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range h.values {
		sum, low, high = sum+v, min(low, v), max(high, v)
	}
	n := float64(len(h.values))
	pt := figure.Point{Y: sum / n}
	switch {
	case n < 2 || p.errors == "none":
	case p.errors == "range":
		pt.Low, pt.High = pt.Y-low, high-pt.Y
	default:
		squares := 0.0
		for _, v := range h.values {
			squares += (v - pt.Y) * (v - pt.Y)
		}
		pt.Low = math.Sqrt(squares / (n - 1))
		pt.High = pt.Low
	}
	if p.yScale != "linear" && pt.Low >= pt.Y {
		pt.Low = 0 // a logarithmic axis has no such position
	}
	return pt
}

// notes describes means, and runs that a figure does not show.
func (p *plot) notes(g *gathering) (notes []string) {
	most, fewer := 0, 0
	for _, h := range g.heaps {
		most = max(most, len(h.values))
	}
	for _, h := range g.heaps {
		if len(h.values) > 0 && len(h.values) < most {
			fewer++
		}
	}
	if most > 1 {
		note := fmt.Sprintf("mean of %d seeds", most)
		if what := map[string]string{"range": "least to most", "deviation": "standard deviation"}[p.errors]; what != "" && p.kind != "heatmap" {
			note += ", bars: " + what
		}
		notes = append(notes, note)
	}
	if fewer > 0 {
		notes = append(notes, fmt.Sprintf("%d points are means of fewer seeds", fewer))
	}
	if g.unplaced > 0 {
		notes = append(notes, fmt.Sprintf("%d runs without a result are not shown", g.unplaced))
	}
	return notes
}
