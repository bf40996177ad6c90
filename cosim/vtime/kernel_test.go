package vtime

import (
	"context"
	"errors"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

const ns = drivers.Nanosecond

// world opens two ideal nodes with one process each; mailboxes have 4 slots.
func world(t *testing.T, cfg Config) (*Kernel, []*Proc) {
	sys, err := registry.Open(context.Background(), "ideal:?latency=20", drivers.Options{Nodes: 2, MemoryBytes: 4096})
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	cfg.PIODepth = max(cfg.PIODepth, 1)
	k := New(sys.(drivers.Timed), cfg)
	var procs []*Proc
	for n := range 2 {
		p := k.Add(n, 0)
		for _, w := range [][2]uint64{{uint64(regs.PDID(0)), 1}, {uint64(regs.MboxSlots(0)), 4}, {uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow}} {
			require.NoError(t, p.Device().WriteReg(uint32(w[0]), w[1]))
		}
		_, err := p.Device().ReadReg(regs.Magic)
		require.NoError(t, err)
		require.NoError(t, p.WatchArrivals(0, 4096))
		procs = append(procs, p)
	}
	return k, procs
}

// line is the window address of an 8-byte packet to the other node.
func line(from int) uint32 { return uint32(regs.PioFields{DstNode: uint8(1 - from), Length: 8}.Pack()) }

func TestHostWorkTakesTime(t *testing.T) {
	k, procs := world(t, Config{PIOWrite: 40 * ns, Wake: 60 * ns, PIODepth: 4})
	start := k.Now()
	var sent, seen drivers.Time
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		if i == 0 {
			p.Spend(1000 * ns)
			sent = p.Now()
			return p.Device().WritePIO(line(0), make([]byte, 8))
		}
		p.WaitArrival(drivers.Never)
		seen = p.Now()
		return nil
	}))
	require.Equal(t, start+1000*ns, sent)
	// Store, at least 20 cycles of network, the slot, and the wake-up.
	require.Greater(t, seen, sent+40*ns+20*6400+60*ns)
	require.Less(t, seen, sent+1000*ns)
}

func TestSyncLetsTheHardwareCatchUp(t *testing.T) {
	k, procs := world(t, Config{})
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		p.Spend(drivers.Time(i+1) * 500 * ns)
		if !p.Sync() {
			return errors.New("no time passed")
		}
		if k.Now() < p.Now() {
			return errors.New("the hardware lags behind")
		}
		if p.Sync() {
			return errors.New("time passed twice")
		}
		return nil
	}))
}

func TestStoresBlockAtTheirDepth(t *testing.T) {
	k, procs := world(t, Config{PIOWrite: ns, PIODepth: 2})
	err := k.Run(func(i int) error {
		if i == 1 {
			return nil // never frees a slot
		}
		for {
			if err := procs[0].Device().WritePIO(line(0), make([]byte, 8)); err != nil {
				return err
			}
		}
	})
	var hang *HangError
	require.ErrorAs(t, err, &hang)
	require.False(t, hang.HardwareIdle)
	require.Equal(t, AwaitPIO, hang.Procs[0].State)
	require.EqualValues(t, 2, hang.Procs[0].Posted)
	require.Equal(t, Done, hang.Procs[1].State)
}

// TestErrorEndsTheWaitsOfOthers: when a process fails, a parked process continues; its waits return
// immediately, and Err returns the reason.
func TestErrorEndsTheWaitsOfOthers(t *testing.T) {
	k, procs := world(t, Config{})
	broken, returned := errors.New("broken"), false
	err := k.Run(func(i int) error {
		if i == 0 {
			procs[0].Spend(100 * ns)
			procs[0].Sync()
			return broken
		}
		for procs[1].Err() == nil {
			procs[1].WaitArrival(drivers.Never)
		}
		procs[1].Attend(worker(func() (bool, drivers.Time) { return false, drivers.Never }), ns)
		procs[1].Spend(ns)
		require.False(t, procs[1].Sync())
		require.ErrorIs(t, procs[1].Device().WritePIO(line(1), nil), drivers.ErrRunEnded)
		require.ErrorIs(t, procs[1].Device().WriteReg(regs.MboxRP(0), 1), drivers.ErrRunEnded)
		_, err := procs[1].Device().ReadReg(regs.Magic)
		require.ErrorIs(t, err, drivers.ErrRunEnded)
		returned = true
		return procs[1].Err()
	})
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "rank 0: ")
	require.True(t, returned, "the wait unwound the process instead of returning")
	_, err = procs[1].Device().ReadReg(regs.Magic)
	require.NoError(t, err, "after the run its devices can be read")
}

func TestWakeAndUntil(t *testing.T) {
	k, procs := world(t, Config{})
	start := k.Now()
	require.NoError(t, k.Run(func(i int) error {
		p := procs[i]
		if i == 0 {
			p.Spend(500 * ns)
			p.Sync()
			p.Wake(1, p.Now()+100*ns)
			return nil
		}
		p.WaitArrival(start + 300*ns)
		if p.Now() != start+300*ns {
			return errors.New("the time limit did not end the wait when it came")
		}
		p.WaitArrival(drivers.Never)
		if at := p.Now() - start; at < 600*ns || at > 607*ns {
			return errors.New("woken at the wrong time: " + at.String())
		}
		return nil
	}))
}

func TestPanicIsNotSwallowed(t *testing.T) {
	k, _ := world(t, Config{})
	require.PanicsWithValue(t, "oh", func() { _ = k.Run(func(int) error { panic("oh") }) })
}

func TestLimit(t *testing.T) {
	k, procs := world(t, Config{Limit: 10 * drivers.Microsecond})
	err := k.Run(func(i int) error {
		for procs[i].Err() == nil {
			procs[i].Spend(ns)
			procs[i].Sync()
		}
		return procs[i].Err()
	})
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
}

// BenchmarkSwitch measures one resume and yield of the scheduler.
func BenchmarkSwitch(b *testing.B) {
	sys, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 2, MemoryBytes: 4096})
	require.NoError(b, err)
	defer sys.Close()
	k := New(sys.(drivers.Timed), Config{PIODepth: 1})
	p := k.Add(0, 0)
	b.ReportAllocs()
	require.NoError(b, k.Run(func(int) error {
		for range b.N {
			p.l.ready.push(p.now, p)
			p.suspend()
		}
		return nil
	}))
}

// TestPostingWhenAllHaveReturned: after Run a process may also post more lines than its window
// holds; a network that accepts none is a hang.
func TestPostingWhenAllHaveReturned(t *testing.T) {
	k, procs := world(t, Config{PIODepth: 1})
	require.NoError(t, k.Run(func(int) error { return nil }))
	taken := k.sys.PIOTaken(0, 0)
	for range 4 {
		require.NoError(t, procs[0].Device().WritePIO(line(0), make([]byte, 8)))
	}
	require.GreaterOrEqual(t, k.sys.PIOTaken(0, 0), taken+3)
	var hang *HangError
	for range 1000 { // the mailbox has 4 slots and is not read
		if err := procs[0].Device().WritePIO(line(0), make([]byte, 8)); err != nil {
			require.ErrorAs(t, err, &hang)
			break
		}
	}
	require.NotNil(t, hang)
}
