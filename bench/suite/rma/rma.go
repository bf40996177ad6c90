// Package rma tests RMA through descriptors, registers and notification rings alone.
package rma

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/rma/conformance"
)

// Tests are the conformance cases of RMA and tests of what no library does.
func Tests() []regress.Test {
	list := append([]regress.Test{}, rawRMA()...)
	for _, c := range conformance.Cases() {
		tags := []string{"rma"}
		if c.Slow {
			tags = append(tags, "slow")
		}
		list = append(list, regress.Test{
			Name: "rma/" + c.Name, Tags: tags, Doc: c.Doc,
			Run: func(t *regress.T) error {
				sys, err := t.Open(c.Nodes, c.Memory, nil)
				if err != nil {
					return err
				}
				return c.Run(sys, uint64(t.Seed))
			},
		})
	}
	return list
}

// rawRMA looks at RMA through descriptors and registers alone.
func rawRMA() []regress.Test {
	return []regress.Test{
		{
			Name: "rma/notification", Tags: []string{"smoke", "rma"},
			Doc: "every field of the notifications of one put",
			Run: testNotification,
		},
		{
			Name: "rma/bad-descriptors", Tags: []string{"rma"},
			Doc: "invalid descriptors are notified with their error and have no effect elsewhere",
			Run: testBadDescriptors,
		},
		{
			Name: "rma/neighbours", Tags: []string{"rma"},
			Doc: "puts at every alignment leave neighbouring bytes unchanged",
			Run: testNeighbours,
		},
		{
			Name: "rma/nvm-limit", Tags: []string{"smoke", "rma"},
			Doc: "memory at an eighth of the line rate takes the expected time",
			Run: testNVMLimit,
		},
		{
			Name: "rma/ring-shared", Tags: []string{"rma"},
			Doc: "units that wait for the same full ring get its free slots in round-robin order",
			Run: testSharedRing,
		},
		{
			Name: "rma/registers", Tags: []string{"rma"},
			Doc: "every RMA register reads back what it should hold",
			Run: testRMARegisters,
		},
	}
}

func testNotification(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+700])
	err = nics[0].Post(regs.RMADescFields{
		Command: regs.RMACommandPut, NotiRequester: true, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 599, Tag: 0xbeef,
	}, 3, 0x1005)
	if err == nil {
		err = nictest.Settle(nics[0].Sys)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(mem[nictest.RawData+3:nictest.RawData+603], far[nictest.RawData+0x1005:nictest.RawData+0x1005+600]) {
		return errors.New("600 bytes did not arrive as they were")
	}
	last := regs.RMANotiFields{BytesMinus1: 87, Command: regs.RMACommandPut, Last: true, PeerVPID: nictest.RawVPID}
	here, there := last, last
	here.Unit, here.PeerNode, there.Unit = regs.RMAUnitRequester, 1, regs.RMAUnitCompleter
	return errors.Join(
		nics[0].ExpectNotification(0, regs.RMAExtFields{NLA: 3 + 512, Tag: 0xbeef}, here),
		nics[1].ExpectNotification(0, regs.RMAExtFields{NLA: 0x1005 + 512, Tag: 0xbeef}, there),
		nics[0].Expect(regs.NotiWP(nictest.RawVPID), 1), nics[1].Expect(regs.NotiWP(nictest.RawVPID), 1),
		nics[0].Expect(regs.RMATXPackets, 3), nics[1].Expect(regs.RMARXPackets, 3), nics[0].Expect(regs.RMAErrors, 0))
}

func testBadDescriptors(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	if err := nics[1].Set(nictest.Write(regs.PDID(6), nictest.RawDomain)); err != nil {
		return err
	}
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 7, Tag: 1}
	for i, c := range []struct {
		change func(d *regs.RMADescFields)
		w1, w2 uint64
		unit   regs.RMAUnit
		want   regs.RMAError
	}{
		{func(d *regs.RMADescFields) { d.Command = 0 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command = 6 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command, d.BytesMinus1 = regs.RMACommandImmPut, 8 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandFCAA }, 0, 2, regs.RMAUnitRequester, regs.RMAErrorBadCommand},
		{func(d *regs.RMADescFields) { d.DstNode = 2 }, 0, 0, regs.RMAUnitRequester, regs.RMAErrorNoSuchNode},
		{func(d *regs.RMADescFields) {}, 1 << 48, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, 1<<44 - 4, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, nictest.RawPages << 12, 0, regs.RMAUnitRequester, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) {}, 1 << 44, 0, regs.RMAUnitRequester, regs.RMAErrorTranslation},
		{func(d *regs.RMADescFields) {}, 0, nictest.RawPages << 12, regs.RMAUnitCompleter, regs.RMAErrorBounds},
		{func(d *regs.RMADescFields) { d.DstVPID = 4 }, 0, 0, regs.RMAUnitCompleter, regs.RMAErrorDomain},
		{func(d *regs.RMADescFields) { d.DstVPID = 6 }, 0, 0, regs.RMAUnitCompleter, regs.RMAErrorWindowOff},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandGet }, 5 << 44, 0, regs.RMAUnitResponder, regs.RMAErrorTranslation},
		{func(d *regs.RMADescFields) { d.Command = regs.RMACommandGet }, 0, 5 << 44, regs.RMAUnitCompleter, regs.RMAErrorTranslation},
	} {
		d := put
		c.change(&d)
		if err := nics[0].Post(d, c.w1, c.w2); err != nil {
			return err
		}
		if err := nictest.Settle(nics[0].Sys); err != nil {
			return fmt.Errorf("case %d: %w", i, err)
		}
		_, got := nics[0].Notification(i)
		if got.Error != c.want || got.Unit != c.unit || got.Seq != uint16(i+1) || got.Command != d.Command || !got.Last {
			return fmt.Errorf("case %d: notification %+v, expected %v of %v", i, got, c.want, c.unit)
		}
	}
	untouched := make([]byte, nictest.RawPages<<12)
	for _, n := range nics {
		if !bytes.Equal(n.Dev.Memory()[nictest.RawData:nictest.RawData+nictest.RawPages<<12], untouched) {
			return fmt.Errorf("node %d: a refused operation moved bytes", n.Node)
		}
	}
	return nil
}

func testNeighbours(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory()[nictest.RawData:], nics[1].Dev.Memory()[nictest.RawData:]
	t.Rand.Read(mem[:4096])
	model := make([]byte, 8192)
	t.Rand.Read(model)
	copy(far, model)
	for i := range 150 {
		from, to, n := t.Rand.Intn(64), 4096-80+t.Rand.Intn(160), 1+t.Rand.Intn(i+1)
		d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: uint32(n - 1)}
		if err := nics[0].Post(d, uint64(from), uint64(to)); err != nil {
			return err
		}
		copy(model[to:], mem[from:from+n])
	}
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	if !bytes.Equal(model, far[:len(model)]) {
		return fmt.Errorf("memory differs from what 150 puts must leave (seed %d)", t.Seed)
	}
	return nil
}

// testNVMLimit puts 16 KB into memory of line rate / 8 with a buffer of 1 KB.
func testNVMLimit(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	if err := nics[1].Require(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	const bytes, buffer = 16384, 1024
	if err := nics[1].Set(nictest.Write(regs.NVMBase(2), nictest.RawData), nictest.Write(regs.NVMEnd(2), nictest.RawData+bytes),
		nictest.Write(regs.NVMRate(2), 65536/8), nictest.Write(regs.NVMDepth(2), buffer)); err != nil {
		return err
	}
	start := nics[0].Sys.Now()
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: bytes - 1}
	if err := nics[0].Post(d, 0, 0); err != nil {
		return err
	}
	if err := nictest.Settle(nics[0].Sys); err != nil {
		return err
	}
	took := int(nics[0].Sys.Now() - start)
	if took < bytes || took > bytes+bytes/16 { // one byte per cycle, and settle waits for the buffer
		return fmt.Errorf("%d bytes at one byte per cycle took %d cycles", bytes, took)
	}
	stall, err := nics[1].Dev.ReadReg(regs.NVMStall(2))
	if err == nil && stall == 0 {
		err = errors.New("NVM_STALL is 0, expected writes to have waited")
	}
	return errors.Join(err, nics[1].Expect(regs.NVMBytes(2), bytes), nics[1].Expect(regs.NVMLevel(2), 0), nics[1].Expect(regs.NVMStall(1), 0))
}

func testRMARegisters(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	n := nics[1]
	if err := n.Require(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	for i := range regs.Registers() {
		r := &regs.Registers()[i]
		routers := r.Name == "ROUTE" && n.Sys.Info().Topology != "" // which are not the nodes'
		if r.Name[:3] != "WIR" && r.Name[:3] != "LIN" && !routers {
			if _, err := n.Dev.ReadReg(r.Address(int(r.Count) - 1)); err != nil {
				return err
			}
		}
	}
	if err := n.Set(nictest.Write(regs.ATUBase(15), 0x1234567890abcde8), nictest.Write(regs.ATUPages(15), 1<<24+77), nictest.Write(regs.NVMBase(3), 99),
		nictest.Write(regs.NotiSlots(15), 8191), nictest.Write(regs.NotiBase(15), 0xfff0), nictest.Write(regs.NotiRP(15), 1<<32-7), nictest.Write(regs.ATUDone, 0x4000)); err != nil {
		return err
	}
	return errors.Join(n.Expect(regs.ATUBase(15), 0x1234567890abcde8), n.Expect(regs.ATUPages(15), 1<<24+77), n.Expect(regs.NVMBase(3), 99),
		n.Expect(regs.NVMRate(3), 65536), n.Expect(regs.NotiSlots(15), 8191), n.Expect(regs.NotiBase(15), 0xfff0),
		n.Expect(regs.NotiRP(15), 1<<32-7), n.Expect(regs.ATUDone, 0x4000), n.Expect(regs.BadAccess, 0))
}
