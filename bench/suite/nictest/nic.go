// Package nictest is what tests of the NIC have in common: nodes under direct test, without any
// library between the test and their registers.
package nictest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// PostsInOrder: the host's accesses to registers and send windows go one behind the other.
func (n *NIC) PostsInOrder() bool {
	return !n.Dev.Capabilities().Has(drivers.CanAnswerWrites) || n.Require(simregs.AXIFunction, "") == nil
}

// A NIC is a node under direct test: registers, sends and mailboxes without any
// library above them.
type NIC struct {
	Sys    drivers.Timed
	Dev    drivers.Device
	Node   int
	Stride int // bytes from one mailbox to the next
	Rings  [regs.VPIDs]*mailbox.Ring
}

// SlotsPerBox is the size of the mailboxes of directed tests, unless they say
// otherwise; boxBytes is their distance in memory.
const (
	SlotsPerBox = 16
	BoxBytes    = 1 << 16
	NodeMemory  = regs.VPIDs * BoxBytes
	// Of a small board.
	smallMemory = 4096
	smallApart  = SlotsPerBox * regs.SlotBytes
)

// OpenNICs opens a device with the given number of nodes.
func OpenNICs(t *regress.T, nodes int) ([]*NIC, error) {
	if t.OverLine && registry.IsLoopback(t.Device) {
		return openLoop(t, nodes)
	}
	below, err := t.Open(nodes, NodeMemory, nil)
	if err != nil {
		return nil, err
	}
	sys := pacing.NewSystem(below)
	list := make([]*NIC, nodes)
	for n := range list {
		list[n] = &NIC{Sys: sys, Dev: sys.Device(n), Node: n, Stride: BoxBytes}
	}
	return list, nil
}

// OpenPair opens two NICs with a mailbox each, of processes a and b.
func OpenPair(t *regress.T, a, b int) ([]*NIC, error) {
	nics, err := OpenNICs(t, 2)
	if err != nil {
		return nil, err
	}
	return nics, errors.Join(nics[0].Enable(a, SlotsPerBox), nics[1].Enable(b, SlotsPerBox))
}

// openLoop opens a board whose link is looped back: one NIC that is every node of the test,
// with little memory and few processes.
func openLoop(t *regress.T, nodes int) ([]*NIC, error) {
	below, err := t.Open(1, smallMemory, nil)
	if err != nil {
		return nil, err
	}
	sys := pacing.NewSystem(below)
	return slices.Repeat([]*NIC{{Sys: sys, Dev: sys.Device(0), Stride: smallApart}}, nodes), nil
}

// RawDomain is the domain of all processes of raw tests that are not about domains.
const RawDomain = 1

// Enable turns on the mailbox (of so many slots) and the send window of vpid, which begins anew.
func (n *NIC) Enable(vpid, slots int) error {
	base := vpid * n.Stride
	ring, err := mailbox.NewRing(n.Dev.Memory()[base:base+slots*regs.SlotBytes], slots)
	if err != nil {
		return err
	}
	n.Rings[vpid] = ring
	v := uint8(vpid)
	return n.Set(RegWrite{regs.PDID(v), RawDomain},
		RegWrite{regs.MboxBase(v), uint64(base)}, RegWrite{regs.MboxSlots(v), uint64(slots)},
		RegWrite{regs.MboxCtrl(v), regs.MboxCtrlEnable | regs.MboxCtrlWindow})
}

// A RegWrite is one write of a register.
type RegWrite struct {
	Reg   uint32
	Value uint64
}

// Write describes a write of a register.
func Write(reg uint32, value uint64) RegWrite { return RegWrite{reg, value} }

// Set writes registers and waits until the writes have been performed. What of memory they name is
// an offset.
func (n *NIC) Set(list ...RegWrite) error {
	for _, w := range list {
		if err := n.Dev.WriteReg(w.Reg, n.translated(w.Reg, w.Value)); err != nil {
			return err
		}
	}
	_, err := n.Dev.ReadReg(regs.Magic)
	return err
}

// ResizeMailbox gives a mailbox that is on another number of slots, which begins it anew.
func (n *NIC) ResizeMailbox(vpid uint8, slots uint64) error {
	ctrl, err := n.Dev.ReadReg(regs.MboxCtrl(vpid))
	if err != nil {
		return err
	}
	return n.Set(RegWrite{regs.MboxCtrl(vpid), ctrl &^ regs.MboxCtrlEnable}, RegWrite{regs.MboxSlots(vpid), slots}, RegWrite{regs.MboxCtrl(vpid), ctrl})
}

// Address is the device address of an offset of memory; what lies outside stays as it is.
func (n *NIC) Address(off uint64) uint64 {
	if at, err := drivers.Address(n.Dev, off, 1); err == nil {
		return at
	}
	return off
}

// translated is the value of a register that names memory by the offset v, or v itself.
func (n *NIC) translated(off uint32, v uint64) uint64 {
	switch kind := addressRegs[off]; {
	case kind == begins:
		return n.Address(v)
	case kind == ends && v > 0:
		return n.Address(v-1) + 1
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

// Require refuses a test whose device has not got a register: it cannot do what.
func (n *NIC) Require(off uint32, what string) error {
	var bus *drivers.BusError
	if _, err := n.Dev.ReadReg(off); errors.As(err, &bus) {
		return fmt.Errorf("%w: %s (%w)", drivers.ErrNotSupported, what, err)
	} else if err != nil {
		return err
	}
	return nil
}

// WasRefused tells whether err, what a write came to, is that it was refused, where a device tells
// that: behind a bus whose writes are posted it must not have been told, and what the NIC has
// counted is all there is.
func (n *NIC) WasRefused(err error) bool {
	if !n.Dev.Capabilities().Has(drivers.CanAnswerWrites) {
		return err == nil
	}
	var bus *drivers.BusError
	return errors.As(err, &bus)
}

// Expect compares a register with the value it must have.
func (n *NIC) Expect(off uint32, want uint64) error {
	want = n.translated(off, want)
	got, err := n.Dev.ReadReg(off)
	if err == nil && got != want {
		err = fmt.Errorf("node %d: %s is 0x%x, expected 0x%x", n.Node, regs.Describe(off), got, want)
	}
	return err
}

// Number is the node's number in an address.
func (n *NIC) Number() uint8 { return uint8(n.Node) }

// Send posts one packet.
func (n *NIC) Send(f regs.PioFields, payload []byte) error {
	f.Length = uint8(len(payload))
	if f.Piggyback {
		f.Length -= 2
	}
	return n.Dev.WritePIO(uint32(f.Pack()), payload)
}

// Quiesce lets time pass until nothing moves.
func Quiesce(sys drivers.Timed) (idle bool, err error) {
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

// Settle is Quiesce for a device that must be empty once it is idle.
func Settle(sys drivers.Timed) error {
	idle, err := Quiesce(sys)
	if err == nil && !idle {
		err = errors.New("the hardware makes no progress with packets inside, expected it empty")
	}
	return err
}

// Delivered waits until the hardware is idle and empty, and takes the next packet from a mailbox.
func (n *NIC) Delivered(vpid int) (mailbox.Slot, error) {
	if err := Settle(n.Sys); err != nil {
		return mailbox.Slot{}, err
	}
	return n.Next(vpid)
}

// Next takes the next packet from a mailbox; there must be one.
func (n *NIC) Next(vpid int) (mailbox.Slot, error) {
	s, ok := n.Rings[vpid].Peek()
	if !ok {
		return s, fmt.Errorf("node %d vpid %d: no packet number %d in the mailbox", n.Node, vpid, n.Rings[vpid].Consumed()+1)
	}
	if s.Err != nil {
		return s, s.Err
	}
	n.Rings[vpid].Advance()
	return s, nil
}

// Free tells the NIC how far a mailbox has been read.
func (n *NIC) Free(vpid int) error {
	return n.Dev.WriteReg(regs.MboxRP(uint8(vpid)), uint64(n.Rings[vpid].Consumed()))
}

// AppendCredits appends the two bytes of a piggyback.
func AppendCredits(payload []byte, v uint16) []byte {
	return binary.LittleEndian.AppendUint16(append([]byte{}, payload...), v)
}

// Interrupted runs until the interrupt of a node, which must come or not.
func (n *NIC) Interrupted(want bool) error {
	n.Sys.ArmIRQ(n.Node)
	var stop drivers.Stop
	if err := n.Sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	came := len(stop.Fired) > 0 && stop.Fired[0].Kind == drivers.FiredIRQ && stop.Fired[0].Node == n.Node // more than once, if it was armed for nothing before
	if came != want || !came && len(stop.Fired) > 0 {
		return fmt.Errorf("node %d: the run stopped for %+v, expected the interrupt: %v", n.Node, stop.Fired, want)
	}
	return nil
}
