package regress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers/regs"
)

// holdRequester has process 9 of a node fill its own ring, so that the requester waits with its
// last notification, and all descriptors behind it.
func (n *nic) holdRequester() error {
	const v = 9
	if err := errors.Join(n.join(v, 9), n.set(write{regs.NotiCtrl(v), 0}, write{regs.NotiSlots(v), 1},
		write{regs.NotiCtrl(v), regs.NotiCtrlEnable | regs.NotiCtrlWindow})); err != nil {
		return err
	}
	for range 2 + regs.RMAUnderWay { // one told, those that the sender holds, one that waits
		if err := n.postAs(v, regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiRequester: true, DstVPID: v, DstNode: uint16(n.node)}, 0, 0); err != nil {
			return err
		}
	}
	idle, err := quiesce(n.sys)
	if err == nil && idle {
		err = errors.New("the requester is not held")
	}
	return err
}

// letGo empties that ring.
func (n *nic) letGo() error {
	return errors.Join(n.set(write{regs.NotiCtrl(9), 0}), settle(n.sys))
}

func testNewOwner(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const v = 1
	n := nics[0]
	if err := errors.Join(n.join(v, 7), n.holdRequester()); err != nil {
		return err
	}
	// Puts, within the process's own page, that cannot begin yet.
	for i := range uint64(4) {
		d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: v, BytesMinus1: 1<<10 - 1, NotiRequester: true}
		n.page(v)[i] = 0xbad & 0xff
		if err := n.postAs(v, d, nlaOf(v, 0), nlaOf(v, 1<<10*(i&1)+1<<11)); err != nil {
			return err
		}
	}
	if _, err := quiesce(n.sys); err != nil {
		return err
	}
	if err := errors.Join(n.expect(regs.Level(v), 4<<regs.LevelDescriptors.LSB()),
		n.set(write{regs.NotiCtrl(v), 0}, write{regs.ATUDone, doneAt})); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(n.dev.Memory()[own(v)+ownTable:], 0)
	if err := errors.Join(n.set(command(regs.ATUOpFlushAll)), n.fence(2)); err != nil {
		return err
	}
	// The next owner of the number has the same address for its page. Beside its four, one of the
	// other process dies with its ring.
	clear(n.page(v))
	if err := errors.Join(n.join(v, 8), n.letGo()); err != nil {
		return err
	}
	if !bytes.Equal(n.page(v), make([]byte, 1<<12)) {
		return errors.New("what the old process had asked for has reached the page of the new one")
	}
	if err := errors.Join(n.expect(regs.RMAPurged, 5), n.expect(regs.NotiWP(v), 0), n.expect(regs.Level(v), 0)); err != nil {
		return err
	}
	d := regs.RMADescFields{Command: regs.RMACommandImmPut, DstVPID: v, BytesMinus1: 7, NotiCompleter: true}
	if err := errors.Join(n.postAs(v, d, 77, nlaOf(v, 8)), settle(n.sys)); err != nil {
		return err
	}
	noti, err := n.lastTold(v, 1)
	if got := binary.LittleEndian.Uint64(n.page(v)[8:]); err == nil && (got != 77 || noti.Error != 0) {
		err = fmt.Errorf("the new process wrote %d and was told %+v", got, noti)
	}
	return err
}

func testLateAnswer(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const v, gets = 1, 3
	from, to := nics[0], nics[1]
	if err := errors.Join(from.join(v, 7), to.join(v, 7), to.set(write{regs.NotiCtrl(v), 0}, write{regs.NotiSlots(v), 1},
		write{regs.NotiCtrl(v), regs.NotiCtrlEnable})); err != nil {
		return err
	}
	for i := range to.page(v) {
		to.page(v)[i] = 0xff
	}
	// The target's full ring holds the answers behind the second that it is told of.
	for i := range uint64(gets + 2) {
		d := regs.RMADescFields{Command: regs.RMACommandGet, DstNode: 1, DstVPID: v, BytesMinus1: 63, NotiResponder: i < 2, NotiCompleter: true}
		if i == 4 {
			d.Command = regs.RMACommandFCAA
		}
		if err := from.postAs(v, d, nlaOf(v, 0), nlaOf(v, 64*i)); err != nil {
			return err
		}
	}
	if idle, err := quiesce(to.sys); err != nil || idle {
		return fmt.Errorf("the answers are not held: idle %t, %w", idle, err)
	}
	life, err := from.dev.ReadReg(regs.Life(v))
	if err != nil {
		return err
	}
	if err := errors.Join(from.set(write{regs.NotiCtrl(v), 0}), from.join(v, 7), from.expect(regs.Life(v), life+1)); err != nil {
		return err
	}
	clear(from.page(v))
	if err := errors.Join(to.set(write{regs.NotiCtrl(v), 0}, write{regs.NotiCtrl(v), regs.NotiCtrlEnable}), settle(to.sys)); err != nil {
		return err
	}
	if !bytes.Equal(from.page(v), make([]byte, 1<<12)) {
		return errors.New("an answer to the life before has reached the page")
	}
	return errors.Join(from.expect(regs.RMALate, gets), from.expect(regs.RMARXDropped, gets), from.expect(regs.NotiWP(v), 0))
}

func testHeldNotification(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const v, puts = 1, 6
	from, to := nics[0], nics[1]
	if err := errors.Join(from.join(v, 7), to.join(v, 7), to.set(write{regs.NotiCtrl(v), 0}, write{regs.NotiSlots(v), 1}, write{regs.NotiCtrl(v), regs.NotiCtrlEnable})); err != nil {
		return err
	}
	for i := range uint64(puts) {
		if err := from.postAs(v, regs.RMADescFields{Command: regs.RMACommandNotiPut, DstNode: 1, DstVPID: v, NotiCompleter: true}, i, 0); err != nil {
			return err
		}
	}
	if idle, err := quiesce(to.sys); err != nil || idle {
		return fmt.Errorf("the notifications are not held: idle %t, %w", idle, err)
	}
	// Another process of the same domain takes the number: what was told the last is not for it, what
	// comes now is.
	if err := errors.Join(to.set(write{regs.NotiCtrl(v), 0}), to.join(v, 7), settle(to.sys)); err != nil {
		return err
	}
	wp, err := to.dev.ReadReg(regs.NotiWP(v))
	if err != nil {
		return err
	}
	off, err := to.dev.ReadReg(regs.RMANotiOff)
	if err != nil {
		return err
	}
	refused, err := to.dev.ReadReg(regs.RMAErrors) // while it was between its lives
	if err == nil && (off < 1 || wp != 0 || off+refused != puts-1) {
		err = fmt.Errorf("of %d notifications 1 was read, %d discarded, %d refused, %d told the next life", puts, off, refused, wp)
	}
	return err
}
