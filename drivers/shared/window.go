package shared

import (
	"sync"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// A sendWindow of a process makes stores wait for an entry, which its register tells of.
type sendWindow struct {
	mu sync.Mutex
	drivers.Window
	on bool
}

// raw is a device whose stores wait for nothing.
type raw struct{ *device }

func (d raw) WritePIO(off uint32, line []byte) error { return d.store(off, line) }
func (raw) PacesPIO() bool                           { return false }

// PacesPIO: a store waits for an entry.
func (d *device) PacesPIO() bool { return true }

// switched takes note of the switches of a mailbox: a window counts from 0 when it goes on.
func (d *device) switched(off uint32, v uint64) {
	vpid := uint8(off>>12) % regs.VPIDs
	if off != regs.MboxCtrl(vpid) {
		return
	}
	w := &d.windows[vpid]
	w.mu.Lock()
	defer w.mu.Unlock()
	if on := v&regs.MboxCtrlWindow != 0; on != w.on {
		w.on, w.Window = on, drivers.OpenWindow(raw{d}, vpid)
	}
}

// pause is how long a store waits until it looks for an entry again; it doubles up to longestPause.
const (
	pause        = 10 * time.Microsecond
	longestPause = time.Millisecond
)

// WritePIO posts a line. One of VELO waits for an entry; for those of RMA whoever posts descriptors counts.
func (d *device) WritePIO(off uint32, line []byte) error {
	if regs.ForDescriptors(off) {
		return d.store(off, line)
	}
	w := &d.windows[regs.Pio(off).SrcVPID()]
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.on || len(line) > regs.VELOPayload { // which the NIC judges
		return d.store(off, line)
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
