package rma

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// testSharedRing has two units of a node compete for the free slots of one full ring, of which
// software gives one back at a time: peers' notifications, and those of the process's own gets. The
// requester writes into a ring that has room meanwhile. Each of the two must get a share of the
// slots: with one round-robin pointer for all rings the requester's grants moved it to where the
// same one came first every time.
func testSharedRing(t *regress.T) error {
	const slots, rounds, other = 4, 48, nictest.RawVPID + 1
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	n, peer := nics[0], nics[1]
	if err := n.Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), slots),
		nictest.Write(regs.NotiCtrl(nictest.RawVPID), regs.NotiCtrlEnable|regs.NotiCtrlWindow)); err != nil {
		return err
	}
	if err := enableOther(n, other); err != nil {
		return err
	}
	gets := func() error {
		return n.Post(regs.RMADescFields{Command: regs.RMACommandGet, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1}, 0, 0)
	}
	notifies := func() error {
		return peer.Post(regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: nictest.RawVPID}, 0, 0)
	}
	aside := func() error {
		d := regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiRequester: true, DstVPID: nictest.RawVPID, DstNode: 1}
		return n.PostAs(other, d, 0, 0)
	}
	for range slots { // they fill the ring
		if err := errors.Join(gets(), nictest.Settle(n.Sys)); err != nil {
			return err
		}
	}
	var stop drivers.Stop
	share := map[regs.RMACommand]int{}
	run := func() error { return n.Sys.Run(n.Sys.Now()+drivers.Cycle(200+t.Rand.Intn(50)), &stop) }
	if err := errors.Join(gets(), notifies(), run()); err != nil { // one of each waits
		return err
	}
	for i := range uint64(rounds) {
		if err := errors.Join(aside(), run(), n.Dev.WriteReg(regs.NotiRP(nictest.RawVPID), i+1), run()); err != nil {
			return err
		}
		word := binary.LittleEndian.Uint64(n.Dev.Memory()[nictest.RawRing+i%slots*regs.NotiBytes+8:])
		noti := regs.RMANoti(word).Fields()
		if noti.Seq != uint16(slots+i+1) {
			return fmt.Errorf("slot %d holds notification %d, expected %d", i%slots, noti.Seq, slots+i+1)
		}
		share[noti.Command]++
		again := map[regs.RMACommand]func() error{regs.RMACommandGet: gets, regs.RMACommandNotiPut: notifies}[noti.Command]
		if again == nil {
			return fmt.Errorf("notification %d is %+v, expected one of a get or a notify", noti.Seq, noti)
		}
		if err := errors.Join(again(), run(), n.Dev.WriteReg(regs.NotiRP(other), i)); err != nil {
			return err
		}
	}
	if err := n.Expect(regs.NotiWP(other), rounds); err != nil {
		return err
	}
	t.Notef("of %d slots %d went to gets, %d to notifies", rounds, share[regs.RMACommandGet], share[regs.RMACommandNotiPut])
	for _, c := range []regs.RMACommand{regs.RMACommandGet, regs.RMACommandNotiPut} {
		if share[c] < rounds/4 {
			return fmt.Errorf("%v got %d of %d free slots of a ring that another unit waits for too, expected at least %d",
				c, share[c], rounds, rounds/4)
		}
	}
	return nil
}

// enableOther gives a second process of a node a ring of notifications behind that of the first,
// and a window.
func enableOther(n *nictest.NIC, vpid uint8) error {
	return n.Set(nictest.Write(regs.PDID(vpid), nictest.RawDomain), nictest.Write(regs.NotiBase(vpid), nictest.RawRing+nictest.RawSlots*regs.NotiBytes),
		nictest.Write(regs.NotiSlots(vpid), nictest.RawSlots), nictest.Write(regs.NotiCtrl(vpid), regs.NotiCtrlEnable|regs.NotiCtrlWindow))
}
