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

func testRMAInterrupts(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	to := nics[1]
	const told = 1 << (18 + nictest.RawVPID)
	d := regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1}
	on := uint64(regs.NotiCtrlEnable | regs.NotiCtrlWindow)
	if err := errors.Join(to.Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), 1), nictest.Write(regs.NotiCtrl(nictest.RawVPID), on|regs.NotiCtrlIRQ),
		nictest.Write(regs.IRQMask, told)), nics[0].Post(d, 1, 0), to.Interrupted(true), to.Expect(regs.IRQStatus, told)); err != nil {
		return fmt.Errorf("a notification: %w", err)
	}
	// The ring has one entry: what comes next stalls, which is another cause, masked and then not.
	if err := errors.Join(to.Set(nictest.Write(regs.IRQStatus, told)), nics[0].Post(d, 2, 0), to.Interrupted(false), to.Expect(regs.IRQStatus, regs.IRQStatusStall),
		to.Set(nictest.Write(regs.IRQMask, regs.IRQStatusStall)), to.Interrupted(true), to.Set(nictest.Write(regs.IRQStatus, regs.IRQStatusStall)), to.Interrupted(false)); err != nil {
		return fmt.Errorf("a full ring: %w", err)
	}
	if err := errors.Join(to.Set(nictest.Write(regs.IRQMask, told), nictest.Write(regs.NotiRP(nictest.RawVPID), 1)), to.Interrupted(true), to.Set(nictest.Write(regs.IRQStatus, told)),
		to.Expect(regs.NotiWP(nictest.RawVPID), 2)); err != nil {
		return fmt.Errorf("the notification that waited: %w", err)
	}
	// A ring that does not want it raises nothing.
	if err := errors.Join(to.Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), on), nictest.Write(regs.NotiRP(nictest.RawVPID), 2)), nics[0].Post(d, 3, 0), to.Interrupted(false),
		to.Expect(regs.NotiWP(nictest.RawVPID), 3), to.Expect(regs.IRQStatus, 0)); err != nil {
		return fmt.Errorf("a ring without: %w", err)
	}
	// A read pointer that cannot be is an error.
	return errors.Join(to.Set(nictest.Write(regs.IRQMask, regs.IRQStatusError), nictest.Write(regs.NotiRP(nictest.RawVPID), 99)), to.Interrupted(true), to.Expect(regs.IRQStatus, regs.IRQStatusError),
		to.Expect(regs.RPRefused, 1), to.Set(nictest.Write(regs.IRQStatus, regs.IRQStatusError)), to.Interrupted(false))
}

// What a target can refuse a request for.
const (
	refusedOff    = 6 // a process of the same domain without a ring
	refusedOther  = 7 // one of another domain
	refusedPage   = nictest.RawPages - 2
	refusedRights = nictest.RawPages - 1
)

// A refusal is an operation that node 1 refuses, and the reason that node 0 is told.
type refusal struct {
	command regs.RMACommand
	vpid    uint8
	at      uint64
	want    regs.RMAError
}

// refusals are all operations with every reason for which a target refuses them, four times, in an
// order drawn at random.
func refusals(t *regress.T) (list []refusal) {
	for _, c := range []regs.RMACommand{
		regs.RMACommandPut, regs.RMACommandGet, regs.RMACommandImmPut, regs.RMACommandNotiPut, regs.RMACommandFCAA,
	} {
		list = append(list, refusal{c, refusedOff, 0, regs.RMAErrorWindowOff}, refusal{c, refusedOther, 0, regs.RMAErrorDomain})
		if c != regs.RMACommandNotiPut {
			list = append(list, refusal{c, nictest.RawVPID, refusedPage << 12, regs.RMAErrorTranslation},
				refusal{c, nictest.RawVPID, refusedRights << 12, regs.RMAErrorOwner},
				refusal{c, nictest.RawVPID, nictest.RawPages << 12, regs.RMAErrorBounds})
		}
	}
	for range 3 {
		list = append(list, list[:18]...)
	}
	t.Rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return list
}

// setUpRefusals gives node 1 pages and processes that refuse, and node 0 a ring of one entry.
func setUpRefusals(nics []*nictest.NIC, far []byte) error {
	binary.LittleEndian.PutUint64(far[nictest.RawTable+8*refusedPage:], 0)
	closed := regs.ATUEntryFields{
		Rights: regs.ATURightsRw, VPID: refusedOff, Page: nics[1].Address(nictest.RawData) >> 12,
	}.Pack()
	binary.LittleEndian.PutUint64(far[nictest.RawTable+8*refusedRights:], uint64(closed))
	return errors.Join(
		nics[1].Set(nictest.Write(regs.PDID(refusedOff), nictest.RawDomain),
			nictest.Write(regs.PDID(refusedOther), nictest.RawDomain+1), nictest.Write(regs.NotiSlots(refusedOther), 4),
			nictest.Write(regs.NotiCtrl(refusedOther), regs.NotiCtrlEnable)),
		nics[0].Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiSlots(nictest.RawVPID), 1),
			nictest.Write(regs.NotiCtrl(nictest.RawVPID), regs.NotiCtrlEnable|regs.NotiCtrlWindow)))
}

// toldRefusals counts the refusals that a node is told, by command and error.
type toldRefusals struct {
	nic   *nictest.NIC
	taken int
	seen  map[[2]int]int
}

// take waits until the node is quiet and takes the next notification from its ring of one entry.
func (x *toldRefusals) take() error {
	if _, err := nictest.Quiesce(x.nic.Sys); err != nil {
		return err
	}
	_, n := x.nic.Notification(0)
	if n.Seq != uint16(x.taken+1) || n.Error == regs.RMAErrorNone {
		return fmt.Errorf("notification %d is %+v, expected a refusal", x.taken, n)
	}
	x.seen[[2]int{int(n.Command), int(n.Error)}]++
	x.taken++
	return x.nic.Dev.WriteReg(regs.NotiRP(nictest.RawVPID), uint64(x.taken))
}

// compare tells of refusals that were told too often or not often enough.
func (x *toldRefusals) compare(list []refusal) error {
	for _, r := range list {
		x.seen[[2]int{int(r.command), int(r.want)}]--
	}
	for k, n := range x.seen {
		if n != 0 {
			return fmt.Errorf("%v notified for %v: %d too many", regs.RMAError(k[1]), regs.RMACommand(k[0]), n)
		}
	}
	return nil
}

// testRefused: the ring of the origin has one entry, so that answers wait for each other in the
// network.
func testRefused(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	far := nics[1].Dev.Memory()
	t.Rand.Read(far[nictest.RawData : nictest.RawData+nictest.RawPages<<12])
	if err := setUpRefusals(nics, far); err != nil {
		return err
	}
	before := bytes.Clone(far)
	list := refusals(t)
	told := &toldRefusals{nic: nics[0], seen: map[[2]int]int{}}
	for i, r := range list {
		d := regs.RMADescFields{Command: r.command, DstVPID: r.vpid, DstNode: 1, BytesMinus1: 7, Tag: uint16(i)}
		from, to := uint64(0), r.at
		if r.command == regs.RMACommandGet {
			from, to = r.at, 0
		}
		if err := nics[0].Post(d, from, to); err != nil {
			return err
		}
		for i%8 == 7 && told.taken <= i { // eight outstanding, and room for one
			if err := told.take(); err != nil {
				return err
			}
		}
	}
	for told.taken < len(list) {
		if err := told.take(); err != nil {
			return err
		}
	}
	if err := told.compare(list); err != nil {
		return err
	}
	if !bytes.Equal(before, far) {
		return errors.New("what was refused has changed memory")
	}
	return errors.Join(nictest.Settle(nics[0].Sys), nics[0].Expect(regs.NotiWP(nictest.RawVPID), uint64(len(list))))
}

// testNVMRanges: puts to four ranges in turn. Each takes what its rate says, whatever the others
// do.
func testNVMRanges(t *regress.T) error {
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := to.Require(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	const size, buffer = 4096, 256
	took := make([]drivers.Cycle, regs.NVMRanges+1)
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 1, BytesMinus1: size - 1}
	for i := range uint8(regs.NVMRanges) {
		at := uint64(nictest.RawData) + uint64(i)*size
		if err := to.Set(nictest.Write(regs.NVMBase(i), at), nictest.Write(regs.NVMEnd(i), at+size), nictest.Write(regs.NVMRate(i), 65536>>(i+1)), nictest.Write(regs.NVMDepth(i), buffer)); err != nil {
			return err
		}
	}
	for i := range took { // the last one is behind all ranges
		begin := nics[0].Sys.Now()
		if err := errors.Join(nics[0].Post(d, 0, uint64(i)*size), nictest.Settle(nics[0].Sys)); err != nil {
			return err
		}
		took[i] = nics[0].Sys.Now() - begin
	}
	for i := range uint8(regs.NVMRanges) {
		want := drivers.Cycle(size/8) << (i + 1)
		if took[i] < want-buffer || took[i] > want+want/8+200 {
			return fmt.Errorf("range %d: %d bytes took %d cycles, expected about %d", i, size, took[i], want)
		}
		stall, err := to.Dev.ReadReg(regs.NVMStall(i))
		if err == nil && stall == 0 {
			err = fmt.Errorf("NVM_STALL[%d] is 0, expected writes to have waited", i)
		}
		if err := errors.Join(err, to.Expect(regs.NVMBytes(i), size), to.Expect(regs.NVMLevel(i), 0)); err != nil {
			return err
		}
	}
	if took[regs.NVMRanges] > took[0] {
		return fmt.Errorf("%d bytes behind all ranges took %d cycles, in one of half the rate %d", size, took[regs.NVMRanges], took[0])
	}
	refused := uint64(0)
	// What only says something is not written, and a range whose end is not above its base is off.
	for i := range uint8(regs.NVMRanges) {
		for _, off := range []uint32{regs.NVMLevel(i), regs.NVMBytes(i), regs.NVMStall(i)} {
			if err := to.Set(nictest.Write(off, 1)); !to.WasRefused(err) {
				return fmt.Errorf("%s was written: %w", regs.Describe(off), errors.Join(err, errors.ErrUnsupported))
			}
			refused++
			if err := to.Expect(regs.BadAccess, refused); err != nil {
				return err
			}
		}
		if err := to.Set(nictest.Write(regs.NVMEnd(i), uint64(nictest.RawData)+uint64(i)*size)); err != nil {
			return err
		}
	}
	begin := nics[0].Sys.Now()
	if err := errors.Join(nics[0].Post(d, 0, 3*size), nictest.Settle(nics[0].Sys)); err != nil {
		return err
	}
	if now := nics[0].Sys.Now() - begin; now > took[0] {
		return fmt.Errorf("a range that is off: %d bytes took %d cycles", size, now)
	}
	return to.Expect(regs.NVMBytes(3), size)
}
