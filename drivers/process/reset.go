package process

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// resetValues are the values after reset of the registers that software sets, in an order that is
// valid while no process has a domain. Read pointers restart with their rings; ATU_COMMAND holds no
// state.
var resetValues = []struct {
	name  string
	value uint64
}{
	{"IRQ_MASK", 0}, {"SCRATCH", 0},
	{"MBOX_BASE", 0}, {"MBOX_SLOTS", 0}, {"NOTI_BASE", 0}, {"NOTI_SLOTS", 0}, {"HOLD", regs.HoldMailbox.Mask() | regs.HoldRing.Mask()},
	{"ATU_PAGES", 0}, {"ATU_BASE", 0},
	{"NVM_END", 0}, {"NVM_BASE", 0}, {"NVM_RATE", 1 << 16}, {"NVM_DEPTH", 0},
	{"ROUTE", 0}, {"LINK_CTRL", 0}, {"LINK_PATIENCE", regs.LinkPatienceAtReset},
}

// ResetNIC restores the state after reset of everything that software sets. Every process leaves
// its domain, which closes what it has open; it waits until the NIC writes nothing more for it.
// With links, every link is reset at this end, too, and both ends establish a new session; packets
// on the link are lost and counted (LINK_LOST). Counters keep their values. ResetNIC returns the
// changes made so far, also with an error. It does not ask other programs that use the device.
func ResetNIC(dev drivers.Device, links bool) (changed []string, err error) {
	if changed, err = leaveAll(dev); err != nil {
		return changed, err
	}
	for _, want := range resetValues {
		r, _ := regs.ByName(want.name)
		for i := range int(r.Count) {
			was, err := putBack(dev, r.Address(i), want.value)
			var bus *drivers.BusError
			if errors.As(err, &bus) {
				break // this implementation lacks these registers
			}
			if err != nil {
				return changed, err
			}
			if was != want.value {
				changed = append(changed, fmt.Sprintf("%s 0x%x -> 0x%x", regs.Describe(r.Address(i)), was, want.value))
			}
		}
	}
	if links {
		done, err := resetLinks(dev)
		changed = append(changed, done...)
		if err != nil {
			return changed, err
		}
	}
	for off, all := range map[uint32]uint64{regs.IRQStatus: ^uint64(0), regs.ErrorInfo: regs.ErrorInfoValid} {
		if err := dev.WriteReg(off, all); err != nil {
			return changed, err
		}
	}
	_, err = dev.ReadReg(regs.Magic) // returns after all posted writes have arrived
	return changed, err
}

func leaveAll(dev drivers.Device) (changed []string, err error) {
	for v := range uint8(regs.VPIDs) {
		pdid, err := dev.ReadReg(regs.PDID(v))
		if err != nil {
			return changed, err
		}
		if pdid == 0 {
			continue
		}
		if err := Leave(dev, v); err != nil {
			return changed, fmt.Errorf("process %d does not leave its domain: %w", v, err)
		}
		changed = append(changed, fmt.Sprintf("process %d left domain %d", v, pdid))
	}
	return changed, nil
}

func putBack(dev drivers.Device, off uint32, want uint64) (was uint64, err error) {
	if was, err = dev.ReadReg(off); err != nil || was == want {
		return was, err
	}
	if err := dev.WriteReg(off, want); err != nil {
		return was, err
	}
	got, err := dev.ReadReg(off)
	if got == 0 && strings.HasPrefix(regs.Describe(off), "LINK_") { // this link is not built
		return want, err
	}
	if err == nil && got != want {
		err = fmt.Errorf("%s: expected 0x%x after writing it, found 0x%x", regs.Describe(off), want, got)
	}
	return was, err
}

func resetLinks(dev drivers.Device) (changed []string, err error) {
	r, _ := regs.ByName("LINK_STATUS")
	for l := range uint8(r.Count) {
		status, err := dev.ReadReg(regs.LinkStatus(l))
		var bus *drivers.BusError
		if errors.As(err, &bus) {
			return changed, nil
		}
		if err != nil {
			return changed, err
		}
		if status&regs.LinkStatusConnected == 0 {
			continue
		}
		if err := dev.WriteReg(regs.LinkCtrl(l), regs.LinkCtrlReset); err != nil {
			return changed, err
		}
		for range drainReads {
			if status, err = dev.ReadReg(regs.LinkStatus(l)); err != nil || status&regs.LinkStatusAgreed != 0 {
				break
			}
		}
		if err != nil {
			return changed, err
		}
		text := fmt.Sprintf("link %d reset, both ends agree", l)
		if status&regs.LinkStatusAgreed == 0 {
			text = fmt.Sprintf("link %d reset; its other end has not agreed (LINK_STATUS 0x%x)", l, status)
		}
		changed = append(changed, text)
	}
	return changed, nil
}
