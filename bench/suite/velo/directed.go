// Package velo tests registers, mailboxes and send windows of the NIC, and the flow control above
// them.
package velo

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// Directed tests look at the NIC through its registers and windows alone.
func Directed() []regress.Test {
	return []regress.Test{
		{
			Name: "bridge/registers", Tags: []string{"smoke", regress.Line},
			Doc: "identity, scratch, parameters of every node",
			Run: testRegisters,
		},
		{
			Name: "bridge/bad-access", Tags: []string{"smoke", regress.Line},
			Doc: "accesses outside the register map are answered and counted, and have no other effect",
			Run: testBadAccess,
		},
		{
			Name: "bridge/watch", Tags: []string{"smoke"},
			Doc: "a run stops at the cycle of the watched DMA write",
			Run: testWatch,
		},
		{
			Name: "bridge/interrupt", Tags: []string{regress.Line},
			Doc: "arrival interrupt: raised, masked, cleared",
			Run: testInterrupt,
		},
		{
			Name: "velo/lengths", Tags: []string{"smoke", regress.Line},
			Doc: "every payload length, every byte",
			Run: testLengths,
		},
		{
			Name: "velo/kinds", Tags: []string{regress.Line},
			Doc: "every packet kind, with and without piggyback",
			Run: testKinds,
		},
		{
			Name: "velo/refusals",
			Doc:  "invalid sends are refused by the requester",
			Run:  testRefusals,
		},
		{
			Name: "velo/mailbox-off", Tags: []string{regress.Line},
			Doc: "packets to a disabled mailbox are dropped and counted",
			Run: testMailboxOff,
		},
		{
			Name: "velo/full-mailbox", Tags: []string{"smoke", regress.Line},
			Doc: "a full mailbox stalls and loses nothing (FC paper, section 2)",
			Run: testFullMailbox,
		},
		{
			Name: "velo/odd-ring", Tags: []string{regress.Line},
			Doc: "a ring of 7 slots, wrapped many times",
			Run: testOddRing,
		},
		{
			Name: "velo/order",
			Doc:  "random traffic of all nodes: delivered once, in order per pair",
			Run:  testOrder,
		},
	}
}

func testRegisters(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	for _, n := range nics {
		pattern := t.Rand.Uint64()
		if err := n.Set(nictest.Write(regs.Scratch, pattern)); err != nil {
			return err
		}
		if err := errors.Join(n.Expect(regs.Magic, regs.MagicValue), n.Expect(regs.Version, regs.VersionValue),
			n.Expect(regs.DescHash, regs.DescHashValue), n.Expect(regs.Scratch, pattern), n.Expect(regs.NodeID, uint64(n.Node))); err != nil {
			return err
		}
		p, err := n.Dev.ReadReg(regs.Params)
		if err != nil {
			return err
		}
		if got, want := regs.ParamsNodes.Of(p), uint64(n.Sys.Info().Nodes); got != want {
			return fmt.Errorf("PARAMS says %d nodes, expected %d", got, want)
		}
	}
	return nil
}

func testBadAccess(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	n := nics[1]
	before, err := n.Dev.ReadReg(regs.BadAccess)
	if err != nil {
		return err
	}
	var bus *drivers.BusError
	for _, off := range []uint32{0x7f8, 0x0f000, 0x10ff8, 0x50200} {
		if _, err := n.Dev.ReadReg(off); !errors.As(err, &bus) {
			return fmt.Errorf("reading 0x%x: got error %v, expected a bus error", off, err)
		}
	}
	if err := n.Dev.WriteReg(regs.Magic, 1); err == nil {
		_, err = nictest.Quiesce(n.Sys)
		if !n.WasRefused(err) {
			return fmt.Errorf("writing read-only MAGIC: got error %v, expected a bus error", err)
		}
	}
	return errors.Join(n.Expect(regs.BadAccess, before+5), n.Expect(regs.Magic, regs.MagicValue))
}

// testWatch sends two packets and expects the run to stop at each slot write,
// with nothing of the second visible at the first.
func testWatch(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	if err := errors.Join(from.Enable(0, nictest.SlotsPerBox), to.Enable(0, nictest.SlotsPerBox)); err != nil {
		return err
	}
	id, err := to.Sys.Watch(1, 0, nictest.BoxBytes)
	if err != nil {
		return err
	}
	for range 2 {
		if err := from.Send(regs.PioFields{DstNode: 1}, make([]byte, 56)); err != nil {
			return err
		}
	}
	var last drivers.Cycle
	for i := range 2 {
		to.Sys.Arm(id)
		var stop drivers.Stop
		if err := to.Sys.Run(drivers.Forever, &stop); err != nil {
			return err
		}
		if len(stop.Fired) != 1 || stop.Fired[0].Kind != drivers.FiredWatch || stop.Fired[0].Watch != id {
			return fmt.Errorf("packet %d: the run stopped for %+v, expected the watch", i, stop)
		}
		if _, err := to.Next(0); err != nil {
			return err
		}
		if s, ok := to.Rings[0].Peek(); ok {
			return fmt.Errorf("packet %d: packet %d is visible too, at cycle %d", i, s.Seq, stop.Now)
		}
		if stop.Now <= last {
			return fmt.Errorf("packet %d was written at cycle %d, the one before at %d", i, stop.Now, last)
		}
		last = stop.Now
	}
	return nictest.Settle(to.Sys)
}

func testInterrupt(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	const vpid = 1
	if err := errors.Join(from.Enable(0, nictest.SlotsPerBox), to.Enable(vpid, nictest.SlotsPerBox),
		to.Set(nictest.Write(regs.MboxCtrl(vpid), regs.MboxCtrlEnable|regs.MboxCtrlIRQArrival), nictest.Write(regs.IRQMask, 1<<vpid))); err != nil {
		return err
	}
	to.Sys.ArmIRQ(to.Node)
	if err := from.Send(regs.PioFields{DstNode: to.Number(), DstVPID: vpid}, []byte("ring")); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := to.Sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	if len(stop.Fired) != 1 || stop.Fired[0].Kind != drivers.FiredIRQ || stop.Fired[0].Node != to.Node {
		return fmt.Errorf("the run stopped for %+v, expected the interrupt of node %d", stop, to.Node)
	}
	if err := errors.Join(to.Expect(regs.IRQStatus, 1<<vpid), to.Set(nictest.Write(regs.IRQStatus, 1<<vpid)), to.Expect(regs.IRQStatus, 0)); err != nil {
		return err
	}
	to.Sys.ArmIRQ(to.Node)
	if err := to.Set(nictest.Write(regs.IRQMask, 0)); err != nil {
		return err
	}
	if err := from.Send(regs.PioFields{DstNode: to.Number(), DstVPID: vpid}, []byte("mute")); err != nil {
		return err
	}
	if err := to.Sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	if len(stop.Fired) != 0 {
		return fmt.Errorf("a masked cause stopped the run: %+v", stop)
	}
	return to.Expect(regs.IRQStatus, 1<<vpid)
}

func testLengths(t *regress.T) error {
	nics, err := nictest.OpenPair(t, 1, 0)
	if err != nil {
		return err
	}
	for length := 0; length <= regs.VELOPayload; length++ {
		payload := make([]byte, length)
		t.Rand.Read(payload)
		if err := nics[0].Send(regs.PioFields{SrcVPID: 1, DstNode: nics[1].Number()}, payload); err != nil {
			return err
		}
		s, err := nics[1].Delivered(0)
		if err != nil {
			return err
		}
		if !bytes.Equal(s.Payload, payload) || s.SrcNode != 0 || s.SrcVPID != 1 {
			return fmt.Errorf("length %d: got %x from node %d vpid %d, expected %x from node 0 vpid 1", length, s.Payload, s.SrcNode, s.SrcVPID, payload)
		}
		slot := nics[1].Dev.Memory()[length%nictest.SlotsPerBox*regs.SlotBytes:]
		if rest := slot[length:regs.VELOPayload]; !bytes.Equal(rest, make([]byte, len(rest))) {
			return fmt.Errorf("length %d: the slot holds %x behind the payload, expected zeros", length, rest)
		}
		if err := nics[1].Free(0); err != nil {
			return err
		}
	}
	return errors.Join(nics[0].Expect(regs.TXPackets, 57), nics[1].Expect(regs.RXPackets, 57), nics[1].Expect(regs.MboxWP(0), 57))
}

func testKinds(t *regress.T) error {
	nics, err := nictest.OpenPair(t, 0, 0)
	if err != nil {
		return err
	}
	for i, c := range []struct {
		kind      mailbox.Kind
		payload   []byte
		piggyback bool
		credits   uint16
	}{
		{mailbox.Data, []byte("data"), false, 0},
		{mailbox.Data, bytes.Repeat([]byte{7}, 54), true, 0xbeef},
		{mailbox.Data, nil, true, 1},
		{mailbox.Credit, nil, false, 513},
		{mailbox.CreditRequest, nil, false, 0},
		{mailbox.CreditResponse, nil, false, 0},
	} {
		line := c.payload
		if c.piggyback || c.kind == mailbox.Credit || c.kind == mailbox.CreditResponse {
			line = nictest.AppendCredits(c.payload, c.credits)
		}
		if err := nics[0].Send(regs.PioFields{DstNode: nics[1].Number(), Kind: c.kind, Piggyback: c.piggyback}, line); err != nil {
			return err
		}
		s, err := nics[1].Delivered(0)
		if err != nil {
			return err
		}
		if s.Kind != c.kind || s.Piggyback != c.piggyback || s.Credits != c.credits || c.kind == mailbox.Data && !bytes.Equal(s.Payload, c.payload) {
			return fmt.Errorf("packet %d: got %+v, expected %+v", i, s, c)
		}
	}
	return nil
}
