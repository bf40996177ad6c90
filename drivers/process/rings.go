package process

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// drainReads bounds the reads of Disable: a slot takes a few cycles unless memory does not
// respond.
const drainReads = 10000

// Disable disables a mailbox or a notification ring and waits until the hardware no longer writes
// to its memory. ctrl is its control register, busy that register's busy bit.
func Disable(dev drivers.Device, ctrl uint32, busy uint64) error {
	if err := dev.WriteReg(ctrl, 0); err != nil {
		return err
	}
	for range drainReads {
		if v, err := dev.ReadReg(ctrl); err != nil || v&busy == 0 {
			return err
		}
	}
	return fmt.Errorf("register 0x%x: switched off, and its memory still has not taken the last write after %d reads", ctrl, drainReads)
}
