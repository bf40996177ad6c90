// Package isolation tests that a process, or memory that does not answer, harms no other process.
package isolation

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Fences tests have one process do its worst and look at what the others, and the software that
// owns the node, can still do: within how many cycles.
func Fences() []regress.Test {
	return []regress.Test{
		{
			Name: "isolation/fence", Tags: []string{"smoke", "rma"},
			Doc: "fences complete and registers can be written while a notification ring is full",
			Run: testFence,
		},
		{
			Name: "isolation/command-queue", Tags: []string{"rma"},
			Doc: "commands to a full queue are refused and counted, also in the notifications",
			Run: testCommandQueue,
		},
		{
			Name: "isolation/dead-memory", Tags: []string{"smoke"},
			Doc: "registers can be written while DMA writes stall; a mailbox is disabled and enabled meanwhile",
			Run: testDeadMemory,
		},
		{
			Name: "isolation/dead-ring", Tags: []string{"rma"},
			Doc: "registers can be written while DMA writes stall; a notification ring is disabled and enabled meanwhile",
			Run: testDeadRing,
		},
		{
			Name: "isolation/read-pointer", Tags: []string{"smoke"},
			Doc: "an invalid mailbox read pointer is refused and reported, and blocks no other process",
			Run: testReadPointer,
		},
		{
			Name: "isolation/noti-read-pointer", Tags: []string{"rma"},
			Doc: "an invalid read pointer of a notification ring is refused and reported, and blocks no other process",
			Run: testNotiReadPointer,
		},
		{
			Name: "isolation/get-behind-mailbox", Tags: []string{"smoke", "rma"},
			Doc: "RMA operations complete while mailboxes at both ends are full and the network is full of VELO packets",
			Run: testGetBehindMailbox,
		},
		{
			Name: "isolation/done-address", Tags: []string{"rma"},
			Doc: "a command writes no notification before its ring is configured; its failed writes are counted",
			Run: testDoneAddress,
		},
	}
}

// Cycles that a register access and a fence may take here, whatever rings and other processes do.
const (
	accessCycles = 40
	fenceCycles  = 200
)

// prompt performs writes and one read, and says so when they took longer than they may.
func prompt(n *nictest.NIC, list ...nictest.RegWrite) error {
	before := n.Sys.Now()
	if err := n.Set(list...); err != nil {
		return err
	}
	if took := n.Sys.Now() - before; took > drivers.Cycle((len(list)+1)*accessCycles) {
		return fmt.Errorf("node %d: %d register accesses took %d cycles", n.Node, len(list)+1, took)
	}
	return nil
}

const doneAt = 0xa000 // where commands of raw tests tell

func completion(n *nictest.NIC) regs.ATUCompletionFields {
	return regs.ATUCompletion(binary.LittleEndian.Uint64(n.Dev.Memory()[doneAt:])).Fields()
}

func command(op regs.ATUOp) nictest.RegWrite {
	return nictest.Write(regs.ATUCommand, uint64(op)<<regs.ATUCommandCommand.LSB())
}

// fence lets a node fence and expects it done in time.
func fence(n *nictest.NIC, number uint32) error {
	if err := n.Dev.WriteReg(command(regs.ATUOpFence).Reg, command(regs.ATUOpFence).Value); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := n.Sys.Run(n.Sys.Now()+fenceCycles, &stop); err != nil {
		return err
	}
	if got := completion(n).Done; got != number {
		return fmt.Errorf("node %d: %d commands done after %d cycles, expected %d: a fence hangs", n.Node, got, fenceCycles, number)
	}
	return nil
}

// fill has node 0 put into a ring of node 1 that nobody reads, until all that waits for it is full.
func fill(nics []*nictest.NIC, slots, puts int) error {
	if err := nics[1].Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), uint64(slots)),
		nictest.Write(regs.NotiCtrl(nictest.RawVPID), regs.NotiCtrlEnable|regs.NotiCtrlWindow), nictest.Write(regs.ATUDone, doneAt)); err != nil {
		return err
	}
	for i := range puts {
		d := regs.RMADescFields{Command: regs.RMACommandImmPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 7, Tag: uint16(i)}
		if err := nics[0].Post(d, uint64(i), uint64(8*i)); err != nil {
			return err
		}
	}
	idle, err := nictest.Quiesce(nics[0].Sys)
	if err == nil && idle {
		err = errors.New("the hardware is empty, expected it to wait for a full ring")
	}
	return err
}

// empty reads a ring of node 1 until so many notifications have come.
func empty(nics []*nictest.NIC, puts int) error {
	for i := range puts {
		if err := nics[1].Set(nictest.Write(regs.NotiRP(nictest.RawVPID), uint64(i+1))); err != nil {
			return err
		}
		if _, err := nictest.Quiesce(nics[1].Sys); err != nil {
			return err
		}
	}
	return errors.Join(nictest.Settle(nics[1].Sys), nics[1].Expect(regs.NotiWP(nictest.RawVPID), uint64(puts)))
}

func testFence(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	const slots, puts = 2, 16
	if err := fill(nics, slots, puts); err != nil {
		return err
	}
	for i := range uint32(3) {
		if err := fence(nics[1], i+1); err != nil {
			return err
		}
	}
	if err := prompt(nics[1], command(regs.ATUOpFlushAll), command(regs.ATUOpFence), command(regs.ATUOpFence)); err != nil {
		return err
	}
	// What waited is done as it would have been.
	if err := empty(nics, puts); err != nil {
		return err
	}
	for i := range uint64(puts) {
		if got := binary.LittleEndian.Uint64(nics[1].Dev.Memory()[nictest.RawData+8*i:]); got != i {
			return fmt.Errorf("put %d left %d", i, got)
		}
	}
	return nics[1].Expect(regs.ATUStatus, 6)
}

func testCommandQueue(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	n := nics[0]
	const commands = 8 * regs.ATUCommands
	list := []nictest.RegWrite{nictest.Write(regs.ATUDone, doneAt)}
	for range commands {
		list = append(list, command(regs.ATUOpFlushAll))
	}
	if err := errors.Join(prompt(n, list...), nictest.Settle(n.Sys)); err != nil {
		return err
	}
	refused, err := n.Dev.ReadReg(regs.ATURefused)
	if err != nil {
		return err
	}
	c := completion(n)
	if refused == 0 && c.Done == commands && n.Require(simregs.AXIFunction, "") == nil {
		return fmt.Errorf("%w: registers of two halves behind another clock are written too slowly to fill the queue", drivers.ErrNotSupported)
	}
	if refused == 0 || uint64(c.Refused) != refused || c.Done+c.Refused != commands {
		return fmt.Errorf("%d of %d commands refused, memory says %+v", refused, commands, c)
	}
	t.Notef("%d of %d commands refused", refused, commands)
	return n.Expect(regs.ATUStatus, uint64(c.Done))
}

// dead makes the memory of two pages of node 1 take one burst and then none for 2^19 cycles, the
// time in which the lowest rate drains a line.
func dead(n *nictest.NIC, at uint64) error {
	if err := n.Require(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	return n.Set(nictest.Write(regs.NVMBase(0), at), nictest.Write(regs.NVMEnd(0), at+0x2000), nictest.Write(regs.NVMDepth(0), 64), nictest.Write(regs.NVMRate(0), 1))
}

func revive(n *nictest.NIC) error {
	if err := prompt(n, nictest.Write(regs.NVMRate(0), 65536)); err != nil {
		return err
	}
	_, err := nictest.Quiesce(n.Sys)
	return err
}

func testDeadMemory(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const a, b = 2, 3
	to := nics[1]
	if err := errors.Join(nics[0].Enable(0, nictest.SlotsPerBox), to.Enable(a, nictest.SlotsPerBox), dead(to, a*nictest.BoxBytes)); err != nil {
		return err
	}
	for range 3 {
		if err := nics[0].Send(regs.PioFields{DstNode: 1, DstVPID: a}, []byte("old")); err != nil {
			return err
		}
	}
	if err := nics[0].Send(regs.PioFields{DstNode: 1, DstVPID: b}, []byte("b")); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := to.Sys.Run(to.Sys.Now()+2000, &stop); err != nil { // not until all is quiet: that is when the memory has drained
		return err
	}
	on := regs.MboxCtrlEnable | regs.MboxCtrlWindow
	if err := to.Expect(regs.MboxCtrl(a), on|regs.MboxCtrlBusy); err != nil {
		return err
	}
	// Registers of others and of the mailbox itself; what is written for its old life does not count
	// in the new one.
	before := to.Sys.Now()
	if err := to.Enable(b, nictest.SlotsPerBox); err != nil {
		return err
	}
	if took := to.Sys.Now() - before; took > 5*accessCycles {
		return fmt.Errorf("a mailbox was switched on within %d cycles", took)
	}
	if err := errors.Join(to.Expect(regs.MboxCtrl(b), on), prompt(to, nictest.Write(regs.MboxCtrl(a), 0), nictest.Write(regs.MboxCtrl(a), on)),
		to.Expect(regs.MboxCtrl(a), on|regs.MboxCtrlBusy), to.Expect(regs.MboxWP(a), 0), revive(to)); err != nil {
		return err
	}
	if err := errors.Join(to.Expect(regs.MboxCtrl(a), on), to.Expect(regs.MboxWP(a), 1), to.Expect(regs.RXDropped, 1),
		to.Expect(regs.RXPackets, 3), to.Expect(regs.MboxWP(b), 1), nictest.Settle(to.Sys)); err != nil {
		return err
	}
	_, err = to.Next(b)
	return err
}

func testDeadRing(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := dead(to, nictest.RawRing); err != nil {
		return err
	}
	for range 7 { // the memory's buffer takes four of them
		if err := nics[0].Post(regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1}, 7, 0); err != nil {
			return err
		}
	}
	var stop drivers.Stop
	if err := to.Sys.Run(to.Sys.Now()+2000, &stop); err != nil { // a notifier that waits for memory counts as movement
		return err
	}
	on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	if err := errors.Join(to.Expect(regs.NotiCtrl(nictest.RawVPID), on|regs.NotiCtrlBusy), to.Expect(regs.NotiWP(nictest.RawVPID), 4)); err != nil {
		return err
	}
	if err := errors.Join(prompt(to, nictest.Write(regs.NotiBase(3), 0x4000), nictest.Write(regs.NotiSlots(3), 8), nictest.Write(regs.NotiCtrl(3), on), nictest.Write(regs.NotiRP(nictest.RawVPID), 1)),
		prompt(to, nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiCtrl(nictest.RawVPID), on)),
		to.Expect(regs.NotiCtrl(nictest.RawVPID), on|regs.NotiCtrlBusy), revive(to)); err != nil {
		return err
	}
	// What its last life was to be told does not reach the ring of this one.
	return errors.Join(to.Expect(regs.NotiCtrl(nictest.RawVPID), on), to.Expect(regs.NotiWP(nictest.RawVPID), 0), to.Expect(regs.RMANotiOff, 3),
		to.Expect(regs.RMANotis, 4), nictest.Settle(to.Sys))
}

// impossible writes read pointers that a ring of wp written and slots cannot have; rp, the one it
// has, stays.
func impossible(n *nictest.NIC, reg uint32, wp, rp, slots uint64) error {
	before, err := n.Dev.ReadReg(regs.RPRefused)
	if err != nil {
		return err
	}
	list := []uint64{wp + 1, wp + 1<<31, wp + 1<<24, (wp - slots - 1) & (1<<32 - 1)}
	for i, v := range list {
		if err := n.Set(nictest.Write(regs.IRQStatus, regs.IRQStatusError), nictest.Write(reg, v)); err != nil {
			return err
		}
		status, err := n.Dev.ReadReg(regs.IRQStatus)
		if err == nil && status&regs.IRQStatusError == 0 {
			err = fmt.Errorf("read pointer 0x%x was refused without an interrupt", v)
		}
		if err := errors.Join(err, n.Expect(reg, rp|regs.MboxRPRefused), n.Expect(regs.RPRefused, before+uint64(i)+1)); err != nil {
			return fmt.Errorf("read pointer 0x%x: %w", v, err)
		}
	}
	return errors.Join(n.Set(nictest.Write(reg, rp)), n.Expect(reg, rp), n.Expect(regs.RPRefused, before+uint64(len(list))))
}

func testReadPointer(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const evil, good = 1, 2
	from, to := nics[0], nics[1]
	if err := errors.Join(from.Enable(0, nictest.SlotsPerBox), to.Enable(evil, 7), to.Enable(good, nictest.SlotsPerBox),
		impossible(to, regs.MboxRP(evil), 0, 0, 7)); err != nil {
		return err
	}
	// The last word of the process is an impossible one, and everybody still gets what is theirs.
	if err := to.Set(nictest.Write(regs.MboxRP(evil), 1)); err != nil {
		return err
	}
	for i := range 15 {
		vpid := uint8(good)
		if i%3 == 0 {
			vpid = evil
		}
		if err := from.Send(regs.PioFields{DstNode: 1, DstVPID: vpid}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if err := errors.Join(nictest.Settle(to.Sys), to.Expect(regs.MboxWP(good), 10), to.Expect(regs.MboxWP(evil), 5), to.Expect(regs.MboxStall(evil), 0)); err != nil {
		return err
	}
	if err := errors.Join(to.Set(nictest.Write(regs.MboxRP(evil), 3)), impossible(to, regs.MboxRP(evil), 5, 3, 7)); err != nil {
		return err
	}
	// Switching on forgets the refusal, as it does the pointers.
	return errors.Join(to.Set(nictest.Write(regs.MboxRP(evil), 6)), to.Enable(evil, 7), to.Expect(regs.MboxRP(evil), 0))
}

func testNotiReadPointer(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := errors.Join(impossible(to, regs.NotiRP(nictest.RawVPID), 0, 0, nictest.RawSlots), to.Set(nictest.Write(regs.NotiRP(nictest.RawVPID), 1))); err != nil {
		return err
	}
	for range 5 {
		if err := nics[0].Post(regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1}, 7, 0); err != nil {
			return err
		}
	}
	return errors.Join(nictest.Settle(to.Sys), to.Expect(regs.NotiWP(nictest.RawVPID), 5), to.Expect(regs.NotiStall(nictest.RawVPID), 0),
		to.Set(nictest.Write(regs.NotiRP(nictest.RawVPID), 5)), impossible(to, regs.NotiRP(nictest.RawVPID), 5, 5, nictest.RawSlots))
}

func testDoneAddress(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	n := nics[0]
	untouched := uint64(0x0123456789abcdef)
	binary.LittleEndian.PutUint64(n.Dev.Memory(), untouched)
	if err := errors.Join(n.Set(command(regs.ATUOpFlushAll), command(regs.ATUOpFence)), nictest.Settle(n.Sys), n.Expect(regs.ATUStatus, 2)); err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint64(n.Dev.Memory()); got != untouched {
		return fmt.Errorf("address 0 holds 0x%x: a command wrote there before ATU_DONE was", got)
	}
	for _, w := range []nictest.RegWrite{nictest.Write(regs.ATUDone, 1<<40), command(regs.ATUOpFlushAll)} {
		if err := n.Dev.WriteReg(w.Reg, w.Value); err != nil {
			return err
		}
	}
	var dma *drivers.DMAError
	if err := nictest.Settle(n.Sys); !errors.As(err, &dma) {
		return fmt.Errorf("a completion outside memory: got error %v, expected a DMA error", err)
	}
	failed := uint64(1)
	if !n.Dev.Capabilities().Has(drivers.CanAnswerWrites) {
		failed = 0 // the NIC does not learn of it
	}
	return errors.Join(nictest.Settle(n.Sys), n.Expect(regs.ATUDoneErrors, failed), n.Expect(regs.ATUStatus, 3),
		n.Set(nictest.Write(regs.ATUDone, doneAt), command(regs.ATUOpFlushAll)), nictest.Settle(n.Sys), n.Expect(regs.ATUDoneErrors, failed), n.Expect(regs.ATUStatus, 4))
}
