package lockstep

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/nicloop/nicloop/cosim/fst"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// shownNodes returns the nodes to show in waves of a divergence: its own, or all if links are
// involved, because the cause may be elsewhere.
func (d *Divergence) shownNodes() []int {
	if strings.HasSuffix(d.Block, ".u_link") || d.Block == blockRouter {
		return nil
	}
	return []int{d.Node}
}

// Radixes of GTKWave.
const (
	gtkwHex    = "@22"
	gtkwBinary = "@28"
	gtkwText   = "@200"
)

// Save writes a GTKWave save file for waves of the divergence: the signals of its block, and a
// marker at its cycle. It adds signals to the drawing, too.
func (d *Divergence) Save(waves, save string) error {
	f, err := os.Open(waves)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := fst.Open(f, info.Size())
	if err != nil {
		return err
	}
	scope := d.scope()
	var signals []string
	for _, signal := range d.ofBlock(file) {
		signals = append(signals, signal.Name)
	}
	if len(signals) == 0 {
		return fmt.Errorf("%s has no signals of %s", waves, strings.TrimSuffix(scope, "."))
	}
	if err := os.WriteFile(save, []byte(d.gtkw(filepath.Base(waves), scope, signals, file.Exponent)), 0o644); err != nil {
		return err
	}
	d.Waves, d.Gtkw = waves, save
	return d.DrawSignals([2]string{waves})
}

func (d *Divergence) gtkw(waves, scope string, signals []string, exponent int8) string {
	unit := math.Pow10(-12 - int(exponent)) // of a picosecond
	time := func(c drivers.Cycle) int64 { return int64(float64(c) * regs.ClockPS * unit) }
	var b strings.Builder
	fmt.Fprintf(&b, "[*] cycle %d, node %d: %s\n[dumpfile] %q\n[timestart] %d\n", d.Cycle, d.Node, d.What, waves, time(d.Cycle-min(d.Cycle, 20)))
	fmt.Fprintf(&b, "*-15.0 %d%s\n", time(d.Cycle), strings.Repeat(" -1", 26)) // zoom, primary marker, other markers
	parts := strings.Split(strings.TrimSuffix(scope, "."), ".")
	for i := range parts {
		fmt.Fprintf(&b, "[treeopen] %s.\n", strings.Join(parts[:i+1], "."))
	}
	fmt.Fprintf(&b, "%s\n-%s\n", gtkwText, strings.TrimSuffix(scope, "."))
	radix := gtkwText
	for _, s := range signals {
		r := gtkwBinary
		if strings.HasSuffix(s, "]") {
			r = gtkwHex
		}
		if r != radix {
			radix = r
			fmt.Fprintln(&b, radix)
		}
		fmt.Fprintln(&b, s)
	}
	return b.String()
}
