package regress

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/mailbox"
)

// directed tests look at the NIC through its registers and windows alone.
var directed = []Test{
	{"bridge/registers", []string{"smoke", Line}, "identity, scratch, parameters of every node", testRegisters},
	{"bridge/bad-access", []string{"smoke", Line}, "accesses outside the map are answered, counted and harm nothing", testBadAccess},
	{"bridge/watch", []string{"smoke"}, "a run stops at the cycle of the watched DMA write", testWatch},
	{"bridge/interrupt", []string{Line}, "arrival interrupt: raised, masked, cleared", testInterrupt},
	{"velo/lengths", []string{"smoke", Line}, "every payload length, every byte", testLengths},
	{"velo/kinds", []string{Line}, "every packet kind, with and without piggyback", testKinds},
	{"velo/refusals", nil, "sends the requester must refuse", testRefusals},
	{"velo/mailbox-off", []string{Line}, "packets to a mailbox that is off are dropped and counted", testMailboxOff},
	{"velo/full-mailbox", []string{"smoke", Line}, "a full mailbox stalls and loses nothing (FC paper, section 2)", testFullMailbox},
	{"velo/odd-ring", []string{Line}, "a ring of 7 slots, wrapped many times", testOddRing},
	{"velo/order", nil, "random traffic of all nodes: delivered once, in order per pair", testOrder},
}

func testRegisters(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	for _, n := range nics {
		pattern := t.Rand.Uint64()
		if err := n.set(write{regs.Scratch, pattern}); err != nil {
			return err
		}
		if err := errors.Join(n.expect(regs.Magic, regs.MagicValue), n.expect(regs.Version, regs.VersionValue),
			n.expect(regs.DescHash, regs.DescHashValue), n.expect(regs.Scratch, pattern), n.expect(regs.NodeID, uint64(n.node))); err != nil {
			return err
		}
		p, err := n.dev.ReadReg(regs.Params)
		if err != nil {
			return err
		}
		if got, want := regs.ParamsNodes.Of(p), uint64(n.sys.Info().Nodes); got != want {
			return fmt.Errorf("PARAMS says %d nodes, expected %d", got, want)
		}
	}
	return nil
}

func testBadAccess(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	n := nics[1]
	before, err := n.dev.ReadReg(regs.BadAccess)
	if err != nil {
		return err
	}
	var bus *drivers.BusError
	for _, off := range []uint32{0x7f8, 0x0f000, 0x10ff8, 0x50200} {
		if _, err := n.dev.ReadReg(off); !errors.As(err, &bus) {
			return fmt.Errorf("reading 0x%x: got error %v, expected a bus error", off, err)
		}
	}
	if err := n.dev.WriteReg(regs.Magic, 1); err == nil {
		_, err = quiesce(n.sys)
		if !n.refused(err) {
			return fmt.Errorf("writing read-only MAGIC: got error %v, expected a bus error", err)
		}
	}
	return errors.Join(n.expect(regs.BadAccess, before+5), n.expect(regs.Magic, regs.MagicValue))
}

// testWatch sends two packets and expects the run to stop at each slot write,
// with nothing of the second visible at the first.
func testWatch(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	if err := errors.Join(from.enable(0, slotsPerBox), to.enable(0, slotsPerBox)); err != nil {
		return err
	}
	id, err := to.sys.Watch(1, 0, boxBytes)
	if err != nil {
		return err
	}
	for range 2 {
		if err := from.send(regs.PioFields{DstNode: 1}, make([]byte, 56)); err != nil {
			return err
		}
	}
	var last drivers.Cycle
	for i := range 2 {
		to.sys.Arm(id)
		var stop drivers.Stop
		if err := to.sys.Run(drivers.Forever, &stop); err != nil {
			return err
		}
		if len(stop.Fired) != 1 || stop.Fired[0].Kind != drivers.FiredWatch || stop.Fired[0].Watch != id {
			return fmt.Errorf("packet %d: the run stopped for %+v, expected the watch", i, stop)
		}
		if _, err := to.next(0); err != nil {
			return err
		}
		if s, ok := to.rings[0].Peek(); ok {
			return fmt.Errorf("packet %d: packet %d is visible too, at cycle %d", i, s.Seq, stop.Now)
		}
		if stop.Now <= last {
			return fmt.Errorf("packet %d was written at cycle %d, the one before at %d", i, stop.Now, last)
		}
		last = stop.Now
	}
	return settle(to.sys)
}

func testInterrupt(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	from, to := nics[0], nics[1]
	const vpid = 1
	if err := errors.Join(from.enable(0, slotsPerBox), to.enable(vpid, slotsPerBox),
		to.set(write{regs.MboxCtrl(vpid), regs.MboxCtrlEnable | regs.MboxCtrlIRQArrival}, write{regs.IRQMask, 1 << vpid})); err != nil {
		return err
	}
	to.sys.ArmIRQ(to.node)
	if err := from.send(regs.PioFields{DstNode: to.at(), DstVPID: vpid}, []byte("ring")); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := to.sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	if len(stop.Fired) != 1 || stop.Fired[0].Kind != drivers.FiredIRQ || stop.Fired[0].Node != to.node {
		return fmt.Errorf("the run stopped for %+v, expected the interrupt of node %d", stop, to.node)
	}
	if err := errors.Join(to.expect(regs.IRQStatus, 1<<vpid), to.set(write{regs.IRQStatus, 1 << vpid}), to.expect(regs.IRQStatus, 0)); err != nil {
		return err
	}
	to.sys.ArmIRQ(to.node)
	if err := to.set(write{regs.IRQMask, 0}); err != nil {
		return err
	}
	if err := from.send(regs.PioFields{DstNode: to.at(), DstVPID: vpid}, []byte("mute")); err != nil {
		return err
	}
	if err := to.sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	if len(stop.Fired) != 0 {
		return fmt.Errorf("a masked cause stopped the run: %+v", stop)
	}
	return to.expect(regs.IRQStatus, 1<<vpid)
}

func testLengths(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	if err := errors.Join(nics[0].enable(1, slotsPerBox), nics[1].enable(0, slotsPerBox)); err != nil {
		return err
	}
	for length := 0; length <= regs.VELOPayload; length++ {
		payload := make([]byte, length)
		t.Rand.Read(payload)
		if err := nics[0].send(regs.PioFields{SrcVPID: 1, DstNode: nics[1].at()}, payload); err != nil {
			return err
		}
		if err := settle(nics[0].sys); err != nil {
			return err
		}
		s, err := nics[1].next(0)
		if err != nil {
			return err
		}
		if !bytes.Equal(s.Payload, payload) || s.SrcNode != 0 || s.SrcVPID != 1 {
			return fmt.Errorf("length %d: got %x from node %d vpid %d, expected %x from node 0 vpid 1", length, s.Payload, s.SrcNode, s.SrcVPID, payload)
		}
		slot := nics[1].dev.Memory()[length%slotsPerBox*regs.SlotBytes:]
		if rest := slot[length:regs.VELOPayload]; !bytes.Equal(rest, make([]byte, len(rest))) {
			return fmt.Errorf("length %d: the slot holds %x behind the payload, expected zeros", length, rest)
		}
		if err := nics[1].free(0); err != nil {
			return err
		}
	}
	return errors.Join(nics[0].expect(regs.TXPackets, 57), nics[1].expect(regs.RXPackets, 57), nics[1].expect(regs.MboxWP(0), 57))
}

func testKinds(t *T) error {
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	if err := errors.Join(nics[0].enable(0, slotsPerBox), nics[1].enable(0, slotsPerBox)); err != nil {
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
			line = credits(c.payload, c.credits)
		}
		if err := nics[0].send(regs.PioFields{DstNode: nics[1].at(), Kind: c.kind, Piggyback: c.piggyback}, line); err != nil {
			return err
		}
		if err := settle(nics[0].sys); err != nil {
			return err
		}
		s, err := nics[1].next(0)
		if err != nil {
			return err
		}
		if s.Kind != c.kind || s.Piggyback != c.piggyback || s.Credits != c.credits || c.kind == mailbox.Data && !bytes.Equal(s.Payload, c.payload) {
			return fmt.Errorf("packet %d: got %+v, expected %+v", i, s, c)
		}
	}
	return nil
}
