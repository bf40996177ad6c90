package differ

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

// accesses notes what goes to and from memory.
type accesses struct{ seen []string }

// Trace implements drivers.TraceSink.
func (a *accesses) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		if e.Point == drivers.PointReadAddr || e.Point == drivers.PointWriteAddr {
			a.seen = append(a.seen, fmt.Sprintf("cycle %d, node %d, point %d, 0x%x", e.Cycle, e.Node, e.Point, e.Data>>3))
		}
	}
	return nil
}

// Tables 0 and 1 of the test; pages farPage apart share an entry of the TLB.
const (
	tlbPages   = 64
	tlbFarPage = 32
	tlbMemory  = dataAt + tlbPages<<12
)

// openTLB opens a node whose process 0 has pages of its own in table 0; register writes are posted
// with set.
func openTLB(t *testing.T, uri string, a *accesses) (m drivers.Timed, set func(off uint32, v uint64)) {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: tlbMemory, Trace: a})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	m = sys.(drivers.Timed)
	set = func(off uint32, v uint64) { m.PostReg(0, m.Now(), off, v) }
	for p := range uint64(tlbPages) {
		e := regs.ATUEntryFields{Rights: regs.ATURightsRw, Page: (dataAt >> 12) + p}
		binary.LittleEndian.PutUint64(m.Device(0).Memory()[tableAt+8*p:], uint64(e.Pack()))
	}
	set(regs.PDID(0), 1)
	set(regs.NotiBase(0), ringAt)
	set(regs.NotiSlots(0), ringSlots)
	set(regs.NotiCtrl(0), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
	set(regs.ATUBase(0), tableAt)
	set(regs.ATUPages(0), tlbPages)
	var stop drivers.Stop
	require.NoError(t, m.Run(start, &stop))
	return m, set
}

// TestFlushesBesideReads: a flush, of whatever it is, in every cycle around an access that looks at
// the TLB or reads the table. Which pages are known then shows in the accesses that follow.
func TestFlushesBesideReads(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	flush := func(op regs.ATUOp, page, vpid uint64) uint64 {
		return uint64(op)<<regs.ATUCommandCommand.LSB() | page<<regs.ATUCommandPage.LSB() | vpid<<regs.ATUCommandVPID.LSB()
	}
	flushes := []struct {
		name string
		off  uint32
		v    uint64
	}{
		{"the page", regs.ATUCommand, flush(regs.ATUOpFlushPage, tlbFarPage, 0)}, {"another page", regs.ATUCommand, flush(regs.ATUOpFlushPage, 5, 0)},
		{"a process", regs.ATUCommand, flush(regs.ATUOpFlushVPID, 0, 3)},
		{"nothing", regs.ATUCommand, flush(regs.ATUOpFence, 0, 0)}, {"another table", regs.ATUBase(1), tableAt}, {"its pages", regs.ATUPages(1), 0},
	}
	run := func(uri string) (seen []string, misses uint64) {
		a := &accesses{}
		m, set := openTLB(t, uri, a)
		get := func(page uint64) {
			postRMA(m, regs.RMADescFields{Command: regs.RMACommandPut, BytesMinus1: 7}, page<<12, 1<<12)
		}
		var stop drivers.Stop
		wait := func(n drivers.Cycle) { require.NoError(t, m.Run(m.Now()+n, &stop)) }
		for _, f := range flushes {
			for late := range drivers.Cycle(40) {
				a.seen = append(a.seen, fmt.Sprintf("%s, %d cycles late", f.name, late))
				for _, page := range []uint64{0, 1} {
					get(page)
					wait(200)
				}
				get(tlbFarPage) // reads the table, and takes the entry of page 0
				wait(late)
				set(f.off, f.v)
				wait(200)
				for _, page := range []uint64{0, tlbFarPage, 1} {
					get(page)
					wait(200)
				}
				// The same beside one that is found.
				get(tlbFarPage)
				wait(200)
				get(1)
				wait(late)
				set(f.off, f.v)
				wait(200)
			}
		}
		misses, err := m.Device(0).ReadReg(regs.ATUMisses)
		require.NoError(t, err)
		return a.seen, misses
	}
	rtl, rtlMisses := run("rtl:")
	model, modelMisses := run("model:")
	for i := range min(len(rtl), len(model)) {
		require.Equal(t, rtl[i], model[i], "after %v", rtl[max(0, i-12):i])
	}
	require.Len(t, model, len(rtl))
	require.Equal(t, rtlMisses, modelMisses)
}
