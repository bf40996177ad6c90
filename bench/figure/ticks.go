package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// multiples labels multiples of 1, 2 or 5 times a power of ten, three to seven of them, so zero has
// a label if the axis crosses it. Labels have no more digits than the step needs.
func multiples(low, high float64) (ticks []plot.Tick) {
	const most = 6
	exponent := math.Floor(math.Log10((high - low) / most))
	step := math.Pow(10, exponent)
	for _, m := range []float64{2, 5, 10} {
		if (high-low)/step > most {
			step = m * math.Pow(10, exponent)
		}
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := int(math.Ceil(low/step - 1e-9)); float64(i) <= high/step+1e-9; i++ {
		v := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: v, Label: plainNumber(v, digits)})
	}
	return ticks
}

// plainNumber formats 75 as "75", and very large and small numbers as "2e6".
func plainNumber(v float64, digits int) string {
	if a := math.Abs(v); a >= 1e6 || digits > 5 {
		s := strconv.FormatFloat(v, 'g', 4, 64)
		return strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-").Replace(s)
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// powersOfTen labels powers of ten. A range below two decades has labels at 2 and 5, too.
func powersOfTen(low, high float64) (ticks []plot.Tick) {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	few := math.Log10(high/low) < 2
	every := max(1, (last-first)/7)
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			t := plot.Tick{Value: float64(m) * math.Pow10(e)}
			if isMain := m == 1 && (e-first)%every == 0; isMain || few && (m == 2 || m == 5) {
				t.Label = plainNumber(t.Value, max(0, -e))
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// powersOfTwo labels as many powers of two as fit.
func (f *Figure) powersOfTwo(low, high float64) []plot.Tick {
	w, _ := f.size()
	_, cols := f.grid()
	const labelWidth, plotShare = 4.2, 0.75 // in heights of the text, and of the width
	return powersOfTwo(low, high, max(2, int(plotShare*w/vg.Length(cols)/(labelWidth*f.sizes().tick))))
}

func powersOfTwo(low, high float64, most int) (ticks []plot.Tick) {
	first, last := int(math.Floor(math.Log2(low))), int(math.Ceil(math.Log2(high)))
	every := max(1, (last-first+most-1)/most)
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if (e-first)%every == 0 {
			t.Label = binary(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// binary formats 4096 as 4 Ki.
func binary(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 30, " Gi"}, {1 << 20, " Mi"}, {1 << 10, " Ki"}} {
		if v >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
