package velo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// testRefusals: nothing that the requester refuses may reach the network.
func testRefusals(t *regress.T) error {
	nics, err := nictest.OpenPair(t, 0, 0)
	if err != nil {
		return err
	}
	to1 := regs.PioFields{DstNode: 1}
	cases := []struct {
		what string
		off  uint32
		line []byte
	}{
		{"57 bytes", uint32(regs.PioFields{DstNode: 1, Length: 57}.Pack()), make([]byte, 64)},
		{"a write that leaves its line", uint32(regs.PioFields{DstNode: 1, Length: 56, Byte: 8}.Pack()), make([]byte, 64)},
		{"a node that is not there", uint32(regs.PioFields{DstNode: 60, Length: 8}.Pack()), make([]byte, 8)},
		{"a window that is off", uint32(regs.PioFields{DstNode: 1, SrcVPID: 5, Length: 8}.Pack()), make([]byte, 8)},
		{"55 bytes and a piggyback", uint32(regs.PioFields{DstNode: 1, Piggyback: true, Length: 55}.Pack()), make([]byte, 64)},
	}
	if !nics[0].Dev.Capabilities().Has(drivers.CanAnswerWrites) {
		// Behind PCIe what leaves its line comes as pieces of two lines, which is no mistake.
		cases = slices.Delete(cases, 1, 2)
	}
	for i, c := range cases {
		if err := nics[0].Dev.WritePIO(c.off, c.line); err != nil {
			return err
		}
		if _, err := nictest.Quiesce(nics[0].Sys); !nics[0].WasRefused(err) {
			return fmt.Errorf("%s: got %v, expected a bus error", c.what, err)
		}
		if err := nics[0].Expect(regs.TXDropped, uint64(i+1)); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	info, err := nics[0].Dev.ReadReg(regs.ErrorInfo)
	if err != nil {
		return err
	}
	if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); info&regs.ErrorInfoValid == 0 || got != regs.DropReasonBadLength {
		return fmt.Errorf("ERROR_INFO is 0x%x (%v), expected the first refusal, %v", info, got, regs.DropReasonBadLength)
	}
	// The NIC goes on as if nothing had been.
	if err := nics[0].Send(to1, []byte("after")); err != nil {
		return err
	}
	s, err := nics[1].Delivered(0)
	if err != nil {
		return err
	}
	if s.Seq != 1 || string(s.Payload) != "after" {
		return fmt.Errorf("first packet is number %d, %q, expected number 1, \"after\"", s.Seq, s.Payload)
	}
	return nil
}

func testMailboxOff(t *regress.T) error {
	nics, err := nictest.OpenPair(t, 0, 0)
	if err != nil {
		return err
	}
	for _, vpid := range []uint8{9, 0} { // off, on
		if err := nics[0].Send(regs.PioFields{DstNode: nics[1].Number(), DstVPID: vpid}, []byte("hello")); err != nil {
			return err
		}
	}
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	if _, err := nics[1].Next(0); err != nil {
		return err
	}
	return errors.Join(nics[1].Expect(regs.RXDropped, 1), nics[1].Expect(regs.RXPackets, 1))
}

// testFullMailbox fills a mailbox, sees the stall, frees slots and gets the rest.
func testFullMailbox(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const slots, packets = 4, 40
	if err := errors.Join(nics[0].Enable(0, nictest.SlotsPerBox), nics[1].Enable(0, slots), nics[1].Enable(1, nictest.SlotsPerBox)); err != nil {
		return err
	}
	for i := range packets {
		if err := nics[0].Send(regs.PioFields{DstNode: nics[1].Number()}, binary.LittleEndian.AppendUint32(nil, uint32(i))); err != nil {
			return err
		}
	}
	// A packet for another process of the node waits behind them: the whole node blocks.
	if err := nics[0].Send(regs.PioFields{DstNode: nics[1].Number(), DstVPID: 1}, []byte("behind")); err != nil {
		return err
	}
	idle, err := nictest.Quiesce(nics[0].Sys)
	if err != nil {
		return err
	}
	if idle {
		return errors.New("the hardware is empty, expected it to hold packets for a full mailbox")
	}
	if err := errors.Join(nics[1].Expect(regs.MboxWP(0), slots), nics[1].Expect(regs.MboxWP(1), 0)); err != nil {
		return err
	}
	stall, err := nics[1].Dev.ReadReg(regs.RXStall)
	if err != nil {
		return err
	}
	which, err := nics[1].Dev.ReadReg(regs.RXStallVPID)
	if err != nil {
		return err
	}
	if stall == 0 || which&regs.RXStallVPIDStalled == 0 || regs.RXStallVPIDVPID.Of(which) != 0 {
		return fmt.Errorf("RX_STALL %d, RX_STALL_VPID 0x%x: expected cycles counted for vpid 0, stalled", stall, which)
	}
	return drain(nics, packets)
}

// drain takes the packets of testFullMailbox two at a time.
func drain(nics []*nictest.NIC, packets int) error {
	for i := range packets {
		s, err := nics[1].Next(0)
		if err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint32(s.Payload); got != uint32(i) {
			return fmt.Errorf("packet %d carries %d: lost or out of order", i, got)
		}
		if i%2 == 1 {
			if err := nics[1].Free(0); err != nil {
				return err
			}
			if _, err := nictest.Quiesce(nics[1].Sys); err != nil {
				return err
			}
		}
	}
	s, err := nics[1].Delivered(1)
	if err != nil {
		return err
	}
	if string(s.Payload) != "behind" {
		return fmt.Errorf("vpid 1 got %q, expected \"behind\"", s.Payload)
	}
	return nil
}

func testOddRing(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const slots, packets = 7, 100
	if err := errors.Join(nics[0].Enable(0, nictest.SlotsPerBox), nics[1].Enable(0, slots)); err != nil {
		return err
	}
	for i := range packets {
		if err := nics[0].Send(regs.PioFields{DstNode: nics[1].Number()}, binary.LittleEndian.AppendUint32(nil, uint32(i))); err != nil {
			return err
		}
		s, err := nics[1].Delivered(0)
		if err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint32(s.Payload); got != uint32(i) || s.Seq != uint32(i+1) {
			return fmt.Errorf("packet %d: carries %d, number %d", i, got, s.Seq)
		}
		if err := nics[1].Free(0); err != nil {
			return err
		}
	}
	return errors.Join(nics[1].Expect(regs.MboxWP(0), packets), nics[1].Expect(regs.MboxStall(0), 0))
}

// testOrder sends random packets between random processes of four nodes, in
// bursts larger than a mailbox, and checks order per pair.
func testOrder(t *regress.T) error {
	const nodes, vpids, bursts, burst = 4, 3, 20, 60
	nics, err := nictest.OpenNICs(t, nodes)
	if err != nil {
		return err
	}
	for _, n := range nics {
		for v := range vpids {
			if err := n.Enable(v, nictest.SlotsPerBox); err != nil {
				return err
			}
		}
	}
	type pair struct{ from, to int }
	sent, got := map[pair]uint32{}, map[pair]uint32{}
	total := 0
	for range bursts {
		for range burst {
			p := pair{t.Rand.Intn(nodes * vpids), t.Rand.Intn(nodes * vpids)}
			f := regs.PioFields{SrcVPID: uint8(p.from % vpids), DstNode: uint8(p.to / vpids), DstVPID: uint8(p.to % vpids)}
			body := make([]byte, 4+t.Rand.Intn(53))
			binary.LittleEndian.PutUint32(body, sent[p])
			sent[p]++
			if err := nics[p.from/vpids].Send(f, body); err != nil {
				return err
			}
		}
		for total < burst { // until every packet of the burst has been taken
			if _, err := nictest.Quiesce(nics[0].Sys); err != nil {
				return err
			}
			n, err := nictest.TakeAll(nics, vpids, func(to int, from int, k uint32) error {
				p := pair{from, to}
				if k != got[p] {
					return fmt.Errorf("from process %d to %d: packet %d, expected %d (seed %d)", from, to, k, got[p], t.Seed)
				}
				got[p]++
				return nil
			})
			if err != nil {
				return err
			}
			if n == 0 {
				return fmt.Errorf("%d of %d packets of a burst arrived and nothing moves (seed %d)", total, burst, t.Seed)
			}
			total += n
		}
		total -= burst
	}
	return nictest.Settle(nics[0].Sys)
}
