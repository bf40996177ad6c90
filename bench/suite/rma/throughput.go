package rma

import (
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Rates tests hold the rate of messages, and of bytes, to what it must be however late the
// memory answers; and what becomes of writes that fail while others are under way.
func Rates() (list []regress.Test) {
	for _, latency := range []int{4, 20, 50, 100, 150} {
		memory := fmt.Sprintf("memory that answers after %d cycles", latency)
		list = append(list,
			regress.Test{
				Name: fmt.Sprintf("rates/velo-%d", latency),
				Doc:  "12 M of the smallest packets per second, " + memory,
				Run:  packetRate(latency),
			},
			regress.Test{
				Name: fmt.Sprintf("rates/put-%d", latency), Tags: []string{"rma"},
				Doc: "puts at 95 % of the link's rate, " + memory,
				Run: byteRate(latency, regs.RMACommandPut),
			},
			regress.Test{
				Name: fmt.Sprintf("rates/get-%d", latency), Tags: []string{"rma"},
				Doc: "gets at 95 % of the link's rate, " + memory,
				Run: byteRate(latency, regs.RMACommandGet),
			})
	}
	return append(list,
		regress.Test{
			Name: "isolation/failed-slot", Tags: []string{"smoke"},
			Doc: "a bus error in a slot disables its mailbox; packets behind it are dropped and counted",
			Run: testFailedSlot,
		},
		regress.Test{
			Name: "isolation/failed-notification", Tags: []string{"rma"},
			Doc: "a bus error in a notification disables its ring; notifications behind it are dropped and counted",
			Run: testFailedNotification,
		})
}

func packetRate(latency int) func(*regress.T) error {
	return func(t *regress.T) error {
		if err := nictest.Reshape(t, nictest.LateMemory(latency)); err != nil {
			return err
		}
		nics, err := nictest.OpenNICs(t, 2)
		if err != nil {
			return err
		}
		const packets, perPacket = 300, 1_000_000 / 12 / regs.ClockPS // 12 M/s
		if err := errors.Join(nics[0].Enable(0, nictest.SlotsPerBox), nics[1].Enable(1, packets)); err != nil {
			return err
		}
		from := nics[0].Sys.Now()
		for i := range packets {
			if err := nics[0].Send(regs.PioFields{DstNode: 1, DstVPID: 1}, []byte{byte(i), byte(i >> 8), 0, 0, 0, 0, 0, 0}); err != nil {
				return err
			}
		}
		if err := nictest.Settle(nics[0].Sys); err != nil {
			return err
		}
		took := nics[0].Sys.Now() - from
		for i := range packets {
			s, err := nics[1].Next(1)
			if err != nil {
				return err
			}
			if got := int(s.Payload[0]) | int(s.Payload[1])<<8; got != i {
				return fmt.Errorf("packet %d holds %d", i, got)
			}
		}
		return nictest.Within(t, took, packets*perPacket+drivers.Cycle(latency)+100, fmt.Sprintf("%d packets", packets))
	}
}

func byteRate(latency int, command regs.RMACommand) func(*regress.T) error {
	return func(t *regress.T) error {
		if err := nictest.Reshape(t, nictest.LateMemory(latency)); err != nil {
			return err
		}
		const onLink = regs.RMAMTU/regs.FlitBytes + 3
		return nictest.ByteRate(t, command, func(fragments int) drivers.Cycle {
			return drivers.Cycle(fragments*onLink*100/95 + 3*latency + 200)
		})
	}
}

func testFailedSlot(t *regress.T) error {
	if err := nictest.Reshape(t, nictest.LateMemory(100)); err != nil {
		return err
	}
	nics, err := nictest.OpenNICs(t, 2)
	if err != nil {
		return err
	}
	const fit, bad, good, each = 3, 1, 2, 7
	from, to := nics[0], nics[1]
	if err := errors.Join(from.Enable(0, nictest.SlotsPerBox), to.Enable(bad, nictest.SlotsPerBox), to.Enable(good, nictest.SlotsPerBox),
		to.Set(nictest.Write(regs.MboxCtrl(bad), 0), nictest.Write(regs.MboxBase(bad), nictest.NodeMemory-fit*regs.SlotBytes),
			nictest.Write(regs.MboxCtrl(bad), regs.MboxCtrlEnable|regs.MboxCtrlWindow))); err != nil {
		return err
	}
	for i := range 2 * each {
		if err := from.Send(regs.PioFields{DstNode: 1, DstVPID: uint8(bad + i%2)}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if err := errors.Join(nictest.SettleRefused(to.Sys), to.Expect(regs.MboxWP(good), each), to.Expect(regs.MboxWP(bad), fit),
		to.Expect(regs.MboxCtrl(bad), regs.MboxCtrlWindow), to.Expect(regs.RXPackets, each+fit), to.Expect(regs.RXDropped, each-fit)); err != nil {
		return err
	}
	info, err := to.Dev.ReadReg(regs.ErrorInfo)
	if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); err != nil || got != regs.DropReasonDMAError {
		return errors.Join(err, fmt.Errorf("ERROR_INFO.reason is %v, expected %v", got, regs.DropReasonDMAError))
	}
	// Switched on again, where there is memory, it begins anew.
	if err := errors.Join(to.Enable(bad, nictest.SlotsPerBox), from.Send(regs.PioFields{DstNode: 1, DstVPID: bad}, []byte{99}), nictest.Settle(to.Sys), to.Expect(regs.MboxWP(bad), 1)); err != nil {
		return err
	}
	s, err := to.Next(bad)
	if err == nil && s.Payload[0] != 99 {
		err = fmt.Errorf("the first packet after that holds %d, expected 99", s.Payload[0])
	}
	return err
}

func testFailedNotification(t *regress.T) error {
	if err := nictest.Reshape(t, nictest.LateMemory(100)); err != nil {
		return err
	}
	nics, err := nictest.OpenRMA(t, 2)
	if err != nil {
		return err
	}
	const fit, all = 3, 7
	to := nics[1]
	d := regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: nictest.RawVPID, DstNode: 1}
	on, err := to.Dev.ReadReg(regs.NotiCtrl(nictest.RawVPID))
	if err == nil {
		err = to.Set(nictest.Write(regs.NotiCtrl(nictest.RawVPID), 0), nictest.Write(regs.NotiBase(nictest.RawVPID), nictest.NodeMemory-fit*regs.NotiBytes), nictest.Write(regs.NotiCtrl(nictest.RawVPID), on))
	}
	if err != nil {
		return err
	}
	for i := range all {
		if err := nics[0].Post(d, uint64(i), 0); err != nil {
			return err
		}
	}
	if err := nictest.SettleRefused(to.Sys); err != nil {
		return err
	}
	ctrl, err := to.Dev.ReadReg(regs.NotiCtrl(nictest.RawVPID))
	if err == nil && ctrl&regs.NotiCtrlEnable != 0 {
		err = errors.New("a ring whose notification memory has refused is still on")
	}
	off, err2 := to.Dev.ReadReg(regs.RMANotiOff)
	if rest, err3 := to.Dev.ReadReg(regs.RMAErrors); err2 == nil && off+rest != all-fit {
		err2 = errors.Join(err3, fmt.Errorf("%d discarded, %d refused, expected %d in all", off, rest, all-fit))
	}
	if err := errors.Join(err, err2, to.Expect(regs.NotiWP(nictest.RawVPID), fit)); err != nil {
		return err
	}
	if err := errors.Join(to.Set(nictest.Write(regs.NotiBase(nictest.RawVPID), nictest.RawRing), nictest.Write(regs.NotiCtrl(nictest.RawVPID), regs.NotiCtrlEnable)), nics[0].Post(d, 99, 0), nictest.Settle(to.Sys),
		to.Expect(regs.NotiWP(nictest.RawVPID), 1)); err != nil {
		return err
	}
	if word, _ := to.Notification(0); uint64(word) != 99 {
		return fmt.Errorf("the first notification after that holds %d, expected 99", uint64(word))
	}
	return nil
}
