// Package process controls what the processes of a NIC have open: their protection domains,
// mailboxes and rings. It also returns a whole NIC to its state after reset.
package process

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// DefaultDomain is the protection domain of processes that name none. After reset no process is in
// a domain, so none can reach another.
const DefaultDomain = 1

// Join moves a process into a protection domain; 0 means DefaultDomain. It has no effect on a
// process that is already in the domain. Moving to another domain closes everything that the
// process had open.
func Join(dev drivers.Device, vpid uint8, domain uint16) error {
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

// ErrNotDrained: a process's outstanding sends and operations do not drain, because something else
// blocks them.
var ErrNotDrained = errors.New("the process's last sends and operations do not leave the NIC")

// DisableAndDrain disables a mailbox or a ring, together with its window, by its control register
// ctrl, and waits until the fields of LEVEL selected by parts are zero: pending descriptors are
// discarded, operations in progress complete. Afterwards the hardware writes nothing more to its
// memory.
func DisableAndDrain(dev drivers.Device, vpid uint8, ctrl uint32, busy, parts uint64) error {
	if err := Disable(dev, ctrl, busy); err != nil {
		return err
	}
	var left uint64
	for range drainReads {
		var err error
		if left, err = dev.ReadReg(regs.Level(vpid)); err != nil || left&parts == 0 {
			return err
		}
	}
	return fmt.Errorf("%w: LEVEL[%d] is 0x%x after %d reads", ErrNotDrained, vpid, left, drainReads)
}

// Leave removes a process from its domain, which closes everything that it has open, and waits
// until the hardware writes nothing more to its mailbox and ring. Its pages can be reused after a
// fence. The caller must have taken the send window away from the process, so that no store of it
// is in flight.
func Leave(dev drivers.Device, vpid uint8) error {
	if err := dev.WriteReg(regs.PDID(vpid), 0); err != nil {
		return err
	}
	return errors.Join(Disable(dev, regs.MboxCtrl(vpid), regs.MboxCtrlBusy), Disable(dev, regs.NotiCtrl(vpid), regs.NotiCtrlBusy))
}
