package regress

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/nicloop/nicloop/cosim/simregs"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// testStaleCompletions resets the function of node 1 while its reads are outstanding and puts from
// it at once, so the completions of the old reads arrive among those of the new ones. The old ones
// must be discarded.
func testStaleCompletions(t *T) error {
	if err := t.reshape("host_rd_latency=1000"); err != nil {
		return err
	}
	nics, err := openPCIe(t)
	if err != nil {
		return err
	}
	here, away := nics[0], nics[1]
	mem, far := away.dev.Memory(), here.dev.Memory()
	put := regs.RMADescFields{Command: regs.RMACommandPut, DstVPID: rawVPID, DstNode: 0, BytesMinus1: 1023}
	t.Rand.Read(mem[rawData : rawData+0x4000])
	// The first put fills the TLB, so that the others read data at once.
	if err := errors.Join(away.post(put, 0, 0x4000), settle(away.sys)); err != nil {
		return err
	}
	for i := range uint64(pcieLines - 1) {
		if err := away.post(put, i*0x400, 0x4000+i*0x400); err != nil {
			return err
		}
	}
	var stop drivers.Stop
	if err := away.sys.Run(away.sys.Now()+200+drivers.Cycle(t.Rand.Intn(400)), &stop); err != nil {
		return err
	}
	if err := away.dev.WriteReg(simregs.RootCtrl, simregs.RootReset); err != nil {
		return err
	}
	for resetting := uint64(simregs.RootReset); resetting != 0; {
		v, err := away.dev.ReadReg(simregs.RootCtrl)
		if err != nil {
			return err
		}
		resetting = v & simregs.RootReset
	}
	t.Rand.Read(mem[rawData : rawData+0x4000])
	if err := errors.Join(away.enableRMA(), away.post(put, 0x2000, 0x6000), settle(away.sys)); err != nil {
		return err
	}
	got, want := far[rawData+0x6000:rawData+0x6400], mem[rawData+0x2000:rawData+0x2400]
	if !bytes.Equal(got, want) {
		at := firstOther(got, want)
		return fmt.Errorf("byte %d of a put after the reset is 0x%02x, expected 0x%02x: data of a read from before the reset", at, got[at], want[at])
	}
	counted, err := away.dev.ReadReg(simregs.RootFailed)
	if err != nil {
		return err
	}
	t.Notef("%d completions discarded", counted>>32)
	if counted>>32 == 0 {
		return errors.New("no completion of a read from before the reset arrived after it")
	}
	return nil
}
