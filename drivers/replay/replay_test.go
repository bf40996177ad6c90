package replay

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/drivers/translog"
)

var seed = flag.Uint64("seed", 1, "seed of the random software")

const memorySize = 1 << 16

// software drives two nodes at random and returns all that it saw. change is
// called before each step and may return true to make it do something else.
func software(sys drivers.Timed, seed uint64, steps int, change func(step int) bool) (seen []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	note := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	var stop drivers.Stop
	for n := range 2 {
		sys.PostReg(n, 0, regs.PDID(0), 1)
		sys.PostReg(n, 0, regs.PDID(1), 1)
		sys.PostReg(n, 0, regs.MboxSlots(1), 8)
		sys.PostReg(n, 0, regs.MboxCtrl(1), regs.MboxCtrlEnable|regs.MboxCtrlWindow|regs.MboxCtrlIRQArrival)
		sys.PostReg(n, 0, regs.IRQMask, 0xffff)
		if _, err := sys.Watch(n, 0, 8*regs.SlotBytes); err != nil {
			return nil, err
		}
	}
	_, err = sys.Watch(5, 0, 1) // a recorded refusal
	note("%v", err)
	for step := range steps {
		n := rng.IntN(2)
		dev := sys.Device(n)
		if change(step) {
			sys.PostReg(n, sys.Now(), regs.Scratch+0x800, 1)
		}
		switch rng.IntN(10) {
		case 0:
			v, err := dev.ReadReg(regs.MboxWP(1))
			note("%d %v", v, err)
		case 1:
			v, err := dev.ReadReg(0x38) // outside the map
			note("%d %v", v, err)
		case 2:
			note("%v", dev.WriteReg(regs.Scratch, rng.Uint64()))
		case 3:
			note("%v", dev.WritePIO(uint32(regs.PioFields{Length: 4, DstNode: 3, SrcVPID: 1}.Pack()), []byte("lost"))) // refused
		case 4:
			sys.Arm(drivers.WatchID(rng.IntN(2)))
			sys.ArmIRQ(n)
			sys.ArmPIO(n, 1, sys.PIOTaken(n, 1)+1)
		case 5:
			h := regs.Slot(binary.LittleEndian.Uint64(dev.Memory()[7*64+56:]))
			sys.PostReg(n, sys.Now()+3, regs.MboxRP(1), uint64(h.Seq()))
		default:
			line := make([]byte, 1+rng.IntN(56))
			line[0] = byte(step)
			off := regs.PioFields{Length: uint8(len(line)), DstNode: uint8(1 - n), DstVPID: 1, SrcVPID: 1}.Pack()
			sys.PostPIO(n, sys.Now()+drivers.Cycle(rng.IntN(50)), uint32(off), line)
		}
		if rng.IntN(3) == 0 {
			err := sys.Run(sys.Now()+drivers.Cycle(rng.IntN(100)), &stop)
			note("%v %+v %08x", err, stop, crc32.ChecksumIEEE(dev.Memory()))
			var d *DivergenceError
			if err != nil && asDivergence(err, &d) {
				return seen, err
			}
		}
	}
	return seen, nil
}

func asDivergence(err error, d **DivergenceError) bool {
	e, ok := err.(*DivergenceError)
	*d = e
	return ok
}

func never(int) bool { return false }

func record(t testing.TB, seed uint64, steps int) (log []byte, seen []string) {
	sys, err := ideal.New(drivers.Options{Nodes: 2, MemoryBytes: memorySize}, 20, 8)
	require.NoError(t, err)
	var buf bytes.Buffer
	rec := translog.RecordTimed(sys, &buf)
	seen, err = software(rec, seed, steps, never)
	require.NoError(t, err)
	require.NoError(t, rec.Close())
	return buf.Bytes(), seen
}

func play(t *testing.T, log []byte) *Timed {
	file := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(file, log, 0o600))
	sys, err := registry.Open(context.Background(), "replay:"+file, drivers.Options{Nodes: 2})
	require.NoError(t, err)
	require.Equal(t, "replay", sys.Info().Backend)
	return sys.(*Timed)
}

// What software sees of a playback is what it saw of the system, errors too.
func TestPlaysBack(t *testing.T) {
	log, want := record(t, *seed, 500)
	again, _ := record(t, *seed, 500)
	require.Equal(t, log, again, "the same run must give the same bytes")
	sys := play(t, log)
	got, err := software(sys, *seed, 500, never)
	require.NoError(t, err)
	for i := range want {
		require.Equal(t, want[i], got[i], "what software saw %dth; rerun: go test ./drivers/replay -run PlaysBack -seed %d", i, *seed)
	}
	require.NoError(t, sys.Close())

	text := strings.Join(want, "\n")
	for _, part := range []string{"DECERR", "SLVERR", "Watch:1", "Kind:1", "Kind:2", "Quiet:true"} {
		require.Contains(t, text, part, "the software does not cover what it should")
	}
}

// Recording changes neither answers nor time.
func TestRecordingIsInvisible(t *testing.T) {
	_, recorded := record(t, *seed, 300)
	sys, err := ideal.New(drivers.Options{Nodes: 2, MemoryBytes: memorySize}, 20, 8)
	require.NoError(t, err)
	bare, err := software(sys, *seed, 300, never)
	require.NoError(t, err)
	require.Equal(t, bare, recorded)
}

func TestDivergence(t *testing.T) {
	const steps = 60
	log, _ := record(t, *seed, steps)
	for _, at := range []int{0, 17, 40} {
		sys := play(t, log)
		_, err := software(sys, *seed, steps, func(step int) bool { return step == at })
		var d *DivergenceError
		require.ErrorAs(t, err, &d)
		require.Contains(t, d.Found, "0x820", d)
		require.Contains(t, d.Found, "RX_LEVEL+0x750", "names the nearest register")
		require.Equal(t, dumpLine(t, log, d.Index), d.Expected)
		require.Equal(t, d, sys.Close(), "the first divergence stays")
	}
}

// dumpLine finds an operation's call in the text dump by its number.
func dumpLine(t *testing.T, log []byte, index uint64) string {
	var text bytes.Buffer
	require.NoError(t, translog.Dump(&text, log))
	for _, line := range strings.Split(text.String(), "\n") {
		var n uint64
		if _, err := fmt.Sscanf(line, "%d", &n); err == nil && n == index {
			call, _, _ := strings.Cut(line[len("     0          0  "):], " -> ")
			return strings.TrimSpace(call[10:])
		}
	}
	t.Fatalf("no operation %d in the dump", index)
	return ""
}

func TestStopsEarlyOrLate(t *testing.T) {
	log, _ := record(t, *seed, 60)
	sys := play(t, log)
	_, err := software(sys, *seed, 40, never)
	require.NoError(t, err)
	var u *UnconsumedError
	require.ErrorAs(t, sys.Close(), &u)
	require.Positive(t, u.Left)
	require.Equal(t, dumpLine(t, log, u.Index), u.Next)
	require.NoError(t, sys.Close())
	var stop drivers.Stop
	require.ErrorIs(t, sys.Run(0, &stop), drivers.ErrClosed)

	sys = play(t, log)
	_, err = software(sys, *seed, 60, never)
	require.NoError(t, err)
	var d *DivergenceError
	require.ErrorAs(t, sys.Run(7, &stop), &d)
	require.Equal(t, "the end of the log", d.Expected)
	require.Equal(t, "run until cycle 7", d.Found)
}

// A log that was cut off plays up to the cut and then says where that is.
func TestCutOff(t *testing.T) {
	log, want := record(t, *seed, 60)
	sys := play(t, log[:len(log)*2/3])
	var stop drivers.Stop
	got, err := software(sys, *seed, 60, never)
	require.NoError(t, err)
	require.Equal(t, want[:10], got[:10])
	var f *translog.FormatError
	require.ErrorAs(t, sys.Run(0, &stop), &f)
	require.Positive(t, f.Offset)
	require.ErrorAs(t, sys.Close(), &f)
}

// A deviceRecorder writes the log of a device whose system is not Timed.
type deviceRecorder struct {
	drivers.Device
	log    *translog.Writer
	shadow []byte
}

func recordDevice(dev drivers.Device, w io.Writer) *deviceRecorder {
	mem := dev.Memory()
	info := drivers.Info{Backend: "device", Nodes: 1, VPIDs: regs.VPIDs, ClockPS: regs.ClockPS, DescHash: regs.DescHashValue}
	return &deviceRecorder{dev, translog.NewWriter(w, translog.Meta{Info: info, Memory: []int{len(mem)}}), bytes.Clone(mem[:4*regs.SlotBytes])}
}

// memory records the slots that the device has written since the last call.
func (r *deviceRecorder) memory() {
	for at := 0; at < len(r.shadow); at += regs.SlotBytes {
		if slot, now := r.shadow[at:at+regs.SlotBytes], r.Memory()[at:at+regs.SlotBytes]; !bytes.Equal(slot, now) {
			copy(slot, now)
			r.log.Append(&translog.Op{Kind: translog.Memory, Off: uint64(at), Data: slot})
		}
	}
}

func (r *deviceRecorder) ReadReg(off uint32) (uint64, error) {
	r.memory()
	v, err := r.Device.ReadReg(off)
	r.log.Append(&translog.Op{Kind: translog.ReadReg, Off: uint64(off), Value: v, Err: translog.NewFailure(err)})
	return v, err
}

func (r *deviceRecorder) WriteReg(off uint32, v uint64) error {
	r.memory()
	err := r.Device.WriteReg(off, v)
	r.log.Append(&translog.Op{Kind: translog.WriteReg, Off: uint64(off), Value: v, Err: translog.NewFailure(err)})
	return err
}

func (r *deviceRecorder) WritePIO(off uint32, line []byte) error {
	r.memory()
	err := r.Device.WritePIO(off, line)
	r.log.Append(&translog.Op{Kind: translog.WritePIO, Off: uint64(off), Data: line, Err: translog.NewFailure(err)})
	return err
}

func (r *deviceRecorder) Close() error {
	r.memory()
	return r.log.Close()
}

func TestDeviceLog(t *testing.T) {
	sys, err := ideal.New(drivers.Options{Nodes: 1, MemoryBytes: memorySize}, 20, 8)
	require.NoError(t, err)
	var buf bytes.Buffer
	rec := recordDevice(sys.Device(0), &buf)
	session := func(dev drivers.Device) (seen []string) {
		seen = append(seen, fmt.Sprint(dev.WriteReg(regs.PDID(0), 1)))
		for off, v := range []uint64{4, regs.MboxCtrlEnable | regs.MboxCtrlWindow} {
			seen = append(seen, fmt.Sprint(dev.WriteReg(regs.MboxSlots(0)+8*uint32(off), v)))
		}
		_, err := dev.ReadReg(regs.Scratch) // the window is on before the line comes
		seen = append(seen, fmt.Sprint(err, dev.WritePIO(uint32(regs.PioFields{Length: 5}.Pack()), []byte("hello"))))
		for range 30 { // reading lets the ideal NIC's time pass
			v, err := dev.ReadReg(regs.MboxWP(0))
			seen = append(seen, fmt.Sprint(v, err, string(dev.Memory()[:5])))
		}
		_, err = dev.ReadReg(0x38)
		return append(seen, fmt.Sprint(err))
	}
	want := session(rec)
	require.NoError(t, rec.Close())
	require.True(t, slices.ContainsFunc(want, func(s string) bool { return strings.HasSuffix(s, "hello") }))

	played, err := New(buf.Bytes(), drivers.Options{})
	require.NoError(t, err)
	_, timed := played.(drivers.Timed)
	require.False(t, timed)
	got := session(played.Device(0))
	// A memory change shows a call earlier than it was noticed: compare the calls.
	require.Equal(t, calls(want), calls(got))
	require.Equal(t, want[len(want)-2:], got[len(got)-2:])
	require.NoError(t, played.Close())
}

func calls(list []string) (out []string) {
	for _, s := range list {
		call, _, _ := strings.Cut(s, ">")
		out = append(out, call)
	}
	return out
}

func TestRefusals(t *testing.T) {
	log, _ := record(t, *seed, 5)
	for name, opt := range map[string]drivers.Options{
		"nodes":  {Nodes: 3},
		"memory": {MemoryBytes: memorySize + 1},
	} {
		_, err := New(log, opt)
		require.ErrorIs(t, err, drivers.ErrConfig, name)
	}
	_, err := New(log, drivers.Options{Waves: &drivers.WaveWindow{}})
	require.ErrorIs(t, err, drivers.ErrNotSupported)
	_, err = registry.Open(context.Background(), "replay:", drivers.Options{})
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = registry.Open(context.Background(), "replay:/nowhere/log", drivers.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)

	var other bytes.Buffer
	info := drivers.Info{Nodes: 1, DescHash: regs.DescHashValue + 1}
	require.NoError(t, translog.NewWriter(&other, translog.Meta{Info: info, Memory: []int{64}}).Close())
	_, err = New(other.Bytes(), drivers.Options{})
	require.ErrorContains(t, err, "play it with the version that recorded it")
}

// TestClaimedMemory: a log of a few bytes that claims 16 GiB is refused before memory is allocated.
func TestClaimedMemory(t *testing.T) {
	var old, low unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_AS, &old))
	low = old
	low.Cur = min(12<<30, old.Max)
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &low))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_AS, &old)) }()

	var log bytes.Buffer
	info := drivers.Info{Nodes: 1, DescHash: regs.DescHashValue}
	require.NoError(t, translog.NewWriter(&log, translog.Meta{Info: info, Memory: []int{16 << 30}}).Close())
	_, err := New(log.Bytes(), drivers.Options{})
	var memory *limits.MemoryError
	require.ErrorAs(t, err, &memory)
	require.True(t, memory.Total)
}
