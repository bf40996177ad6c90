package selftest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
)

// sendReads bounds the reads of a window's register before a line is accepted, which takes some
// cycles.
const sendReads = 10000

// A mailbox is the mailbox of a process, with guard bytes around its ring.
type mailbox struct {
	n      *node
	vpid   uint8
	slots  uint64
	read   uint64
	wait   drivers.Waiter
	window drivers.Window
	guards [2][]byte
}

// openBox gives a process of a node a domain, a mailbox and a window.
func (n *node) openBox(vpid uint8, slots uint64, ctrl uint64) (*mailbox, error) {
	vpid = min(vpid, n.t.vpids()-1)
	m := &mailbox{n: n, vpid: vpid, slots: slots}
	if n.box != nil {
		n.box.close()
	}
	n.box = m
	size := slots * regs.SlotBytes
	for i, at := range []uint64{boxAt - guard, boxAt + size} {
		m.guards[i] = n.pattern(uint64(100+i), guard)
		if err := n.store(at, m.guards[i]); err != nil {
			return nil, err
		}
	}
	if err := n.store(boxAt, make([]byte, size)); err != nil {
		return nil, err
	}
	addr, err := drivers.Address(n.dev, boxAt, size)
	if err != nil {
		return nil, err
	}
	if err := n.enable(vpid, "the mailbox", []setting{{regs.MboxBase(vpid), addr}, {regs.MboxSlots(vpid), slots}, {regs.MboxCtrl(vpid), regs.MboxCtrlEnable | regs.MboxCtrlWindow | ctrl}}); err != nil {
		return nil, err
	}
	m.window = drivers.OpenWindow(n.dev, vpid)
	m.wait, err = n.dev.Await(drivers.Cause{Off: boxAt, Bytes: size})
	return m, err
}

// close removes the process; its counters keep their values.
func (m *mailbox) close() {
	if m.wait != nil {
		_ = m.wait.Close()
	}
	_ = process.Leave(m.n.dev, m.vpid) // a device fault has been reported already
	_ = m.n.write(regs.MboxBase(m.vpid), 0)
	_ = m.n.write(regs.MboxSlots(m.vpid), 0)
	m.n.box = nil
}

// send posts a line to another mailbox.
func (m *mailbox) send(to *mailbox, kind regs.Kind, payload []byte) error {
	for range sendReads {
		ok, err := m.window.Room(1)
		if err != nil {
			return err
		}
		if ok {
			f := regs.PioFields{Length: uint8(len(payload)), Kind: kind, DstVPID: to.vpid, SrcVPID: m.vpid}
			return m.window.Post(f.Pack().To(to.n.number), payload)
		}
	}
	v, _ := m.n.dev.ReadReg(regs.VELOWindow(m.vpid))
	return &Fault{regs.Describe(regs.VELOWindow(m.vpid)), fmt.Sprintf("room for a line after %d reads", sendReads), hex(v),
		"lines do not leave the NIC: look at TX_STALL, and at the links"}
}

// header reads the header of the next slot.
func (m *mailbox) header() regs.Slot {
	return regs.Slot(m.n.word(m.at() + regs.SlotHdrOff))
}

func (m *mailbox) at() uint64 { return boxAt + m.read%m.slots*regs.SlotBytes }

// next waits for a slot and returns its contents.
func (m *mailbox) next() ([]byte, error) {
	err := m.n.await(m.wait, func() bool { return m.header().Seq() == uint32(m.read+1) })
	if err != nil {
		if !never(m.n.t.ctx, err) {
			return nil, err
		}
		return nil, m.missing()
	}
	slot := bytes.Clone(m.n.mem[m.at():][:regs.SlotBytes])
	m.read++
	return slot, nil
}

// missing describes how far a packet got that did not arrive.
func (m *mailbox) missing() error {
	wp, err := m.n.dev.ReadReg(regs.MboxWP(m.vpid))
	if err != nil {
		return err
	}
	advice := "the packet has not come to the mailbox: device dump shows RX_DROPPED, RX_CRC_ERRORS, ROUTE_ERRORS and the links"
	if wp > m.read {
		advice = "the NIC has written it, to somewhere else: IOMMU, bus mastering or the address of memory are wrong"
	}
	return &Fault{fmt.Sprintf("mailbox %d, slot %d (memory 0x%x)", m.vpid, m.read%m.slots, m.at()), fmt.Sprintf("packet %d", m.read+1),
		fmt.Sprintf("nothing after %v; MBOX_WP is %d", m.n.t.cfg.Patience, wp), advice}
}

func (m *mailbox) acknowledge() error { return m.n.write(regs.MboxRP(m.vpid), m.read) }

// whole compares the guard bytes.
func (m *mailbox) whole() error {
	for i, at := range []uint64{boxAt - guard, boxAt + m.slots*regs.SlotBytes} {
		got, err := m.n.load(at, guard)
		if err != nil {
			return err
		}
		first, past := guard, guard
		if i == 1 {
			first, past = 0, 0
		}
		if err := same(fmt.Sprintf("mailbox %d", m.vpid), at, m.guards[i], got, first, past); err != nil {
			return err
		}
	}
	return nil
}

// compare compares a slot with the packet that was sent: payload, padding, header.
func (m *mailbox) compare(slot []byte, from *mailbox, kind regs.Kind, payload []byte) error {
	want := make([]byte, regs.SlotBytes)
	copy(want, payload)
	h := regs.SlotFields{SrcVPID: from.vpid, SrcNode: uint16(from.n.number), Length: uint16(len(payload)), Kind: kind, Seq: uint32(m.read)}
	binary.LittleEndian.PutUint64(want[regs.SlotHdrOff:], uint64(h.Pack()))
	what := fmt.Sprintf("packet of %d bytes to mailbox %d", len(payload), m.vpid)
	return same(what, boxAt+(m.read-1)%m.slots*regs.SlotBytes, want, slot, 0, regs.SlotBytes)
}

func veloCheck(t *tester, n *node) (string, error) {
	if err := n.can(drivers.CanPIO|drivers.CanAwait, "a mailbox"); err != nil {
		return "", err
	}
	m, err := n.openBox(0, boxSlots, 0)
	if err != nil {
		return "", err
	}
	count := 0
	for kind := range regs.Kind(4) {
		for size := range regs.VELOPayload + 1 {
			payload := n.pattern(uint64(1000+count), size)
			if err := m.exchange(m, kind, payload); err != nil {
				return "", err
			}
			count++
		}
	}
	return fmt.Sprintf("%d packets", count), errors.Join(m.whole(), n.expect(regs.MboxWP(m.vpid), uint64(count), "packets came twice, or were counted wrongly"))
}

// exchange sends one packet to another mailbox and compares what arrives.
func (m *mailbox) exchange(to *mailbox, kind regs.Kind, payload []byte) error {
	if err := m.send(to, kind, payload); err != nil {
		return err
	}
	slot, err := to.next()
	if err != nil {
		return err
	}
	if err := to.compare(slot, m, kind, payload); err != nil {
		return err
	}
	return to.acknowledge()
}
