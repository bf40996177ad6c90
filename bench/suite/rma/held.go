package rma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
)

// HeldUp are of packets of every type and size that are held up in the middle, by a receiver
// that takes nothing, and go on.
func HeldUp() []regress.Test {
	return []regress.Test{
		{
			Name: "velo/held-up",
			Doc:  "packets of every size, stalled in the middle, arrive complete and in order",
			Run:  testHeldVELO,
		},
		{
			Name: "rma/held-up", Tags: []string{"rma"},
			Doc: "requests of every type, stalled in the middle, arrive complete",
			Run: testHeldRequests,
		},
		{
			Name: "rma/rights", Tags: []string{"rma"},
			Doc: "a read-only page is not written, and a write-only page is not read",
			Run: testRights,
		},
		{
			Name: "rma/held-answers", Tags: []string{"rma"},
			Doc: "responses of every type, stalled in the middle by a full ring, arrive complete",
			Run: testHeldAnswers,
		},
	}
}

// heldSize draws from the classes of sizes of VELO, so that every entry of a buffer is the last one
// for some packet of each.
func heldSize(t *regress.T) int {
	switch t.Rand.Intn(4) {
	case 0:
		return 0
	case 1:
		return 1 + t.Rand.Intn(8)
	case 2:
		return 9 + t.Rand.Intn(regs.VELOPayload-9)
	}
	return regs.VELOPayload
}

func testHeldVELO(t *regress.T) error {
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const slots, packets = 4, 200
	if err := errors.Join(nics[0].Enable(0, nictest.SlotsPerBox), nics[1].Enable(0, slots)); err != nil {
		return err
	}
	sent := make([][]byte, packets)
	for i := range sent {
		sent[i] = make([]byte, heldSize(t))
		t.Rand.Read(sent[i])
		if err := nics[0].Send(regs.PioFields{DstNode: 1}, sent[i]); err != nil {
			return err
		}
	}
	for i := range packets {
		if _, err := nictest.Quiesce(nics[0].Sys); err != nil {
			return err
		}
		s, err := nics[1].Next(0)
		if err != nil {
			return err
		}
		if !bytes.Equal(s.Payload, sent[i]) {
			return fmt.Errorf("packet %d: got %x, expected %x", i, s.Payload, sent[i])
		}
		if err := nics[1].Free(0); err != nil {
			return err
		}
	}
	return errors.Join(nictest.Settle(nics[0].Sys), nics[1].Expect(regs.RXPackets, packets))
}

// heldCommands are requests of every type and class of sizes; those with bytes write at an offset
// of their own.
var heldCommands = []struct {
	command regs.RMACommand
	bytes   int
}{
	{regs.RMACommandPut, 8}, {regs.RMACommandPut, 61}, {regs.RMACommandPut, 200}, {regs.RMACommandPut, 256}, {regs.RMACommandGet, 5},
	{regs.RMACommandGet, 60}, {regs.RMACommandGet, 201}, {regs.RMACommandGet, 256}, {regs.RMACommandGet, 1}, {regs.RMACommandGet, 8}, {regs.RMACommandImmPut, 8}, {regs.RMACommandNotiPut, 1}, {regs.RMACommandFCAA, 4},
}

// heldRounds is how often each is asked for, in orders heldStep apart: the entries of the buffers
// that they fill are others each time.
const (
	heldRounds = 13
	heldStep   = 3
	heldLeft   = 7 // fewer of them wait from one round to the next: the requester holds them all
)

// request posts command i of them.
func request(n *nictest.NIC, i int, command regs.RMACommand, size int, notify regs.RMADescFields) error {
	d := notify
	d.Command, d.DstVPID, d.DstNode, d.BytesMinus1 = command, nictest.RawVPID, 1, uint32(size-1)
	from, to := uint64(0x100), uint64(heldOffset(i))
	switch command {
	case regs.RMACommandImmPut, regs.RMACommandNotiPut:
		from = uint64(i)
	case regs.RMACommandFCAA:
		from, to, d.BytesMinus1 = 0, 0x3000, 0
	}
	return n.Post(d, from, to)
}

// narrow gives a node a ring of one notification, which holds the unit that has the next.
func narrow(n *nictest.NIC) error {
	return n.Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), 1),
		nictest.Write(regs.NotiCtrl(nictest.RawVPID), regs.NotiCtrlEnable|regs.NotiCtrlWindow))
}

// step reads a node's ring of one when number notifications have come, which makes room for one
// more.
func step(n *nictest.NIC, number int) error {
	if _, err := nictest.Quiesce(n.Sys); err != nil {
		return err
	}
	if err := n.Expect(regs.NotiWP(nictest.RawVPID), uint64(number)); err != nil {
		return fmt.Errorf("notification %d: %w", number, err)
	}
	return n.Dev.WriteReg(regs.NotiRP(nictest.RawVPID), uint64(number))
}

// testHeldRequests: a ring of one notification at the target holds its completer and responder, and
// all requests behind them.
func testHeldRequests(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(mem[nictest.RawData+0x100 : nictest.RawData+0x200])
	t.Rand.Read(far[nictest.RawData+0x100 : nictest.RawData+0x200])
	if err := narrow(nics[1]); err != nil {
		return err
	}
	told, asked := 0, 0
	for round := range 4 * heldRounds {
		// A put of any size moves the others to other entries of the buffers.
		asked++
		if err := request(nics[0], 0, regs.RMACommandPut, 1+t.Rand.Intn(regs.RMAMTU), regs.RMADescFields{NotiCompleter: true}); err != nil {
			return err
		}
		for _, i := range t.Rand.Perm(len(heldCommands)) {
			c := heldCommands[i]
			asked++
			answered := c.command == regs.RMACommandGet || c.command == regs.RMACommandFCAA
			if err := request(nics[0], i, c.command, c.bytes, regs.RMADescFields{NotiResponder: answered, NotiCompleter: !answered}); err != nil {
				return err
			}
		}
		for told < asked-round%heldLeft {
			told++
			if err := step(nics[1], told); err != nil {
				return err
			}
		}
	}
	for told < asked {
		told++
		if err := step(nics[1], told); err != nil {
			return err
		}
	}
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	return heldArrived(nics)
}

// heldOffset is where a command writes, below rawData.
func heldOffset(i int) int { return 0x1000 + i*0x200 }

// heldArrived compares the bytes of the last puts and gets with what they were made of.
func heldArrived(nics []*nictest.NIC) error {
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	for i, c := range heldCommands {
		at := nictest.RawData + heldOffset(i)
		from, to := mem, far
		switch c.command {
		case regs.RMACommandPut:
		case regs.RMACommandGet:
			from, to = far, mem
		default:
			continue
		}
		if !bytes.Equal(from[nictest.RawData+0x100:nictest.RawData+0x100+c.bytes], to[at:at+c.bytes]) {
			return fmt.Errorf("%v of %d bytes did not arrive as it was", c.command, c.bytes)
		}
	}
	return errors.Join(nics[0].Expect(regs.RMAErrors, 0), nics[1].Expect(regs.RMAErrors, 0))
}

// testHeldAnswers: a ring of one notification at the origin holds the completer of answers, and all
// behind it.
func testHeldAnswers(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	far := nics[1].Dev.Memory()
	t.Rand.Read(far[nictest.RawData+0x100 : nictest.RawData+0x200])
	if err := narrow(nics[0]); err != nil {
		return err
	}
	asked := 0
	for round := range heldRounds {
		for k := range heldCommands {
			i := (round + heldStep*k) % len(heldCommands)
			c := heldCommands[i]
			if c.command != regs.RMACommandGet && c.command != regs.RMACommandFCAA {
				continue
			}
			if err := request(nics[0], i, c.command, c.bytes, regs.RMADescFields{NotiCompleter: true}); err != nil {
				return err
			}
			asked++
		}
	}
	for i := range asked {
		if err := step(nics[0], i+1); err != nil {
			return err
		}
	}
	return errors.Join(nictest.Settle(nics[0].Sys), nics[0].Expect(regs.RMAErrors, 0), nics[1].Expect(regs.RMAErrors, 0))
}

// testRights: of three pages at node 1 one may be read, one written, one both. What a page does not
// allow is refused and told, and no byte of it moves.
func testRights(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+nictest.RawPages<<12])
	t.Rand.Read(far[nictest.RawData : nictest.RawData+nictest.RawPages<<12])
	for page, rights := range []regs.ATURights{regs.ATURightsRo, regs.ATURightsWo, regs.ATURightsRw} {
		e := regs.ATUEntryFields{Rights: rights, VPID: nictest.RawVPID, Page: nics[1].Address(nictest.RawData+uint64(page)<<12) >> 12}.Pack()
		binary.LittleEndian.PutUint64(far[nictest.RawTable+8*page:], uint64(e))
	}
	before, own := bytes.Clone(far[nictest.RawData:nictest.RawData+3<<12]), bytes.Clone(mem[nictest.RawData:nictest.RawData+3<<12])
	const size = 100
	told := 0
	for page, rights := range []regs.ATURights{regs.ATURightsRo, regs.ATURightsWo, regs.ATURightsRw} {
		for _, command := range []regs.RMACommand{regs.RMACommandPut, regs.RMACommandGet} {
			at, need := page<<12+0x40, regs.ATURightsWo
			from, to := uint64(0), uint64(at)
			if command == regs.RMACommandGet {
				from, to, need = uint64(at), uint64(page)<<12+0x800, regs.ATURightsRo
			}
			if err := nics[0].Post(regs.RMADescFields{Command: command, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: size - 1, NotiCompleter: command == regs.RMACommandGet}, from, to); err != nil {
				return err
			}
			if err := nictest.Settle(nics[0].Sys); err != nil {
				return err
			}
			allowed := rights&need != 0
			switch {
			case allowed && command == regs.RMACommandPut:
				copy(before[at:], own[:size])
			case allowed:
				copy(own[to:], before[at:at+size])
			}
			if !allowed || command == regs.RMACommandGet {
				want := regs.RMAErrorNone
				if !allowed {
					want = regs.RMAErrorRights
				}
				if _, got := nics[0].Notification(told); got.Error != want {
					return fmt.Errorf("%v on a page with rights %v: notified %v, expected %v", command, rights, got.Error, want)
				}
				told++
			}
			if !bytes.Equal(before, far[nictest.RawData:nictest.RawData+3<<12]) || !bytes.Equal(own, mem[nictest.RawData:nictest.RawData+3<<12]) {
				return fmt.Errorf("%v on a page with rights %v: memory is not what it must be", command, rights)
			}
		}
	}
	return errors.Join(nics[0].Expect(regs.NotiWP(nictest.RawVPID), uint64(told)), nics[1].Expect(regs.ATUFaults, 2))
}
