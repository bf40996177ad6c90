package nictest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// LateMemory is the part of a device that delays its memory by so many cycles.
func LateMemory(latency int) string {
	return fmt.Sprintf("host_wr_latency=%d&host_rd_latency=%d", latency, latency)
}

// Within tells whether something ended in time, and how long it took.
func Within(t *regress.T, took, most drivers.Cycle, what string) error {
	t.Notef("%d cycles, at most %d", took, most)
	if took > most {
		return fmt.Errorf("%s took %d cycles, expected at most %d", what, took, most)
	}
	return nil
}

// ByteRate puts or gets pages one behind the other, which may take as many cycles as their number
// of fragments says.
func ByteRate(t *regress.T, command regs.RMACommand, most func(fragments int) drivers.Cycle) error {
	nics, err := OpenRMA(t, 2)
	if err != nil {
		return err
	}
	mem, far := nics[0].Dev.Memory(), nics[1].Dev.Memory()
	const bytes4K, ops = 4096, 60
	t.Rand.Read(mem[RawData : RawData+bytes4K])
	t.Rand.Read(far[RawData : RawData+bytes4K])
	d := regs.RMADescFields{Command: command, NotiRequester: true, DstVPID: RawVPID, DstNode: 1, BytesMinus1: bytes4K - 1}
	var from drivers.Cycle
	for i := range ops + 1 { // the first finds where the pages lie
		if i == 1 {
			if err := Settle(nics[0].Sys); err != nil {
				return err
			}
			from = nics[0].Sys.Now()
		}
		if err := nics[0].Post(d, 0, bytes4K); err != nil {
			return err
		}
	}
	if err := Settle(nics[0].Sys); err != nil {
		return err
	}
	took := nics[0].Sys.Now() - from
	to, source := far, mem
	if command == regs.RMACommandGet {
		to, source = mem, far
	}
	if !bytes.Equal(to[RawData+bytes4K:RawData+2*bytes4K], source[RawData:RawData+bytes4K]) {
		return errors.New("the bytes did not arrive as they were")
	}
	const fragments = ops * bytes4K / regs.RMAMTU
	return Within(t, took, most(fragments), fmt.Sprintf("%d fragments", fragments))
}

// SettleRefused lets all be done; memory must have refused something.
func SettleRefused(sys drivers.Timed) error {
	var dma *drivers.DMAError
	err := Settle(sys)
	for refused := 0; ; refused++ {
		if !errors.As(err, &dma) {
			if err == nil && refused == 0 {
				err = errors.New("memory refused nothing")
			}
			return err
		}
		err = Settle(sys)
	}
}
