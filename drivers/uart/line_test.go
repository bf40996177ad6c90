package uart

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/stretchr/testify/require"
)

// A fakeBridge is a port with a bridge at its other end, that a test can make deaf, forgetful or a
// liar.
type fakeBridge struct {
	mu      sync.Mutex
	dec     Decoder
	out     chan []byte
	rest    []byte
	rnd     *rand.Rand
	loss    float64 // of what goes either way
	console bool    // says something else than frames
	regs    map[uint64]uint64
	memory  []byte
	writes  int
	last    int // sequence number of the last write, or -1
	status  Status
	closed  bool
	broken  error
	spoil   int    // so many of the next answers arrive damaged
	onRead  func() // before a quadword of memory is read
}

func newFake(seed uint64) *fakeBridge {
	return &fakeBridge{
		out: make(chan []byte, 1024), rnd: rand.New(rand.NewPCG(seed, 0)), memory: make([]byte, 1<<12), last: -1,
		regs: map[uint64]uint64{uint64(regs.Magic): regs.MagicValue, uint64(regs.DescHash): regs.DescHashValue},
	}
}

func (b *fakeBridge) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		select {
		case b.rest = <-b.out:
		case <-time.After(readTimeout):
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.broken != nil {
				return 0, b.broken
			}
			return 0, io.EOF
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *fakeBridge) Close() error {
	b.closed = true
	return nil
}

func (b *fakeBridge) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return 0, b.broken
	}
	if b.console {
		b.out <- []byte("login: \x7e")
		return len(p), nil
	}
	for _, c := range p {
		if b.rnd.Float64() < b.loss {
			continue
		}
		if f, ok := b.dec.Feed(c); ok {
			line := AppendFrame(nil, b.answer(&f))
			if b.spoil > 0 || b.rnd.Float64() < b.loss*float64(len(line)) {
				b.spoil = max(b.spoil-1, 0)
				line[b.rnd.IntN(len(line))] ^= 4
			}
			b.out <- line
		}
	}
	return len(p), nil
}

func (b *fakeBridge) answer(f *Frame) *Frame {
	a := &Frame{Seq: f.Seq, Op: f.Op | answerBit, Address: f.Address}
	if !f.Op.writes() {
		b.last = -1
	}
	switch {
	case f.Op == Hello:
		a.Data = binary.LittleEndian.AppendUint64(nil, greeting)
	case f.Op == ReadReg && f.Address >= 0x8000:
		a.Count = uint8(StatusSlave)
	case f.Op == ReadReg:
		a.Data = binary.LittleEndian.AppendUint64(nil, b.regs[f.Address])
	case f.Op == ReadMemory:
		for i := range uint64(f.Count) {
			if b.onRead != nil {
				b.onRead()
			}
			at := f.Address + 8*(uint64(f.Count)-1-i)
			a.Data = append(a.Data, b.memory[at:at+8]...)
		}
	case b.last == int(f.Seq):
		a.Count = uint8(b.status)
	default:
		b.last, b.status = int(f.Seq), StatusOK
		b.writes++
		switch f.Op {
		case WriteReg:
			b.regs[f.Address] = binary.LittleEndian.Uint64(f.Data)
		case WriteMemory:
			copy(b.memory[f.Address:], f.Data)
		}
	}
	return a
}

func openFake(t *testing.T, b *fakeBridge) *System {
	t.Helper()
	s, err := attach(t.Context(), "uart:fake", []namedPort{{"fake", b}}, 3_000_000, len(b.memory), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// A line that loses and damages bytes both ways: everything is read and written, and every write is
// done once.
func TestLossIsNotSeen(t *testing.T) {
	t.Parallel()
	const seed, writes = 3, 60
	b := newFake(seed)
	s := openFake(t, b)
	b.mu.Lock()
	b.loss = 0.004
	b.mu.Unlock()
	dev := s.Device(0)
	for i := range uint64(writes) {
		require.NoError(t, dev.WriteReg(0x100, i), "seed %d: go test -run %s ./drivers/uart", seed, t.Name())
		v, err := dev.ReadReg(0x100)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, i, v)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Equal(t, writes, b.writes)
	require.Positive(t, s.nodes[0].line.count.repeats, "the seed must have lost something")
}

// Damaged answers show that the bridge is there: the request is repeated more often than one
// without any answer. The number of tries has an end all the same.
func TestDamagedAnswersAllowMoreTries(t *testing.T) {
	t.Parallel()
	b := newFake(1)
	s := openFake(t, b)
	spoil := func(n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spoil = n
	}
	spoil(tries + 3)
	_, err := s.Device(0).ReadReg(0x100)
	require.NoError(t, err)
	spoil(1 << 20)
	_, err = s.Device(0).ReadReg(0x100)
	var lost *LineError
	require.ErrorAs(t, err, &lost)
	require.Equal(t, noisyTries, lost.Tries)
}

func TestErrorsSayWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*fakeBridge)
		want  error
		text  string
	}{
		"silent":       {func(b *fakeBridge) { b.loss = 1 }, drivers.ErrPeerDied, "not a byte came: is the board powered"},
		"a console":    {func(b *fakeBridge) { b.console = true }, drivers.ErrPeerDied, "no frame (shorter than a frame): does the baud rate"},
		"another NIC":  {func(b *fakeBridge) { b.regs[uint64(regs.Magic)] = ^uint64(0) }, drivers.ErrProtocol, "in MAGIC, found 0xffffffffffffffff"},
		"another hash": {func(b *fakeBridge) { b.regs[uint64(regs.DescHash)]++ }, drivers.ErrProtocol, "in DESC_HASH, found"},
		"unplugged":    {func(b *fakeBridge) { b.broken = errors.New("input/output error") }, drivers.ErrPeerDied, "input/output error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFake(1)
			c.spoil(b)
			_, err := attach(t.Context(), "uart:fake", []namedPort{{"fake", b}}, 3_000_000, 64, nil)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.True(t, b.closed, "the port is given back")
		})
	}
}

// Whoever waits is told when the port is pulled out, and when the system is closed.
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end  func(*fakeBridge, *System)
		want error
	}{
		"unplugged": {func(b *fakeBridge, _ *System) {
			b.mu.Lock()
			b.broken = errors.New("input/output error")
			b.mu.Unlock()
		}, drivers.ErrPeerDied},
		"closed": {func(_ *fakeBridge, s *System) { _ = s.Close() }, drivers.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFake(1)
			s := openFake(t, b)
			w, err := s.Device(0).Await(drivers.Cause{Off: 0, Bytes: 64})
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() { done <- w.Wait(context.Background()) }()
			time.Sleep(20 * time.Millisecond)
			c.end(b, s)
			select {
			case err := <-done:
				require.ErrorIs(t, err, c.want)
			case <-time.After(20 * time.Second):
				t.Fatal("the wait hangs")
			}
		})
	}
}

// While slots are fetched the NIC writes more: a slot whose last quadword is seen is whole.
func TestSlotsAreSeenWhole(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		b := newFake(seed)
		s := openFake(t, b)
		const slots = 3
		next, pause := 0, 24+b.rnd.IntN(24)
		b.onRead = func() { // begins somewhere in a fetch and is now faster, now slower than it
			if pause--; pause >= 0 {
				return
			}
			for range b.rnd.IntN(8) {
				if next < 8*slots {
					copy(b.memory[8*next:], bytes.Repeat([]byte{byte(next/8 + 1)}, 8))
					next++
				}
			}
		}
		dev := s.Device(0)
		w, err := dev.Await(drivers.Cause{Off: 0, Bytes: 64 * slots})
		require.NoError(t, err)
		for seen := 0; ; {
			for seen < slots && dev.Memory()[64*seen+63] != 0 {
				require.Equal(t, bytes.Repeat([]byte{byte(seen + 1)}, 64), dev.Memory()[64*seen:64*seen+64],
					"seed %d, slot %d: go test -run %s ./drivers/uart", seed, seen, t.Name())
				seen++
			}
			if seen == slots {
				break
			}
			require.NoError(t, w.Wait(t.Context()))
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := openFake(t, newFake(1))
	dev := s.Device(0)
	_, err := dev.ReadReg(0x9000)
	var bus *drivers.BusError
	require.ErrorAs(t, err, &bus)
	require.Equal(t, drivers.BusError{Port: "register", Off: 0x9000, Resp: 2}, *bus)
	require.ErrorIs(t, dev.WritePIO(4, make([]byte, 64)), drivers.ErrConfig)
	require.ErrorIs(t, dev.WritePIO(8, make([]byte, 72)), drivers.ErrConfig)
	require.ErrorIs(t, dev.WritePIO(8, make([]byte, 64)), drivers.ErrConfig, "it leaves its line")
	_, err = dev.Await(drivers.Interrupt)
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	_, err = dev.Await(drivers.Cause{Off: 1 << 12, Bytes: 8})
	require.ErrorIs(t, err, drivers.ErrConfig)
	require.ErrorIs(t, drivers.Require(s, drivers.CanDMA), drivers.ErrNotSupported)
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for uri, text := range map[string]string{
		"uart:":                                   "expected a serial port for each of 1 nodes",
		"uart:/dev/null?baud=fast":                "baud=fast: expected a number from 50 to 4000000",
		"uart:/nowhere/ttyUSB0":                   "no such file or directory; ports that are there: ls /dev/ttyUSB*",
		"uart:" + t.TempDir():                     "expected a serial port, found d",
		"uart:/dev/null":                          "inappropriate ioctl for device",
		"uart:/dev/ptmx?baud=12345":               "Unrecognized baud rate",
		"uart:/dev/null?memory=12":                "in whole quadwords",
		"uart:/dev/null?speed=1":                  `unknown key "speed"`,
		fmt.Sprint("uart:a?memory=", maxMemory+8): "expected a number from 0",
	} {
		_, err := registry.Open(t.Context(), uri, drivers.Options{})
		require.ErrorContains(t, err, text, uri)
	}
}
