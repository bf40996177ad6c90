package drivers

import (
	"github.com/nicloop/nicloop/drivers/regs"
)

// A Pacer is a Device whose WritePIO waits until the process has a free entry in its window, as that of a simulated process does: its
// user counts no entries.
type Pacer interface {
	Device
	PacesPIO() bool
}

// A Window is software's end of a process's send window of VELO, which went on just before. It knows how many lines the process may
// still post, so that none is refused, and reads a register only when that were too few. Lines that the NIC refuses all the same, because
// a part of another line lay in the window, it sends again, in order.
type Window struct {
	dev    Device
	reg    uint32
	paced  bool
	posted uint64 // lines, since the window went on
	free   int    // entries
	idle   int
	kept   []keptLine
}

// A keptLine may have to be sent again.
type keptLine struct {
	off  uint32
	n    uint8
	data [regs.VELOPayload]byte
}

// OpenWindow begins the use of the window of process vpid.
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

// Room tells whether so many lines, at most regs.VELOLines, can be posted now.
func (w *Window) Room(lines int) (bool, error) {
	if w.paced || w.free >= lines {
		return true, nil
	}
	v, err := w.dev.ReadReg(w.reg)
	if err == nil && v&regs.VELOWindowRetry != 0 {
		v, err = w.again(v)
	}
	if err != nil {
		return false, err
	}
	underWay := uint16(w.posted) - uint16(regs.VELOWindowTaken.Of(v))
	w.free = regs.VELOLines - int(underWay) - int(regs.VELOWindowWaiting.Of(v))
	return w.free >= lines, nil
}

// Idle is called when there is nothing to do but to wait. Now and then it looks for lines that were refused: nobody answers them.
func (w *Window) Idle() error {
	if w.idle++; w.idle%lookEvery != 0 {
		return nil
	}
	_, err := w.Room(regs.VELOLines)
	return err
}

const lookEvery = 64 // a register read costs as much as some tens of looks at memory

// Post posts a line of at most 56 bytes; there must be room for it.
func (w *Window) Post(off uint32, line []byte) error {
	if !w.paced {
		w.free--
		k := &w.kept[w.posted%regs.VELOLines]
		k.off, k.n = off, uint8(copy(k.data[:], line))
		w.posted++
	}
	return w.dev.WritePIO(off, line)
}

// again sends what was refused once more, when all that was posted has come to the NIC.
func (w *Window) again(v uint64) (uint64, error) {
	for {
		taken, refused := uint16(regs.VELOWindowTaken.Of(v)), uint16(regs.VELOWindowRefused.Of(v))
		lost := uint16(w.posted) - taken
		var err error
		switch {
		case v&regs.VELOWindowRetry == 0:
			return v, nil
		case lost > refused: // the rest is on its way
		default:
			// The answer of the read says that the NIC has taken the write: what is posted then comes behind it.
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
