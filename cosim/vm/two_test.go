package vm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	exchanges = 200
	boxSlots  = 8
	echoFor   = 30 * time.Second
)

// echoMain is a guest that sends numbers to the other one and expects each of them incremented, or
// the counterpart.
func echoMain(uri string) error {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{MemoryBytes: 1 << 16, Needs: drivers.CanDMA | drivers.CanAwait})
	if err != nil {
		return err
	}
	defer sys.Close()
	dev := sys.Device(0)
	me, err := dev.ReadReg(regs.NodeID)
	if err != nil {
		return err
	}
	base, err := drivers.Address(dev, 0, boxSlots*regs.SlotBytes)
	if err != nil {
		return err
	}
	if err := process.Join(dev, 0, 0); err != nil {
		return err
	}
	for _, w := range [][2]uint64{{uint64(regs.MboxBase(0)), base}, {uint64(regs.MboxSlots(0)), boxSlots}, {uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow}} {
		if err := dev.WriteReg(uint32(w[0]), w[1]); err != nil {
			return err
		}
	}
	return exchange(dev, &box{mem: dev.Memory()}, uint8(me))
}

// A box is a minimal mailbox reader at the beginning of memory.
type box struct {
	mem  []byte
	read uint64
}

// next returns the number in the next slot, if it has arrived.
func (b *box) next() (uint64, bool) {
	at := b.mem[b.read%boxSlots*regs.SlotBytes:]
	header := atomic.LoadUint64((*uint64)(unsafe.Pointer(&at[regs.SlotHdrOff])))
	if regs.Slot(header).Seq() != uint32(b.read+1) {
		return 0, false
	}
	b.read++
	return binary.LittleEndian.Uint64(at), true
}

func exchange(dev drivers.Device, ring *box, me uint8) error {
	arrived, err := dev.Await(drivers.Cause{Bytes: boxSlots * regs.SlotBytes})
	if err != nil {
		return err
	}
	defer arrived.Close()
	to := uint32(regs.PioFields{Length: 8, DstNode: 1 - me}.Pack())
	next, end := uint64(0), time.Now().Add(echoFor)
	for next < exchanges {
		if me == 0 { // repeatedly, because the other guest may not be ready
			if err := dev.WritePIO(to, binary.LittleEndian.AppendUint64(nil, next)); err != nil {
				return err
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = arrived.Wait(ctx) // the ring shows whether something arrived
		cancel()
		for got, ok := ring.next(); ok; got, ok = ring.next() {
			if err := dev.WriteReg(regs.MboxRP(0), ring.read); err != nil {
				return err
			}
			switch {
			case me == 1:
				if err := dev.WritePIO(to, binary.LittleEndian.AppendUint64(nil, got+1)); err != nil {
					return err
				}
				next = got + 1
			case got == next+1:
				next = got
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("node %d: %d of %d exchanges within %v", me, next, exchanges, echoFor)
		}
	}
	fmt.Printf("node %d: %d exchanges\n", me, next)
	return settle(dev)
}

// settle waits until everything sent has left.
func settle(dev drivers.Device) error {
	for {
		if v, err := dev.ReadReg(regs.Level(0)); err != nil || v == 0 {
			return err
		}
	}
}

// Two guests on two nodes of one mesh exchange messages.
func TestTwoGuests(t *testing.T) {
	needAll(t)
	sys, err := registry.Open(context.Background(), "model:?clock=wall", drivers.Options{Nodes: 2, MemoryBytes: DefaultMemory})
	require.NoError(t, err)
	defer sys.Close()
	var both sync.WaitGroup
	var out [2]bytes.Buffer
	var errs [2]error
	for n := range 2 {
		both.Go(func() {
			_, errs[n] = Run(context.Background(), Config{System: sys, Node: n, Env: []string{inGuest + "=pcie:" + Slot + "?dma=hugepage", inGuest + "_ECHO=1"},
				Command: []string{"nicloop"}, Stdout: &out[n]})
		})
	}
	both.Wait()
	for n := range 2 {
		require.NoError(t, errs[n])
		require.Equal(t, fmt.Sprintf("node %d: %d exchanges\n", n, exchanges), out[n].String())
	}
}
