package rtl

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

func openTimed(t *testing.T, uri string, opt drivers.Options) drivers.Timed {
	t.Helper()
	if opt.Progress == nil {
		opt.Progress = func(what string) { t.Log(what) }
	}
	sys, err := registry.Open(context.Background(), uri, opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys.(drivers.Timed)
}

// openMailbox assigns a ring of slots at base to vpid of node and enables its window.
func openMailbox(sys drivers.Timed, node int, vpid uint8, base, slots uint64) {
	sys.PostReg(node, 0, regs.PDID(vpid), 1)
	sys.PostReg(node, 0, regs.MboxBase(vpid), base)
	sys.PostReg(node, 0, regs.MboxSlots(vpid), slots)
	sys.PostReg(node, 0, regs.MboxCtrl(vpid), 3) // enable, window
}

func TestSendBetweenNodes(t *testing.T) {
	sys := openTimed(t, "rtl:", drivers.Options{Nodes: 2})
	hash, err := sys.Device(1).ReadReg(regs.DescHash)
	require.NoError(t, err)
	require.Equal(t, regs.DescHashValue, hash, "the register, the package and the handshake agree")

	openMailbox(sys, 0, 3, 0x1000, 16)
	openMailbox(sys, 1, 5, 0x2000, 16)
	w, err := sys.Watch(1, 0x2000, 16*64)
	require.NoError(t, err)
	sys.Arm(w)
	payload := []byte("the quick brown fox jumps over the lazy dog")
	off := regs.PioFields{Length: uint8(len(payload)), DstNode: 1, DstVPID: 5, SrcVPID: 3}.Pack()
	sys.PostPIO(0, 100, uint32(off), payload)

	var stop drivers.Stop
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredWatch, Node: 1, Watch: w}}, stop.Fired)
	require.Greater(t, stop.Now, drivers.Cycle(100))
	require.Equal(t, uint64(1), sys.PIOTaken(0, 3))
	slot := sys.Device(1).Memory()[0x2000:0x2040]
	require.Equal(t, payload, slot[:len(payload)])
	head := regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:]))
	require.Equal(t, regs.SlotFields{SrcVPID: 3, SrcNode: 0, Length: uint16(len(payload)), Seq: 1}, head.Fields())
	t.Logf("slot written %d cycles after the line was posted", stop.Now-100)

	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Quiet)
	require.True(t, stop.Idle)
	require.Empty(t, stop.Fired)
}

func send(sys drivers.Timed, from, to int, vpid uint8, payload []byte) {
	off := regs.PioFields{Length: uint8(len(payload)), DstNode: uint8(to), DstVPID: vpid, SrcVPID: vpid}.Pack()
	sys.PostPIO(from, sys.Now(), uint32(off), payload)
}

// TestFullMailbox: a full mailbox stalls packets to it, which is quiet but not idle, raises the
// interrupt, and resumes when the read pointer advances.
func TestFullMailbox(t *testing.T) {
	sys := openTimed(t, "rtl:", drivers.Options{Nodes: 2})
	openMailbox(sys, 0, 1, 0x1000, 4)
	openMailbox(sys, 1, 1, 0x1000, 4)
	sys.PostReg(1, 0, regs.IRQMask, regs.IRQStatusStall)
	var stop drivers.Stop
	require.NoError(t, sys.Run(100, &stop))
	const n = regs.VELOLines
	for i := range n {
		send(sys, 0, 1, 1, append([]byte{byte(i)}, make([]byte, 55)...))
	}
	sys.ArmIRQ(1)
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ, Node: 1}}, stop.Fired)
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	require.True(t, stop.Quiet)
	require.False(t, stop.Idle)
	require.Less(t, sys.PIOTaken(0, 1), uint64(n))
	wp, err := sys.Device(1).ReadReg(regs.MboxWP(1))
	require.NoError(t, err, "registers stay accessible")
	require.Equal(t, uint64(4), wp)

	for rp := uint64(1); !stop.Idle; rp++ {
		require.LessOrEqual(t, rp, uint64(n))
		require.NoError(t, sys.Device(1).WriteReg(regs.MboxRP(1), rp))
		require.NoError(t, sys.Run(drivers.Forever, &stop))
	}
	require.Equal(t, uint64(n), sys.PIOTaken(0, 1))
	wp, err = sys.Device(1).ReadReg(regs.MboxWP(1))
	require.NoError(t, err)
	require.Equal(t, uint64(n), wp)
}

func TestBadAccesses(t *testing.T) {
	sys := openTimed(t, "rtl:", drivers.Options{Nodes: 2})
	var bus *drivers.BusError
	_, err := sys.Device(0).ReadReg(0x9000)
	require.ErrorAs(t, err, &bus)
	var stop drivers.Stop
	require.NoError(t, sys.Device(0).WriteReg(regs.Magic, 1))
	require.ErrorAs(t, sys.Run(100, &stop), &bus, "read-only")
	send(sys, 0, 1, 3, []byte{1})
	require.ErrorAs(t, sys.Run(200, &stop), &bus, "the window is off")
	require.Equal(t, "pio", bus.Port)

	// A ring outside memory: the NIC counts the error and reports it to the host.
	openMailbox(sys, 0, 3, 1<<40, 4)
	openMailbox(sys, 1, 3, 1<<40, 4)
	require.NoError(t, sys.Run(300, &stop))
	send(sys, 0, 1, 3, []byte{1})
	var dma *drivers.DMAError
	require.ErrorAs(t, sys.Run(drivers.Forever, &stop), &dma)
	require.Equal(t, uint64(1<<40), dma.Addr)
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	dropped, err := sys.Device(1).ReadReg(regs.RXDropped)
	require.NoError(t, err)
	require.Equal(t, uint64(1), dropped)
}

type traceSink []drivers.TraceEvent

func (k *traceSink) Trace(events []drivers.TraceEvent) error {
	*k = append(*k, events...)
	return nil
}

// One packet, traced at every point of its path.
func TestTrace(t *testing.T) {
	var seen traceSink
	sys := openTimed(t, "rtl:", drivers.Options{Nodes: 2, Trace: &seen})
	openMailbox(sys, 0, 2, 0x1000, 4)
	openMailbox(sys, 1, 2, 0x1000, 4)
	var stop drivers.Stop
	require.NoError(t, sys.Run(100, &stop))
	send(sys, 0, 1, 2, make([]byte, 56))
	require.NoError(t, sys.Run(drivers.Forever, &stop))
	points := map[uint8]int{}
	for i, e := range seen {
		points[e.Point]++
		if i > 0 {
			require.LessOrEqual(t, seen[i-1].Cycle, e.Cycle)
		}
	}
	require.Equal(t, map[uint8]int{
		drivers.PointPIO: 1, drivers.PointInject: 9, drivers.PointLink1: 9, drivers.PointEject: 9, drivers.PointSlot: 1,
		drivers.PointPIOAddr: 1, drivers.PointPIOLast: 1, drivers.PointWriteAddr: 1, drivers.PointWriteLast: 1, drivers.PointWriteDone: 1,
		drivers.PointArrive1 + 1: 1,
	}, points)
}

// TestWavesBeginWhereAsked: time in a wave file corresponds to cycles, so that a cycle of a log or
// a verdict can be found.
func TestWavesBeginWhereAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.fst")
	sys := openTimed(t, "rtl:", drivers.Options{Nodes: 2, Waves: &drivers.WaveWindow{File: file, From: 100, To: 300}})
	var stop drivers.Stop
	require.NoError(t, sys.Run(1000, &stop))
	require.NoError(t, sys.Close())
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Greater(t, len(b), 25)
	first, last := binary.BigEndian.Uint64(b[9:]), binary.BigEndian.Uint64(b[17:]) // of the header, in ps
	require.EqualValues(t, 100*regs.ClockPS, first)
	require.Greater(t, last, uint64(299*regs.ClockPS))
	require.Less(t, last, uint64(300*regs.ClockPS))
}
