package regress

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// throughput tests hold the rate of messages, and of bytes, to what it must be however late the
// memory answers; and what becomes of writes that fail while others are under way.
func throughput() (list []Test) {
	for _, latency := range []int{4, 20, 50, 100, 150} {
		memory := fmt.Sprintf("memory that answers after %d cycles", latency)
		list = append(list,
			Test{fmt.Sprintf("rates/velo-%d", latency), nil, "12 M of the smallest packets per second, " + memory, packetRate(latency)},
			Test{fmt.Sprintf("rates/put-%d", latency), []string{"rma"}, "puts at 95 % of the link's rate, " + memory, byteRate(latency, regs.RMACommandPut)},
			Test{fmt.Sprintf("rates/get-%d", latency), []string{"rma"}, "gets at 95 % of the link's rate, " + memory, byteRate(latency, regs.RMACommandGet)})
	}
	return append(list,
		Test{"isolation/failed-slot", []string{"smoke"}, "a slot that memory refuses switches its mailbox off; what was under way behind it is dropped and counted", testFailedSlot},
		Test{"isolation/failed-notification", []string{"rma"}, "the same with a notification ring", testFailedNotification})
}

func late(latency int) string {
	return fmt.Sprintf("host_wr_latency=%d&host_rd_latency=%d", latency, latency)
}

// within tells whether something ended in time, and how long it took.
func (t *T) within(took, most drivers.Cycle, what string) error {
	t.Notef("%d cycles, at most %d", took, most)
	if took > most {
		return fmt.Errorf("%s took %d cycles, expected at most %d", what, took, most)
	}
	return nil
}

func packetRate(latency int) func(*T) error {
	return func(t *T) error {
		if err := t.reshape(late(latency)); err != nil {
			return err
		}
		nics, err := t.openNICs(2)
		if err != nil {
			return err
		}
		const packets, perPacket = 300, 1_000_000 / 12 / regs.ClockPS // 12 M/s
		if err := errors.Join(nics[0].enable(0, slotsPerBox), nics[1].enable(1, packets)); err != nil {
			return err
		}
		from := nics[0].sys.Now()
		for i := range packets {
			if err := nics[0].send(regs.PioFields{DstNode: 1, DstVPID: 1}, []byte{byte(i), byte(i >> 8), 0, 0, 0, 0, 0, 0}); err != nil {
				return err
			}
		}
		if err := settle(nics[0].sys); err != nil {
			return err
		}
		took := nics[0].sys.Now() - from
		for i := range packets {
			s, err := nics[1].next(1)
			if err != nil {
				return err
			}
			if got := int(s.Payload[0]) | int(s.Payload[1])<<8; got != i {
				return fmt.Errorf("packet %d holds %d", i, got)
			}
		}
		return t.within(took, packets*perPacket+drivers.Cycle(latency)+100, fmt.Sprintf("%d packets", packets))
	}
}

func byteRate(latency int, command regs.RMACommand) func(*T) error {
	return func(t *T) error {
		if err := t.reshape(late(latency)); err != nil {
			return err
		}
		const onLink = regs.RMAMTU/regs.FlitBytes + 3
		return t.byteRate(command, func(fragments int) drivers.Cycle {
			return drivers.Cycle(fragments*onLink*100/95 + 3*latency + 200)
		})
	}
}

// byteRate puts or gets pages one behind the other, which may take as many cycles as their number
// of fragments says.
func (t *T) byteRate(command regs.RMACommand, most func(fragments int) drivers.Cycle) error {
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	mem, far := nics[0].dev.Memory(), nics[1].dev.Memory()
	const bytes4K, ops = 4096, 60
	t.Rand.Read(mem[rawData : rawData+bytes4K])
	t.Rand.Read(far[rawData : rawData+bytes4K])
	d := regs.RMADescFields{Command: command, NotiRequester: true, DstVPID: rawVPID, DstNode: 1, BytesMinus1: bytes4K - 1}
	var from drivers.Cycle
	for i := range ops + 1 { // the first finds where the pages lie
		if i == 1 {
			if err := settle(nics[0].sys); err != nil {
				return err
			}
			from = nics[0].sys.Now()
		}
		if err := nics[0].post(d, 0, bytes4K); err != nil {
			return err
		}
	}
	if err := settle(nics[0].sys); err != nil {
		return err
	}
	took := nics[0].sys.Now() - from
	to, source := far, mem
	if command == regs.RMACommandGet {
		to, source = mem, far
	}
	if !bytes.Equal(to[rawData+bytes4K:rawData+2*bytes4K], source[rawData:rawData+bytes4K]) {
		return errors.New("the bytes did not arrive as they were")
	}
	const fragments = ops * bytes4K / regs.RMAMTU
	return t.within(took, most(fragments), fmt.Sprintf("%d fragments", fragments))
}

// refuses lets all be done; memory must have refused something.
func refuses(sys drivers.Timed) error {
	var dma *drivers.DMAError
	err := settle(sys)
	for refused := 0; ; refused++ {
		if !errors.As(err, &dma) {
			if err == nil && refused == 0 {
				err = errors.New("memory refused nothing")
			}
			return err
		}
		err = settle(sys)
	}
}

func testFailedSlot(t *T) error {
	if err := t.reshape(late(100)); err != nil {
		return err
	}
	nics, err := t.openNICs(2)
	if err != nil {
		return err
	}
	const fit, bad, good, each = 3, 1, 2, 7
	from, to := nics[0], nics[1]
	if err := errors.Join(from.enable(0, slotsPerBox), to.enable(bad, slotsPerBox), to.enable(good, slotsPerBox),
		to.set(write{regs.MboxCtrl(bad), 0}, write{regs.MboxBase(bad), nodeMemory - fit*regs.SlotBytes},
			write{regs.MboxCtrl(bad), regs.MboxCtrlEnable | regs.MboxCtrlWindow})); err != nil {
		return err
	}
	for i := range 2 * each {
		if err := from.send(regs.PioFields{DstNode: 1, DstVPID: uint8(bad + i%2)}, []byte{byte(i)}); err != nil {
			return err
		}
	}
	if err := errors.Join(refuses(to.sys), to.expect(regs.MboxWP(good), each), to.expect(regs.MboxWP(bad), fit),
		to.expect(regs.MboxCtrl(bad), regs.MboxCtrlWindow), to.expect(regs.RXPackets, each+fit), to.expect(regs.RXDropped, each-fit)); err != nil {
		return err
	}
	info, err := to.dev.ReadReg(regs.ErrorInfo)
	if got := regs.DropReason(regs.ErrorInfoReason.Of(info)); err != nil || got != regs.DropReasonDMAError {
		return errors.Join(err, fmt.Errorf("ERROR_INFO.reason is %v, expected %v", got, regs.DropReasonDMAError))
	}
	// Switched on again, where there is memory, it begins anew.
	if err := errors.Join(to.enable(bad, slotsPerBox), from.send(regs.PioFields{DstNode: 1, DstVPID: bad}, []byte{99}), settle(to.sys), to.expect(regs.MboxWP(bad), 1)); err != nil {
		return err
	}
	s, err := to.next(bad)
	if err == nil && s.Payload[0] != 99 {
		err = fmt.Errorf("the first packet after that holds %d, expected 99", s.Payload[0])
	}
	return err
}

func testFailedNotification(t *T) error {
	if err := t.reshape(late(100)); err != nil {
		return err
	}
	nics, err := t.openRMA(2)
	if err != nil {
		return err
	}
	const fit, all = 3, 7
	to := nics[1]
	d := regs.RMADescFields{Command: regs.RMACommandNotiPut, NotiCompleter: true, DstVPID: rawVPID, DstNode: 1}
	on, err := to.dev.ReadReg(regs.NotiCtrl(rawVPID))
	if err == nil {
		err = to.set(write{regs.NotiCtrl(rawVPID), 0}, write{regs.NotiBase(rawVPID), nodeMemory - fit*regs.NotiBytes}, write{regs.NotiCtrl(rawVPID), on})
	}
	if err != nil {
		return err
	}
	for i := range all {
		if err := nics[0].post(d, uint64(i), 0); err != nil {
			return err
		}
	}
	if err := refuses(to.sys); err != nil {
		return err
	}
	ctrl, err := to.dev.ReadReg(regs.NotiCtrl(rawVPID))
	if err == nil && ctrl&regs.NotiCtrlEnable != 0 {
		err = errors.New("a ring whose notification memory has refused is still on")
	}
	off, err2 := to.dev.ReadReg(regs.RMANotiOff)
	if rest, err3 := to.dev.ReadReg(regs.RMAErrors); err2 == nil && off+rest != all-fit {
		err2 = errors.Join(err3, fmt.Errorf("%d discarded, %d refused, expected %d in all", off, rest, all-fit))
	}
	if err := errors.Join(err, err2, to.expect(regs.NotiWP(rawVPID), fit)); err != nil {
		return err
	}
	if err := errors.Join(to.set(write{regs.NotiBase(rawVPID), rawRing}, write{regs.NotiCtrl(rawVPID), regs.NotiCtrlEnable}), nics[0].post(d, 99, 0), settle(to.sys),
		to.expect(regs.NotiWP(rawVPID), 1)); err != nil {
		return err
	}
	if word, _ := to.noti(0); uint64(word) != 99 {
		return fmt.Errorf("the first notification after that holds %d, expected 99", uint64(word))
	}
	return nil
}
