package replay

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
)

func target(t *testing.T, latency drivers.Cycle, size int) drivers.Timed {
	sys, err := ideal.New(drivers.Options{Nodes: 2, MemoryBytes: size}, latency, 8)
	require.NoError(t, err)
	return sys
}

func TestOnto(t *testing.T) {
	log, _ := record(t, *seed, 500)
	require.NoError(t, Onto(log, target(t, 20, memorySize)))

	var d *DivergenceError
	require.ErrorAs(t, Onto(log, target(t, 21, memorySize)), &d)
	require.NotEqual(t, d.Expected, d.Found)
	require.Contains(t, d.Expected, dumpLine(t, log, d.Index))
	require.ErrorAs(t, Onto(log, target(t, 20, 64)), &d, "smaller memory")

	var f *translog.FormatError
	require.ErrorAs(t, Onto(log[:len(log)/2], target(t, 20, memorySize)), &f)
	three, err := ideal.New(drivers.Options{Nodes: 3}, 20, 8)
	require.NoError(t, err)
	require.ErrorIs(t, Onto(log, three), drivers.ErrConfig)
}

// Memory is compared too, where nothing else tells.
func TestOntoComparesMemory(t *testing.T) {
	var buf bytes.Buffer
	rec := translog.RecordTimed(target(t, 20, memorySize), &buf)
	_, err := rec.Watch(1, 0, 64)
	require.NoError(t, err)
	rec.PostReg(0, 0, regs.PDID(0), 1)
	rec.PostReg(1, 0, regs.PDID(0), 1)
	rec.PostReg(1, 0, regs.MboxSlots(0), 1)
	rec.PostReg(1, 0, regs.MboxCtrl(0), regs.MboxCtrlEnable)
	rec.PostReg(0, 0, regs.MboxCtrl(0), regs.MboxCtrlWindow)
	rec.PostPIO(0, 100, uint32(regs.PioFields{Length: 5, DstNode: 1}.Pack()), []byte("hello"))
	var stop drivers.Stop
	require.NoError(t, rec.Run(drivers.Forever, &stop))
	require.NoError(t, rec.Close())
	log := buf.Bytes()
	require.NoError(t, Onto(log, target(t, 20, memorySize)))

	at := bytes.LastIndex(log, []byte("hello")) // in the memory, not in the line
	log[at] = 'j'
	var d *DivergenceError
	require.ErrorAs(t, Onto(log, target(t, 20, memorySize)), &d)
	require.Contains(t, d.Expected, "6a656c6c6f")
	require.Contains(t, d.Found, "68656c6c6f")
}
