// Package pacing makes the stores of a device wait for free entries of the VELO send window, as
// those of a simulated core do ([drivers.Pacer]).
package pacing

import (
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Pacing makes a Pacer of a device: each store waits until a register shows a free entry in the
// VELO send window.
type Pacing struct {
	dev     drivers.Device
	windows [regs.VPIDs]sendWindow
}

// A sendWindow is the window of one process.
type sendWindow struct {
	mu sync.Mutex
	drivers.Window
	on bool
}

// New paces dev, whose stores do not block.
func New(dev drivers.Device) *Pacing { return &Pacing{dev: dev} }

// Wrote must be called for every register write: a window's counters restart at 0 when the window
// is enabled.
func (p *Pacing) Wrote(off uint32, v uint64) {
	vpid := uint8(off>>12) % regs.VPIDs
	if off != regs.MboxCtrl(vpid) && off != regs.PDID(vpid) {
		return
	}
	w := &p.windows[vpid]
	w.mu.Lock()
	defer w.mu.Unlock()
	// A change of domain disables the window, too.
	if on := off == regs.MboxCtrl(vpid) && v&regs.MboxCtrlWindow != 0; on != w.on {
		w.on, w.Window = on, drivers.OpenWindow(p.dev, vpid)
	}
}

// A store polls for an entry after pause; the interval doubles up to longestPause.
const (
	pause        = 10 * time.Microsecond
	longestPause = time.Millisecond
)

// WritePIO posts a line. A VELO line waits for an entry; whoever posts RMA descriptors must count
// their entries.
func (p *Pacing) WritePIO(off uint32, line []byte) error {
	if regs.ForDescriptors(off) {
		return p.dev.WritePIO(off, line)
	}
	w := &p.windows[regs.Pio(off).SrcVPID()]
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on || len(line) > regs.VELOPayload { // the NIC refuses these
		return p.dev.WritePIO(off, line)
	}
	for again := pause; ; again = min(2*again, longestPause) {
		if room, err := w.Room(1); err != nil {
			return err
		} else if room {
			return w.Post(off, line)
		}
		time.Sleep(again)
	}
}
