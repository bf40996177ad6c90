package bridge

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestRegisters(t *testing.T) {
	s := start(t, nil)
	for node := range 4 {
		id, err := s.ReadReg(node, regNodeID)
		require.NoError(t, err)
		require.Equal(t, uint64(node), id)
	}
	s.PostReg(2, 0, regScratch, 0xfeedface12345678)
	v, err := s.ReadReg(2, regScratch) // after the write that was posted before
	require.NoError(t, err)
	require.Equal(t, uint64(0xfeedface12345678), v)

	now := s.Now()
	cycles, err := s.ReadReg(0, regCycles)
	require.NoError(t, err)
	require.Greater(t, s.Now(), now, "time passes in ReadReg")
	require.Equal(t, uint64(s.Now())-1, cycles, "the cycle before the one that answered")
}

func TestRefusedRegisters(t *testing.T) {
	s := start(t, nil)
	_, err := s.ReadReg(1, 0x100)
	var bus *drivers.BusError
	require.ErrorAs(t, err, &bus)
	require.Equal(t, drivers.BusError{Node: 1, Port: "register", Off: 0x100, Resp: 2}, *bus)
	_, err = s.ReadReg(1, 0x1000)
	require.ErrorAs(t, err, &bus)
	require.Equal(t, 3, bus.Resp)

	// A posted write stops the run in its cycle, together with other events of that cycle.
	s.PostReg(3, 100, 0x108, 1)
	s.PostReg(1, 100, 0x110, 1)
	var stop drivers.Stop
	err = s.Run(1000, &stop)
	require.EqualError(t, err, "node 1: register write at 0x110: the NIC answered SLVERR\n"+
		"node 3: register write at 0x108: the NIC answered SLVERR")
	require.Equal(t, drivers.Cycle(103), stop.Now)

	// It is reported once, and the session continues.
	require.Equal(t, drivers.Cycle(1000), run(t, s, 1000).Now)
	v, err := s.ReadReg(1, regNodeID)
	require.NoError(t, err)
	require.Equal(t, uint64(1), v)
}

func TestPostedErrorDuringReadReg(t *testing.T) {
	s := start(t, nil)
	s.PostReg(0, 0, 0x100, 1)
	v, err := s.ReadReg(0, regNodeID)
	var bus *drivers.BusError
	require.ErrorAs(t, err, &bus)
	require.True(t, bus.Write)
	require.Zero(t, v)
	run(t, s, 100)
}

func TestSendAndWatch(t *testing.T) {
	s := start(t, nil)
	s.PostReg(1, 0, regBase, 0x400)
	s.PostReg(1, 0, regSlots, 4)
	run(t, s, 50)
	w, err := s.Watch(1, 0x400, 256)
	require.NoError(t, err)
	other, err := s.Watch(1, 0x4c0, 64)
	require.NoError(t, err)
	line := []byte("fourteen bytes")
	s.PostPIO(0, 200, pio(7, 1, 14), line)
	s.Arm(w)
	s.Arm(other)
	s.ArmPIO(0, 7, 1)
	stop := run(t, s, drivers.Forever)
	require.Equal(t, drivers.Cycle(205), stop.Now, "taken at 201, written four later")
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredPIO, Node: 0, VPID: 7}, {Kind: drivers.FiredWatch, Node: 1, Watch: w}}, stop.Fired)
	require.Equal(t, uint64(1), s.PIOTaken(0, 7))
	slot := s.Memory(1)[0x400:0x440]
	require.Equal(t, line, slot[:14])
	require.Equal(t, make([]byte, 42), slot[14:56], "the rest of the line is zero")
	require.Equal(t, uint32(1), binary.LittleEndian.Uint32(slot[60:]))

	// Conditions are one-shot; the other watch is still armed for its own slot.
	for range 3 {
		s.PostPIO(0, s.Now(), pio(7, 1, 8), line[:8])
	}
	stop = run(t, s, drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredWatch, Node: 1, Watch: other}}, stop.Fired)
}

func TestRefusedLineCountsAsTaken(t *testing.T) {
	s := start(t, nil)
	s.PostPIO(2, 0, pio(1, 0, 57), []byte{1})
	var stop drivers.Stop
	var bus *drivers.BusError
	require.ErrorAs(t, s.Run(drivers.Forever, &stop), &bus)
	require.Equal(t, drivers.BusError{Node: 2, Port: "pio", Off: pio(1, 0, 57), Write: true, Resp: 2}, *bus)
	require.Equal(t, uint64(1), s.PIOTaken(2, 1))
}

func TestInterrupt(t *testing.T) {
	s := start(t, nil)
	s.ArmIRQ(3)
	s.ArmIRQ(1)
	s.PostReg(1, 40, regIRQ, 1)
	s.PostReg(3, 40, regIRQ, 1)
	stop := run(t, s, drivers.Forever)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredIRQ, Node: 1}, {Kind: drivers.FiredIRQ, Node: 3}}, stop.Fired)
	at := stop.Now
	s.ArmIRQ(1) // level-sensitive: already asserted
	stop = run(t, s, drivers.Forever)
	require.Equal(t, at, stop.Now)
	require.Len(t, stop.Fired, 1)
}

// Posted commands of a port are executed in order of (cycle, call).
func TestPostedOrder(t *testing.T) {
	s := start(t, nil)
	s.PostReg(0, 300, regScratch, 3)
	s.PostReg(0, 100, regScratch, 1)
	s.PostReg(0, 100, regScratch, 2)
	for _, step := range []struct {
		until drivers.Cycle
		want  uint64
	}{{80, 0}, {120, 2}, {320, 3}} {
		run(t, s, step.until)
		v, err := s.ReadReg(0, regScratch)
		require.NoError(t, err)
		require.Equal(t, step.want, v, "at cycle %d", step.until)
	}
}

func TestDeadlineAndQuiet(t *testing.T) {
	s := start(t, nil)
	stop := run(t, s, 777)
	require.Equal(t, drivers.Cycle(777), stop.Now)
	require.True(t, stop.Quiet && stop.Idle)
	require.Equal(t, drivers.Cycle(777), run(t, s, 500).Now, "a deadline in the past takes no time")
	require.Equal(t, drivers.Cycle(777), run(t, s, drivers.Forever).Now, "quiet already")

	s.PostReg(0, 5000, regScratch, 1)
	stop = run(t, s, drivers.Forever)
	require.Greater(t, stop.Now, drivers.Cycle(5000), "a posted command of the future is waited for")
	require.True(t, stop.Quiet && stop.Idle)
	require.Less(t, stop.Now, drivers.Cycle(5030))
}

// Lines behind one that a full mailbox stalls do not prevent detection of the stall.
func TestStallIsQuietNotIdle(t *testing.T) {
	s := start(t, nil)
	s.PostReg(1, 0, regHold, 1)
	for i := range 3 {
		s.PostPIO(0, drivers.Cycle(50+1000*i), pio(0, 1, 8), []byte{1})
	}
	stop := run(t, s, drivers.Forever)
	require.True(t, stop.Quiet)
	require.False(t, stop.Idle)
	require.Zero(t, s.PIOTaken(0, 0))
	s.PostReg(1, s.Now(), regHold, 0)
	require.True(t, run(t, s, drivers.Forever).Idle)
	require.Equal(t, uint64(3), s.PIOTaken(0, 0))
}

// Conditions that fire during ReadReg are reported by the next Run, which takes no time.
func TestFiredDuringReadReg(t *testing.T) {
	s := start(t, nil)
	s.ArmPIO(0, 0, 1)
	s.PostPIO(0, 0, pio(0, 1, 8), []byte{1})
	s.PostReg(0, 0, regScratch, 1)
	s.PostReg(0, 0, regScratch, 2)
	_, err := s.ReadReg(0, regScratch)
	require.NoError(t, err)
	now := s.Now()
	stop := run(t, s, drivers.Forever)
	require.Equal(t, now, stop.Now)
	require.Equal(t, []drivers.Fired{{Kind: drivers.FiredPIO}}, stop.Fired)
	s.ArmPIO(0, 0, 1) // reached already
	require.Len(t, run(t, s, drivers.Forever).Fired, 1)
}

// More commands than fit a message, and a thousand watches that all fire.
func TestLargeBatches(t *testing.T) {
	s := start(t, nil)
	const n = 1000
	s.PostReg(2, 0, regSlots, n)
	run(t, s, 20)
	want := []drivers.Fired{}
	for i := range n {
		w, err := s.Watch(2, 0, uint64(64*(i+1)))
		require.NoError(t, err)
		s.Arm(w)
		s.Arm(w) // armed already
		s.PostPIO(3, 0, pio(1, 2, 56), make([]byte, 56))
		want = append(want, drivers.Fired{Node: 2, Watch: w})
	}
	require.Equal(t, want, run(t, s, drivers.Forever).Fired, "all reach into the first slot")
	require.Empty(t, run(t, s, drivers.Forever).Fired)
	require.Equal(t, uint64(n), s.PIOTaken(3, 1))
}

func TestMisuse(t *testing.T) {
	s := start(t, nil)
	var stop drivers.Stop
	for what, call := range map[string]func(){
		"node 4: expected 0..3":                                             func() { s.PostReg(4, 0, 0, 0) },
		"node -1: expected 0..3":                                            func() { s.ArmIRQ(-1) },
		"PIO line of 65 bytes: expected at most 64":                         func() { s.PostPIO(0, 0, 0, make([]byte, 65)) },
		"PIO address 0x20000000: expected a multiple of 8 below 0x20000000": func() { s.PostPIO(0, 0, 1<<29, nil) },
		"Arm(0): there are 0 watches":                                       func() { s.Arm(0) },
		"ArmPIO: VPID 16: expected 0..15":                                   func() { s.ArmPIO(0, 16, 1) },
	} {
		call()
		err := s.Run(10, &stop)
		require.ErrorIs(t, err, drivers.ErrConfig)
		require.ErrorContains(t, err, what)
		require.NoError(t, s.Run(10, &stop), "told once")
	}
	_, err := s.Watch(0, 0xffff, 2)
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = s.ReadReg(7, 0)
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Run(10, &stop), drivers.ErrClosed)
	_, err = s.ReadReg(0, 0)
	require.ErrorIs(t, err, drivers.ErrClosed)
	s.PostReg(0, 0, 0, 0)
	require.Nil(t, s.Memory(0))
	require.NoError(t, s.Close())
}

// Steady state does not allocate on either path.
func TestNoAllocation(t *testing.T) {
	for _, spin := range []time.Duration{-1, 200 * time.Microsecond} {
		s := start(t, func(c *Config) { c.Spin = spin })
		w, err := s.Watch(1, 0, 64)
		require.NoError(t, err)
		var stop drivers.Stop
		line := make([]byte, 56)
		failed := false
		n := testing.AllocsPerRun(200, func() {
			s.Arm(w)
			s.PostReg(0, s.Now(), regScratch, 1)
			s.PostPIO(0, s.Now(), pio(0, 1, 56), line)
			failed = failed || s.Run(drivers.Forever, &stop) != nil || len(stop.Fired) != 1
		})
		require.False(t, failed)
		require.Zero(t, n)
	}
}
