package drivers

import (
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Pacing has the stores of a device's user wait for an entry in the send window of VELO, which a register tells of: that makes a Pacer of it.
type Pacing struct {
	dev     Device
	windows [regs.VPIDs]sendWindow
}

// A sendWindow is one process's.
type sendWindow struct {
	mu sync.Mutex
	Window
	on bool
}

// NewPacing paces dev, whose stores wait for nothing.
func NewPacing(dev Device) *Pacing { return &Pacing{dev: dev} }

// Wrote takes note of a write to a register: a window counts from 0 when it goes on.
func (p *Pacing) Wrote(off uint32, v uint64) {
	vpid := uint8(off>>12) % regs.VPIDs
	if off != regs.MboxCtrl(vpid) && off != regs.PDID(vpid) {
		return
	}
	w := &p.windows[vpid]
	w.mu.Lock()
	defer w.mu.Unlock()
	if on := off == regs.MboxCtrl(vpid) && v&regs.MboxCtrlWindow != 0; on != w.on { // another domain shuts it
		w.on, w.Window = on, OpenWindow(p.dev, vpid)
	}
}

// pause is how long a store waits until it looks for an entry again; it doubles up to longestPause.
const (
	pause        = 10 * time.Microsecond
	longestPause = time.Millisecond
)

// WritePIO posts a line. One of VELO waits for an entry; for those of RMA whoever posts descriptors counts.
func (p *Pacing) WritePIO(off uint32, line []byte) error {
	if regs.ForDescriptors(off) {
		return p.dev.WritePIO(off, line)
	}
	w := &p.windows[regs.Pio(off).SrcVPID()]
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on || len(line) > regs.VELOPayload { // which the NIC judges
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
