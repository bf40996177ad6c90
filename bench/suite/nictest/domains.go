package nictest

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a node of domain tests: process v has its mailbox, ring and page in areas of 64 KB.
const (
	ownBytes = 1 << 16
	OwnSlots = 16
	OwnNotis = 64
	OwnRing  = 0x1000
	OwnTable = 0x2000
	OwnPage  = 0x3000
)

// OwnArea is the offset of the area of a process.
func OwnArea(vpid uint8) uint64 { return uint64(vpid) * ownBytes }

// EnableAll opens everything that a process can have. Its translation table is the one with its
// number and has one page.
func (n *NIC) EnableAll(vpid uint8, domain uint64) error {
	at := OwnArea(vpid)
	e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: vpid, Page: n.Address(at+OwnPage) >> 12}.Pack()
	binary.LittleEndian.PutUint64(n.Dev.Memory()[at+OwnTable:], uint64(e))
	clear(n.Dev.Memory()[at+OwnRing:][:OwnNotis*regs.NotiBytes])
	return n.Set(RegWrite{regs.PDID(vpid), domain},
		RegWrite{regs.MboxBase(vpid), at}, RegWrite{regs.MboxSlots(vpid), OwnSlots},
		RegWrite{regs.MboxCtrl(vpid), regs.MboxCtrlEnable | regs.MboxCtrlWindow},
		RegWrite{regs.NotiBase(vpid), at + OwnRing}, RegWrite{regs.NotiSlots(vpid), OwnNotis},
		RegWrite{regs.NotiCtrl(vpid), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
		RegWrite{regs.ATUBase(vpid), at + OwnTable}, RegWrite{regs.ATUPages(vpid), 1})
}

// Page returns the page of a process.
func (n *NIC) Page(vpid uint8) []byte { return n.Dev.Memory()[OwnArea(vpid)+OwnPage:][:1<<12] }

// LastNotification returns the last notification of a process, of so many.
func (n *NIC) LastNotification(vpid uint8, number int) (regs.RMANotiFields, error) {
	at := OwnArea(vpid) + OwnRing + uint64((number-1)%OwnNotis)*regs.NotiBytes
	got := regs.RMANoti(binary.LittleEndian.Uint64(n.Dev.Memory()[at+8:])).Fields()
	if int(got.Seq) != number {
		return got, fmt.Errorf("node %d: VPID %d: notification %d is %+v", n.Node, vpid, number, got)
	}
	return got, n.Expect(regs.NotiWP(vpid), uint64(number))
}

// NLAOf is an address in a process's page.
func NLAOf(vpid uint8, off uint64) uint64 {
	return uint64(regs.NLAFields{Table: vpid, Offset: off}.Pack())
}

// PostAs writes a descriptor into the window of a process.
func (n *NIC) PostAs(vpid uint8, d regs.RMADescFields, w1, w2 uint64) error {
	line := binary.LittleEndian.AppendUint64(nil, uint64(d.Pack()))
	line = binary.LittleEndian.AppendUint64(line, w1)
	line = binary.LittleEndian.AppendUint64(line, w2)
	return n.Dev.WritePIO(regs.Descriptors(vpid), line)
}
