package rma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Paths take the ways through the NIC that coverage showed nobody to have taken.
func Paths() []regress.Test {
	return []regress.Test{
		{
			Name: "network/misled", Tags: []string{"network"},
			Doc: "packets that a wrong route delivers to another NIC are discarded and counted there, and block no traffic",
			Run: testMisled,
		},
		{
			Name: "rma/failed-memory", Tags: []string{"rma"},
			Doc: "each bus error of a read or write is notified once, ends its descriptor, and blocks no later one",
			Run: testFailedMemory,
		},
		{
			Name: "rma/page-sizes", Tags: []string{"rma"},
			Doc: "pages of 64 KB and 2 MB: data, bounds, and unmapped pages",
			Run: testPageSizes,
		},
		{
			Name: "rma/interrupts", Tags: []string{"rma"},
			Doc: "interrupts of notifications, of a full ring, and of errors: raised, masked, cleared",
			Run: testRMAInterrupts,
		},
		{
			Name: "rma/refused", Tags: []string{"rma"},
			Doc: "every operation refused at the target, for every reason, is notified with its error, also when the ring was full",
			Run: testRefused,
		},
		{
			Name: "rma/nvm-ranges", Tags: []string{"rma"},
			Doc: "four slow memory ranges at a time, each with its own rate",
			Run: testNVMRanges,
		},
	}
}

// testMisled: entries of the route table send what is for node 3, and what comes back from there,
// out of the network where it passes.
func testMisled(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 4)
	if err != nil {
		return err
	}
	if err := nics[0].Require(regs.LinkStatus(0), "routes"); err != nil {
		return err
	}
	for _, n := range nics {
		if err := n.Enable(0, nictest.SlotsPerBox); err != nil {
			return err
		}
	}
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 3, BytesMinus1: 99}
	get := d
	get.Command = regs.RMACommandGet
	traffic := func(round int) error {
		return errors.Join(nics[0].Send(regs.PioFields{DstNode: 3}, []byte{byte(round)}), nics[0].Send(regs.PioFields{DstNode: 1}, []byte{byte(round)}),
			nics[0].Post(d, 0, 0x1000), nics[0].Post(get, 0x2000, 0x3000), nictest.Settle(nics[0].Sys))
	}
	t.Rand.Read(nics[0].Dev.Memory()[nictest.RawData : nictest.RawData+100])
	t.Rand.Read(nics[3].Dev.Memory()[nictest.RawData+0x2000 : nictest.RawData+0x2000+100])
	// Node 0 sends over +X to node 1 first, and 3 answers over -X by node 2.
	_, there := nictest.RouteEntry(1, 3, 0)
	_, back := nictest.RouteEntry(2, 0, 0)
	if err := errors.Join(nics[1].Set(there), traffic(1)); err != nil {
		return err
	}
	if err := errors.Join(nics[1].Expect(regs.RXDropped, 1), nics[1].Expect(regs.RMARXDropped, 2), nics[1].Expect(regs.RXPackets, 1),
		nics[3].Expect(regs.RXPackets, 0), nics[3].Expect(regs.RMARXPackets, 0)); err != nil {
		return err
	}
	info, err := nics[1].Dev.ReadReg(regs.ErrorInfo)
	if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); err != nil || got != regs.DropReasonNoSuchNode {
		return errors.Join(err, fmt.Errorf("ERROR_INFO.reason of node 1 is %v, expected %v", got, regs.DropReasonNoSuchNode))
	}
	// The way there is right again, that of answers is not.
	there.Value, d.NotiCompleter = 0, true
	if err := errors.Join(nics[1].Set(there), nics[2].Set(back), traffic(2)); err != nil {
		return err
	}
	if err := errors.Join(nics[2].Expect(regs.RMARXDropped, 1), nics[3].Expect(regs.RXPackets, 1), nics[3].Expect(regs.NotiWP(nictest.RawVPID), 1), nics[0].Expect(regs.RMARXPackets, 0)); err != nil {
		return err
	}
	back.Value = 0
	if err := errors.Join(nics[2].Set(back), traffic(3)); err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory()[nictest.RawData:], nics[3].Dev.Memory()[nictest.RawData:]
	if !bytes.Equal(mem[:100], far[0x1000:0x1000+100]) || !bytes.Equal(far[0x2000:0x2000+100], mem[0x3000:0x3000+100]) {
		return errors.New("bytes did not arrive as they were when the ways were right again")
	}
	return errors.Join(nics[3].Expect(regs.RXPackets, 2), nics[1].Expect(regs.RXPackets, 3), nics[0].Expect(regs.RMARXPackets, 1))
}

// rawAway is a page that memory has not got, and a table of its own that it has not either.
const (
	rawAway  = nictest.RawPages - 1
	awayPage = 1 << 30
	awayData = rawAway << 12
)

func testFailedMemory(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	for _, n := range nics {
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: nictest.RawVPID, Page: awayPage}.Pack()
		binary.LittleEndian.PutUint64(n.Dev.Memory()[nictest.RawTable+8*rawAway:], uint64(e))
		t.Rand.Read(n.Dev.Memory()[nictest.RawData : nictest.RawData+0x1000])
		if err := n.Set(nictest.Write(regs.ATUBase(1), awayPage<<12), nictest.Write(regs.ATUPages(1), 1)); err != nil {
			return err
		}
	}
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 2999}
	get := put
	get.Command = regs.RMACommandGet
	good := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 499, NotiCompleter: true}
	const reads, table = awayData - 1000, 1 << 44
	told := uint64(0)
	for _, c := range []struct {
		name   string
		d      regs.RMADescFields
		w1, w2 uint64
		unit   regs.RMAUnit
	}{
		{"the bytes of a put", put, reads, 0x2000, regs.RMAUnitRequester}, // the first 1000 of them are there
		{"where a put goes", put, 0, reads, regs.RMAUnitCompleter},
		{"the bytes of a get", get, reads, 0x2000, regs.RMAUnitResponder},
		{"where a get goes", get, 0, reads, regs.RMAUnitCompleter},
		{"the table", put, table, 0x2000, regs.RMAUnitRequester},
	} {
		if c.unit == regs.RMAUnitCompleter && !nics[0].Dev.Capabilities().Has(drivers.CanAnswerWrites) {
			t.Logf("%s: left out: writes of this device's NICs have no answer", c.name)
			continue
		}
		before := bytes.Clone(nics[1].Dev.Memory()[nictest.RawData+0x5000 : nictest.RawData+0x5000+500])
		t.Rand.Read(nics[0].Dev.Memory()[nictest.RawData+0x4000 : nictest.RawData+0x4000+500])
		wp, err := nics[0].Dev.ReadReg(regs.NotiWP(nictest.RawVPID))
		if err == nil {
			err = errors.Join(nics[0].Post(c.d, c.w1, c.w2), nics[0].Post(good, 0x4000, 0x5000), nictest.SettleRefused(nics[0].Sys))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		now, err := nics[0].Dev.ReadReg(regs.NotiWP(nictest.RawVPID))
		if err != nil || now == wp {
			return errors.Join(err, fmt.Errorf("%s: a bus error without a notification", c.name))
		}
		for k := wp; k < now; k++ {
			if _, got := nics[0].Notification(int(k)); got.Error != regs.RMAErrorDMA || got.Unit != c.unit || got.Command != c.d.Command {
				return fmt.Errorf("%s: notification %+v, expected %v of %v", c.name, got, regs.RMAErrorDMA, c.unit)
			}
		}
		if c.unit == regs.RMAUnitRequester && now != wp+1 { // it ends its descriptor; fragments that have left fail one by one
			return fmt.Errorf("%s: notified %d times, expected once", c.name, now-wp)
		}
		after := nics[1].Dev.Memory()[nictest.RawData+0x5000 : nictest.RawData+0x5000+500]
		if bytes.Equal(before, after) || !bytes.Equal(after, nics[0].Dev.Memory()[nictest.RawData+0x4000:nictest.RawData+0x4000+500]) {
			return fmt.Errorf("%s: what was posted behind it did not arrive", c.name)
		}
		told++
		if err := nics[1].Expect(regs.NotiWP(nictest.RawVPID), told); err != nil {
			return err
		}
	}
	return nil
}

func testPageSizes(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	for _, n := range nics {
		if n.Address(0) != 0 || n.Address(nictest.NodeMemory-1) != nictest.NodeMemory-1 {
			return fmt.Errorf("%w: pages of 2 MB of a memory that does not begin at 0, in one piece", drivers.ErrNotSupported)
		}
		t.Rand.Read(n.Dev.Memory()[0x20000:0xe0000])
		// Table 1 has four pages of 64 KB, the second one not mapped; table 2 two of 2 MB, both of which
		// begin with all of the memory.
		for page, at := range []uint64{0x80000, 0, 0x20000, 0xd0000} {
			e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: nictest.RawVPID, Page: at >> 12}
			if at == 0 {
				e.Rights = regs.ATURightsNone
			}
			binary.LittleEndian.PutUint64(n.Dev.Memory()[nictest.RawTable+0x100+8*page:], uint64(e.Pack()))
		}
		for page := range 2 {
			binary.LittleEndian.PutUint64(n.Dev.Memory()[nictest.RawTable+0x200+8*page:], uint64(regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: nictest.RawVPID}.Pack()))
		}
		if err := n.Set(nictest.Write(regs.ATUBase(1), nictest.RawTable+0x100), nictest.Write(regs.ATUPages(1), 4|uint64(regs.ATUPageSizeK64)<<regs.ATUPagesSize.LSB()),
			nictest.Write(regs.ATUBase(2), nictest.RawTable+0x200), nictest.Write(regs.ATUPages(2), 2|uint64(regs.ATUPageSizeM2)<<regs.ATUPagesSize.LSB())); err != nil {
			return err
		}
	}
	const small, large = 1 << 44, 2 << 44
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1}
	for i := range 20 {
		from, to, n := 0x30000+t.Rand.Intn(0x8000), 0xa0000+t.Rand.Intn(0x18000), 1+t.Rand.Intn(6000)
		d.BytesMinus1 = uint32(n - 1)
		d.Command = regs.RMACommandPut
		// Pages 2 and 3 lie one behind the other as network addresses, and apart in memory.
		w1, w2 := uint64(large|t.Rand.Intn(2)<<21|from), uint64(small|0x20000|(to-0xa0000))
		source, target := mem[from:from+n], far[0x20000+to-0xa0000:]
		if to-0xa0000+n > 0x10000 { // into page 3
			target = nil
		}
		if i%2 == 1 {
			d.Command = regs.RMACommandGet
			w1, w2 = w2, w1
		}
		if err := errors.Join(nics[0].Post(d, w1, w2), nictest.Settle(nics[0].Sys)); err != nil {
			return err
		}
		if target == nil {
			cut := 0x10000 - (to - 0xa0000)
			if cut < 0 {
				target = far[0xd0000-cut : 0xd0000-cut+n]
			} else {
				target = append(bytes.Clone(far[0x30000-cut:0x30000]), far[0xd0000:0xd0000+n-cut]...)
			}
		}
		if !bytes.Equal(source, target[:n]) {
			return fmt.Errorf("%v of %d bytes between a page of 2 MB and 0x%x of pages of 64 KB: not what it was", d.Command, n, to-0xa0000)
		}
	}
	if err := nics[0].Expect(regs.NotiWP(nictest.RawVPID), 0); err != nil {
		return err
	}
	d = regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 7}
	for i, c := range []struct {
		at   uint64
		want regs.RMAError
	}{{small | 0x10008, regs.RMAErrorTranslation}, {small | 0x40000, regs.RMAErrorBounds}, {large | 2<<21, regs.RMAErrorBounds}} {
		if err := errors.Join(nics[0].Post(d, 0, c.at), nictest.Settle(nics[0].Sys)); err != nil {
			return err
		}
		if _, got := nics[0].Notification(i); got.Error != c.want {
			return fmt.Errorf("a put to 0x%x: notified %v, expected %v", c.at, got.Error, c.want)
		}
	}
	return nil
}
