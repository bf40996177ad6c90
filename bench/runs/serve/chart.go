package serve

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/nicloop/nicloop/bench/runs"
)

// Size of a chart in its own units; a browser scales it.
const (
	chartWidth, chartHeight = 640, 180
	chartLeft, chartBottom  = 78, 24
)

// A dot is one run in a chart.
type dot struct {
	run    uint64
	value  float64
	status string
}

// chart draws a value of one test over runs. Failed runs are drawn at the bottom, without a value.
func chart(dots []dot, unit string) template.HTML {
	low, high, any := 0.0, 0.0, false
	for _, d := range dots {
		if d.status != "PASS" {
			continue
		}
		if !any || d.value < low {
			low = d.value
		}
		if !any || d.value > high {
			high = d.value
		}
		any = true
	}
	from, to := low, high
	if from == to { // a line in the middle
		from, to = from-1, to+1
	}
	x := func(i int) float64 {
		if len(dots) < 2 {
			return (chartLeft + chartWidth) / 2
		}
		return chartLeft + 12 + float64(i)*(chartWidth-chartLeft-24)/float64(len(dots)-1)
	}
	y := func(v float64) float64 {
		return 12 + (to-v)/(to-from)*(chartHeight-chartBottom-24)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s over runs">`, chartWidth, chartHeight, template.HTMLEscapeString(unit))
	line := func(v float64) {
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`,
			chartLeft, chartWidth, y(v), y(v), chartLeft-6, y(v)+4, short(v))
	}
	if any {
		line(low)
		if high != low {
			line(high)
		}
	}
	var path []string
	for i, d := range dots {
		if d.status == "PASS" {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(i), y(d.value)))
		}
	}
	fmt.Fprintf(&b, `<polyline points="%s"/>`, strings.Join(path, " "))
	for i, d := range dots {
		at, what := float64(chartHeight-chartBottom), d.status
		if d.status == "PASS" {
			at, what = y(d.value), short(d.value)+" "+unit
		}
		fmt.Fprintf(&b, `<a href="/run/%d"><circle class="%s" cx="%.1f" cy="%.1f" r="4"><title>run %d: %s</title></circle></a>`,
			d.run, template.HTMLEscapeString(d.status), x(i), at, d.run, template.HTMLEscapeString(what))
	}
	if n := len(dots); n > 0 {
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">run %d</text>`, x(0), chartHeight-4, dots[0].run)
		if n > 1 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="end">run %d</text>`, x(n-1)+8, chartHeight-4, dots[n-1].run)
		}
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

func short(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprintf("%.5g", v)
}

// cyclesOf converts the points of a history to dots.
func cyclesOf(points []runs.Point) (dots []dot) {
	for _, p := range points {
		dots = append(dots, dot{p.Run, float64(p.Cycles), p.Status})
	}
	return dots
}
