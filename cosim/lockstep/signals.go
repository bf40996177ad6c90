package lockstep

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/fst"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// DrawSignals adds the waveforms of the block to the drawing, from files with the waves of the
// first and of the second device. A name may be "" if the device has none.
func (d *Divergence) DrawSignals(files [2]string) error {
	if d.Drawing == nil {
		d.Drawing = &Drawing{From: d.Cycle - min(d.Cycle, drawnBefore), To: d.Cycle + drawnBehind}
	}
	var all []Waveform
	at := map[string]int{}
	for side, name := range files {
		if name == "" {
			continue
		}
		list, err := d.waveforms(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, w := range list {
			i, ok := at[w.Name]
			if !ok {
				i = len(all)
				at[w.Name] = i
				all = append(all, Waveform{Name: w.Name, Width: w.Width})
			}
			all[i].Values[side] = w.Values[0]
		}
	}
	d.Drawing.Signals = d.chosen(all)
	return nil
}

// scope is the prefix of the names of the block's signals.
func (d *Divergence) scope() string { return fmt.Sprintf("node%d.sim_node.%s.", d.Node, d.Block) }

// ofBlock returns the signals of the block, without those of blocks inside.
func (d *Divergence) ofBlock(f *fst.File) (list []fst.Signal) {
	for _, s := range f.Signals {
		if below, ok := strings.CutPrefix(s.Name, d.scope()); ok && !strings.Contains(below, ".") {
			list = append(list, s)
		}
	}
	return list
}

// notDrawn: clocks and resets, which look the same in every cycle, and parameters.
var notDrawn = regexp.MustCompile(`^(a?clk(_\w+)?|\w*rst(_\w+)?|[A-Z][A-Z0-9_]*)(\[|$)`)

// waveforms reads the signals of the block from a file.
func (d *Divergence) waveforms(name string) (list []Waveform, err error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := fst.Open(r, info.Size())
	if err != nil {
		return nil, err
	}
	signals := d.ofBlock(f)
	var handles []int
	for _, s := range signals {
		handles = append(handles, s.Handle)
	}
	slices.Sort(handles)
	cycle := regs.ClockPS * math.Pow10(-12-int(f.Exponent)) // in units of the file
	from, end := uint64(float64(d.Drawing.From)*cycle), uint64(float64(d.Drawing.To+1)*cycle)
	changes, err := f.Changes(slices.Compact(handles), from, end-1)
	if err != nil {
		return nil, err
	}
	for _, s := range signals {
		short := strings.TrimPrefix(s.Name, d.scope())
		if s.Width == 0 || notDrawn.MatchString(short) {
			continue
		}
		w := Waveform{Name: short, Width: s.Width}
		for _, c := range changes[s.Handle] {
			w.Values[0] = addValue(w.Values[0], Value{drivers.Cycle(float64(c.Time) / cycle), digits(c.Value)})
		}
		list = append(list, w)
	}
	return list, nil
}

// addValue appends a change. Of several in a cycle, the last is the settled value.
func addValue(list []Value, v Value) []Value {
	if n := len(list); n > 0 && list[n-1].Cycle == v.Cycle {
		list = list[:n-1]
	}
	if n := len(list); n > 0 && list[n-1].Value == v.Value {
		return list
	}
	return append(list, v)
}

// digits formats the bits of a value.
func digits(bits string) string {
	if len(bits) == 1 {
		return bits
	}
	n, ok := new(big.Int).SetString(bits, 2)
	if !ok {
		return "x"
	}
	return n.Text(16)
}

var handshake = regexp.MustCompile(`valid|ready|stall|grant|credit|state|head|tail|take|full|empty|ack|req`)

// chosen returns the signals to draw: first those that differ between the devices, by the cycle of
// the difference, then those that change close to the divergence, handshakes before others. They
// keep the order of their declaration.
func (d *Divergence) chosen(all []Waveform) []Waveform {
	type key struct {
		differs  drivers.Cycle
		distance int
		kind     int
		index    int
	}
	keys := make([]key, len(all))
	for i := range all {
		w := &all[i]
		keys[i] = key{differs: firstDifferent(&w.Values), distance: d.nearness(w), kind: 1, index: i}
		switch {
		case w.Width > 512: // too wide to be read
			keys[i].kind = 2
		case handshake.MatchString(w.Name):
			keys[i].kind = 0
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.differs, b.differs), cmp.Compare(a.distance, b.distance),
			cmp.Compare(a.kind, b.kind), cmp.Compare(a.index, b.index))
	})
	keys = slices.DeleteFunc(keys, func(k key) bool { return isCopy(all, k.index) })
	keys = keys[:min(len(keys), maxSignals)]
	slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(a.index, b.index) })
	var list []Waveform
	for _, k := range keys {
		list = append(list, all[k.index])
	}
	return list
}

// isCopy reports whether an earlier signal has the same values, such as the port of a register.
func isCopy(all []Waveform, i int) bool {
	return slices.ContainsFunc(all[:i], func(w Waveform) bool {
		return w.Width == all[i].Width && slices.Equal(w.Values[0], all[i].Values[0]) &&
			slices.Equal(w.Values[1], all[i].Values[1])
	})
}

// nearness classifies the distance between the divergence and the nearest change of a signal.
func (d *Divergence) nearness(w *Waveform) int {
	nearest := drivers.Forever
	for _, list := range w.Values {
		for i, v := range list {
			if i > 0 {
				nearest = min(nearest, max(v.Cycle, d.Cycle)-min(v.Cycle, d.Cycle))
			}
		}
	}
	switch {
	case nearest <= 4:
		return 0
	case nearest <= 16:
		return 1
	case nearest < drivers.Forever:
		return 2
	}
	return 3
}

// firstDifferent is the first cycle in which the values differ; Forever if they never do, or if one
// device has none.
func firstDifferent(values *[2][]Value) drivers.Cycle {
	a, b := values[0], values[1]
	if len(a) == 0 || len(b) == 0 {
		return drivers.Forever
	}
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return b[i].Cycle
		case i >= len(b):
			return a[i].Cycle
		case a[i] != b[i]:
			return min(a[i].Cycle, b[i].Cycle)
		}
	}
	return drivers.Forever
}
