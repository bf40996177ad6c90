package differ

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// Memory of a node: a ring, a table, pages.
const (
	ringAt    = 0x1000
	ringSlots = 64
	tableAt   = 0x2000
	dataAt    = 0x10000
	rmaPages  = 32
	rmaMemory = dataAt + rmaPages<<12
)

// An operation is one descriptor; the next comes when nothing moves any more.
type operation struct {
	name   string
	desc   regs.RMADescFields
	w1, w2 uint64
}

// operations are every command in several sizes, from node 0 to node 1.
func operations() (list []operation) {
	all := regs.RMADescFields{NotiRequester: true, NotiResponder: true, NotiCompleter: true, DstNode: 1}
	nla := func(off uint64) uint64 { return off }
	add := func(name string, c regs.RMACommand, bytes int, w1, w2 uint64) {
		d := all
		d.Command, d.BytesMinus1 = c, uint32(bytes-1)
		list = append(list, operation{fmt.Sprintf("%s %d", name, bytes), d, w1, w2})
	}
	for _, n := range []int{8, 1, 8, 64, 65, 256, 1024, 12000} {
		add("put", regs.RMACommandPut, n, nla(0x1000), nla(0x2000))
		add("put unaligned", regs.RMACommandPut, n, nla(0x1003), nla(0x2035))
		add("get", regs.RMACommandGet, n, nla(0x3000), nla(0x4000))
		add("get unaligned", regs.RMACommandGet, n, nla(0x3031), nla(0x4007))
	}
	for _, n := range []int{1, 8} {
		add("immediate put", regs.RMACommandImmPut, n, 0x1122334455667788, nla(0x5000))
	}
	add("notification", regs.RMACommandNotiPut, 1, 0xabcdef, 0)
	add("fetch and add", regs.RMACommandFCAA, 1, 5<<32|9, nla(0x6000))
	add("put nowhere", regs.RMACommandPut, 8, nla(0x1000), nla(0x900000))
	return list
}

// arrivals notes what happened how many cycles after an operation was posted.
type arrivals struct {
	posted drivers.Cycle
	seen   []arrival
}

type arrival struct {
	after drivers.Cycle
	what  string
}

func (a arrival) String() string { return fmt.Sprintf("%d %s", a.after, a.what) }

// Trace implements drivers.TraceSink.
func (a *arrivals) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		if e.Flags&drivers.TraceHead != 0 && (e.Point == drivers.PointInject || e.Point == drivers.PointEject) {
			a.note(e.Cycle, fmt.Sprintf("%s at node %d", stepNames[e.Point], e.Node))
		}
	}
	return nil
}

func (a *arrivals) note(at drivers.Cycle, what string) {
	if a.posted != 0 {
		a.seen = append(a.seen, arrival{at - a.posted, what})
	}
}

// runRMA performs the operations one after the other and tells, for each, when
// packets and notifications were seen.
func runRMA(t *testing.T, uri string) (seen [][]arrival, memory [][]byte) {
	a := &arrivals{}
	sys, err := drivers.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: rmaMemory, Trace: a})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	m := sys.(drivers.Timed)
	var stop drivers.Stop
	watches := make([]drivers.WatchID, 2)
	for n := range 2 {
		mem := m.Device(n).Memory()
		for i := range mem[dataAt:] {
			mem[dataAt+i] = byte(i*7 + n)
		}
		for p := range uint64(rmaPages) {
			e := regs.ATUEntryFields{Rights: regs.ATURightsRw, Page: (dataAt >> 12) + p}
			binary.LittleEndian.PutUint64(mem[tableAt+8*p:], uint64(e.Pack()))
		}
		for _, r := range [][2]uint64{{uint64(regs.NotiBase(0)), ringAt}, {uint64(regs.NotiSlots(0)), ringSlots},
			{uint64(regs.NotiCtrl(0)), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
			{uint64(regs.ATUBase(0)), tableAt}, {uint64(regs.ATUPages(0)), rmaPages}} {
			m.PostReg(n, 0, uint32(r[0]), r[1])
		}
		watches[n], err = m.Watch(n, ringAt, ringSlots*regs.NotiBytes)
		require.NoError(t, err)
	}
	require.NoError(t, m.Run(start, &stop))
	for _, op := range operations() {
		for n := range 2 {
			v, err := m.Device(n).ReadReg(regs.NotiWP(0))
			require.NoError(t, err)
			require.NoError(t, m.Device(n).WriteReg(regs.NotiRP(0), v))
		}
		require.NoError(t, m.Run(m.Now()+50, &stop))
		a.seen, a.posted = nil, m.Now()
		var line [24]byte
		binary.LittleEndian.PutUint64(line[0:], uint64(op.desc.Pack()))
		binary.LittleEndian.PutUint64(line[8:], op.w1)
		binary.LittleEndian.PutUint64(line[16:], op.w2)
		m.PostPIO(0, m.Now(), uint32(regs.RMAPioFields{RMA: true}.Pack()), line[:])
		for stop.Quiet = false; !stop.Quiet; {
			m.Arm(watches[0])
			m.Arm(watches[1])
			require.NoError(t, m.Run(drivers.Forever, &stop))
			for _, f := range stop.Fired {
				a.note(stop.Now, fmt.Sprintf("node %d told", f.Node))
			}
		}
		require.True(t, stop.Idle)
		seen = append(seen, a.seen)
		a.posted = 0
	}
	for n := range 2 {
		memory = append(memory, append([]byte(nil), m.Device(n).Memory()...))
	}
	require.NoError(t, sys.Close())
	return seen, memory
}

// Every RMA command, one at a time: when its packets leave and arrive, and when both
// sides are told. What happens is the same, and when it happens is not far off.
func TestSingleOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	rtl, rtlMemory := runRMA(t, "rtl:")
	model, modelMemory := runRMA(t, "model:")
	require.Equal(t, rtlMemory, modelMemory)
	exact, all := 0, 0
	for i, op := range operations() {
		far := compareArrivals(t, op.name, rtl[i], model[i])
		all += len(rtl[i])
		exact += len(rtl[i]) - far
		if far > 0 {
			t.Logf("%s\n  RTL:   %v\n  model: %v", op.name, rtl[i], model[i])
		}
	}
	t.Logf("%d of %d arrivals in the very cycle", exact, all)
	require.Greater(t, 100*exact, 95*all)
}

// compareArrivals holds the k-th arrival of each kind to the RTL's, and counts those
// that are not in the same cycle.
func compareArrivals(t *testing.T, name string, rtl, model []arrival) (far int) {
	byKind := func(list []arrival) map[string][]drivers.Cycle {
		m := map[string][]drivers.Cycle{}
		for _, a := range list {
			m[a.what] = append(m[a.what], a.after)
		}
		return m
	}
	want, got := byKind(rtl), byKind(model)
	require.Len(t, got, len(want), name)
	for kind, cycles := range want {
		require.Len(t, got[kind], len(cycles), "%s: %s", name, kind)
		for i := range cycles {
			require.InDelta(t, float64(cycles[i]), float64(got[kind][i]), 4+slack*float64(cycles[i]), "%s: %s", name, kind)
			if cycles[i] != got[kind][i] {
				far++
			}
		}
	}
	return far
}

// slack is how far off an arrival may be, as a part of the time since its operation
// was posted.
const slack = 0.1
