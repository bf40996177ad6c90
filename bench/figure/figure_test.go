package figure

import (
	"bytes"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

func lines() *Figure {
	f := &Figure{
		Title: "Half round trip",
		X:     Axis{Label: "message", Unit: "bytes", Scale: Log2},
		Y:     Axis{Label: "time", Unit: "µs", Scale: Log10},
		Marks: []Mark{{At: 50.04, Text: "paper: 50.04 µs"}, {Vertical: true, At: 2048, Text: "eager limit"}},
	}
	for s, name := range []string{"rget", "rput", "chunked", "eager"} {
		points := []Point{}
		for e := 3.0; e <= 20; e++ {
			points = append(points, Point{X: math.Exp2(e), Y: 1 + float64(s)/3 + math.Exp2(e)*(1+float64(s)/4)/1000})
		}
		f.Series = append(f.Series, Series{Name: name, Points: points})
	}
	return f
}

func bars() *Figure {
	return &Figure{
		Title:  "Throughput by flow class",
		Y:      Axis{Label: "throughput", Unit: "MB/s"},
		Groups: []string{"victims", "hot flows", "others"},
		Series: []Series{
			{Name: "no limiter", Points: []Point{{Y: 800}, {Y: 780}, {Y: 810}}},
			{Name: "limiter 1/8", Points: []Point{{Y: 210}, {Y: 98}, {Y: 805}}},
			{Name: "limiter 1/8, 1 outstanding", Points: []Point{{Y: 600}, {Y: 97}, {Y: 801}}},
		},
		Marks: []Mark{{At: 100, Text: "1/8 of the line rate"}},
	}
}

func save(t *testing.T, f *Figure, name string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	if keep := os.Getenv("FIGURE_DIR"); keep != "" { // to look at them
		dir = keep
	}
	require.NoError(t, f.Save(filepath.Join(dir, name)))
	files := map[string][]byte{}
	for _, ext := range []string{".png", ".svg", ".csv"} {
		b, err := os.ReadFile(filepath.Join(dir, Base(name)+ext))
		require.NoError(t, err)
		files[ext] = b
	}
	return files
}

func TestSaveWritesTheSameBytesTwice(t *testing.T) {
	for name, f := range map[string]func() *Figure{"lines.png": lines, "bars.svg": bars} {
		assert.Equal(t, save(t, f(), name), save(t, f(), name), name)
	}
}

func TestFilesHoldTheFigure(t *testing.T) {
	files := save(t, bars(), "bars")
	img, err := png.Decode(bytes.NewReader(files[".png"]))
	require.NoError(t, err)
	assert.Equal(t, 1200, img.Bounds().Dx())
	for _, text := range []string{"Throughput by flow class", "throughput (MB/s)", "victims", "limiter 1/8", "1/8 of the line rate"} {
		assert.Contains(t, string(files[".svg"]), text)
	}
	assert.Contains(t, string(files[".csv"]), "limiter 1/8,hot flows,98\n")
	assert.Contains(t, string(save(t, lines(), "l")[".csv"]), "series,message (bytes),time (µs)\nrget,8,1.008\n")
}

// TestADifferentValueIsADifferentPicture guards against figures that do not
// show their points.
func TestADifferentValueIsADifferentPicture(t *testing.T) {
	a, b := bars(), bars()
	b.Series[1].Points[0].Y = 500
	pa, pb := save(t, a, "a"), save(t, b, "b")
	assert.NotEqual(t, pa[".png"], pb[".png"])
	assert.NotEqual(t, pa[".svg"], pb[".svg"])
}

func TestRefusals(t *testing.T) {
	for want, spoil := range map[string]func(*Figure){
		"no series":                          func(f *Figure) { f.Series = nil },
		`series "limiter 1/8" has no points`: func(f *Figure) { f.Series[1].Points = nil },
		"has 2 bars, expected 3":             func(f *Figure) { f.Series[0].Points = f.Series[0].Points[:2] },
		"NaN cannot be drawn":                func(f *Figure) { f.Series[0].Points[0].Y = math.NaN() },
		"bars on a logarithmic axis":         func(f *Figure) { f.Y.Scale = Log10 },
		"-1 on the logarithmic axis":         func(f *Figure) { f.X.Scale, f.Groups, f.Series[0].Points[0].X = Log2, nil, -1 },
		`mark "x"`:                           func(f *Figure) { f.Marks = []Mark{{At: math.Inf(1), Text: "x"}} },
	} {
		f, dir := bars(), t.TempDir()
		spoil(f)
		var e *Error
		require.ErrorAs(t, f.Save(filepath.Join(dir, "x")), &e, want)
		assert.Contains(t, e.Error(), want)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is written")
	}
}

func TestOnePointCanBeDrawn(t *testing.T) {
	save(t, &Figure{Series: []Series{{Name: "one", Points: []Point{{X: 3}}}}}, "one")
	save(t, &Figure{X: Axis{Scale: Log2}, Y: Axis{Scale: Log10}, Series: []Series{{Name: "one", Points: []Point{{X: 8, Y: 1}}}}}, "log")
}

func TestSaveRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, SaveRows(path, []string{"a", "b"}, [][]string{{"1", "x, y"}}))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a,b\n1,\"x, y\"\n", string(b))
	var e *Error
	assert.ErrorAs(t, SaveRows(path, []string{"a"}, [][]string{{"1", "2"}}), &e)
}

func TestSizesAreWrittenInPowersOfTwo(t *testing.T) {
	assert.Equal(t, "64", binary(64))
	assert.Equal(t, "4 Ki", binary(4096))
	assert.Equal(t, "2 Mi", binary(2<<20))
	ticks := powersOfTwo(8, 1<<20, 9)
	assert.Equal(t, "8", ticks[0].Label)
	assert.Equal(t, 1048576.0, ticks[len(ticks)-1].Value)
}

// TestZeroHasALabel: also where the library has none, as from -9 to 29.5, the
// overheads of an alltoall.
func TestZeroHasALabel(t *testing.T) {
	for _, r := range [][2]float64{{-9.1, 29.5}, {-5, 25}, {-0.013, 0.4}, {-300, 2}, {-1, 1}, {-7e-7, 1e-6}, {-2, 1100}} {
		labels := labelsOf(multiples(r[0], r[1]))
		zero := func(label string) bool { v, err := strconv.ParseFloat(label, 64); return err == nil && v == 0 }
		assert.True(t, slices.ContainsFunc(labels, zero), "%v: %q", r, labels)
		assert.True(t, len(labels) >= 3 && len(labels) <= 7, "%v: %q", r, labels)
	}
	assert.Equal(t, []string{"-5", "0", "5", "10", "15", "20", "25"}, labelsOf(multiples(-5, 25)))
	assert.Equal(t, []string{"-0.10", "-0.05", "0.00", "0.05"}, labelsOf(multiples(-0.11, 0.09))[0:4])
}

func labelsOf(ticks []plot.Tick) (list []string) {
	for _, t := range ticks {
		if t.Label != "" {
			list = append(list, t.Label)
		}
	}
	return list
}

func TestTextsOfMarksDoNotOverlap(t *testing.T) {
	f := lines()
	f.Marks = nil
	for i, at := range []float64{490, 490, 500, 501, 520} {
		f.Marks = append(f.Marks, Mark{Vertical: true, At: at, Text: "vertical"}, Mark{At: at, Text: []string{"a", "long one"}[i%2]})
	}
	panels, _, err := f.panels()
	require.NoError(t, err)
	texts := marks(f.Marks).plot(draw.New(vgimg.New(600, 400)), panels[0][0])
	require.Len(t, texts, len(f.Marks))
	for i, a := range texts {
		for _, b := range texts[:i] {
			require.False(t, overlap(a, b), "%v %v", a, b)
		}
	}
}
