package bus

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/nictest"
	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// testStaleCompletions resets the function of node 1 while its reads are outstanding and puts from
// it at once, so the completions of the old reads arrive among those of the new ones. The old ones
// must be discarded.
func testStaleCompletions(t *regress.T) error {
	if err := nictest.Reshape(t, "host_rd_latency=1000"); err != nil {
		return err
	}
	nics, err := openPCIe(t)
	if err != nil {
		return err
	}
	here, away := nics[0], nics[1]
	mem, far := away.Dev.Memory(), here.Dev.Memory()
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: nictest.RawVPID, DstNode: 0, BytesMinus1: 1023}
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+0x4000])
	// The first put fills the TLB, so that the others read data at once.
	if err := errors.Join(away.Post(put, 0, 0x4000), nictest.Settle(away.Sys)); err != nil {
		return err
	}
	for i := range uint64(pcieLines - 1) {
		if err := away.Post(put, i*0x400, 0x4000+i*0x400); err != nil {
			return err
		}
	}
	var stop drivers.Stop
	if err := away.Sys.Run(away.Sys.Now()+200+drivers.Cycle(t.Rand.Intn(400)), &stop); err != nil {
		return err
	}
	if err := away.Dev.WriteReg(simregs.RootCtrl, simregs.RootReset); err != nil {
		return err
	}
	for resetting := uint64(simregs.RootReset); resetting != 0; {
		v, err := away.Dev.ReadReg(simregs.RootCtrl)
		if err != nil {
			return err
		}
		resetting = v & simregs.RootReset
	}
	t.Rand.Read(mem[nictest.RawData : nictest.RawData+0x4000])
	if err := errors.Join(away.EnableRMA(), away.Post(put, 0x2000, 0x6000), nictest.Settle(away.Sys)); err != nil {
		return err
	}
	got, want := far[nictest.RawData+0x6000:nictest.RawData+0x6400], mem[nictest.RawData+0x2000:nictest.RawData+0x2400]
	if !bytes.Equal(got, want) {
		at := firstOther(got, want)
		return fmt.Errorf("byte %d of a put after the reset is 0x%02x, expected 0x%02x: data of a read from before the reset", at, got[at], want[at])
	}
	counted, err := away.Dev.ReadReg(simregs.RootFailed)
	if err != nil {
		return err
	}
	t.Notef("%d completions discarded", counted>>32)
	if counted>>32 == 0 {
		return errors.New("no completion of a read from before the reset arrived after it")
	}
	return nil
}
