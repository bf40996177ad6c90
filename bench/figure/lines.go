package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// addLines adds the series of a panel. Lines are interrupted at gaps.
func (f *Figure) addLines(p *plot.Plot, series []Series) (keys []key, err error) {
	z := f.sizes()
	for i, s := range series {
		l := f.lookOf(i, s.Name)
		style := draw.LineStyle{Color: l.color, Width: z.line, Dashes: l.dashes}
		glyph := draw.GlyphStyle{Color: l.color, Radius: z.marker, Shape: l.marker}
		for _, run := range runs(s.Points) {
			p.Add(&plotter.Line{XYs: run, LineStyle: style}, &plotter.Scatter{XYs: run, GlyphStyle: glyph})
		}
		if bars := s.errorBars(l, 0, false); len(bars.points) > 0 {
			p.Add(bars)
		}
		keys = append(keys, key{s.Name, []plot.Thumbnailer{
			&plotter.Line{LineStyle: style}, &plotter.Scatter{GlyphStyle: glyph}}})
	}
	if gaps := f.newGapMarks(series, p.X.Tick.Label); gaps != nil {
		p.Add(gaps)
		if p.Title.Text == "" { // the marks need space below a title
			p.Title.Text, p.Title.TextStyle.Font = " ", sans(1)
		}
		p.Title.Padding += gaps.height()
	}
	return keys, nil
}

// runs returns the sequences of points between gaps.
func runs(points []Point) (list []plotter.XYs) {
	var run plotter.XYs
	for _, p := range points {
		if p.Gap == "" {
			run = append(run, plotter.XY{X: p.X, Y: p.Y})
			continue
		}
		if len(run) > 0 {
			list = append(list, run)
		}
		run = nil
	}
	if len(run) > 0 {
		list = append(list, run)
	}
	return list
}
