package selftest

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/process"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

var seed = flag.Uint64("seed", 1, "of what is written")

func open(t *testing.T, uri string) drivers.System {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: MemoryBytes})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys
}

func config() Config { return Config{Seed: *seed, Samples: 32, Patience: time.Second} }

// bodies are sound ones, whose memory lies in all ways.
var bodies = []string{"ideal:", "ideal:?dma_base=0x100000000", "ideal:?dma_base=0x7f0000000000&dma_segment=4096", "ideal:?clock=wall"}

func TestSoundBodies(t *testing.T) {
	for _, uri := range bodies {
		t.Run(uri, func(t *testing.T) {
			if testing.Short() && strings.Contains(uri, "wall") {
				t.Skip("waits for what must not come")
			}
			sys := open(t, uri)
			results, err := Run(context.Background(), sys, config())
			require.NoError(t, err)
			require.Len(t, results, 2*len(checks))
			for _, r := range results {
				if r.Check == "links" {
					require.Equal(t, Skipped, r.Outcome, "%+v", r)
					continue
				}
				require.Equal(t, Passed, r.Outcome, "%s: %v %s", r.Check, r.Fault, r.Why)
			}
			untouched(t, sys)
			again, err := Run(context.Background(), sys, config())
			require.NoError(t, err, "what is left can be tested again")
			if !strings.Contains(uri, "wall") {
				for i := range again {
					require.Equal(t, results[i].Did, again[i].Did)
				}
			}
		})
	}
}

// untouched: registers that software sets are as after reset.
func untouched(t *testing.T, sys drivers.System) {
	fresh := open(t, "ideal:")
	for n := range sys.Info().Nodes {
		for _, r := range regs.Registers() {
			if r.Access != regs.RW || r.Name == "ATU_DONE" || r.Name == "ATU_COMMAND" || strings.HasPrefix(r.Name, "LINK_") || strings.HasPrefix(r.Name, "WIRE_") {
				continue
			}
			for i := range int(r.Count) {
				want, err := fresh.Device(n).ReadReg(r.Address(i))
				require.NoError(t, err, r.Name)
				got, err := sys.Device(n).ReadReg(r.Address(i))
				require.NoError(t, err)
				if strings.HasSuffix(r.Name, "_RP") {
					continue // begins anew when the ring goes on
				}
				require.Equal(t, want, got, "node %d: %s[%d]", n, r.Name, i)
			}
		}
	}
}

// On simulated time a test is the same to the picosecond.
func TestRepeats(t *testing.T) {
	var all [2][]Result
	for i := range all {
		var err error
		all[i], err = Run(context.Background(), open(t, "ideal:"), config())
		require.NoError(t, err)
	}
	require.Equal(t, all[0], all[1])
	require.Positive(t, all[0][8].Figures[0].P99NS)
}

func TestRefusesADeviceInUse(t *testing.T) {
	sys := open(t, "ideal:")
	require.NoError(t, process.Join(sys.Device(1), 3, 1))
	_, err := Run(context.Background(), sys, config())
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, "node 1: process 3")

	small, err := registry.Open(context.Background(), "ideal:", drivers.Options{Nodes: 1, MemoryBytes: 4096})
	require.NoError(t, err)
	defer small.Close()
	_, err = Run(context.Background(), small, config())
	require.ErrorIs(t, err, drivers.ErrConfig)
	_, err = Run(context.Background(), sys, Config{Only: []string{"scrach"}})
	require.ErrorContains(t, err, `did you mean "scratch"?`)
}

// A faulty device is a sound one with a fault planted.
type faulty struct {
	drivers.Device
	read  func(off uint32, v uint64) uint64
	write func(off uint32, v uint64) (uint32, uint64)
	pio   func(f *faulty, off uint32, line []byte) error
	irq   func(drivers.Waiter) drivers.Waiter
	wrote map[uint32]uint64
}

type faultySystem struct {
	drivers.System
	devices []*faulty
}

func (s *faultySystem) Device(node int) drivers.Device { return s.devices[node] }

func (f *faulty) ReadReg(off uint32) (uint64, error) {
	v, err := f.Device.ReadReg(off)
	if f.read != nil {
		v = f.read(off, v)
	}
	return v, err
}

func (f *faulty) WriteReg(off uint32, v uint64) error {
	if f.write != nil {
		off, v = f.write(off, v)
	}
	f.wrote[off] = v
	return f.Device.WriteReg(off, v)
}

func (f *faulty) WritePIO(off uint32, line []byte) error {
	if f.pio != nil {
		return f.pio(f, off, line)
	}
	return f.Device.WritePIO(off, line)
}

func (f *faulty) Await(c drivers.Cause) (drivers.Waiter, error) {
	w, err := f.Device.Await(c)
	if c == drivers.Interrupt && f.irq != nil {
		w = f.irq(w)
	}
	return w, err
}

// deaf never hears an interrupt; stuck hears one always.
type deaf struct{ drivers.Waiter }

func (deaf) Wait(context.Context) error { return drivers.ErrQuiescent }

type stuck struct{ drivers.Waiter }

func (stuck) Wait(context.Context) error { return nil }

func set(bit int) func(uint32, uint64) uint64 {
	return func(off uint32, v uint64) uint64 {
		if off == regs.Scratch {
			v |= 1 << bit
		}
		return v
	}
}

// damaged passes a line on with a bit turned, if it is long enough to have it.
func damaged(at int) func(*faulty, uint32, []byte) error {
	return func(f *faulty, off uint32, line []byte) error {
		if len(line) > at && !regs.ForDescriptors(off) {
			line = append([]byte(nil), line...)
			line[at] ^= 4
		}
		return f.Device.WritePIO(off, line)
	}
}

// longer makes the NIC move one byte more than it was told to.
func longer(f *faulty, off uint32, line []byte) error {
	if regs.ForDescriptors(off) {
		line = append([]byte(nil), line...)
		binary.LittleEndian.PutUint64(line, binary.LittleEndian.Uint64(line)+1<<24)
	}
	return f.Device.WritePIO(off, line)
}

// astray writes a byte beside the mailbox, with the fifth packet.
func astray(distance int) func(*faulty, uint32, []byte) error {
	count := 0
	return func(f *faulty, off uint32, line []byte) error {
		if count++; count == 5 {
			f.Memory()[int(f.wrote[regs.MboxBase(0)])+distance] ^= 0xff
		}
		return f.Device.WritePIO(off, line)
	}
}

func TestFindsFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		check string // that must find it
		fault faulty
		where string
		found string
	}{
		{"wrong magic", "identity", faulty{read: func(off uint32, v uint64) uint64 {
			if off == regs.Magic {
				v ^= 1 << 40
			}
			return v
		}}, "MAGIC", "0x"},
		{"boards in the wrong order", "identity", faulty{read: func(off uint32, v uint64) uint64 {
			if off == regs.NodeID {
				v ^= 1
			}
			return v
		}}, "NODE_ID", "0x1"},
		{"stuck bit", "scratch", faulty{read: set(17)}, "SCRATCH bit 17", "0x20000"},
		{"shorted bits", "scratch", faulty{read: func(off uint32, v uint64) uint64 {
			if off == regs.Scratch && v&(1<<5) != 0 {
				v |= 1 << 6
			}
			return v
		}}, "SCRATCH bit 6", "0x"},
		{"address line", "addresses", faulty{write: func(off uint32, v uint64) (uint32, uint64) {
			if off == regs.MboxBase(5) {
				off = regs.MboxBase(4)
			}
			return off, v
		}}, "MBOX_BASE[4]", "which was written to MBOX_BASE[5]: addresses differ in bit 12"},
		{"refusals not counted", "refusals", faulty{read: func(off uint32, v uint64) uint64 {
			if off == regs.BadAccess {
				v = 0
			}
			return v
		}}, "BAD_ACCESS", "0x0"},
		{"data bit", "velo", faulty{pio: damaged(20)}, "(byte 20 of the data)", "and 1 bytes differ"},
		{"write behind the mailbox", "velo", faulty{pio: astray(boxSlots*regs.SlotBytes + 9)}, "guard, 9 bytes behind the data", ""},
		{"write in front of the mailbox", "velo", faulty{pio: astray(-3)}, "guard, 3 bytes in front of the data", ""},
		{"packets lost", "velo", faulty{pio: func(f *faulty, off uint32, line []byte) error { return nil }}, "mailbox 0, slot 0", "MBOX_WP is 0"},
		{"packets twice", "velo", faulty{pio: func(f *faulty, off uint32, line []byte) error {
			return errors.Join(f.Device.WritePIO(off, line), f.Device.WritePIO(off, line))
		}}, "packet of ", ""},
		{"a byte too many", "dma", faulty{pio: longer}, "guard, 0 bytes behind the data", ""},
		{"translations not found", "dma", faulty{write: func(off uint32, v uint64) (uint32, uint64) {
			if off == regs.ATUPages(table) && v != 0 {
				v = 8
			}
			return off, v
		}}, "notification", "error BOUNDS"},
		{"no descriptor comes", "dma", faulty{pio: func(f *faulty, off uint32, line []byte) error {
			if regs.ForDescriptors(off) {
				return nil
			}
			return f.Device.WritePIO(off, line)
		}}, "notification 1", "nothing after 1s"},
		{"interrupts lost", "interrupts", faulty{irq: func(w drivers.Waiter) drivers.Waiter { return deaf{w} }}, "IRQ_STATUS bit 0 (a packet for mailbox 0)", "none after 1s; IRQ_STATUS is 0x1"},
		{"interrupt line stuck", "interrupts", faulty{irq: func(w drivers.Waiter) drivers.Waiter { return stuck{w} }}, "IRQ_STATUS bit 0", "again and again"},
		{"mask bit stuck", "interrupts", faulty{write: func(off uint32, v uint64) (uint32, uint64) {
			if off == regs.IRQMask {
				v &^= 1 << 16
			}
			return off, v
		}}, "IRQ_MASK", "0x0"},
		{"cause not cleared", "interrupts", faulty{write: func(off uint32, v uint64) (uint32, uint64) {
			if off == regs.IRQStatus {
				v &^= 1 << 20
			}
			return off, v
		}}, "IRQ_STATUS bit 20 (a notification for process 2)", "0x100000"},
		{"a counter moves", "counters", faulty{read: counting(regs.RouteErrors)}, "ROUTE_ERRORS", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			under := open(t, "ideal:")
			sys := &faultySystem{System: under}
			for n := range 2 {
				f := c.fault
				f.Device, f.wrote = under.Device(n), map[uint32]uint64{}
				sys.devices = append(sys.devices, &f)
			}
			results, err := Run(context.Background(), sys, Config{Seed: *seed, Samples: 16, Patience: time.Second, Nodes: []int{0}})
			require.NoError(t, err)
			for _, r := range results {
				if r.Check != c.check {
					continue
				}
				require.Equal(t, Failed, r.Outcome)
				require.Contains(t, r.Fault.Where, c.where)
				require.Contains(t, r.Fault.Found, c.found)
				require.NotEmpty(t, r.Fault.Expected)
				require.NotEmpty(t, r.Fault.Advice)
				return
			}
			t.Fatal("the check did not run")
		})
	}
}

// counting is a counter that grows with every read.
func counting(which uint32) func(uint32, uint64) uint64 {
	reads := uint64(0)
	return func(off uint32, v uint64) uint64 {
		if off == which {
			reads++
			v += reads
		}
		return v
	}
}

// A device that dies ends the test with its error.
func TestDeath(t *testing.T) {
	sys := open(t, "ideal:")
	ctx, cancel := context.WithCancel(context.Background())
	results, err := Run(ctx, sys, Config{Seed: *seed, Progress: func(done, _ int, _ string) {
		if done == 5 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, results, 5)
}

// The sequence has the length and the balance that it is known for, and is that of the polynomial.
func TestPRBS(t *testing.T) {
	p := newPRBS(*seed)
	b := make([]byte, 1<<16)
	p.read(b)
	bit := func(i int) byte { return b[i/8] >> (i % 8) & 1 }
	ones := 0
	for i := range 8 * len(b) {
		ones += int(bit(i))
		if i >= 31 {
			require.Equal(t, bit(i-31)^bit(i-28), bit(i), "bit %d, -seed %d", i, *seed)
		}
	}
	require.InDelta(t, 4*len(b), ones, 2000)
}

// oneWindow is a body whose BAR of send windows has room for one process.
type oneWindow struct{ drivers.Timed }

func (s oneWindow) Info() drivers.Info {
	info := s.Timed.Info()
	info.VPIDs = 1
	return info
}

func (s oneWindow) Device(node int) drivers.Device { return oneWindowDevice{s.Timed.Device(node)} }

type oneWindowDevice struct{ drivers.Device }

func (d oneWindowDevice) WritePIO(off uint32, line []byte) error {
	if off >= 1<<25 {
		return &drivers.BusError{Port: "pio", Off: off, Write: true, Resp: drivers.RespDECERR}
	}
	return d.Device.WritePIO(off, line)
}

// A board with a small BAR of send windows has fewer processes, and is tested with those.
func TestOneWindow(t *testing.T) {
	sys := oneWindow{open(t, "ideal:").(drivers.Timed)}
	results, err := Run(context.Background(), sys, config())
	require.NoError(t, err)
	for _, r := range results {
		require.NotEqual(t, Failed, r.Outcome, "%s: %v %s", r.Check, r.Fault, r.Why)
		if r.Check == "interrupts" {
			require.Equal(t, "4 causes", r.Did)
		}
	}
}
