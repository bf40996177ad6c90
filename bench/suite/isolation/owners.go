package isolation

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
)

// holdRequester has process 9 of a node fill its own ring, so that the requester waits with its
// last notification, and all descriptors behind it.
func holdRequester(n *nictest.NIC) error {
	const v = 9
	if err := errors.Join(n.EnableAll(v, 9), n.Set(nictest.Write(regs.NotiCtrl(v), 0), nictest.Write(regs.NotiSlots(v), 1),
		nictest.Write(regs.NotiCtrl(v), regs.NotiCtrlEnable|regs.NotiCtrlWindow))); err != nil {
		return err
	}
	for range 2 + regs.RMAUnderWay { // one told, those that the sender holds, one that waits
		if err := n.PostAs(v, regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiRequester: true, DstVPID: v, DstNode: uint16(n.Node)}, 0, 0); err != nil {
			return err
		}
	}
	idle, err := nictest.Quiesce(n.Sys)
	if err == nil && idle {
		err = errors.New("the requester is not held")
	}
	return err
}

// letGo empties that ring.
func letGo(n *nictest.NIC) error {
	return errors.Join(n.Set(nictest.Write(regs.NotiCtrl(9), 0)), nictest.Settle(n.Sys))
}

func testNewOwner(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const v = 1
	n := nics[0]
	if err := errors.Join(n.EnableAll(v, 7), holdRequester(n)); err != nil {
		return err
	}
	// Puts, within the process's own page, that cannot begin yet.
	for i := range uint64(4) {
		d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: v, BytesMinus1: 1<<10 - 1, NotiRequester: true}
		n.Page(v)[i] = 0xbad & 0xff
		if err := n.PostAs(v, d, nictest.NLAOf(v, 0), nictest.NLAOf(v, 1<<10*(i&1)+1<<11)); err != nil {
			return err
		}
	}
	if _, err := nictest.Quiesce(n.Sys); err != nil {
		return err
	}
	if err := errors.Join(n.Expect(regs.Level(v), 4<<regs.LevelDescriptors.LSB()),
		n.Set(nictest.Write(regs.NotiCtrl(v), 0), nictest.Write(regs.ATUDone, doneAt))); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(n.Dev.Memory()[nictest.OwnArea(v)+nictest.OwnTable:], 0)
	if err := errors.Join(n.Set(command(regs.ATUOpFlushAll)), fence(n, 2)); err != nil {
		return err
	}
	// The next owner of the number has the same address for its page. Beside its four, one of the
	// other process dies with its ring.
	clear(n.Page(v))
	if err := errors.Join(n.EnableAll(v, 8), letGo(n)); err != nil {
		return err
	}
	if !bytes.Equal(n.Page(v), make([]byte, 1<<12)) {
		return errors.New("what the old process had asked for has reached the page of the new one")
	}
	if err := errors.Join(n.Expect(regs.RMAPurged, 5), n.Expect(regs.NotiWP(v), 0), n.Expect(regs.Level(v), 0)); err != nil {
		return err
	}
	d := regs.RMADescFields{Command: regs.RMACommandImmPut, DstVPID: v, BytesMinus1: 7, NotiCompleter: true}
	if err := errors.Join(n.PostAs(v, d, 77, nictest.NLAOf(v, 8)), nictest.Settle(n.Sys)); err != nil {
		return err
	}
	noti, err := n.LastNotification(v, 1)
	if got := binary.LittleEndian.Uint64(n.Page(v)[8:]); err == nil && (got != 77 || noti.Error != 0) {
		err = fmt.Errorf("the new process wrote %d and got the notification %+v", got, noti)
	}
	return err
}

func testLateAnswer(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const v, gets = 1, 3
	from, to := nics[0], nics[1]
	if err := errors.Join(from.EnableAll(v, 7), to.EnableAll(v, 7), to.Set(nictest.Write(regs.NotiCtrl(v), 0), nictest.Write(regs.NotiSlots(v), 1),
		nictest.Write(regs.NotiCtrl(v), regs.NotiCtrlEnable))); err != nil {
		return err
	}
	for i := range to.Page(v) {
		to.Page(v)[i] = 0xff
	}
	// The target's full ring holds the answers behind the second that it is told of.
	for i := range uint64(gets + 2) {
		d := regs.RMADescFields{Command: regs.RMACommandGet, DstNode: 1, DstVPID: v, BytesMinus1: 63, NotiResponder: i < 2, NotiCompleter: true}
		if i == 4 {
			d.Command = regs.RMACommandFCAA
		}
		if err := from.PostAs(v, d, nictest.NLAOf(v, 0), nictest.NLAOf(v, 64*i)); err != nil {
			return err
		}
	}
	if idle, err := nictest.Quiesce(to.Sys); err != nil || idle {
		return fmt.Errorf("the answers are not held: idle %t, %w", idle, err)
	}
	life, err := from.Dev.ReadReg(regs.Life(v))
	if err != nil {
		return err
	}
	if err := errors.Join(from.Set(nictest.Write(regs.NotiCtrl(v), 0)), from.EnableAll(v, 7), from.Expect(regs.Life(v), life+1)); err != nil {
		return err
	}
	clear(from.Page(v))
	if err := errors.Join(to.Set(nictest.Write(regs.NotiCtrl(v), 0), nictest.Write(regs.NotiCtrl(v), regs.NotiCtrlEnable)), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	if !bytes.Equal(from.Page(v), make([]byte, 1<<12)) {
		return errors.New("an answer to the life before has reached the page")
	}
	return errors.Join(from.Expect(regs.RMALate, gets), from.Expect(regs.RMARXDropped, gets), from.Expect(regs.NotiWP(v), 0))
}

func testHeldNotification(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const v, puts = 1, 6
	from, to := nics[0], nics[1]
	if err := errors.Join(from.EnableAll(v, 7), to.EnableAll(v, 7), to.Set(nictest.Write(regs.NotiCtrl(v), 0), nictest.Write(regs.NotiSlots(v), 1), nictest.Write(regs.NotiCtrl(v), regs.NotiCtrlEnable))); err != nil {
		return err
	}
	for i := range uint64(puts) {
		if err := from.PostAs(v, regs.RMADescFields{Command: regs.RMACommandNotiPut, DstNode: 1, DstVPID: v, NotiCompleter: true}, i, 0); err != nil {
			return err
		}
	}
	if idle, err := nictest.Quiesce(to.Sys); err != nil || idle {
		return fmt.Errorf("the notifications are not held: idle %t, %w", idle, err)
	}
	// Another process of the same domain takes the number: what was told the last is not for it, what
	// comes now is.
	if err := errors.Join(to.Set(nictest.Write(regs.NotiCtrl(v), 0)), to.EnableAll(v, 7), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	wp, err := to.Dev.ReadReg(regs.NotiWP(v))
	if err != nil {
		return err
	}
	off, err := to.Dev.ReadReg(regs.RMANotiOff)
	if err != nil {
		return err
	}
	refused, err := to.Dev.ReadReg(regs.RMAErrors) // while it was between its lives
	if err == nil && (off < 1 || wp != 0 || off+refused != puts-1) {
		err = fmt.Errorf("of %d notifications 1 was read, %d discarded, %d refused, %d delivered to the next owner", puts, off, refused, wp)
	}
	return err
}
