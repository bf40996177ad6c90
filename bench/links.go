package bench

import (
	"errors"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// links is the maximum number of links of a node.
const links = 6

// readLinks adds up the errors that a node's links have corrected. A device without links has none.
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
