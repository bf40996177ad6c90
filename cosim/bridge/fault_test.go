package bridge

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

func TestFailuresOfTheModel(t *testing.T) {
	for misbehave, want := range map[uint64]string{
		1: "RTL assertion failed: cycle 53 (339.2 ns), node 2, sim_node (",
		2: "node 2: asked to die",
		3: "$finish",
		7: "answered a command that it had not taken",
	} {
		s := start(t, nil)
		s.PostReg(2, 50, regMisbehave, misbehave)
		var stop drivers.Stop
		err := s.Run(1000, &stop)
		require.ErrorIs(t, err, drivers.ErrAssertion)
		require.ErrorContains(t, err, want)
		if misbehave == 1 {
			require.ErrorContains(t, err, "sim_node.sv:")
			require.ErrorContains(t, err, "node 2: asked to fail")
		}
		require.Equal(t, drivers.Cycle(53), stop.Now, "misbehaviour %d", misbehave)
		require.Equal(t, err, s.Run(2000, &stop), "refused from then on")
		_, again := s.ReadReg(0, regNodeID)
		require.Equal(t, err, again)
		require.Equal(t, err, s.Err())
	}
}

func TestAssertionDuringReadReg(t *testing.T) {
	s := start(t, nil)
	s.PostReg(2, 0, regMisbehave, 1)
	_, err := s.ReadReg(2, regNodeID)
	require.ErrorIs(t, err, drivers.ErrAssertion)
}

func TestDMAOutsideMemory(t *testing.T) {
	s := start(t, nil)
	var stop drivers.Stop
	var dma *drivers.DMAError
	s.PostReg(1, 50, regMisbehave, 4)
	require.ErrorAs(t, s.Run(drivers.Forever, &stop), &dma)
	require.Equal(t, drivers.DMAError{Node: 1, Addr: 0xfffffffffffffff8, Bytes: 64, Memory: 1 << 16}, *dma)
	require.Equal(t, drivers.Cycle(53), stop.Now)

	// The last slot in memory is written, the next one is refused.
	s.PostReg(0, s.Now(), regBase, 1<<16-64)
	s.PostReg(0, s.Now(), regSlots, 2)
	s.PostPIO(1, s.Now()+20, pio(0, 0, 8), []byte{1})
	run(t, s, drivers.Forever)
	require.NotZero(t, s.Memory(0)[1<<16-4])
	s.PostPIO(1, s.Now(), pio(0, 0, 8), []byte{1})
	require.ErrorAs(t, s.Run(drivers.Forever, &stop), &dma)
	require.Equal(t, uint64(1<<16), dma.Addr)
}

func TestRegisterThatNeverAnswers(t *testing.T) {
	s := start(t, nil)
	s.PostReg(1, 0, regMisbehave, 6)
	_, err := s.ReadReg(1, regScratch)
	require.ErrorIs(t, err, drivers.ErrProtocol)
	require.ErrorContains(t, err, "node 1: register read at 0x20: the NIC has not answered")
}

// traffic drives s with a seeded mix of calls and returns everything that it observed.
func traffic(t *testing.T, s *Session, seed uint64, steps int) (seen []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var watches []drivers.WatchID
	for node := range 4 {
		s.PostReg(node, 0, regSlots, 64)
		for i := range 8 {
			w, err := s.Watch(node, uint64(i)*512, 512)
			require.NoError(t, err)
			watches = append(watches, w)
		}
	}
	var stop drivers.Stop
	for range steps {
		for range r.IntN(6) {
			from, to, n := r.IntN(4), r.IntN(4), 1+r.IntN(56)
			s.PostPIO(from, s.Now()+drivers.Cycle(r.IntN(40)), pio(uint32(r.IntN(16)), uint32(to), uint32(n)), make([]byte, n))
			s.PostReg(to, s.Now()+drivers.Cycle(r.IntN(40)), regScratch, r.Uint64())
		}
		s.Arm(watches[r.IntN(len(watches))])
		s.ArmPIO(r.IntN(4), r.IntN(16), uint64(r.IntN(20)))
		deadline := s.Now() + drivers.Cycle(r.IntN(60))
		if r.IntN(4) == 0 {
			deadline = drivers.Forever
		}
		if err := s.Run(deadline, &stop); err != nil {
			return append(seen, err.Error()...)
		}
		if r.IntN(3) == 0 {
			v, err := s.ReadReg(r.IntN(4), uint32(regScratch+8*r.IntN(3)))
			require.NoError(t, err)
			seen = binary.LittleEndian.AppendUint64(seen, v)
		}
		seen = binary.LittleEndian.AppendUint64(seen, uint64(stop.Now))
		for _, f := range stop.Fired {
			seen = append(seen, byte(f.Kind), byte(f.Node), byte(f.Watch), byte(f.VPID))
		}
		if stop.Quiet {
			seen = append(seen, 'q')
		}
	}
	return seen
}

// sink stores trace events as the bytes of a file.
type sink struct {
	events []drivers.TraceEvent
	calls  int
	err    error
}

func (k *sink) Trace(events []drivers.TraceEvent) error {
	k.events = append(k.events, events...)
	k.calls++
	return k.err
}

// The same calls give the same bytes: with or without message buffers, tracing and batches.
func TestDeterminism(t *testing.T) {
	n := seed(t)
	want := traffic(t, start(t, nil), n, 400)
	require.Equal(t, want, traffic(t, start(t, func(c *Config) { c.Spin = -1 }), n, 400))
	first, second := &sink{}, &sink{}
	require.Equal(t, want, traffic(t, start(t, func(c *Config) { c.Trace = first }), n, 400))
	require.Equal(t, want, traffic(t, start(t, func(c *Config) { c.Trace = second; c.Spin = -1 }), n, 400))
	require.NotEmpty(t, first.events)
	require.Equal(t, first.events, second.events)
	require.NotEqual(t, want, traffic(t, start(t, nil), n+1, 400), "the test would see a difference")
}

// A run with more events than the buffer holds pauses transparently.
func TestTraceBufferFills(t *testing.T) {
	k := &sink{}
	s := start(t, func(c *Config) { c.Trace = k })
	const n = 40000
	for i := range n {
		s.PostPIO(i%4, 0, pio(0, uint32(i+1)%4, 8), []byte{1})
	}
	stop := run(t, s, drivers.Forever)
	require.True(t, stop.Idle)
	require.Greater(t, k.calls, 1)
	require.Len(t, k.events, 2*n, "a line and a slot each")
	for i, e := range k.events[1:] {
		require.LessOrEqual(t, k.events[i].Cycle, e.Cycle)
	}
	require.Equal(t, uint8(drivers.PointPIO), k.events[0].Point)
	require.Equal(t, uint8(drivers.TraceHead|drivers.TraceTail), k.events[0].Flags)
	require.Equal(t, uint64(pio(0, uint32(k.events[0].Node+1)%4, 8)), k.events[0].Data)

	k.err = errors.New("disk full")
	s.PostPIO(0, 0, pio(0, 1, 8), []byte{1})
	require.ErrorIs(t, s.Run(drivers.Forever, &stop), k.err)
}

// The file spans exactly the window: an FST header holds first and last time.
func TestWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.fst")
	const period = 6400
	s := start(t, func(c *Config) { c.Waves = &drivers.WaveWindow{File: file, From: 100, To: 150} })
	run(t, s, 99)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Zero(t, info.Size(), "nothing before the window")
	run(t, s, 5000)
	require.NoError(t, s.Close())
	dump, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, byte(0), dump[0], "header block")
	first, last := binary.BigEndian.Uint64(dump[9:]), binary.BigEndian.Uint64(dump[17:])
	require.Equal(t, uint64(100*period), first)
	require.Equal(t, uint64(150*period-period/2), last)
}

func TestLogFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.log")
	s := start(t, func(c *Config) { c.LogFile = file })
	s.PostReg(0, 0, regMisbehave, 1)
	var stop drivers.Stop
	require.ErrorIs(t, s.Run(100, &stop), drivers.ErrAssertion)
	require.NoError(t, s.Close())
	log, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(log), "asked to fail")
}
