package conform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/mixed"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	nodes  = 4
	memory = 1 << 16
	slots  = 3
)

// observer drives a system and writes down all that software sees.
type observer struct {
	sys  drivers.Timed
	stop drivers.Stop
	seen []string
}

func (o *observer) note(format string, args ...any) {
	o.seen = append(o.seen, fmt.Sprintf(format, args...))
}

func (o *observer) set(node int, off uint32, v uint64) { o.sys.PostReg(node, o.sys.Now(), off, v) }

func (o *observer) send(node int, f regs.PioFields, bytes int) {
	line := make([]byte, bytes)
	for i := range line {
		line[i] = byte(i + 1)
	}
	o.sys.PostPIO(node, o.sys.Now(), uint32(f.Pack()), line)
}

// settle runs until nothing moves; each refusal on the way is an observation.
func (o *observer) settle() {
	for {
		err := o.sys.Run(o.sys.Now()+2000, &o.stop)
		if err == nil {
			o.note("settled: quiet %v, idle %v, fired %v", o.stop.Quiet, o.stop.Idle, o.stop.Fired)
			return
		}
		o.note("stopped by %v, fired %v", err, o.stop.Fired)
	}
}

// unmodelled are registers of what the twins have not got: ideal: has no links, and
// both have no wires. Of the route table the entries are compared, not the routes: ideal:
// has no routes to override; that of model: is compared in regress network/.
func unmodelled(name string) bool {
	return strings.HasPrefix(name, "LINK_") || strings.HasPrefix(name, "WIRE_")
}

// timing are the registers that depend on how fast and how deep the hardware is.
var timing = []string{"CYCLES", "PARAMS", "TX_LEVEL", "RX_LEVEL", "TX_STALL", "RX_STALL", "MBOX_STALL"}

func (o *observer) registers(except ...string) {
	for n := range nodes {
		for _, r := range regs.Registers() {
			if slices.Contains(timing, r.Name) || slices.Contains(except, r.Name) || unmodelled(r.Name) {
				continue
			}
			for i := range r.Count {
				v, err := o.sys.Device(n).ReadReg(r.Address(int(i)))
				o.note("node %d %s[%d] = 0x%x %v", n, r.Name, i, v, err)
			}
		}
	}
}

func (o *observer) memory() {
	for n := range nodes {
		mem := o.sys.Device(n).Memory()
		for at := 0; at < len(mem); at += regs.SlotBytes {
			o.note("node %d memory 0x%x: %x", n, at, mem[at:at+regs.SlotBytes])
		}
	}
}

func (o *observer) setUp() {
	for n := range nodes {
		for v := range uint8(3) {
			o.set(n, regs.PDID(v), 1)
			o.set(n, regs.MboxBase(v), uint64(v)<<12|7) // the low bits do not count
			o.set(n, regs.MboxSlots(v), slots)
			o.set(n, regs.MboxCtrl(v), regs.MboxCtrlEnable|regs.MboxCtrlWindow|regs.MboxCtrlIRQArrival)
		}
		o.set(n, regs.IRQMask, ^uint64(0))
	}
	o.settle()
	o.registers()
}

// refused are sends that the requester does not take.
func (o *observer) refused() {
	o.send(0, regs.PioFields{Length: 8, DstNode: 1, Byte: 8}, 64)
	o.send(0, regs.PioFields{Length: 57, DstNode: 1}, 64)
	o.send(0, regs.PioFields{Length: 55, DstNode: 1, Piggyback: true}, 64)
	o.send(0, regs.PioFields{Length: 8, DstNode: nodes}, 8)
	o.send(0, regs.PioFields{Length: 8, DstNode: 1, SrcVPID: 9}, 8)
	o.settle()
	o.registers()
	o.set(0, regs.ErrorInfo, 1)
	o.set(0, regs.IRQStatus, regs.IRQStatusError)
	o.settle()
}

// dropped are packets that the completer discards.
func (o *observer) dropped() {
	o.send(0, regs.PioFields{Length: 8, DstNode: 1, DstVPID: 9}, 8) // no mailbox
	o.set(2, regs.MboxBase(1), memory)
	o.send(1, regs.PioFields{Length: 8, DstNode: 2, DstVPID: 1}, 8) // outside the memory
	o.settle()
	o.registers()
}

// pieces are lines that come in parts, one that is given up for another, and what is refused behind
// it.
func (o *observer) pieces() {
	for _, quad := range []uint8{2, 6, 0, 3, 1, 5, 4} {
		o.send(0, regs.PioFields{Length: 56, DstNode: 1, Byte: 8 * quad}, 8)
		o.send(0, regs.PioFields{Length: 20, DstNode: 1, SrcVPID: 1, Byte: 8 * quad}, 8) // of which some are behind its end
	}
	o.settle()
	o.registers()
	o.send(0, regs.PioFields{Length: 56, DstNode: 1}, 16)
	o.send(0, regs.PioFields{Length: 8, DstNode: 1}, 8)
	o.settle()
	o.registers()
	o.send(0, regs.PioFields{Length: 56, DstNode: 1}, 64)
	o.send(0, regs.PioFields{Length: 24, DstNode: 1}, 8)
	o.settle()
	o.registers()
	o.set(0, regs.VELOWindow(0), 0)
	o.settle()
	o.send(0, regs.PioFields{Length: 24, DstNode: 1}, 24)
	o.settle()
	o.registers()
}

// stalled fills a mailbox, looks at the stall and lets the packets through.
func (o *observer) stalled() {
	const packets = regs.VELOLines
	for i := range packets {
		bytes := i
		if i%2 == 0 {
			bytes += 2
		}
		o.send(0, regs.PioFields{Length: uint8(i), Kind: regs.Kind(i % 4), DstNode: 3, DstVPID: 2, Piggyback: i%2 == 0}, bytes)
	}
	o.sys.ArmIRQ(3)
	o.settle()
	o.settle()
	o.registers("TX_PACKETS", "VELO_WINDOW", "LEVEL") // how many are under way is the network's own
	for i := range packets {
		o.set(3, regs.MboxRP(2), uint64(i+1))
		o.settle()
	}
	o.registers()
	o.note("lines taken: %d %d", o.sys.PIOTaken(0, 0), o.sys.PIOTaken(0, 9))
}

// forbidden are accesses that the register file answers with an error.
func (o *observer) forbidden() {
	o.set(3, regs.Magic, 4)
	o.settle()
	o.set(3, 0x38, 4)
	o.settle()
	for _, off := range []uint32{0x38, 0x5000, regs.MboxRP(15) + 8} {
		v, err := o.sys.Device(3).ReadReg(off)
		o.note("0x%x: %x %v", off, v, err)
	}
	o.registers()
}

func observe(t *testing.T, uri string) []string {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: nodes, MemoryBytes: memory})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	o := &observer{sys: sys.(drivers.Timed)}
	o.setUp()
	o.refused()
	o.pieces()
	o.dropped()
	o.stalled()
	o.forbidden()
	o.memory()
	require.NoError(t, sys.Close())
	return o.seen
}

func TestTwinsAreLikeRTL(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	rtl := observe(t, "rtl:")
	for _, uri := range []string{"ideal:", "model:", "mixed:?rtl=0", "mixed:?rtl=1,3", "mixed:?rtl=2"} {
		seen := observe(t, uri)
		for i := range min(len(rtl), len(seen)) {
			require.Equal(t, rtl[i], seen[i], "%s: observation %d: expected is the RTL's", uri, i)
		}
		require.Len(t, seen, len(rtl))
	}
	t.Logf("%d observations", len(rtl))
}
