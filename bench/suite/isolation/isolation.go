package regress

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// isolation tests have one process do its worst and look at what the others, and the software that
// owns the node, can still do: within how many cycles.
var isolation = []Test{
	{"isolation/fence", []string{"smoke", "rma"}, "fences end, and registers are written, while a notification ring is full", testFence},
	{"isolation/command-queue", []string{"rma"}, "commands that find the queue full are refused and counted, in memory too", testCommandQueue},
	{"isolation/dead-memory", []string{"smoke"}, "registers are written while no write to memory ends; a mailbox is switched off and on meanwhile", testDeadMemory},
	{"isolation/dead-ring", []string{"rma"}, "the same with a notification ring", testDeadRing},
	{"isolation/read-pointer", []string{"smoke"}, "a read pointer that cannot be is refused, told, and stops nobody", testReadPointer},
	{"isolation/noti-read-pointer", []string{"rma"}, "the same with a notification ring", testNotiReadPointer},
	{"isolation/get-behind-mailbox", []string{"smoke", "rma"}, "operations of RMA end while mailboxes at both ends are full and the network full of VELO", testGetBehindMailbox},
	{"isolation/done-address", []string{"rma"}, "a command writes nothing before it was told where, and its failed writes are counted", testDoneAddress},
}

// Cycles that a register access and a fence may take here, whatever rings and other processes do.
const (
	accessCycles = 40
	fenceCycles  = 200
)

// prompt performs writes and one read, and says so when they took longer than they may.
func (n *nic) prompt(list ...write) error {
	before := n.sys.Now()
	if err := n.set(list...); err != nil {
		return err
	}
	if took := n.sys.Now() - before; took > drivers.Cycle((len(list)+1)*accessCycles) {
		return fmt.Errorf("node %d: %d register accesses took %d cycles", n.node, len(list)+1, took)
	}
	return nil
}

const doneAt = 0xa000 // where commands of raw tests tell

func (n *nic) completion() regs.ATUCompletionFields {
	return regs.ATUCompletion(binary.LittleEndian.Uint64(n.dev.Memory()[doneAt:])).Fields()
}

func command(op regs.ATUOp) write {
	return write{regs.ATUCommand, uint64(op) << regs.ATUCommandCommand.LSB()}
}

// fence lets a node fence and expects it done in time.
func (n *nic) fence(number uint32) error {
	if err := n.dev.WriteReg(command(regs.ATUOpFence).off, command(regs.ATUOpFence).v); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := n.sys.Run(n.sys.Now()+fenceCycles, &stop); err != nil {
		return err
	}
	if got := n.completion().Done; got != number {
		return fmt.Errorf("node %d: %d commands done after %d cycles, expected %d: a fence hangs", n.node, got, fenceCycles, number)
	}
	return nil
}

// fill has node 0 put into a ring of node 1 that nobody reads, until all that waits for it is full.
func fill(nics []*nic, slots, puts int) error {
	if err := nics[1].set(write{regs.NotiCtrl(rawVPID), 0}, write{regs.NotiSlots(rawVPID), uint64(slots)},
		write{regs.NotiCtrl(rawVPID), regs.NotiCtrlEnable | regs.NotiCtrlWindow}, write{regs.ATUDone, doneAt}); err != nil {
		return err
	}
	for i := range puts {
		d := regs.RMADescFields{Command: regs.RMACommandImmPut, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1, BytesMinus1: 7, Tag: uint16(i)}
		if err := nics[0].post(d, uint64(i), uint64(8*i)); err != nil {
			return err
		}
	}
	idle, err := quiesce(nics[0].sys)
	if err == nil && idle {
		err = errors.New("the hardware is empty, expected it to wait for a full ring")
	}
	return err
}

// empty reads a ring of node 1 until so many notifications have come.
func empty(nics []*nic, puts int) error {
	for i := range puts {
		if err := nics[1].set(write{regs.NotiRP(rawVPID), uint64(i + 1)}); err != nil {
			return err
		}
		if _, err := quiesce(nics[1].sys); err != nil {
			return err
		}
	}
	return errors.Join(settle(nics[1].sys), nics[1].expect(regs.NotiWP(rawVPID), uint64(puts)))
}

func testFence(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	const slots, puts = 2, 16
	if err := fill(nics, slots, puts); err != nil {
		return err
	}
	for i := range uint32(3) {
		if err := nics[1].fence(i + 1); err != nil {
			return err
		}
	}
	if err := nics[1].prompt(command(regs.ATUOpFlushAll), command(regs.ATUOpFence), command(regs.ATUOpFence)); err != nil {
		return err
	}
	// What waited is done as it would have been.
	if err := empty(nics, puts); err != nil {
		return err
	}
	for i := range uint64(puts) {
		if got := binary.LittleEndian.Uint64(nics[1].dev.Memory()[rawData+8*i:]); got != i {
			return fmt.Errorf("put %d left %d", i, got)
		}
	}
	return nics[1].expect(regs.ATUStatus, 6)
}

func testCommandQueue(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	n := nics[0]
	const commands = 8 * regs.ATUCommands
	list := []write{{regs.ATUDone, doneAt}}
	for range commands {
		list = append(list, command(regs.ATUOpFlushAll))
	}
	if err := errors.Join(n.prompt(list...), settle(n.sys)); err != nil {
		return err
	}
	refused, err := n.dev.ReadReg(regs.ATURefused)
	if err != nil {
		return err
	}
	c := n.completion()
	if refused == 0 && c.Done == commands && n.needs(simregs.AXIFunction, "") == nil {
		return fmt.Errorf("%w: registers of two halves behind another clock are written too slowly to fill the queue", drivers.ErrNotSupported)
	}
	if refused == 0 || uint64(c.Refused) != refused || c.Done+c.Refused != commands {
		return fmt.Errorf("%d of %d commands refused, memory says %+v", refused, commands, c)
	}
	t.Notef("%d of %d commands refused", refused, commands)
	return n.expect(regs.ATUStatus, uint64(c.Done))
}

// dead makes the memory of two pages of node 1 take one burst and then none for 2^19 cycles, the
// time in which the lowest rate drains a line.
func (n *nic) dead(at uint64) error {
	if err := n.needs(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	return n.set(write{regs.NVMBase(0), at}, write{regs.NVMEnd(0), at + 0x2000}, write{regs.NVMDepth(0), 64}, write{regs.NVMRate(0), 1})
}

func (n *nic) revive() error {
	if err := n.prompt(write{regs.NVMRate(0), 65536}); err != nil {
		return err
	}
	_, err := quiesce(n.sys)
	return err
}

func testDeadMemory(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const a, b = 2, 3
	to := nics[1]
	if err := errors.Join(nics[0].enable(0, slotsPerBox), to.enable(a, slotsPerBox), to.dead(a*boxBytes)); err != nil {
		return err
	}
	for range 3 {
		if err := nics[0].send(regs.PioFields{DstNode: 1, DstVPID: a}, []byte("old")); err != nil {
			return err
		}
	}
	if err := nics[0].send(regs.PioFields{DstNode: 1, DstVPID: b}, []byte("b")); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := to.sys.Run(to.sys.Now()+2000, &stop); err != nil { // not until all is quiet: that is when the memory has drained
		return err
	}
	on := regs.MboxCtrlEnable | regs.MboxCtrlWindow
	if err := to.expect(regs.MboxCtrl(a), on|regs.MboxCtrlBusy); err != nil {
		return err
	}
	// Registers of others and of the mailbox itself; what is written for its old life does not count
	// in the new one.
	before := to.sys.Now()
	if err := to.enable(b, slotsPerBox); err != nil {
		return err
	}
	if took := to.sys.Now() - before; took > 5*accessCycles {
		return fmt.Errorf("a mailbox was switched on within %d cycles", took)
	}
	if err := errors.Join(to.expect(regs.MboxCtrl(b), on), to.prompt(write{regs.MboxCtrl(a), 0}, write{regs.MboxCtrl(a), on}),
		to.expect(regs.MboxCtrl(a), on|regs.MboxCtrlBusy), to.expect(regs.MboxWP(a), 0), to.revive()); err != nil {
		return err
	}
	if err := errors.Join(to.expect(regs.MboxCtrl(a), on), to.expect(regs.MboxWP(a), 1), to.expect(regs.RXDropped, 1),
		to.expect(regs.RXPackets, 3), to.expect(regs.MboxWP(b), 1), settle(to.sys)); err != nil {
		return err
	}
	_, err = to.next(b)
	return err
}

func testDeadRing(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := to.dead(rawRing); err != nil {
		return err
	}
	for range 7 { // the memory's buffer takes four of them
		if err := nics[0].post(regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1}, 7, 0); err != nil {
			return err
		}
	}
	var stop drivers.Stop
	if err := to.sys.Run(to.sys.Now()+2000, &stop); err != nil { // a notifier that waits for memory counts as movement
		return err
	}
	on := regs.NotiCtrlEnable | regs.NotiCtrlWindow
	if err := errors.Join(to.expect(regs.NotiCtrl(rawVPID), on|regs.NotiCtrlBusy), to.expect(regs.NotiWP(rawVPID), 4)); err != nil {
		return err
	}
	if err := errors.Join(to.prompt(write{regs.NotiBase(3), 0x4000}, write{regs.NotiSlots(3), 8}, write{regs.NotiCtrl(3), on}, write{regs.NotiRP(rawVPID), 1}),
		to.prompt(write{regs.NotiCtrl(rawVPID), 0}, write{regs.NotiCtrl(rawVPID), on}),
		to.expect(regs.NotiCtrl(rawVPID), on|regs.NotiCtrlBusy), to.revive()); err != nil {
		return err
	}
	// What its last life was to be told does not reach the ring of this one.
	return errors.Join(to.expect(regs.NotiCtrl(rawVPID), on), to.expect(regs.NotiWP(rawVPID), 0), to.expect(regs.RMANotiOff, 3),
		to.expect(regs.RMANotis, 4), settle(to.sys))
}

// impossible writes read pointers that a ring of wp written and slots cannot have; rp, the one it
// has, stays.
func (n *nic) impossible(reg uint32, wp, rp, slots uint64) error {
	before, err := n.dev.ReadReg(regs.RPRefused)
	if err != nil {
		return err
	}
	list := []uint64{wp + 1, wp + 1<<31, wp + 1<<24, (wp - slots - 1) & (1<<32 - 1)}
	for i, v := range list {
		if err := n.set(write{regs.IRQStatus, regs.IRQStatusError}, write{reg, v}); err != nil {
			return err
		}
		status, err := n.dev.ReadReg(regs.IRQStatus)
		if err == nil && status&regs.IRQStatusError == 0 {
			err = fmt.Errorf("read pointer 0x%x was refused without an interrupt", v)
		}
		if err := errors.Join(err, n.expect(reg, rp|regs.MboxRPRefused), n.expect(regs.RPRefused, before+uint64(i)+1)); err != nil {
			return fmt.Errorf("read pointer 0x%x: %w", v, err)
		}
	}
	return errors.Join(n.set(write{reg, rp}), n.expect(reg, rp), n.expect(regs.RPRefused, before+uint64(len(list))))
}

func testReadPointer(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const evil, good = 1, 2
	from, to := nics[0], nics[1]
	if err := errors.Join(from.enable(0, slotsPerBox), to.enable(evil, 7), to.enable(good, slotsPerBox),
		to.impossible(regs.MboxRP(evil), 0, 0, 7)); err != nil {
		return err
	}
	// The last word of the process is an impossible one, and everybody still gets what is theirs.
	if err := to.set(write{regs.MboxRP(evil), 1}); err != nil {
		return err
	}
	for i := range 15 {
		vpid := uint8(good)
		if i%3 == 0 {
			vpid = evil
		}
		if err := from.send(regs.PioFields{DstNode: 1, DstVPID: vpid}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if err := errors.Join(settle(to.sys), to.expect(regs.MboxWP(good), 10), to.expect(regs.MboxWP(evil), 5), to.expect(regs.MboxStall(evil), 0)); err != nil {
		return err
	}
	if err := errors.Join(to.set(write{regs.MboxRP(evil), 3}), to.impossible(regs.MboxRP(evil), 5, 3, 7)); err != nil {
		return err
	}
	// Switching on forgets the refusal, as it does the pointers.
	return errors.Join(to.set(write{regs.MboxRP(evil), 6}), to.enable(evil, 7), to.expect(regs.MboxRP(evil), 0))
}

func testNotiReadPointer(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := errors.Join(to.impossible(regs.NotiRP(rawVPID), 0, 0, rawSlots), to.set(write{regs.NotiRP(rawVPID), 1})); err != nil {
		return err
	}
	for range 5 {
		if err := nics[0].post(regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1}, 7, 0); err != nil {
			return err
		}
	}
	return errors.Join(settle(to.sys), to.expect(regs.NotiWP(rawVPID), 5), to.expect(regs.NotiStall(rawVPID), 0),
		to.set(write{regs.NotiRP(rawVPID), 5}), to.impossible(regs.NotiRP(rawVPID), 5, 5, rawSlots))
}

func testDoneAddress(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	n := nics[0]
	untouched := uint64(0x0123456789abcdef)
	binary.LittleEndian.PutUint64(n.dev.Memory(), untouched)
	if err := errors.Join(n.set(command(regs.ATUOpFlushAll), command(regs.ATUOpFence)), settle(n.sys), n.expect(regs.ATUStatus, 2)); err != nil {
		return err
	}
	if got := binary.LittleEndian.Uint64(n.dev.Memory()); got != untouched {
		return fmt.Errorf("address 0 holds 0x%x: a command wrote there before ATU_DONE was", got)
	}
	for _, w := range []write{{regs.ATUDone, 1 << 40}, command(regs.ATUOpFlushAll)} {
		if err := n.dev.WriteReg(w.off, w.v); err != nil {
			return err
		}
	}
	var dma *drivers.DMAError
	if err := settle(n.sys); !errors.As(err, &dma) {
		return fmt.Errorf("a completion outside memory: got error %v, expected a DMA error", err)
	}
	failed := uint64(1)
	if !n.dev.Capabilities().Has(drivers.CanAnswerWrites) {
		failed = 0 // the NIC does not learn of it
	}
	return errors.Join(settle(n.sys), n.expect(regs.ATUDoneErrors, failed), n.expect(regs.ATUStatus, 3),
		n.set(write{regs.ATUDone, doneAt}, command(regs.ATUOpFlushAll)), settle(n.sys), n.expect(regs.ATUDoneErrors, failed), n.expect(regs.ATUStatus, 4))
}
