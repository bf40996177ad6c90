package drivers

import "fmt"

// drainReads is how often SwitchOff looks: a slot takes a few cycles, unless its memory is dead.
const drainReads = 10000

// SwitchOff switches a mailbox or a notification ring off by its register of switches, and waits until the
// hardware writes nothing more to where it lay: busy is that register's bit.
func SwitchOff(dev Device, ctrl uint32, busy uint64) error {
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
