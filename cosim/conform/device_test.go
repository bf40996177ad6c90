package conform

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/replay"
	"github.com/nicloop/nicloop/drivers/segment"
	"github.com/nicloop/nicloop/drivers/translog"
)

// Memory of far: lies in pieces of a page, the last one first, far from address 0.
const far = "ideal:?dma_base=0x7f0000000000&dma_segment=4096"

// everyBackend runs a test on each; those of the RTL need a simulator.
func everyBackend(t *testing.T, test func(t *testing.T, open func(drivers.Options) (drivers.System, error))) {
	for _, uri := range []string{"ideal:", "ideal:?dma_base=0x100000000", far, "model:", "rtl:", "mixed:?rtl=1"} {
		t.Run(uri, func(t *testing.T) {
			if testing.Short() && (uri == "rtl:" || uri == "mixed:?rtl=1") {
				t.Skip("builds a simulator")
			}
			test(t, func(opt drivers.Options) (drivers.System, error) {
				opt.Nodes, opt.MemoryBytes = nodes, memory
				sys, err := registry.Open(context.Background(), uri, opt)
				if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
					t.Skipf("no simulator here: %v", err)
				}
				return sys, err
			})
		})
	}
}

func TestWhatADeviceCannotDoIsToldAtOpen(t *testing.T) {
	everyBackend(t, func(t *testing.T, open func(drivers.Options) (drivers.System, error)) {
		sys, err := open(drivers.Options{Needs: drivers.CanPIO | drivers.CanDMA | drivers.CanAwait | drivers.CanInterrupt | drivers.CanSimulate})
		require.NoError(t, err)
		_, timed := sys.(drivers.Timed)
		require.True(t, timed)
		require.NoError(t, sys.Close())
		_, err = open(drivers.Options{Needs: drivers.CanPIO | drivers.CanFreeRun})
		require.ErrorIs(t, err, drivers.ErrNotSupported)
		require.ErrorContains(t, err, sys.Info().Backend+" lacks: free-running clock; it has: PIO, DMA")
	})
}

const (
	boxAt = 0x3000
	vpid  = 2
)

// arrivals sends packets from node 0 to a mailbox of node 1, at which interrupts, too.
type arrivals struct {
	t    *testing.T
	sys  drivers.Timed
	sent uint64
}

func newArrivals(t *testing.T, sys drivers.Timed) *arrivals {
	a := &arrivals{t: t, sys: sys}
	dev := sys.Device(1)
	box, err := drivers.Address(dev, boxAt, slots*regs.SlotBytes)
	require.NoError(t, err)
	require.NoError(t, process.Join(sys.Device(0), vpid, 1))
	require.NoError(t, sys.Device(0).WriteReg(regs.MboxCtrl(vpid), regs.MboxCtrlWindow))
	require.NoError(t, process.Join(dev, vpid, 1))
	for _, w := range [][2]uint64{{uint64(regs.MboxBase(vpid)), box}, {uint64(regs.MboxSlots(vpid)), slots},
		{uint64(regs.MboxCtrl(vpid)), regs.MboxCtrlEnable | regs.MboxCtrlIRQArrival}, {uint64(regs.IRQMask), ^uint64(0)}} {
		require.NoError(t, dev.WriteReg(uint32(w[0]), w[1]))
	}
	_, err = dev.ReadReg(regs.Magic)
	require.NoError(t, err)
	return a
}

func (a *arrivals) send() {
	a.sent++
	f := regs.PioFields{Length: 8, SrcVPID: vpid, DstVPID: vpid, DstNode: 1}
	line := binary.LittleEndian.AppendUint64(nil, a.sent)
	require.NoError(a.t, a.sys.Device(0).WritePIO(uint32(f.Pack()), line))
}

// there: the last packet stands in memory, whose slot is given back.
func (a *arrivals) there() {
	slot := a.sys.Device(1).Memory()[boxAt+(a.sent-1)%slots*regs.SlotBytes:]
	require.Equal(a.t, a.sent, binary.LittleEndian.Uint64(slot))
	require.EqualValues(a.t, a.sent, regs.Slot(binary.LittleEndian.Uint64(slot[regs.SlotHdrOff:])).Seq())
	require.NoError(a.t, a.sys.Device(1).WriteReg(regs.MboxRP(vpid), a.sent))
}

func (a *arrivals) await(c drivers.Cause) drivers.Waiter {
	w, err := a.sys.Device(1).Await(c)
	require.NoError(a.t, err)
	return w
}

func (a *arrivals) rest() {
	var stop drivers.Stop
	for range 3 { // what waits has its conditions armed
		require.NoError(a.t, a.sys.Run(a.sys.Now()+500, &stop))
	}
}

func TestAwait(t *testing.T) {
	everyBackend(t, func(t *testing.T, open func(drivers.Options) (drivers.System, error)) {
		sys, err := open(drivers.Options{})
		require.NoError(t, err)
		defer sys.Close()
		awaitAll(t, sys.(drivers.Timed))
	})
}

// awaitAll leaves a system that is at rest.
func awaitAll(t *testing.T, sys drivers.Timed) {
	ctx := context.Background()
	a := newArrivals(t, sys)
	box := a.await(drivers.Cause{Off: boxAt, Bytes: slots * regs.SlotBytes})
	beside := a.await(drivers.Cause{Off: boxAt + slots*regs.SlotBytes, Bytes: 64})
	for range 2 * slots {
		a.send()
		require.NoError(t, box.Wait(ctx))
		a.there()
	}
	a.send() // comes while nobody waits
	a.rest()
	require.NoError(t, box.Wait(ctx))
	a.there()
	require.ErrorIs(t, box.Wait(ctx), drivers.ErrQuiescent)
	require.ErrorIs(t, beside.Wait(ctx), drivers.ErrQuiescent)

	irq := a.await(drivers.Interrupt)
	for range 2 {
		require.NoError(t, irq.Wait(ctx), "the line is up")
	}
	require.NoError(t, sys.Device(1).WriteReg(regs.IRQStatus, ^uint64(0)))
	_, err := sys.Device(1).ReadReg(regs.IRQStatus)
	require.NoError(t, err)
	_ = irq.Wait(ctx) // once too often, perhaps
	require.ErrorIs(t, irq.Wait(ctx), drivers.ErrQuiescent)
	a.send()
	require.NoError(t, irq.Wait(ctx))
	a.there()

	cause := errors.New("enough")
	ended, end := context.WithCancelCause(ctx)
	end(cause)
	require.ErrorIs(t, beside.Wait(ended), cause)
	require.NoError(t, beside.Close())
	require.ErrorIs(t, beside.Wait(ctx), drivers.ErrClosed)
	_, err = sys.Device(1).Await(drivers.Cause{Off: uint64(len(sys.Device(1).Memory())), Bytes: 1})
	require.ErrorIs(t, err, drivers.ErrConfig)
}

// What is awaited of a log comes when it came.
func TestAwaitOfALog(t *testing.T) {
	sys, err := registry.Open(context.Background(), far, drivers.Options{Nodes: nodes, MemoryBytes: memory})
	require.NoError(t, err)
	var log bytes.Buffer
	rec := translog.RecordTimed(sys.(drivers.Timed), &log)
	awaitAll(t, rec)
	require.NoError(t, rec.Close())
	played, err := replay.New(log.Bytes(), drivers.Options{})
	require.NoError(t, err)
	require.Equal(t, sys.Device(1).Segments(), played.Device(1).Segments())
	awaitAll(t, played.(drivers.Timed))
	require.NoError(t, played.Close())
}

// A device address is not an offset: what lies in one piece for software may not do so for the NIC.
func TestAddresses(t *testing.T) {
	sys, err := registry.Open(context.Background(), far, drivers.Options{Nodes: 1, MemoryBytes: 10000})
	require.NoError(t, err)
	defer sys.Close()
	dev := sys.Device(0)
	require.Len(t, dev.Memory(), 6<<12)
	seen := map[uint64]bool{}
	for off := uint64(0); off < 6<<12; off += 1 << 12 {
		at, err := drivers.Address(dev, off, 1<<12)
		require.NoError(t, err)
		require.GreaterOrEqual(t, at, uint64(0x7f0000000000))
		require.False(t, seen[at])
		seen[at] = true
		_, err = drivers.Address(dev, off+8, 1<<12)
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
	for _, c := range []struct {
		list      []drivers.Segment
		n, offset uint64
	}{{dev.Segments(), 1 << 12, 1 << 12}, {dev.Segments(), 1000, 64}, {nil, 1 << 20, 64}} {
		at, err := segment.Fit(c.list, 1, c.n, 64)
		require.NoError(t, err)
		require.Equal(t, c.offset, at)
	}
	_, err = segment.Fit(dev.Segments(), 0, 1<<12+1, 64)
	require.ErrorIs(t, err, drivers.ErrConfig)
}
