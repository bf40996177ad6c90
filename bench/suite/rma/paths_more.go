package regress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// interrupted runs until the interrupt of a node, which must come or not.
func (n *nic) interrupted(want bool) error {
	n.sys.ArmIRQ(n.node)
	var stop drivers.Stop
	if err := n.sys.Run(drivers.Forever, &stop); err != nil {
		return err
	}
	came := len(stop.Fired) > 0 && stop.Fired[0].Kind == drivers.FiredIRQ && stop.Fired[0].Node == n.node // more than once, if it was armed for nothing before
	if came != want || !came && len(stop.Fired) > 0 {
		return fmt.Errorf("node %d: the run stopped for %+v, expected the interrupt: %v", n.node, stop.Fired, want)
	}
	return nil
}

func testRMAInterrupts(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	to := nics[1]
	const told = 1 << (18 + rawVPID)
	d := regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1}
	on := uint64(regs.NotiCtrlEnable | regs.NotiCtrlWindow)
	if err := errors.Join(to.set(write{regs.NotiCtrl(rawVPID), 0}, write{regs.NotiSlots(rawVPID), 1}, write{regs.NotiCtrl(rawVPID), on | regs.NotiCtrlIRQ},
		write{regs.IRQMask, told}), nics[0].post(d, 1, 0), to.interrupted(true), to.expect(regs.IRQStatus, told)); err != nil {
		return fmt.Errorf("a notification: %w", err)
	}
	// The ring has one entry: what comes next stalls, which is another cause, masked and then not.
	if err := errors.Join(to.set(write{regs.IRQStatus, told}), nics[0].post(d, 2, 0), to.interrupted(false), to.expect(regs.IRQStatus, regs.IRQStatusStall),
		to.set(write{regs.IRQMask, regs.IRQStatusStall}), to.interrupted(true), to.set(write{regs.IRQStatus, regs.IRQStatusStall}), to.interrupted(false)); err != nil {
		return fmt.Errorf("a full ring: %w", err)
	}
	if err := errors.Join(to.set(write{regs.IRQMask, told}, write{regs.NotiRP(rawVPID), 1}), to.interrupted(true), to.set(write{regs.IRQStatus, told}),
		to.expect(regs.NotiWP(rawVPID), 2)); err != nil {
		return fmt.Errorf("the notification that waited: %w", err)
	}
	// A ring that does not want it raises nothing.
	if err := errors.Join(to.set(write{regs.NotiCtrl(rawVPID), on}, write{regs.NotiRP(rawVPID), 2}), nics[0].post(d, 3, 0), to.interrupted(false),
		to.expect(regs.NotiWP(rawVPID), 3), to.expect(regs.IRQStatus, 0)); err != nil {
		return fmt.Errorf("a ring without: %w", err)
	}
	// A read pointer that cannot be is an error.
	return errors.Join(to.set(write{regs.IRQMask, regs.IRQStatusError}, write{regs.NotiRP(rawVPID), 99}), to.interrupted(true), to.expect(regs.IRQStatus, regs.IRQStatusError),
		to.expect(regs.RPRefused, 1), to.set(write{regs.IRQStatus, regs.IRQStatusError}), to.interrupted(false))
}

// What a target can refuse a request for.
const (
	refusedOff    = 6 // a process of the same domain without a ring
	refusedOther  = 7 // one of another domain
	refusedPage   = rawPages - 2
	refusedRights = rawPages - 1
)

// testRefused: the ring of the origin has few places at first, so that answers wait for each other
// in the network.
func testRefused(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	far := nics[1].dev.Memory()
	t.Rand.Read(far[rawData : rawData+rawPages<<12])
	binary.LittleEndian.PutUint64(far[rawTable+8*refusedPage:], 0)
	closed := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: refusedOff, Page: nics[1].address(rawData) >> 12}.Pack()
	binary.LittleEndian.PutUint64(far[rawTable+8*refusedRights:], uint64(closed))
	if err := errors.Join(nics[1].set(write{regs.PDID(refusedOff), rawDomain}, write{regs.PDID(refusedOther), rawDomain + 1}, write{regs.NotiSlots(refusedOther), 4},
		write{regs.NotiCtrl(refusedOther), regs.NotiCtrlEnable}), nics[0].set(write{regs.NotiCtrl(rawVPID), 0}, write{regs.NotiSlots(rawVPID), 1},
		write{regs.NotiCtrl(rawVPID), regs.NotiCtrlEnable | regs.NotiCtrlWindow})); err != nil {
		return err
	}
	before := bytes.Clone(far)
	type refusal struct {
		command regs.RMACommand
		vpid    uint8
		at      uint64
		want    regs.RMAError
	}
	var list []refusal
	for _, c := range []regs.RMACommand{regs.RMACommandPut, regs.RMACommandGet, regs.RMACommandImmPut, regs.RMACommandNotiPut, regs.RMACommandFCAA} {
		list = append(list, refusal{c, refusedOff, 0, regs.RMAErrorWindowOff}, refusal{c, refusedOther, 0, regs.RMAErrorDomain})
		if c != regs.RMACommandNotiPut {
			list = append(list, refusal{c, rawVPID, refusedPage << 12, regs.RMAErrorTranslation}, refusal{c, rawVPID, refusedRights << 12, regs.RMAErrorOwner},
				refusal{c, rawVPID, rawPages << 12, regs.RMAErrorBounds})
		}
	}
	for range 3 {
		list = append(list, list[:18]...)
	}
	t.Rand.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	seen := map[[2]int]int{}
	take := func(i int) error {
		_, n := nics[0].noti(0) // the ring has one entry
		if n.Seq != uint16(i+1) || n.Error == regs.RMAErrorNone {
			return fmt.Errorf("notification %d is %+v, expected a refusal", i, n)
		}
		seen[[2]int{int(n.Command), int(n.Error)}]++
		return nics[0].dev.WriteReg(regs.NotiRP(rawVPID), uint64(i+1))
	}
	taken := 0
	for i, r := range list {
		d := regs.RMADescFields{Command: r.command, DstVPID: r.vpid, DstNode: 1, BytesMinus1: 7, Tag: uint16(i)}
		from, to := uint64(0), r.at
		if r.command == regs.RMACommandGet {
			from, to = r.at, 0
		}
		if err := nics[0].post(d, from, to); err != nil {
			return err
		}
		if i%8 < 7 { // eight under way, and room for one
			continue
		}
		for range 8 {
			if _, err := quiesce(nics[0].sys); err != nil {
				return err
			}
			if err := take(taken); err != nil {
				return err
			}
			taken++
		}
	}
	for ; taken < len(list); taken++ {
		if _, err := quiesce(nics[0].sys); err != nil {
			return err
		}
		if err := take(taken); err != nil {
			return err
		}
	}
	for _, r := range list {
		seen[[2]int{int(r.command), int(r.want)}]--
	}
	for k, n := range seen {
		if n != 0 {
			return fmt.Errorf("%v told for %v: %d too many", regs.RMAError(k[1]), regs.RMACommand(k[0]), n)
		}
	}
	if !bytes.Equal(before, far) {
		return errors.New("what was refused has changed memory")
	}
	return errors.Join(settle(nics[0].sys), nics[0].expect(regs.NotiWP(rawVPID), uint64(len(list))))
}

// testNVMRanges: puts to four ranges in turn. Each takes what its rate says, whatever the others
// do.
func testNVMRanges(t *T) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	to := nics[1]
	if err := to.needs(regs.NVMRate(0), "a write limiter"); err != nil {
		return err
	}
	const size, buffer = 4096, 256
	took := make([]drivers.Cycle, regs.NVMRanges+1)
	d := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: rawVPID, DstNode: 1, BytesMinus1: size - 1}
	for i := range uint8(regs.NVMRanges) {
		at := uint64(rawData) + uint64(i)*size
		if err := to.set(write{regs.NVMBase(i), at}, write{regs.NVMEnd(i), at + size}, write{regs.NVMRate(i), 65536 >> (i + 1)}, write{regs.NVMDepth(i), buffer}); err != nil {
			return err
		}
	}
	for i := range took { // the last one is behind all ranges
		begin := nics[0].sys.Now()
		if err := errors.Join(nics[0].post(d, 0, uint64(i)*size), settle(nics[0].sys)); err != nil {
			return err
		}
		took[i] = nics[0].sys.Now() - begin
	}
	for i := range uint8(regs.NVMRanges) {
		want := drivers.Cycle(size/8) << (i + 1)
		if took[i] < want-buffer || took[i] > want+want/8+200 {
			return fmt.Errorf("range %d: %d bytes took %d cycles, expected about %d", i, size, took[i], want)
		}
		stall, err := to.dev.ReadReg(regs.NVMStall(i))
		if err == nil && stall == 0 {
			err = fmt.Errorf("NVM_STALL[%d] is 0, expected writes to have waited", i)
		}
		if err := errors.Join(err, to.expect(regs.NVMBytes(i), size), to.expect(regs.NVMLevel(i), 0)); err != nil {
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
			if err := to.set(write{off, 1}); !to.refused(err) {
				return fmt.Errorf("%s was written: %w", regs.Describe(off), errors.Join(err, errors.ErrUnsupported))
			}
			refused++
			if err := to.expect(regs.BadAccess, refused); err != nil {
				return err
			}
		}
		if err := to.set(write{regs.NVMEnd(i), uint64(rawData) + uint64(i)*size}); err != nil {
			return err
		}
	}
	begin := nics[0].sys.Now()
	if err := errors.Join(nics[0].post(d, 0, 3*size), settle(nics[0].sys)); err != nil {
		return err
	}
	if now := nics[0].sys.Now() - begin; now > took[0] {
		return fmt.Errorf("a range that is off: %d bytes took %d cycles", size, now)
	}
	return to.expect(regs.NVMBytes(3), size)
}
