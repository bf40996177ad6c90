package nictest

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a raw test: the ring, the table and the data of the one process in use.
const (
	RawVPID  = 5
	RawRing  = 0x8000
	RawSlots = 64
	RawTable = 0x9000
	RawData  = 0x10000
	RawPages = 8
)

// OpenRMA opens nodes on which process RawVPID has all rights to pages that translate NLA 0 to
// RawData.
func OpenRMA(t *regress.T, nodes int) ([]*NIC, error) {
	nics, err := OpenNICs(t, nodes)
	if err != nil {
		return nil, err
	}
	for _, n := range nics {
		if err := n.EnableRMA(); err != nil {
			return nil, err
		}
	}
	return nics, nil
}

// EnableRMA gives a node's process a ring of notifications, and pages.
func (n *NIC) EnableRMA() error {
	for page := range uint64(RawPages) {
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: RawVPID, Page: n.Address(RawData+page<<12) >> 12}.Pack()
		binary.LittleEndian.PutUint64(n.Dev.Memory()[RawTable+8*page:], uint64(e))
	}
	return n.Set(RegWrite{regs.ATUBase(0), RawTable}, RegWrite{regs.ATUPages(0), RawPages}, RegWrite{regs.PDID(RawVPID), RawDomain},
		RegWrite{regs.NotiBase(RawVPID), RawRing}, RegWrite{regs.NotiSlots(RawVPID), RawSlots},
		RegWrite{regs.NotiCtrl(RawVPID), regs.NotiCtrlEnable | regs.NotiCtrlWindow})
}

// Post writes a descriptor.
func (n *NIC) Post(d regs.RMADescFields, w1, w2 uint64) error {
	line := binary.LittleEndian.AppendUint64(nil, uint64(d.Pack()))
	line = binary.LittleEndian.AppendUint64(line, w1)
	line = binary.LittleEndian.AppendUint64(line, w2)
	return n.Dev.WritePIO(regs.Descriptors(RawVPID), line)
}

// Notification is notification number i, from 0.
func (n *NIC) Notification(i int) (regs.RMAExt, regs.RMANotiFields) {
	at := n.Dev.Memory()[RawRing+i%RawSlots*regs.NotiBytes:]
	return regs.RMAExt(binary.LittleEndian.Uint64(at)), regs.RMANoti(binary.LittleEndian.Uint64(at[8:])).Fields()
}

// ExpectNotification compares notification number i with what it must be.
func (n *NIC) ExpectNotification(i int, ext regs.RMAExtFields, want regs.RMANotiFields) error {
	want.Seq = uint16(i + 1)
	gotExt, got := n.Notification(i)
	if gotExt != ext.Pack() || got != want {
		return fmt.Errorf("node %d: notification %d is %+v, %+v, expected %+v, %+v", n.Node, i, gotExt.Fields(), got, ext, want)
	}
	return nil
}
