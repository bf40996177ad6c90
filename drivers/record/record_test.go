package record

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/selftest"
	"github.com/nicloop/nicloop/drivers/translog"
)

var seed = flag.Uint64("seed", 1, "of what is written")

const memoryBytes = selftest.MemoryBytes

func open2(t *testing.T, uri string) drivers.System {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: memoryBytes})
	require.NoError(t, err)
	return sys
}

// traffic is software that uses all of a device: every kind of access, waits, interrupts, errors.
func traffic(t *testing.T, sys drivers.System) {
	cfg := selftest.Config{Seed: *seed, Samples: 16, Patience: 5 * time.Second}
	results, err := selftest.Run(context.Background(), sys, cfg)
	require.NoError(t, err)
	for _, r := range results {
		require.NotEqual(t, selftest.Failed, r.Outcome, "%v", r.Fault)
	}
}

// logOf records traffic on a body.
func logOf(t *testing.T, uri string) []byte {
	file := filepath.Join(t.TempDir(), "log")
	sys := open2(t, "record:"+file+"!"+uri)
	traffic(t, sys)
	require.NoError(t, sys.Close())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return data
}

// far is a board whose memory is moved by calls.
type far struct{ drivers.Device }

type farSystem struct{ drivers.System }

func (f farSystem) Device(node int) drivers.Device {
	d := far{f.System.Device(node)}
	return struct {
		far
		mover
	}{d, farMemory{d.Device.Memory()}}
}

// Memory is where the NIC's is: bringing it there and back is nothing.
type farMemory struct{ mem []byte }

func (farMemory) ReadMemory(context.Context, uint64, uint64) error { return nil }

func (f farMemory) WriteMemory(_ context.Context, off uint64, p []byte) error {
	copy(f.mem[off:], p)
	return nil
}

// What was recorded on a body of another timing replays: order counts, not time.
func TestReplayInOrder(t *testing.T) {
	for _, from := range []string{"ideal:", "ideal:?latency=300", "ideal:?clock=wall"} {
		t.Run(from, func(t *testing.T) {
			if testing.Short() && strings.Contains(from, "wall") {
				t.Skip("waits for what must not come")
			}
			log := logOf(t, from)
			for _, onto := range []string{"ideal:", "ideal:?latency=200&depth=2"} {
				target := open2(t, onto)
				rep, err := Replay(context.Background(), log, target.(drivers.Timed), Config{})
				require.NoError(t, err)
				require.Nil(t, rep.Divergence, "%v", rep.Divergence)
				require.Equal(t, rep.Of, rep.Operations)
				require.Greater(t, rep.Reads, 1000)
				require.Greater(t, rep.Bytes, 1000)
				require.NoError(t, target.Close())
			}
		})
	}
}

// A board behind a line says which stores are software's.
func TestFarMemory(t *testing.T) {
	var log bytes.Buffer
	sys := New(farSystem{open2(t, "ideal:")}, &log, nil)
	traffic(t, sys)
	require.NoError(t, sys.Close())
	var o translog.Op
	r, err := translog.NewReader(log.Bytes())
	require.NoError(t, err)
	require.True(t, r.Meta.Partial)
	kinds := map[translog.Kind]int{}
	for err = r.Next(&o); err == nil; err = r.Next(&o) {
		kinds[o.Kind]++
	}
	require.Equal(t, io.EOF, err)
	require.Positive(t, kinds[translog.Store])
	require.Positive(t, kinds[translog.Memory])
	require.Zero(t, kinds[translog.Changed])
	target := open2(t, "ideal:")
	defer target.Close()
	rep, err := Replay(context.Background(), log.Bytes(), target.(drivers.Timed), Config{})
	require.NoError(t, err)
	require.Nil(t, rep.Divergence, "%v", rep.Divergence)
}

// A broken body is one that does not do what was recorded.
type broken struct {
	drivers.Timed
	read func(node int, off uint32, v uint64) uint64
	pio  func(node int, off uint32, line []byte) []byte
	irq  bool // the line is dead
	run  func(stop *drivers.Stop)
}

type brokenDevice struct {
	drivers.Device
	b    *broken
	node int
}

func (b *broken) Device(node int) drivers.Device { return &brokenDevice{b.Timed.Device(node), b, node} }

func (b *broken) Run(deadline drivers.Cycle, stop *drivers.Stop) error {
	err := b.Timed.Run(deadline, stop)
	if b.run != nil {
		b.run(stop)
	}
	return err
}

func (d *brokenDevice) ReadReg(off uint32) (uint64, error) {
	v, err := d.Device.ReadReg(off)
	if d.b.read != nil {
		v = d.b.read(d.node, off, v)
	}
	return v, err
}

func (d *brokenDevice) WritePIO(off uint32, line []byte) error {
	if d.b.pio != nil {
		if line = d.b.pio(d.node, off, line); line == nil {
			return nil
		}
	}
	return d.Device.WritePIO(off, line)
}

type never struct{ drivers.Waiter }

func (never) Wait(context.Context) error { return drivers.ErrQuiescent }

func (d *brokenDevice) Await(c drivers.Cause) (drivers.Waiter, error) {
	w, err := d.Device.Await(c)
	if d.b.irq && c == drivers.Interrupt {
		return never{w}, err
	}
	return w, err
}

func TestReplayFindsFaults(t *testing.T) {
	log := logOf(t, "ideal:?latency=300")
	lines := 0
	for _, c := range []struct {
		name            string
		body            broken
		where           string
		expected, found string
	}{
		{"a register", broken{read: func(_ int, off uint32, v uint64) uint64 {
			if off == regs.MboxSlots(0) {
				v |= 1 << 20
			}
			return v
		}}, "MBOX_SLOTS[0]", "0x10", "0x100010"},
		{"a field", broken{read: func(_ int, off uint32, v uint64) uint64 {
			if off == regs.VELOWindow(0) && v != 0 {
				v += 1 << regs.VELOWindowWrong.LSB()
			}
			return v
		}}, "VELO_WINDOW[0]", "wrong 0x0", "wrong 0x1"},
		{"a packet counted twice", broken{read: func(_ int, off uint32, v uint64) uint64 {
			if off == regs.RXPackets {
				v += v / 100
			}
			return v
		}}, "RX_PACKETS", "0x", "0x"},
		{"a byte of a packet", broken{pio: func(_ int, off uint32, line []byte) []byte {
			if lines++; lines == 50 && !regs.ForDescriptors(off) {
				line = bytes.Clone(line)
				line[3] ^= 0x10
			}
			return line
		}}, "mailbox of process 0, slot 1, byte 3", "", ""},
		{"a byte that becomes what software will store there", broken{pio: func(_ int, off uint32, line []byte) []byte {
			if len(line) == 1 {
				return []byte{0}
			}
			return line
		}}, "mailbox of process 0, slot 1, byte 0", "", "00"},
		{"a packet lost", broken{pio: func(node int, off uint32, line []byte) []byte {
			if node == 1 && len(line) == 56 {
				return nil
			}
			return line
		}}, "mailbox of process 0", "", ""},
		{"a put one byte too long", broken{pio: func(_ int, off uint32, line []byte) []byte {
			if regs.ForDescriptors(off) {
				line = bytes.Clone(line)
				line[3]++
			}
			return line
		}}, "notification ring of process 1, notification 0, byte 8", "", ""},
		{"interrupts lost", broken{irq: true}, "interrupt line", "an interrupt", "IRQ_STATUS is 0x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines = 0
			c.body.Timed = open2(t, "ideal:").(drivers.Timed)
			defer c.body.Close()
			rep, err := Replay(context.Background(), log, &c.body, Config{})
			require.NoError(t, err)
			require.NotNil(t, rep.Divergence)
			require.Contains(t, rep.Divergence.Where, c.where)
			require.Contains(t, rep.Divergence.Expected, c.expected)
			require.Contains(t, rep.Divergence.Found, c.found)
			require.NotEqual(t, rep.Divergence.Expected, rep.Divergence.Found)
			require.Len(t, rep.Divergence.Before, contexts)
			require.Less(t, rep.Operations, rep.Of)
		})
	}
}

// What the NIC writes where the recorded one wrote nothing is found at the end.
func TestReplayFindsStrayWrites(t *testing.T) {
	log := logOf(t, "ideal:")
	body := &broken{Timed: open2(t, "ideal:").(drivers.Timed)}
	defer body.Close()
	body.run = func(*drivers.Stop) { body.Timed.Device(1).Memory()[memoryBytes-5] = 0x99 }
	rep, err := Replay(context.Background(), log, body, Config{})
	require.NoError(t, err)
	require.NotNil(t, rep.Divergence)
	require.Equal(t, fmt.Sprintf("memory 0x%x", memoryBytes-5), rep.Divergence.Where)
	require.Equal(t, "99, which the NIC has written", rep.Divergence.Found)
}

// A refused write that the log has must be refused, and no other.
func TestReplayRefusals(t *testing.T) {
	record := func(write bool) []byte {
		var log bytes.Buffer
		sys := New(open2(t, "ideal:"), &log, nil)
		if write {
			require.NoError(t, sys.Device(1).WriteReg(regs.Magic, 1))
		}
		_, err := sys.Device(1).ReadReg(regs.Scratch)
		require.Equal(t, write, err != nil, "%v", err)
		_, err = sys.Device(0).ReadReg(0xff8)
		require.Error(t, err)
		require.NoError(t, sys.Close())
		return log.Bytes()
	}
	for _, write := range []bool{false, true} {
		target := open2(t, "ideal:")
		rep, err := Replay(context.Background(), record(write), target.(drivers.Timed), Config{})
		require.NoError(t, err)
		require.Nil(t, rep.Divergence, "%v", rep.Divergence)
		require.NoError(t, target.Close())
	}
	body := &broken{Timed: open2(t, "ideal:").(drivers.Timed)}
	defer body.Close()
	require.NoError(t, body.Timed.Device(1).WriteReg(regs.Magic, 1)) // the log knows nothing of it
	rep, err := Replay(context.Background(), record(false), body, Config{})
	require.NoError(t, err)
	require.NotNil(t, rep.Divergence)
	require.Equal(t, "MAGIC", rep.Divergence.Where)
	require.Contains(t, rep.Divergence.Found, "SLVERR")
}

// A log that was cut off replays up to there.
func TestCutOff(t *testing.T) {
	log := logOf(t, "ideal:")
	target := open2(t, "ideal:")
	defer target.Close()
	rep, err := Replay(context.Background(), log[:len(log)/2], target.(drivers.Timed), Config{})
	require.NoError(t, err)
	require.Nil(t, rep.Divergence, "%v", rep.Divergence)
	require.Equal(t, rep.Of, rep.Operations)
	require.Greater(t, rep.Of, 1000)
	require.Contains(t, rep.Cut, "cut off")
	_, err = Replay(context.Background(), []byte("no log"), target.(drivers.Timed), Config{})
	var f *translog.FormatError
	require.ErrorAs(t, err, &f)
}

type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(b), nil
}

// A full disk is told by the next call, and by Close, and so is a log that has become too long.
func TestFullDisk(t *testing.T) {
	for _, c := range []struct {
		w    io.Writer
		want error
	}{{&limited{w: &full{room: 1 << 17}, name: "x.log", left: Limit}, syscall.ENOSPC}, {&limited{w: io.Discard, name: "x.log", left: 1 << 17}, ErrLimit}} {
		sys := New(open2(t, "ideal:"), c.w, nil)
		_, err := selftest.Run(context.Background(), sys, selftest.Config{Seed: *seed, Only: []string{"velo"}})
		for i := 0; err == nil && i < 1<<17; i++ {
			_, err = sys.Device(0).ReadReg(regs.Scratch)
		}
		var w *WriteError
		require.ErrorAs(t, err, &w)
		require.ErrorIs(t, err, c.want)
		require.ErrorIs(t, err, drivers.ErrEnvironment)
		require.ErrorContains(t, err, "log x.log is cut off after")
		require.ErrorIs(t, sys.Close(), c.want)
	}
}

func TestOpenRefusals(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		{"record:x", `expected record:FILE!DEVICE`},
		{"record:!ideal:", `expected record:FILE!DEVICE`},
		{"record:x!idael:", `did you mean "ideal:"?`},
		{"record:x!ideal:?latancy=3", `did you mean "latency"?`},
	} {
		_, err := registry.Open(context.Background(), c.uri, drivers.Options{Nodes: 1})
		require.ErrorIs(t, err, drivers.ErrConfig, c.uri)
		require.ErrorContains(t, err, c.want)
	}
	_, err := registry.Open(context.Background(), "record:/nowhere/x!ideal:", drivers.Options{Nodes: 1})
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	target := open2(t, "ideal:?latency=5")
	defer target.Close()
	var log bytes.Buffer
	timed := translog.RecordTimed(open2(t, "ideal:").(drivers.Timed), &log)
	require.NoError(t, timed.Close())
	_, err = Replay(context.Background(), log.Bytes(), target.(drivers.Timed), Config{})
	require.ErrorContains(t, err, "a log that record: has not written")
}

// The files that devices write are known before one is opened, also of nested devices.
func TestOutputs(t *testing.T) {
	require.Equal(t, []string{"a.log", "b.log"}, registry.Outputs("record:a.log!record:b.log!ideal:"))
	require.Empty(t, registry.Outputs("ideal:"))
	require.Empty(t, registry.Outputs("record:"))
}
