package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/lockstep"
	"github.com/nicloop/nicloop/drivers"
)

// zooms are the cycles shown before and after a divergence. A page contains a picture of each, so
// values remain readable and zooming needs no script.
var zooms = []drivers.Cycle{8, 24, 60}

// Layout of waveforms, in units of the picture.
const (
	waveWidth  = 1180
	waveNames  = 290 // width of the names
	waveRow    = 24
	waveTop    = 34
	waveHeight = 15 // of a signal within its row
	glyph      = 6.7
)

// sideNames tell the rows of both devices apart.
var sideNames = [2]string{"device", "reference"}

// Drawing returns the pictures of a divergence: waveforms at several zooms, and the path of the
// packet. It is empty for records without a drawing. id makes names on the page unique.
func Drawing(d *lockstep.Divergence, id int) template.HTML {
	if d == nil || d.Drawing == nil {
		return ""
	}
	var b strings.Builder
	if len(d.Drawing.Signals)+len(d.Drawing.Lanes) > 0 {
		writeWaves(&b, d, id)
	}
	if len(d.Drawing.Path) > 0 {
		writePath(&b, d)
	}
	return template.HTML(b.String())
}

// writeWaves writes one picture for each zoom, with buttons that choose between them.
func writeWaves(b *strings.Builder, d *lockstep.Divergence, id int) {
	b.WriteString(`<figure class="drawing">`)
	for i, cycles := range zooms {
		checked := ""
		if i == 1 {
			checked = " checked"
		}
		fmt.Fprintf(b, `<input type="radio" name="zoom%d" id="zoom%d-%d"%s><label for="zoom%d-%d">± %d cycles</label> `,
			id, id, i, checked, id, i, cycles)
	}
	for _, cycles := range zooms {
		w := wavePlot{d: d, from: max(d.Drawing.From, d.Cycle-min(d.Cycle, cycles)), to: min(d.Drawing.To, d.Cycle+cycles)}
		b.WriteString(`<div class="zoom" tabindex="0">`)
		w.write(b)
		b.WriteString(`</div>`)
	}
	fmt.Fprintf(b, `<figcaption>Block <code>%s</code> of node %d around cycle %d, where the first difference is. `+
		`Device: <code>%s</code>; reference: <code>%s</code>.`,
		esc(d.Block), d.Node, d.Cycle, esc(d.Devices[0]), esc(d.Devices[1]))
	if !hasWaves(d.Drawing.Signals, 1) && len(d.Drawing.Signals) > 0 {
		b.WriteString(` The reference has no signals, only events.`)
	}
	b.WriteString(`</figcaption></figure>`)
}

func hasWaves(list []lockstep.Waveform, side int) bool {
	return slices.ContainsFunc(list, func(w lockstep.Waveform) bool { return len(w.Values[side]) > 0 })
}

var esc = template.HTMLEscapeString

// A wavePlot draws the cycles of one zoom.
type wavePlot struct {
	d        *lockstep.Divergence
	from, to drivers.Cycle
	b        strings.Builder
	y        float64 // top of the next row
}

func (w *wavePlot) x(c drivers.Cycle) float64 {
	c = min(max(c, w.from), w.to+1)
	return waveNames + float64(c-w.from)*w.perCycle()
}

func (w *wavePlot) perCycle() float64 {
	return float64(waveWidth-waveNames-8) / float64(w.to+1-w.from)
}

func (w *wavePlot) printf(format string, a ...any) { fmt.Fprintf(&w.b, format, a...) }

func (w *wavePlot) write(out *strings.Builder) {
	w.y = waveTop
	for i := range w.d.Drawing.Lanes {
		w.lane(&w.d.Drawing.Lanes[i])
	}
	for i := range w.d.Drawing.Signals {
		w.signal(&w.d.Drawing.Signals[i])
	}
	height := w.y + 6
	fmt.Fprintf(out, `<svg class="wave" viewBox="0 0 %d %.0f" role="img" aria-label="waveforms of %s, cycles %d to %d">`,
		waveWidth, height, esc(w.d.Block), w.from, w.to)
	w.axis(out, height)
	out.WriteString(w.b.String())
	out.WriteString(`</svg>`)
}

// axis draws the scale, and the mark of the divergence.
func (w *wavePlot) axis(out *strings.Builder, height float64) {
	step := drivers.Cycle(1)
	for _, s := range []drivers.Cycle{1, 2, 5, 10, 20, 50} {
		if step = s; float64(s)*w.perCycle() >= 52 {
			break
		}
	}
	x, end := w.x(w.d.Cycle), w.x(w.d.Cycle+1)
	fmt.Fprintf(out, `<rect class="mark" x="%.1f" y="18" width="%.1f" height="%.1f"/>`, x, end-x, height-22)
	for c := (w.from + step - 1) / step * step; c <= w.to; c += step {
		fmt.Fprintf(out, `<line class="grid" x1="%.1f" x2="%.1f" y1="18" y2="%.1f"/>`, w.x(c), w.x(c), height-4)
		if near := max(c, w.d.Cycle) - min(c, w.d.Cycle); float64(near)*w.perCycle() >= 66 {
			fmt.Fprintf(out, `<text class="tick" x="%.1f" y="12">%d</text>`, w.x(c), c)
		}
	}
	fmt.Fprintf(out, `<text class="tick here" x="%.1f" y="12">cycle %d</text>`, (x+end)/2, w.d.Cycle)
}

// label starts a row. side is -1 for a row that stands for both devices.
func (w *wavePlot) label(name string, side int) {
	limit := 36
	if side >= 0 {
		limit = 25
		w.printf(`<text class="side" x="%d" y="%.1f">%s</text>`, waveNames-10, w.y+16, sideNames[side])
	}
	short := name
	if len(short) > limit {
		short = short[:limit-1] + "…"
	}
	w.printf(`<text class="name" x="4" y="%.1f">%s<title>%s</title></text>`, w.y+16, esc(short), esc(name))
}

// text writes a value into a box if it fits, at least its beginning.
func (w *wavePlot) text(x0, x1 float64, s string) {
	fits := int((x1 - x0 - 2) / glyph)
	if len(s) > fits {
		if fits < 4 {
			return
		}
		s = s[:fits-1] + "…"
	}
	w.printf(`<text class="value" x="%.1f" y="%.1f">%s</text>`, (x0+x1)/2, w.y+15.5, esc(s))
}

// eventText is what an event is called in its box. Narrow boxes have a letter.
func eventText(e *lockstep.Event, width float64) string {
	switch {
	case e.What == "":
		return e.Data
	case width >= 4*glyph+2:
		return e.What
	case width >= glyph+2:
		return e.What[:1]
	}
	return ""
}

// lane draws the events of a trace point, in a row for each device.
func (w *wavePlot) lane(l *lockstep.Lane) {
	for side, list := range l.Events {
		w.label(l.Name, side)
		for _, e := range list {
			if e.Cycle < w.from || e.Cycle > w.to {
				continue
			}
			class := "event"
			if !slices.Contains(l.Events[1-side], e) {
				class = "event differs"
			}
			x0, x1 := w.x(e.Cycle)+0.5, w.x(e.Cycle+1)-0.5
			what := strings.TrimSpace(e.What + " " + e.Data)
			w.printf(`<g class="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2"/>`+
				`<title>cycle %d: %s, VC %d</title>`,
				class, x0, w.y+4, x1-x0, waveHeight+1, e.Cycle, esc(what), e.VC)
			w.text(x0, x1, eventText(&e, x1-x0))
			w.b.WriteString(`</g>`)
		}
		w.y += waveRow
	}
	w.printf(`<line class="rule" x1="0" x2="%d" y1="%.1f" y2="%.1f"/>`, waveWidth, w.y, w.y)
}

// signal draws a signal: one row, or two if both devices have it.
func (w *wavePlot) signal(s *lockstep.Waveform) {
	both := len(s.Values[0]) > 0 && len(s.Values[1]) > 0
	if both {
		w.differences(s)
	}
	for side, list := range s.Values {
		if len(list) == 0 && (both || side == 1) {
			continue
		}
		row := side
		if !both && side == 0 {
			row = -1
		}
		w.label(s.Name, row)
		w.values(s.Width, list)
		w.y += waveRow
	}
}

// differences shades the cycles in which the devices have different values.
func (w *wavePlot) differences(s *lockstep.Waveform) {
	for c := w.from; c <= w.to; c++ {
		if valueAt(s.Values[0], c) != valueAt(s.Values[1], c) {
			w.printf(`<rect class="differing" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`,
				w.x(c), w.y, w.perCycle(), 2*waveRow)
		}
	}
}

func valueAt(list []lockstep.Value, c drivers.Cycle) (v string) {
	for i := range list {
		if list[i].Cycle <= c {
			v = list[i].Value
		}
	}
	return v
}

// values draws the values of a row.
func (w *wavePlot) values(width int, list []lockstep.Value) {
	for i, v := range list {
		until := w.to + 1
		if i+1 < len(list) {
			until = min(until, list[i+1].Cycle)
		}
		if until <= w.from || v.Cycle > w.to {
			continue
		}
		x0, x1 := w.x(v.Cycle), w.x(until)
		isFirst := v.Cycle <= w.from
		if width == 1 {
			w.bit(x0, x1, v.Value, isFirst)
			continue
		}
		slope := min(3, (x1-x0)/2)
		top, bottom := w.y+4, w.y+4+waveHeight
		class := "bus"
		if v.Value == "x" {
			class = "bus unknown"
		}
		w.printf(`<g><path class="%s" d="M%.1f %.1fL%.1f %.1fH%.1fL%.1f %.1fL%.1f %.1fH%.1fZ"/>`+
			`<title>cycle %d: %s</title>`,
			class, x0, (top+bottom)/2, x0+slope, top, x1-slope, x1, (top+bottom)/2, x1-slope, bottom, x0+slope, v.Cycle, esc(v.Value))
		w.text(x0+slope, x1-slope, v.Value)
		w.b.WriteString(`</g>`)
	}
}

// bit draws a value of a single bit, and the edge in front of it.
func (w *wavePlot) bit(x0, x1 float64, value string, isFirst bool) {
	top, bottom := w.y+4, w.y+4+waveHeight
	switch value {
	case "0", "1":
		y := bottom
		if value == "1" {
			y = top
			w.printf(`<rect class="high" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`, x0, top, x1-x0, waveHeight)
		}
		edge := ""
		if !isFirst {
			edge = fmt.Sprintf("M%.1f %.1fV%.1f", x0, top, bottom)
		}
		w.printf(`<path class="bit" d="M%.1f %.1fH%.1f%s"/>`, x0, y, x1, edge)
	default:
		w.printf(`<rect class="unknown" x="%.1f" y="%.1f" width="%.1f" height="%d"/>`, x0, top, x1-x0, waveHeight)
	}
}
