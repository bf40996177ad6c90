package figure

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// many has more series than colours, some of which hang at long messages.
func many(n int) *Figure {
	f := &Figure{
		Title: "Time of an iteration by flow control, slots and message size",
		X:     Axis{Label: "message", Unit: "bytes", Scale: Log2}, Y: Axis{Label: "time of an iteration", Unit: "µs"},
		Width: 85 / 25.4,
	}
	for i := range n {
		s := Series{Name: fmt.Sprintf("%d slots", i+1)}
		for e := 3.0; e < 9; e++ {
			p := Point{X: math.Exp2(e), Y: float64(i+2) * (1 + e/8)}
			if i < n/3 && e > 6 {
				p.Gap = "hang"
			}
			s.Points = append(s.Points, p)
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// TestGaps: points without a value interrupt lines, leave out bars, and are counted.
func TestGaps(t *testing.T) {
	f := lines()
	f.Series[1].Points[4].Gap = "hang"
	f.Series[1].Points[4].Y = math.NaN()
	f.Series[2].Points[0].Gap = "missing"
	files := save(t, f, "gap-lines")
	assert.Contains(t, string(files[".svg"]), "× no value at 2 of 72 points: 1 hang, 1 missing")
	assert.Contains(t, string(files[".csv"]), "rput,128,,hang\n")
	assert.Len(t, runs(f.Series[1].Points), 2)

	g := bars()
	g.Series[0].Points[1].Gap = "hang"
	files = save(t, g, "gap-bars")
	assert.Contains(t, string(files[".svg"]), "× no value at 1 of 9 points: 1 hang")
	assert.NotEqual(t, files[".png"], save(t, bars(), "bars")[".png"])

	h := &Figure{Title: "heat", Heat: &Heat{X: []string{"1", "2"}, Y: []string{"a"}, Values: [][]float64{{1, math.NaN()}}, Label: "time"}}
	assert.Contains(t, string(save(t, h, "gap-heat")[".svg"]), "× no value at 1 of 2 points: 1 not measured")

	for i := range g.Series {
		for k := range g.Series[i].Points {
			g.Series[i].Points[k].Gap = "hang"
		}
	}
	require.ErrorContains(t, g.Save(t.TempDir()+"/x"), "no point has a value")
}

// TestLooksAreDistinct: 36 lines differ in marker and colour, and 36 bars in colour and hatching.
func TestLooksAreDistinct(t *testing.T) {
	isLine, isBar := map[string]bool{}, map[string]bool{}
	for i := range maxSeries {
		l := lookAt(i)
		isLine[fmt.Sprintf("%v %T", l.color, l.marker)] = true
		isBar[fmt.Sprint(l.color, l.hatch)] = true
		assert.NotEqual(t, draw.GlyphDrawer(cross{}), l.marker, "a cross is a gap")
	}
	assert.Len(t, isLine, maxSeries)
	assert.Len(t, isBar, maxSeries)
	save(t, many(36), "many")
	f := bars()
	for i := range 9 {
		f.Series = append(f.Series, Series{Name: fmt.Sprintf("more %d", i), Points: f.Series[1].Points})
	}
	save(t, f, "many-bars")
}

// TestFacets: panels have the same axes, and a series has the same look in all of them.
func TestFacets(t *testing.T) {
	f := many(9)
	f.Width = 0
	for i := range f.Series {
		f.Series[i].Name, f.Series[i].Facet = fmt.Sprintf("%d slots", i%3), fmt.Sprintf("%d nodes", 2<<(i/3))
	}
	panels, keys, err := f.panels()
	require.NoError(t, err)
	require.Len(t, keys, 3)
	require.Len(t, panels, 2)
	a, b := panels[0][0], panels[1][0]
	assert.Equal(t, []float64{a.Y.Min, a.Y.Max, a.X.Min, a.X.Max}, []float64{b.Y.Min, b.Y.Max, b.X.Min, b.X.Max})
	assert.Nil(t, panels[1][1])
	assert.Equal(t, f.lookOf(0, "1 slots"), f.lookOf(2, "1 slots"))
	assert.Contains(t, string(save(t, f, "facets")[".csv"]), "0 slots,8,2.75,2 nodes,0,0,\n"[:20])
}

// TestNamesAtLines: lines have their names at their ends only if all fit.
func TestNamesAtLines(t *testing.T) {
	ends := func(f *Figure) bool {
		panels, keys, err := f.panels()
		require.NoError(t, err)
		c := draw.New(vgimg.New(6*vg.Inch, 4*vg.Inch))
		text := panels[0][0].X.Tick.Label
		return f.ends(panels[0][0], keys, c, text) != nil
	}
	f := lines()
	f.Marks = f.Marks[:1]
	f.Y.Scale = Linear
	assert.True(t, ends(f))
	save(t, f, "direct")
	f.Series[3].Name = "a name that is much too long to be at the end of a line"
	assert.False(t, ends(f))
	f = lines()
	f.Marks = nil
	f.Series[0].Points = f.Series[0].Points[:3]
	assert.False(t, ends(f), "one line ends elsewhere")
	f = many(6)
	for i := range f.Series {
		f.Series[i].Points[5].Y = 7
	}
	assert.False(t, ends(f), "all lines end at one point")
}

// TestLegendIsAligned: the samples of a column are at one X, and no column exceeds the width.
func TestLegendIsAligned(t *testing.T) {
	panels, keys, err := many(20).panels()
	require.NoError(t, err)
	text := panels[0][0].X.Tick.Label
	for _, width := range []vg.Length{60, 150, 300, 800} {
		widths := columnsOf(keys, text, 35, 16, width)
		total := vg.Length(len(widths)-1) * 16
		for _, w := range widths {
			total += w
		}
		assert.True(t, total <= width || len(widths) == 1, "%v: %v", width, widths)
	}
	assert.Len(t, columnsOf(keys, text, 35, 16, 1e5), 20)
}

// TestTicks: labels have no digits that say nothing, and zero has one.
func TestTicks(t *testing.T) {
	assert.Equal(t, []string{"0", "20", "40", "60", "80", "100"}, labelsOf(multiples(0, 100)))
	assert.Equal(t, []string{"0", "50", "100", "150"}, labelsOf(multiples(0, 150)))
	assert.Equal(t, []string{"0.0", "0.2", "0.4", "0.6"}, labelsOf(multiples(0, 0.7)))
	assert.Equal(t, []string{"0", "1e6", "2e6", "3e6"}, labelsOf(multiples(0, 3.3e6)))
	assert.Equal(t, []string{"1", "10", "100", "1000"}, labelsOf(inRange(powersOfTen(1, 1000), 1, 1000)))
	assert.Equal(t, []string{"1", "2", "5", "10", "20"}, labelsOf(inRange(powersOfTen(1, 30), 1, 30)))
}

func inRange(ticks []plot.Tick, low, high float64) (list []plot.Tick) {
	for _, t := range ticks {
		if t.Value >= low && t.Value <= high {
			list = append(list, t)
		}
	}
	return list
}

// TestFormats: PDF, PGF and gnuplot files contain the figure, and are the same every time.
func TestFormats(t *testing.T) {
	for name, make1 := range map[string]func() *Figure{"lines": lines, "bars": bars, "many": func() *Figure { return many(12) }} {
		var before map[string]string
		for range 2 {
			f, dir := make1(), t.TempDir()
			if keep := os.Getenv("FIGURE_DIR"); keep != "" {
				dir = keep
			}
			f.Formats = []string{"pdf", "tex"}
			require.NoError(t, f.Save(dir+"/"+name+".gp"))
			files := map[string]string{}
			for _, file := range Files(dir+"/"+name+".gp", f.Formats...) {
				files[file[strings.LastIndex(file, ".")+1:]] = read(t, file)
			}
			require.Len(t, files, 6)
			if before != nil {
				require.Equal(t, before, files, name)
			}
			before = files
		}
		assert.True(t, strings.HasPrefix(before["pdf"], "%PDF-"))
		assert.Contains(t, before["tex"], `\begin{pgfpicture}`)
		assert.Contains(t, before["gp"], "\nplot $")
	}
	assert.Equal(t, "\xb5s >= 1 ?", windows1252("µs ≥ 1 Ω"))
	assert.Equal(t, `50\% of a\_b`, texSpecial.Replace("50% of a_b"))
	f := lines()
	f.Formats = []string{"bmp"}
	require.ErrorContains(t, f.Save(t.TempDir()+"/x"), `format "bmp"; known: pdf, tex, gp`)
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}
