package isolation

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
)

// flood has two nodes send to each other's mailbox of one slot until the network is full of VELO
// and lines are left behind.
func flood(nics []*nictest.NIC, packets int) error {
	for _, n := range nics {
		if err := n.Enable(0, 1); err != nil {
			return err
		}
	}
	for i, n := range nics {
		for k := range packets {
			if err := n.Send(regs.PioFields{DstNode: uint8(1 - i)}, bytes.Repeat([]byte{byte(k)}, regs.VELOPayload)); err != nil {
				return err
			}
		}
	}
	idle, err := nictest.Quiesce(nics[0].Sys)
	if err == nil && idle {
		err = errors.New("the hardware is empty, expected it to wait for full mailboxes")
	}
	return err
}

// testGetBehindMailbox: processes that wait for their GETs alone, as a rank does in a rendezvous,
// read no mailbox meanwhile. So that they do not stop each other, nothing of RMA may wait for one.
func testGetBehindMailbox(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	const packets = 8
	if err := flood(nics, packets); err != nil {
		return err
	}
	const size, from, to, word = 600, 0x100, 0x1105, 0x3000
	told := 0
	for _, n := range nics {
		t.Rand.Read(n.Dev.Memory()[nictest.RawData+from : nictest.RawData+from+size])
		clear(n.Dev.Memory()[nictest.RawData+word:][:4])
	}
	for round := range 3 {
		for i, n := range nics {
			d := regs.RMADescFields{DstVPID: nictest.RawVPID, DstNode: uint16(1 - i), NotiCompleter: true}
			get, add := d, d
			get.Command, get.BytesMinus1 = regs.RMACommandGet, size-1
			add.Command = regs.RMACommandFCAA
			lock := regs.RMALockFields{Compare: uint32(round), Add: 1}.Pack()
			if err := errors.Join(n.Post(get, from, to), n.Post(add, uint64(lock), word)); err != nil {
				return err
			}
		}
		if _, err := nictest.Quiesce(nics[0].Sys); err != nil {
			return err
		}
		told += 2
		for i, n := range nics {
			if err := n.Expect(regs.NotiWP(nictest.RawVPID), uint64(told)); err != nil {
				return fmt.Errorf("round %d: a GET or FCAA waits for a mailbox: %w", round, err)
			}
			far := nics[1-i].Dev.Memory()
			if !bytes.Equal(n.Dev.Memory()[nictest.RawData+to:][:size], far[nictest.RawData+from:][:size]) {
				return fmt.Errorf("round %d, node %d: the get returned wrong data", round, i)
			}
		}
	}
	for _, n := range nics {
		if got := n.Dev.Memory()[nictest.RawData+word]; got != 3 {
			return fmt.Errorf("node %d: 3 times 1 added makes %d", n.Node, got)
		}
		if err := n.Expect(regs.RXPackets, 1); err != nil {
			return fmt.Errorf("the mailbox is not what everything waits for: %w", err)
		}
	}
	return drained(nics, packets)
}

// drained reads the two mailboxes until all has come, in order.
func drained(nics []*nictest.NIC, packets int) error {
	for k := range packets {
		for _, n := range nics {
			s, err := n.Next(0)
			if err != nil {
				return err
			}
			if !bytes.Equal(s.Payload, bytes.Repeat([]byte{byte(k)}, regs.VELOPayload)) {
				return fmt.Errorf("node %d: packet %d is %x", n.Node, k, s.Payload)
			}
			if err := n.Free(0); err != nil {
				return err
			}
		}
		if _, err := nictest.Quiesce(nics[0].Sys); err != nil {
			return err
		}
	}
	return nictest.Settle(nics[0].Sys)
}
