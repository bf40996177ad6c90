package rma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/stall"
)

// An operation that asks for nothing still ends, unseen.
func TestHiddenNotifications(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	a, b := r.open(0, 0), r.open(1, 0)
	mine, theirs := r.region(a, dataAt, 64, ReadWrite), r.region(b, dataAt, 64, ReadWrite)
	var handles []Handle
	for range 3 {
		h, err := a.Put(Peer{1, 0}, mine.NLA(dataAt), theirs.NLA(dataAt), 8, 0)
		require.NoError(t, err)
		handles = append(handles, h)
	}
	h, err := a.Get(Peer{1, 0}, mine.NLA(dataAt), theirs.NLA(dataAt), 8, 0)
	require.NoError(t, err)
	handles = append(handles, h)
	require.Equal(t, 4, a.InFlight())
	r.quiet()
	for _, h := range handles {
		require.False(t, a.LocallyComplete(h), "not before it was polled")
	}
	r.nothing(a)
	r.nothing(b)
	for _, h := range handles {
		require.True(t, a.LocallyComplete(h))
	}
	require.Zero(t, a.InFlight())
}

// A put is done when its data has left, so its target's fault comes after that,
// even when its entry is taken by another.
func TestLateFault(t *testing.T) {
	r := newRigOn(t, "ideal:?latency=2000", 2, 4<<20) // longer than three fragments take
	a := r.openWith(0, 0, func(c *Config) { c.Outstanding, c.NotiSlots = 1, 8 })
	mine := r.region(a, dataAt, 4096, ReadOnly)
	bad, err := a.Put(Peer{1, 0}, mine.NLA(dataAt), 0x1234, 3*regs.RMAMTU, Requester)
	require.NoError(t, err)
	require.NoError(t, r.Run(r.Now()+1, &r.stop))
	for a.ring.words[1] == 0 {
		require.NoError(t, r.Run(r.Now()+1, &r.stop))
	}
	ev := r.poll(a)
	require.Equal(t, bad, ev.Handle)
	require.NoError(t, ev.Err)
	next, err := a.Notify(Peer{0, 0}, 1, 0)
	require.NoError(t, err)
	require.Equal(t, bad+1<<indexBits, next, "the same entry")
	r.quiet()
	ev = r.poll(a)
	require.Equal(t, bad, ev.Handle)
	require.Equal(t, &FaultError{Code: regs.RMAErrorDomain, Unit: UnitCompleter, Command: CommandPut, NLA: 0x1234, Peer: Peer{1, 0}}, ev.Err)
	r.nothing(a) // the other fragments' faults are counted only
	require.EqualValues(t, 3, a.Stats().Faults)
	require.True(t, a.LocallyComplete(bad) && a.LocallyComplete(next))
}

func TestMisuse(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	p := r.open(0, 0)
	to := Peer{1, 0}
	for want, err := range map[string]error{
		"0 bytes":        second(p.Put(to, 0, 0, 0, 0)),
		"8388609 bytes":  second(p.Get(to, 0, 0, MaxBytes+1, 0)),
		"above 0xffff":   second(p.Get(to, 1<<48, 0, 1, 0)),
		"expected NLAs":  second(p.Put(to, 0, 1<<48, 1, 0)),
		"put of 9 bytes": second(p.PutImmediate(to, 0, make([]byte, 9), 0)),
		"put of 0 bytes": second(p.PutImmediate(to, 0, nil, 0)),
		"multiple of 4":  second(p.FetchCompareAdd(to, 2, 0, 0)),
		"node -1":        second(p.Notify(Peer{-1, 0}, 0, 0)),
		"VPID 16":        second(p.Notify(Peer{0, 16}, 0, 0)),
		"node 4096":      second(p.Notify(Peer{4096, 0}, 0, 0)),
		"a range inside": second(p.Register(1<<22, 1, ReadOnly)),
		"mapping 0":      second(p.Register(0, 0, ReadOnly)),
		"rights 0":       second(p.Register(0, 1, 0)),
	} {
		require.ErrorIs(t, err, drivers.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
	for want, change := range map[string]func(*Config){
		"ATU is nil":             func(c *Config) { c.ATU = nil },
		"0 operations":           func(c *Config) { c.Outstanding = 0 },
		"1025 operations":        func(c *Config) { c.Outstanding = 1025 },
		"15 notifications for 8": func(c *Config) { c.NotiSlots = 15 },
		"expected 1..8191":       func(c *Config) { c.NotiSlots = 8192 },
		"alignment":              func(c *Config) { c.NotiBase = 8 },
		"inside 4194304 bytes":   func(c *Config) { c.NotiBase = 1<<22 - 16 },
		"cache of -1":            func(c *Config) { c.Cache.Regions = -1 },
	} {
		cfg := r.config(Peer{0, 0})
		change(&cfg)
		_, err := Open(r.Device(0), 0, 0, cfg)
		require.ErrorIs(t, err, drivers.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
	_, err := Open(r.Device(0), 16, 0, r.config(Peer{0, 0}))
	require.ErrorContains(t, err, "VPID 16")
	require.Panics(t, func() { p.LocallyComplete(0) })
	require.Panics(t, func() { p.LocallyComplete(1 << 40) })
	g := r.region(p, dataAt, 100, ReadOnly)
	require.Panics(t, func() { g.NLA(dataAt + 4097) })
	p.Release(g)
	require.Panics(t, func() { p.Release(g) })
}

func second[T any](_ T, err error) error { return err }

func TestNoAllocationPerOperation(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	a, b := r.open(0, 0), r.open(1, 0)
	mine, theirs := r.region(a, dataAt, 4096, ReadWrite), r.region(b, dataAt, 4096, ReadWrite)
	to := Peer{1, 0}
	l, rem := mine.NLA(dataAt), theirs.NLA(dataAt)
	payload := []byte("12345678")
	var ev Event
	drain := func(p *Port) {
		for {
			if ok, err := p.Poll(&ev); !ok || err != nil {
				require.NoError(t, err)
				return
			}
		}
	}
	run := func() {
		_, e1 := a.Put(to, l, rem, 1000, Requester|Completer)
		_, e2 := a.Get(to, l, rem, 1000, Responder|Completer)
		_, e3 := a.PutImmediate(to, rem, payload, 0)
		_, e4 := a.FetchCompareAdd(to, rem, 5, 1)
		g, e5 := a.Register(dataAt, 100, ReadOnly)
		if e1 != nil || e2 != nil || e3 != nil || e4 != nil || e5 != nil {
			t.Fatal(e1, e2, e3, e4, e5)
		}
		a.Release(g)
		if err := r.Run(drivers.Forever, &r.stop); err != nil {
			t.Fatal(err)
		}
		drain(a)
		drain(b)
	}
	require.Zero(t, testing.AllocsPerRun(300, run))
}

// A port that was closed does nothing more: its operations are gone, its pages unmapped, and
// another takes its number.
func TestClose(t *testing.T) {
	r := newRig(t, 2, 4<<20)
	more := func(c *Config) { c.Outstanding, c.NotiSlots = 4, 16 }
	a, b := r.openWith(0, 0, more), r.open(1, 0)
	mine, theirs := r.region(a, dataAt, 4096, ReadWrite), r.region(b, dataAt, 4096, ReadWrite)
	for i := range 4 {
		_, err := a.Put(Peer{1, 0}, mine.NLA(dataAt), theirs.NLA(dataAt)+NLA(8*i), 8, Requester)
		require.NoError(t, err)
	}
	require.NoError(t, r.Run(r.Now()+25, &r.stop)) // the descriptors are in the NIC
	require.NotZero(t, r.reg(0, regs.Level(0)))
	require.NoError(t, a.Close())
	require.Zero(t, r.reg(0, regs.Level(0)))
	require.Zero(t, r.reg(0, regs.NotiCtrl(0)))
	require.Empty(t, a.atu.mapped)
	require.NoError(t, process.Leave(r.Device(0), 0))
	require.Zero(t, r.reg(0, regs.PDID(0)))
	r.quiet()
	// Of another domain, the next process cannot reach the peer.
	c := r.openWith(0, 0, func(c *Config) { c.Domain = 9 })
	_, err := c.Notify(Peer{1, 0}, 1, Completer)
	require.NoError(t, err)
	r.quiet()
	var fault *FaultError
	for ev := r.poll(c); ; ev = r.poll(c) {
		require.NotNil(t, ev)
		if ev.Err != nil {
			require.ErrorAs(t, ev.Err, &fault)
			require.Equal(t, regs.RMAErrorDomain, fault.Code)
			return
		}
	}
}

// A loop of polls ends if the clock of a simulated device has stopped.
func TestPollOnAStoppedClock(t *testing.T) {
	r := newRig(t, 2, 2<<20)
	p := r.open(0, 0)
	var ev Event
	for range 3 * stall.Polls {
		ok, err := p.Poll(&ev)
		require.False(t, ok)
		if err != nil {
			require.ErrorIs(t, err, drivers.ErrConfig)
			require.ErrorContains(t, err, "does not advance by itself")
			return
		}
	}
	t.Fatal("polled without an end")
}
