package selftest

import (
	"context"
	"fmt"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	allCauses = 1<<34 - 1
	// stillFor is the wall-clock time for which a deasserted line is observed.
	stillFor = 20 * time.Millisecond
)

// A line is the interrupt line if the device has one; otherwise only the register of causes is
// checked.
type line struct {
	n    *node
	wait drivers.Waiter
}

func interrupts(t *tester, n *node) (did string, err error) {
	if err := n.can(drivers.CanPIO|drivers.CanAwait, "a cause of an interrupt"); err != nil {
		return "", err
	}
	l := &line{n: n}
	if n.dev.Capabilities().Has(drivers.CanInterrupt) {
		if l.wait, err = n.dev.Await(drivers.Interrupt); err != nil {
			return "", err
		}
		defer l.wait.Close()
	}
	mask, err := n.dev.ReadReg(regs.IRQMask)
	if err != nil {
		return "", err
	}
	defer func() { _ = n.write(regs.IRQMask, mask) }()
	causes := 0
	for v := range n.t.vpids() {
		if err := l.cause(uint64(1)<<(regs.IRQStatusArrival.LSB()+int(v)), fmt.Sprintf("a packet for mailbox %d", v), func() error { return n.arrive(v) }); err != nil {
			return "", err
		}
		causes++
		if n.can(drivers.CanDMA, "a notification") != nil {
			continue
		}
		if err := l.cause(uint64(1)<<(regs.IRQStatusNoti.LSB()+int(v)), fmt.Sprintf("a notification for process %d", v), func() error { return n.notify(v) }); err != nil {
			return "", err
		}
		causes++
	}
	if err := l.cause(regs.IRQStatusError, "a read pointer that cannot be", n.badPointer); err != nil {
		return "", err
	}
	if err := l.cause(regs.IRQStatusStall, "a packet for a mailbox that is full", n.fill); err != nil {
		return "", err
	}
	did = fmt.Sprintf("%d causes", causes+2)
	if l.wait == nil {
		did += ", in IRQ_STATUS alone: this device has no interrupts"
	}
	return did, nil
}

// cause triggers an interrupt and checks that its bit and the line are asserted and then cleared.
func (l *line) cause(bit uint64, what string, make func() error) error {
	n := l.n
	name := fmt.Sprintf("IRQ_STATUS %s (%s)", bitsText(bit), what)
	for _, w := range []struct {
		off uint32
		v   uint64
	}{{regs.IRQMask, 0}, {regs.IRQStatus, allCauses}, {regs.IRQMask, bit}} {
		if err := n.write(w.off, w.v); err != nil {
			return err
		}
	}
	if err := n.expect(regs.IRQMask, bit, "the mask of interrupts does not hold its bits"); err != nil {
		return err
	}
	if err := n.expect(regs.IRQStatus, 0, "a cause was cleared and stands"); err != nil {
		return err
	}
	if err := l.down(name); err != nil {
		return err
	}
	if err := make(); err != nil {
		return err
	}
	if err := l.up(name); err != nil {
		return err
	}
	if err := n.bitComes(name, bit); err != nil {
		return err
	}
	n.tidy() // a mailbox that is still full would assert the bit again
	if err := n.write(regs.IRQStatus, bit); err != nil {
		return err
	}
	v, err := n.dev.ReadReg(regs.IRQStatus)
	if err != nil {
		return err
	}
	if v&bit != 0 {
		return &Fault{name, "0 after writing 1", hex(v), "the cause cannot be cleared: an interrupt would never end"}
	}
	return l.down(name)
}

func (n *node) bitComes(name string, bit uint64) error {
	var v uint64
	for range atuReads {
		var err error
		if v, err = n.dev.ReadReg(regs.IRQStatus); err != nil || v&bit != 0 {
			return err
		}
	}
	return &Fault{name, "1", hex(v), "the cause is not told in the register"}
}

// up waits until the line is asserted.
func (l *line) up(name string) error {
	if l.wait == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(l.n.t.ctx, l.n.t.cfg.Patience)
	defer cancel()
	err := l.wait.Wait(ctx)
	if err == nil || !never(l.n.t.ctx, err) {
		return err
	}
	v, _ := l.n.dev.ReadReg(regs.IRQStatus)
	return &Fault{name, "an interrupt", fmt.Sprintf("none after %v; IRQ_STATUS is 0x%x", l.n.t.cfg.Patience, v),
		"if the bit is there, the interrupt is lost on its way: MSI-X table, bus mastering, the driver that holds the device"}
}

// down checks that the line is deasserted: single spurious returns of Wait are allowed.
func (l *line) down(name string) error {
	if l.wait == nil {
		return nil
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(l.n.t.ctx, stillFor)
		err := l.wait.Wait(ctx)
		cancel()
		if err != nil {
			if never(l.n.t.ctx, err) {
				return nil
			}
			return err
		}
	}
	return &Fault{name, "no interrupt while no cause is there", "one, again and again", "the line is stuck, or something else shares it"}
}

func (n *node) arrive(v uint8) error {
	m, err := n.openBox(v, boxSlots, regs.MboxCtrlIRQArrival)
	if err != nil {
		return err
	}
	return m.exchange(m, regs.KindData, n.pattern(uint64(v), 8))
}

func (n *node) notify(v uint8) error {
	g, err := n.openRing(v, regs.NotiCtrlIRQ)
	if err != nil {
		return err
	}
	if err := g.post(regs.RMACommandNotiPut, 8, uint64(v)+1, 0); err != nil {
		return err
	}
	return g.next(regs.RMACommandNotiPut)
}

// badPointer writes a read pointer beyond the write pointer.
func (n *node) badPointer() error {
	m, err := n.openBox(0, boxSlots, 0)
	if err != nil {
		return err
	}
	n.caused[regs.RPRefused]++
	return n.write(regs.MboxRP(m.vpid), boxSlots+1)
}

// fill sends two packets to a mailbox of one slot, and consumes the first when the second is
// reported as stalled.
func (n *node) fill() error {
	m, err := n.openBox(0, 1, 0)
	if err != nil {
		return err
	}
	for range 2 {
		if err := m.send(m, regs.KindData, nil); err != nil {
			return err
		}
	}
	if _, err := m.next(); err != nil {
		return err
	}
	if err := n.bitComes("IRQ_STATUS, stall", regs.IRQStatusStall); err != nil {
		return err
	}
	if err := m.acknowledge(); err != nil {
		return err
	}
	_, err = m.next()
	return err
}
