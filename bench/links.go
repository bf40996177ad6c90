package bench

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// links is how many links a node can have.
const links = 6

// readLinks adds up what a node's links have had to repair. A device without
// links has repaired nothing.
func readLinks(dev drivers.Device, nic *NIC) error {
	var bus *drivers.BusError
	for link := range uint8(links) {
		for _, c := range []struct {
			off uint32
			to  *uint64
		}{{regs.LinkCRCErrors(link), &nic.CRCErrors}, {regs.LinkRetransmissions(link), &nic.Retransmissions}, {regs.LinkTimeouts(link), &nic.Timeouts}} {
			v, err := dev.ReadReg(c.off)
			if errors.As(err, &bus) {
				return nil
			}
			if err != nil {
				return err
			}
			*c.to += v
		}
	}
	return nil
}
