package drivers

import (
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Pacer is a Device whose WritePIO waits until the process has a free entry in its send window,
// as the store of a simulated core does. Its users need not count entries.
type Pacer interface {
	Device
	PacesPIO() bool
}

// A Window is the software end of a process's VELO send window; it must be opened when that window
// has just been enabled. It counts free entries so that no line is refused, and reads a register
// only when the count is exhausted. The NIC still refuses a line while an incomplete line occupies
// the window; Window retransmits such lines in order.
type Window struct {
	dev    Device
	reg    uint32
	paced  bool
	posted uint64 // lines posted since the window was enabled
	free   int    // entries known to be free
	idle   int    // calls of Idle
	kept   []keptLine
}

// A keptLine is a posted line that may have to be retransmitted.
type keptLine struct {
	off  uint32
	n    uint8
	data [regs.VELOPayload]byte
}

// OpenWindow returns the Window of process vpid, which has just been enabled.
func OpenWindow(dev Device, vpid uint8) Window {
	w := Window{dev: dev, reg: regs.VELOWindow(vpid), free: regs.VELOLines}
	if p, ok := dev.(Pacer); ok {
		w.paced = p.PacesPIO()
	}
	if !w.paced {
		w.kept = make([]keptLine, regs.VELOLines)
	}
	return w
}

// Room reports whether that many lines, at most regs.VELOLines, can be posted.
func (w *Window) Room(lines int) (bool, error) {
	if w.paced || w.free >= lines {
		return true, nil
	}
	v, err := w.dev.ReadReg(w.reg)
	if err == nil && v&regs.VELOWindowRetry != 0 {
		v, err = w.retransmit(v)
	}
	if err != nil {
		return false, err
	}
	underWay := uint16(w.posted) - uint16(regs.VELOWindowTaken.Of(v))
	w.free = regs.VELOLines - int(underWay) - int(regs.VELOWindowWaiting.Of(v))
	return w.free >= lines, nil
}

// Idle must be called while the caller has nothing to do but poll. Every lookEvery calls it checks
// for refused lines: the NIC does not report them, and their receivers never answer.
func (w *Window) Idle() error {
	if w.idle++; w.idle%lookEvery != 0 {
		return nil
	}
	_, err := w.Room(regs.VELOLines)
	return err
}

const lookEvery = 64 // a register read costs as much as some tens of polls of memory

// Post posts a line of at most 56 bytes. The caller has checked Room.
func (w *Window) Post(off uint32, line []byte) error {
	if !w.paced {
		w.free--
		k := &w.kept[w.posted%regs.VELOLines]
		k.off, k.n = off, uint8(copy(k.data[:], line))
		w.posted++
	}
	return w.dev.WritePIO(off, line)
}

// retransmit retransmits the refused lines after the NIC has received everything that was posted.
func (w *Window) retransmit(v uint64) (uint64, error) {
	for {
		taken, refused := uint16(regs.VELOWindowTaken.Of(v)), uint16(regs.VELOWindowRefused.Of(v))
		lost := uint16(w.posted) - taken
		var err error
		switch {
		case v&regs.VELOWindowRetry == 0:
			return v, nil
		case lost > refused: // some lines are still in flight
		default:
			// The response to the read proves that the NIC has performed the write, so lines posted
			// from here on arrive after it.
			if err = w.dev.WriteReg(w.reg, 0); err != nil {
				return 0, err
			}
			if v, err = w.dev.ReadReg(w.reg); err != nil || v&regs.VELOWindowRetry != 0 {
				return v, err
			}
			for i := w.posted - uint64(lost); i != w.posted; i++ {
				k := &w.kept[i%regs.VELOLines]
				if err = w.dev.WritePIO(k.off, k.data[:k.n]); err != nil {
					return 0, err
				}
			}
			return v, nil
		}
		if v, err = w.dev.ReadReg(w.reg); err != nil {
			return 0, err
		}
	}
}
