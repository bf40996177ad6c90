// Package bus tests the NIC behind PCIe and AXI: errors, resets and interrupts of the bus.
package bus

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// PCIe are of faults that only a bus like PCIe has. A device without a simulated root complex
// skips them.
func PCIe() []regress.Test {
	return []regress.Test{
		{
			Name: "pcie/poisoned", Tags: []string{"smoke"},
			Doc: "poisoned and unsuccessful completions: each failed read is notified, the others complete, no other memory changes",
			Run: func(t *regress.T) error {
				return testFailedReads(t, failedReads{chances: map[uint32]float64{simregs.RootPoisoned: 0.04, simregs.RootErrors: 0.04}, counters: simregs.RootFailed, rounds: 6})
			},
		},
		{
			Name: "pcie/lost",
			Doc:  "missing and late completions: each read that times out is notified, late completions are discarded, nothing hangs",
			Run: func(t *regress.T) error {
				return testFailedReads(t, failedReads{chances: map[uint32]float64{simregs.RootLost: 0.03, simregs.RootLate: 0.03}, counters: simregs.RootDropped, shift: 32, rounds: 4})
			},
		},
		{
			Name: "pcie/bus-master", Tags: []string{"smoke"},
			Doc: "bus master disabled: operations fail with a notification, and work again once it is enabled",
			Run: testBusMaster,
		},
		{
			Name: "pcie/removed",
			Doc:  "surprise removal under traffic: register reads report it, nothing hangs, memory is not written afterwards, other NICs continue",
			Run:  testRemoved,
		},
		{
			Name: "pcie/reset", Tags: []string{"smoke"},
			Doc: "function-level reset under traffic: outstanding operations are lost, memory is not written afterwards, neighbours continue, and the function works again",
			Run: testFunctionReset,
		},
		{
			Name: "pcie/stale", Tags: []string{"smoke"},
			Doc: "completions of reads from before a function-level reset are discarded: none reaches a later read",
			Run: testStaleCompletions,
		},
		{
			Name: "pcie/put-rate", Tags: []string{"rma"},
			Doc: "puts at 90 % of the link rate that TLPs of 256 bytes allow",
			Run: pcieRate(regs.RMACommandPut),
		},
		{
			Name: "pcie/get-rate", Tags: []string{"rma"},
			Doc: "gets at 90 % of the link rate that TLPs of 256 bytes allow",
			Run: pcieRate(regs.RMACommandGet),
		},
		{
			Name: "pcie/interrupts", Tags: []string{"smoke"},
			Doc: "an interrupt message never passes the DMA writes before it",
			Run: testMessages,
		},
	}
}

const pcieWhat = "faults of a simulated root complex: rtl:?bus=pcie has one"

// openPCIe is openRMA of a device with a root complex.
func openPCIe(t *regress.T) ([]*nictest.NIC, error) {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return nil, err
	}
	return nics, nics[0].Require(simregs.RootCtrl, pcieWhat)
}

// pcieRate: a fragment of 256 bytes is a TLP with a header of 16 bytes, on a stream of 8 bytes a
// cycle.
func pcieRate(command regs.RMACommand) func(*regress.T) error {
	return func(t *regress.T) error {
		if !strings.Contains(t.Device, "bus=pcie") || strings.Contains(t.Device, "mps=") || strings.Contains(t.Device, "bus_seed=") {
			if _, err := openPCIe(t); err != nil {
				return err
			}
			return fmt.Errorf("%w: a rate is that of a bus that is never late, and this test sets the payload of TLPs: leave bus_seed and mps out", drivers.ErrNotSupported)
		}
		if err := nictest.Reshape(t, "mps=256&mrrs=512"); err != nil {
			return err
		}
		const onBus = (regs.RMAMTU + 16) / 8
		return nictest.ByteRate(t, command, func(fragments int) drivers.Cycle { return drivers.Cycle(fragments*onBus*100/90 + 1000) })
	}
}

type failedReads struct {
	chances  map[uint32]float64
	counters uint32 // where the NIC counts what became of them
	shift    uint
	rounds   int
}

// A tried put is one of a few bytes, to where no other goes.
type triedPut struct {
	from, to, n uint64
	tag         uint16
}

// testFailedReads puts with faults on the bus of both nodes. Each put has arrived whole or is told
// to have failed, and but where puts go no byte has changed.
func testFailedReads(t *regress.T, f failedReads) error {
	nics, err := openPCIe(t)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+nictest.RawPages<<12])
	t.Rand.Read(far[nictest.RawData : nictest.RawData+nictest.RawPages<<12])
	want := bytes.Clone(far)
	for _, n := range nics {
		for off, p := range f.chances {
			if err := n.Dev.WriteReg(off, uint64(p*(1<<32))); err != nil {
				return err
			}
		}
	}
	failed, arrived, seen := 0, 0, 0
	for range f.rounds {
		puts, err := postPuts(t, nics[0])
		if err != nil {
			return err
		}
		if err := nictest.Settle(nics[0].Sys); err != nil {
			return err
		}
		told, err := toldErrors(nics[0], &seen)
		if err != nil {
			return err
		}
		for _, p := range puts {
			whole := bytes.Equal(far[p.to:p.to+p.n], mem[p.from:p.from+p.n])
			switch {
			case !whole && !told[p.tag]:
				return fmt.Errorf("put %d of %d bytes did not arrive, and no notification reported it", p.tag, p.n)
			case whole:
				arrived++
			default:
				failed++
			}
			copy(want[p.to:p.to+p.n], far[p.to:p.to+p.n])
		}
		if got := firstOther(far[nictest.RawData:nictest.RawData+nictest.RawPages<<12], want[nictest.RawData:]); got >= 0 {
			return fmt.Errorf("byte 0x%x of node 1 changed, which is the target of no put", nictest.RawData+got)
		}
	}
	made, counted := uint64(0), uint64(0)
	for _, n := range nics {
		faults, e1 := n.Dev.ReadReg(simregs.RootFaults)
		counters, e2 := n.Dev.ReadReg(f.counters)
		if err := errors.Join(e1, e2); err != nil {
			return err
		}
		made, counted = made+faults, counted+counters>>f.shift&0xffffffff
	}
	t.Notef("%d reads failed, %d puts notified of it, %d completed", made, failed, arrived)
	if made == 0 || failed == 0 || arrived == 0 || counted != made {
		return fmt.Errorf("%d faults were made and %d counted, %d puts failed, %d arrived: expected some of each, and all counted", made, counted, failed, arrived)
	}
	return stillPuts(t, nics, f, &seen)
}

// postPuts posts puts that do not meet, in pages that the test has.
func postPuts(t *regress.T, n *nictest.NIC) (puts []triedPut, err error) {
	const each = nictest.RawPages << 12 / 8
	for i := range uint64(8) {
		p := triedPut{from: nictest.RawData + uint64(t.Rand.Intn(4000)), to: nictest.RawData + i*each + uint64(t.Rand.Intn(each/2)), n: 1 + uint64(t.Rand.Intn(each/2)), tag: uint16(i + 1)}
		d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: uint32(p.n - 1), Tag: p.tag}
		if err := n.Post(d, p.from-nictest.RawData, p.to-nictest.RawData); err != nil {
			return nil, err
		}
		puts = append(puts, p)
	}
	return puts, nil
}

// toldErrors are the tags of which notifications from number seen on tell an error. The ring is
// read up to them.
func toldErrors(n *nictest.NIC, seen *int) (map[uint16]bool, error) {
	wp, err := n.Dev.ReadReg(regs.NotiWP(nictest.RawVPID))
	if err != nil {
		return nil, err
	}
	told := map[uint16]bool{}
	for ; *seen < int(wp); *seen++ {
		ext, noti := n.Notification(*seen)
		if noti.Error != 0 {
			told[uint16(ext.Fields().Tag)] = true
		}
	}
	return told, n.Set(nictest.Write(regs.NotiRP(nictest.RawVPID), wp))
}

// firstOther is where two slices part, or -1.
func firstOther(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}

// stillPuts: without faults all arrives.
func stillPuts(t *regress.T, nics []*nictest.NIC, f failedReads, seen *int) error {
	for _, n := range nics {
		for off := range f.chances {
			if err := n.Dev.WriteReg(off, 0); err != nil {
				return err
			}
		}
	}
	puts, err := postPuts(t, nics[0])
	if err := errors.Join(err, nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	told, err := toldErrors(nics[0], seen)
	if err != nil || len(told) != 0 {
		return errors.Join(err, fmt.Errorf("%d puts failed after the last fault", len(told)))
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	for _, p := range puts {
		if !bytes.Equal(far[p.to:p.to+p.n], mem[p.from:p.from+p.n]) {
			return fmt.Errorf("put %d of %d bytes did not arrive after the last fault", p.tag, p.n)
		}
	}
	return nil
}

// mayStillLeave are cycles after which nothing leaves a node that has lost bus master:
// rtl/sim/root_complex.sv holds it to that.
const mayStillLeave = 16

func testBusMaster(t *regress.T) error {
	nics, err := openPCIe(t)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+256])
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: 255, NotiCompleter: true}
	// The first finds where the page is, so that of the second nothing has to be read.
	if err := errors.Join(nics[0].Post(put, 0, 0), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	if !bytes.Equal(far[nictest.RawData:nictest.RawData+256], mem[nictest.RawData:nictest.RawData+256]) {
		return errors.New("a put did not arrive")
	}
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+256])
	if err := errors.Join(nics[1].Set(nictest.Write(simregs.RootCtrl, simregs.RootNoBusMaster)), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	var stop drivers.Stop
	if err := nics[0].Sys.Run(nics[0].Sys.Now()+mayStillLeave, &stop); err != nil {
		return err
	}
	// A completer that may not write loses the data, and the word about it too: its ring is in the
	// memory that it cannot reach.
	before := bytes.Clone(far)
	if err := errors.Join(nics[0].Post(put, 0, 0), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	_, noti := nics[0].Notification(0)
	if noti.Error == 0 || noti.Seq != 1 {
		return fmt.Errorf("notification %+v of a put to a node without bus master, expected an error", noti)
	}
	if at := firstOther(far, before); at >= 0 {
		return fmt.Errorf("byte 0x%x of a node without bus master changed", at)
	}
	get := put
	get.Command = regs.RMACommandGet
	if err := errors.Join(nics[0].Post(get, 0, 0), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	if _, noti := nics[0].Notification(1); noti.Error == 0 || noti.Seq != 2 {
		return fmt.Errorf("notification %+v of a get from a node without bus master, expected an error", noti)
	}
	if err := errors.Join(nics[1].Set(nictest.Write(simregs.RootCtrl, 0)), nics[0].Post(put, 0, 0), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	if !bytes.Equal(far[nictest.RawData:nictest.RawData+256], mem[nictest.RawData:nictest.RawData+256]) {
		return errors.New("a put did not arrive when the node was bus master again")
	}
	return nil
}

// pcieLines fit a window: lines that a reset loses in one are never counted as taken, and who paces
// himself by that count would wait for them.
const pcieLines = 3

// pcieTraffic posts packets both ways, and puts, and lets a part of their time pass.
func pcieTraffic(t *regress.T, nics []*nictest.NIC, cycles drivers.Cycle) error {
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, BytesMinus1: 2999}
	for i := range pcieLines {
		for n, from := range nics {
			put.DstNode = uint16(1 - n)
			if err := errors.Join(from.Send(regs.PioFields{DstNode: uint8(1 - n)}, []byte{byte(i), byte(n)}), from.Post(put, 0, 0x4000)); err != nil {
				return err
			}
		}
	}
	var stop drivers.Stop
	return nics[0].Sys.Run(nics[0].Sys.Now()+cycles, &stop)
}

// openTraffic gives both nodes of what open has opened a mailbox, too.
func openTraffic(t *regress.T, open func(*regress.T) ([]*nictest.NIC, error)) ([]*nictest.NIC, error) {
	nics, err := open(t)
	if err != nil {
		return nil, err
	}
	for _, n := range nics {
		t.Rand.Read(n.Dev.Memory()[nictest.RawData : nictest.RawData+0x4000])
		if err := n.Enable(0, nictest.SlotsPerBox); err != nil {
			return nil, err
		}
	}
	return nics, nil
}

// gone: the registers of a NIC that is not there tell so.
func gone(n *nictest.NIC) error {
	for _, off := range []uint32{regs.Magic, regs.Params, regs.MboxWP(0)} {
		if v, err := n.Dev.ReadReg(off); !errors.Is(err, drivers.ErrPeerDied) {
			return fmt.Errorf("%s of a removed NIC: 0x%x, %v, expected %v", regs.Describe(off), v, err, drivers.ErrPeerDied)
		}
	}
	return nil
}

func testRemoved(t *regress.T) error {
	nics, err := openTraffic(t, openPCIe)
	if err != nil {
		return err
	}
	if err := pcieTraffic(t, nics, 100+drivers.Cycle(t.Rand.Intn(900))); err != nil {
		return err
	}
	here, away := nics[0], nics[1]
	if err := away.Dev.WriteReg(simregs.RootCtrl, simregs.RootRemoved); err != nil {
		return err
	}
	if err := gone(away); err != nil {
		return err
	}
	before := bytes.Clone(away.Dev.Memory())
	// Lines to a NIC that is gone are lost without a word, and none is waited for.
	if err := errors.Join(away.Send(regs.PioFields{}, []byte("nobody")), away.Dev.WriteReg(regs.IRQMask, 1)); err != nil {
		return err
	}
	if _, err := nictest.Quiesce(here.Sys); err != nil {
		return err
	}
	if at := firstOther(away.Dev.Memory(), before); at >= 0 {
		return fmt.Errorf("byte 0x%x of the host changed after its NIC was pulled out", at)
	}
	if err := gone(away); err != nil {
		return err
	}
	return here.Expect(regs.Magic, regs.MagicValue)
}

func testFunctionReset(t *regress.T) error {
	nics, err := openTraffic(t, openPCIe)
	if err != nil {
		return err
	}
	if err := pcieTraffic(t, nics, 100+drivers.Cycle(t.Rand.Intn(900))); err != nil {
		return err
	}
	here, away := nics[0], nics[1]
	if err := errors.Join(away.Dev.WriteReg(simregs.RootCtrl, simregs.RootReset), gone(away)); err != nil {
		return err
	}
	before := bytes.Clone(away.Dev.Memory())
	if err := readUntilEmpty(here); err != nil {
		return err
	}
	if at := firstOther(away.Dev.Memory(), before); at >= 0 {
		return fmt.Errorf("byte 0x%x of the host changed after its NIC was reset", at)
	}
	return asNew(here, away)
}

// asNew: a NIC that was reset is as after power-on, the other as it was, and packets pass again.
func asNew(here, away *nictest.NIC) error {
	if err := errors.Join(away.Expect(regs.Magic, regs.MagicValue), away.Expect(regs.MboxCtrl(0), 0), away.Expect(regs.NotiCtrl(nictest.RawVPID), 0),
		away.Expect(regs.PDID(0), 0), here.Expect(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow), here.Expect(regs.PDID(0), nictest.RawDomain)); err != nil {
		return err
	}
	return afterReset(here, away)
}

// readUntilEmpty reads the ring of a node until the hardware is empty: each fragment to a NIC that
// has forgotten its tables is told there.
func readUntilEmpty(n *nictest.NIC) error {
	for range 100 {
		if idle, err := nictest.Quiesce(n.Sys); idle || err != nil {
			return err
		}
		seen, err := n.Dev.ReadReg(regs.NotiWP(nictest.RawVPID))
		if err := errors.Join(err, n.Set(nictest.Write(regs.NotiRP(nictest.RawVPID), seen))); err != nil {
			return err
		}
	}
	return errors.New("the hardware is not empty, though its ring is read")
}

// afterReset: the NIC is set up anew, and packets pass both ways.
func afterReset(here, away *nictest.NIC) error {
	// What the other node's packets to it had taken and could not give back is settled between the
	// links; the mailbox of the other is read.
	if err := errors.Join(away.Enable(0, nictest.SlotsPerBox), here.ResizeMailbox(0, nictest.SlotsPerBox), here.Enable(0, nictest.SlotsPerBox)); err != nil {
		return err
	}
	if err := errors.Join(here.Send(regs.PioFields{DstNode: 1}, []byte("there")), away.Send(regs.PioFields{DstNode: 0}, []byte("back"))); err != nil {
		return err
	}
	if err := nictest.Settle(here.Sys); err != nil {
		return err
	}
	for n, want := range map[*nictest.NIC]string{away: "there", here: "back"} {
		s, err := n.Next(0)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(s.Payload, []byte(want)) {
			return fmt.Errorf("node %d got %q after the reset, expected %q", n.Node, s.Payload, want)
		}
	}
	return nil
}

func testMessages(t *regress.T) error {
	nics, err := openTraffic(t, openPCIe)
	if err != nil {
		return err
	}
	return interruptsFollow(nics[0], nics[1])
}

// interruptsFollow: with each packet comes its interrupt, and never before it.
func interruptsFollow(from, to *nictest.NIC) error {
	if err := to.Set(nictest.Write(regs.MboxCtrl(0), regs.MboxCtrlEnable|regs.MboxCtrlWindow|regs.MboxCtrlIRQArrival), nictest.Write(regs.IRQMask, 1)); err != nil {
		return err
	}
	for i := range 3 * nictest.SlotsPerBox {
		to.Sys.ArmIRQ(1)
		if err := from.Send(regs.PioFields{DstNode: 1}, []byte{byte(i)}); err != nil {
			return err
		}
		var stop drivers.Stop
		if err := to.Sys.Run(drivers.Forever, &stop); err != nil {
			return err
		}
		if len(stop.Fired) != 1 || stop.Fired[0].Kind != drivers.FiredIRQ {
			return fmt.Errorf("packet %d: the run stopped for %+v, expected the interrupt", i, stop)
		}
		s, err := to.Next(0)
		if err != nil {
			return fmt.Errorf("the interrupt arrived before the DMA write in front of it: %w", err)
		}
		if s.Payload[0] != byte(i) {
			return fmt.Errorf("packet %d holds %d", i, s.Payload[0])
		}
		if err := errors.Join(to.Free(0), to.Set(nictest.Write(regs.IRQStatus, 1)), nictest.Settle(to.Sys)); err != nil {
			return err
		}
	}
	return nil
}
