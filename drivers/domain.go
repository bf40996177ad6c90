package drivers

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// DefaultDomain is the protection domain of the processes of libraries that name none. The hardware gives none:
// after reset nobody reaches anybody.
const DefaultDomain = 1

// Join puts a process into a protection domain, 0 meaning DefaultDomain. One that is in it already stays as it is;
// for another, everything that it had open is shut.
func Join(dev Device, vpid uint8, domain uint16) error {
	if domain == 0 {
		domain = DefaultDomain
	}
	reg := regs.PDID(vpid)
	if now, err := dev.ReadReg(reg); err != nil || now == uint64(domain) {
		return err
	}
	if err := dev.WriteReg(reg, uint64(domain)); err != nil {
		return err
	}
	got, err := dev.ReadReg(reg)
	if err == nil && got != uint64(domain) {
		err = fmt.Errorf("PDID[%d] reads %d after writing %d", vpid, got, domain)
	}
	return err
}

// ErrHeld: what waits of a process does not leave the NIC: something else holds it.
var ErrHeld = errors.New("the process's last sends and operations do not leave the NIC")

// Shut switches a mailbox or a ring off by its register ctrl, with its window, and waits until what parts of LEVEL show is
// gone: descriptors that wait are discarded, what was begun leaves. Then the hardware writes nothing more to its memory.
func Shut(dev Device, vpid uint8, ctrl uint32, busy, parts uint64) error {
	if err := SwitchOff(dev, ctrl, busy); err != nil {
		return err
	}
	var left uint64
	for range drainReads {
		var err error
		if left, err = dev.ReadReg(regs.Level(vpid)); err != nil || left&parts == 0 {
			return err
		}
	}
	return fmt.Errorf("%w: LEVEL[%d] is 0x%x after %d reads", ErrHeld, vpid, left, drainReads)
}

// Leave takes a process out of its domain, which shuts all that it still has open, and waits until the hardware writes
// nothing more to its mailbox and its ring. Its pages are free when a fence is done. Its window must have been taken from it before, and
// its stores have come to an end.
func Leave(dev Device, vpid uint8) error {
	if err := dev.WriteReg(regs.PDID(vpid), 0); err != nil {
		return err
	}
	return errors.Join(SwitchOff(dev, regs.MboxCtrl(vpid), regs.MboxCtrlBusy), SwitchOff(dev, regs.NotiCtrl(vpid), regs.NotiCtrlBusy))
}
