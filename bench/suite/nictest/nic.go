package regress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// A nic is a node under direct test: registers, sends and mailboxes without any
// library above them.
type nic struct {
	sys   drivers.Timed
	dev   drivers.Device
	node  int
	apart int // bytes from one mailbox to the next
	rings [regs.VPIDs]*mailbox.Ring
}

// slotsPerBox is the size of the mailboxes of directed tests, unless they say
// otherwise; boxBytes is their distance in memory.
const (
	slotsPerBox = 16
	boxBytes    = 1 << 16
	nodeMemory  = regs.VPIDs * boxBytes
	// Of a small board.
	smallMemory = 4096
	smallApart  = slotsPerBox * regs.SlotBytes
)

// openNICs opens a device of so many nodes.
func (t *T) openNICs(nodes int) ([]*nic, error) {
	if t.line && registry.IsLoopback(t.Device) {
		return t.openLoop(nodes)
	}
	below, err := t.Open(nodes, nodeMemory, nil)
	if err != nil {
		return nil, err
	}
	sys := pacing.NewSystem(below)
	list := make([]*nic, nodes)
	for n := range list {
		list[n] = &nic{sys: sys, dev: sys.Device(n), node: n, apart: boxBytes}
	}
	return list, nil
}

// openLoop opens a board whose link ends where it begins: one NIC that is every node of the test,
// with little memory and few processes.
func (t *T) openLoop(nodes int) ([]*nic, error) {
	below, err := t.Open(1, smallMemory, nil)
	if err != nil {
		return nil, err
	}
	sys := pacing.NewSystem(below)
	return slices.Repeat([]*nic{{sys: sys, dev: sys.Device(0), apart: smallApart}}, nodes), nil
}

// rawDomain is the domain of all processes of raw tests that are not about domains.
const rawDomain = 1

// enable turns on the mailbox (of so many slots) and the send window of vpid, which begins anew.
func (n *nic) enable(vpid, slots int) error {
	base := vpid * n.apart
	ring, err := mailbox.NewRing(n.dev.Memory()[base:base+slots*regs.SlotBytes], slots)
	if err != nil {
		return err
	}
	n.rings[vpid] = ring
	v := uint8(vpid)
	return n.set(write{regs.PDID(v), rawDomain},
		write{regs.MboxBase(v), uint64(base)}, write{regs.MboxSlots(v), uint64(slots)},
		write{regs.MboxCtrl(v), regs.MboxCtrlEnable | regs.MboxCtrlWindow})
}

type write struct {
	off uint32
	v   uint64
}

// set writes registers and waits until the writes have been performed. What of memory they name is
// an offset.
func (n *nic) set(list ...write) error {
	for _, w := range list {
		if err := n.dev.WriteReg(w.off, n.translated(w.off, w.v)); err != nil {
			return err
		}
	}
	_, err := n.dev.ReadReg(regs.Magic)
	return err
}

// resize gives a mailbox that is on another number of slots, which begins it anew.
func (n *nic) resize(vpid uint8, slots uint64) error {
	ctrl, err := n.dev.ReadReg(regs.MboxCtrl(vpid))
	if err != nil {
		return err
	}
	return n.set(write{regs.MboxCtrl(vpid), ctrl &^ regs.MboxCtrlEnable}, write{regs.MboxSlots(vpid), slots}, write{regs.MboxCtrl(vpid), ctrl})
}

// address is the device address of an offset of memory; what lies outside stays as it is.
func (n *nic) address(off uint64) uint64 {
	if at, err := drivers.Address(n.dev, off, 1); err == nil {
		return at
	}
	return off
}

// translated is the value of a register that names memory by the offset v, or v itself.
func (n *nic) translated(off uint32, v uint64) uint64 {
	switch kind := addressRegs[off]; {
	case kind == begins:
		return n.address(v)
	case kind == ends && v > 0:
		return n.address(v-1) + 1
	}
	return v
}

// addressRegs are the registers that hold device addresses, of the beginning or the end of
// something.
var addressRegs = func() map[uint32]addressKind {
	m := map[uint32]addressKind{regs.ATUDone: begins}
	for v := range uint8(regs.VPIDs) {
		m[regs.MboxBase(v)], m[regs.NotiBase(v)], m[regs.ATUBase(v)] = begins, begins, begins
	}
	for i := range uint8(regs.NVMRanges) {
		m[regs.NVMBase(i)], m[regs.NVMEnd(i)] = begins, ends
	}
	return m
}()

type addressKind uint8

const (
	begins addressKind = iota + 1
	ends
)

// needs refuses a test whose device has not got a register: it cannot do what.
func (n *nic) needs(off uint32, what string) error {
	var bus *drivers.BusError
	if _, err := n.dev.ReadReg(off); errors.As(err, &bus) {
		return fmt.Errorf("%w: %s (%w)", drivers.ErrNotSupported, what, err)
	} else if err != nil {
		return err
	}
	return nil
}

// refused tells whether err, what a write came to, is that it was refused, where a device tells
// that: behind a bus whose writes are posted it must not have been told, and what the NIC has
// counted is all there is.
func (n *nic) refused(err error) bool {
	if !n.dev.Capabilities().Has(drivers.CanAnswerWrites) {
		return err == nil
	}
	var bus *drivers.BusError
	return errors.As(err, &bus)
}

// expect compares a register with the value it must have.
func (n *nic) expect(off uint32, want uint64) error {
	want = n.translated(off, want)
	got, err := n.dev.ReadReg(off)
	if err == nil && got != want {
		err = fmt.Errorf("node %d: %s is 0x%x, expected 0x%x", n.node, regs.Describe(off), got, want)
	}
	return err
}

// at is the node's number in an address.
func (n *nic) at() uint8 { return uint8(n.node) }

// send posts one packet.
func (n *nic) send(f regs.PioFields, payload []byte) error {
	f.Length = uint8(len(payload))
	if f.Piggyback {
		f.Length -= 2
	}
	return n.dev.WritePIO(uint32(f.Pack()), payload)
}

// quiesce lets time pass until nothing moves.
func quiesce(sys drivers.Timed) (idle bool, err error) {
	var stop drivers.Stop
	for {
		if err := sys.Run(drivers.Forever, &stop); err != nil {
			return false, err
		}
		if len(stop.Fired) == 0 {
			return stop.Idle, nil
		}
	}
}

// settle is quiesce for a device that must come to rest empty.
func settle(sys drivers.Timed) error {
	idle, err := quiesce(sys)
	if err == nil && !idle {
		err = errors.New("the hardware stands still with packets inside, expected it empty")
	}
	return err
}

// next takes the next packet from a mailbox; there must be one.
func (n *nic) next(vpid int) (mailbox.Slot, error) {
	s, ok := n.rings[vpid].Peek()
	if !ok {
		return s, fmt.Errorf("node %d vpid %d: no packet number %d in the mailbox", n.node, vpid, n.rings[vpid].Consumed()+1)
	}
	if s.Err != nil {
		return s, s.Err
	}
	n.rings[vpid].Advance()
	return s, nil
}

// free tells the NIC how far a mailbox has been read.
func (n *nic) free(vpid int) error {
	return n.dev.WriteReg(regs.MboxRP(uint8(vpid)), uint64(n.rings[vpid].Consumed()))
}

// credits appends the two bytes of a piggyback.
func credits(payload []byte, v uint16) []byte {
	return binary.LittleEndian.AppendUint16(append([]byte{}, payload...), v)
}
