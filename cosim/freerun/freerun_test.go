package freerun_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const slots = 8

// openAlone opens two nodes that run by themselves; process 0 of node 1 has a mailbox at 0 and
// interrupts for what comes.
func openAlone(t *testing.T, uri string) drivers.System {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: 1 << 16, Needs: drivers.CanFreeRun | drivers.CanAwait | drivers.CanInterrupt})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	_, timed := sys.(drivers.Timed)
	require.False(t, timed, "its time is nobody's")
	for n := range 2 {
		dev := sys.Device(n)
		require.NoError(t, process.Join(dev, 0, 1))
		for _, w := range [][2]uint64{{uint64(regs.MboxSlots(0)), slots}, {uint64(regs.IRQMask), ^uint64(0)},
			{uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow | regs.MboxCtrlIRQArrival}} {
			require.NoError(t, dev.WriteReg(uint32(w[0]), w[1]))
		}
		_, err := dev.ReadReg(regs.Magic)
		require.NoError(t, err)
	}
	return sys
}

// everyBody runs a test on each machine that runs by itself; that of the RTL needs a simulator.
func everyBody(t *testing.T, test func(t *testing.T, uri string)) {
	for _, uri := range []string{"ideal:?clock=wall", "model:?clock=wall", "rtl:?clock=wall"} {
		t.Run(uri, func(t *testing.T) {
			if testing.Short() && uri == "rtl:?clock=wall" {
				t.Skip("builds a simulator")
			}
			test(t, uri)
		})
	}
}

func sendTo1(dev drivers.Device, v uint64) error {
	f := regs.PioFields{Length: 8, DstNode: 1}
	return dev.WritePIO(uint32(f.Pack()), binary.LittleEndian.AppendUint64(nil, v))
}

// take gives the packet with a sequence number, if it has come.
func take(dev drivers.Device, seq uint64) (uint64, bool) {
	slot := dev.Memory()[(seq-1)%slots*regs.SlotBytes:]
	header := atomic.LoadUint64((*uint64)(unsafe.Pointer(&slot[regs.SlotHdrOff])))
	if uint64(regs.Slot(header).Seq()) != seq {
		return 0, false
	}
	return binary.LittleEndian.Uint64(slot), true
}

// Whoever looks, finds nothing and waits misses nothing, whatever runs beside.
func TestAloneWaitsMissNothing(t *testing.T) { everyBody(t, waitsMissNothing) }

func waitsMissNothing(t *testing.T, uri string) {
	const packets = 3000
	sys := openAlone(t, uri)
	box, err := sys.Device(1).Await(drivers.Cause{Off: 0, Bytes: slots * regs.SlotBytes})
	require.NoError(t, err)
	var sender sync.WaitGroup
	sender.Go(func() {
		for i := range uint64(packets) { // the mailbox is small: stores wait for the reader
			if err := sendTo1(sys.Device(0), i+1); err != nil {
				t.Error(err)
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for seq := uint64(1); seq <= packets; {
		v, ok := take(sys.Device(1), seq)
		if !ok {
			require.NoError(t, box.Wait(ctx), "packet %d", seq)
			continue
		}
		require.Equal(t, seq, v)
		require.NoError(t, sys.Device(1).WriteReg(regs.MboxRP(0), seq))
		seq++
	}
	sender.Wait()
}

func TestAloneInterrupts(t *testing.T) { everyBody(t, interrupts) }

func interrupts(t *testing.T, uri string) {
	sys := openAlone(t, uri)
	dev := sys.Device(1)
	irq, err := dev.Await(drivers.Interrupt)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	soon := func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Millisecond, errors.New("nothing came"))
		defer cancel()
		return irq.Wait(ctx)
	}
	require.ErrorContains(t, soon(), "nothing came")
	require.NoError(t, sendTo1(sys.Device(0), 1))
	require.NoError(t, irq.Wait(ctx))
	require.NoError(t, irq.Wait(ctx), "the line is still up")
	require.NoError(t, dev.WriteReg(regs.IRQStatus, ^uint64(0)))
	_, err = dev.ReadReg(regs.IRQStatus)
	require.NoError(t, err)
	_ = soon() // once too often, perhaps
	require.ErrorContains(t, soon(), "nothing came")
}

// Close and an error of the hardware end waits and stores that stand, and all that comes later.
func TestAloneEnds(t *testing.T) { everyBody(t, ends) }

func ends(t *testing.T, uri string) {
	for _, how := range []string{"close", "close the waiter", "error"} {
		sys := openAlone(t, uri)
		w, err := sys.Device(1).Await(drivers.Cause{Off: 1 << 15, Bytes: 64})
		require.NoError(t, err)
		waits := make(chan error, 1)
		go func() { waits <- w.Wait(context.Background()) }()
		stores := make(chan error, 1)
		if how != "close the waiter" {
			go func() {
				for {
					if err := sendTo1(sys.Device(0), 1); err != nil { // the mailbox is full, then the way to it
						stores <- err
						return
					}
				}
			}()
			time.Sleep(20 * time.Millisecond)
			require.Empty(t, stores)
		}
		require.Empty(t, waits)
		switch how {
		case "close":
			require.NoError(t, sys.Close())
			require.NoError(t, sys.Close())
			require.ErrorIs(t, <-stores, drivers.ErrClosed)
			require.ErrorIs(t, <-waits, drivers.ErrClosed)
			_, err := sys.Device(0).ReadReg(regs.Magic)
			require.ErrorIs(t, err, drivers.ErrClosed)
		case "close the waiter":
			require.NoError(t, w.Close())
			require.ErrorIs(t, <-waits, drivers.ErrClosed)
			require.NoError(t, sys.Device(0).WriteReg(regs.Scratch, 1))
		case "error": // a write to a register that is none
			require.NoError(t, sys.Device(0).WriteReg(0x38, 1))
			var bus *drivers.BusError
			require.ErrorAs(t, <-stores, &bus)
			require.ErrorAs(t, <-waits, &bus)
			require.ErrorAs(t, sys.Device(1).WriteReg(regs.Scratch, 1), &bus)
		}
	}
}
