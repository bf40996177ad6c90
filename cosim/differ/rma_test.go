package differ

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
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
	// What cannot be is told with the size of the whole descriptor, what a fragment alone finds with
	// that of the fragment.
	add("no command", 0, 300, nla(0x1000), nla(0x2000))
	add("no command", 6, 5000, nla(0x1ffc), nla(0x2000))
	add("immediate put", regs.RMACommandImmPut, 9, 0, nla(0x2000))
	add("unaligned fetch and add", regs.RMACommandFCAA, 77, 0, nla(0x6002))
	add("beyond a table of all pages", regs.RMACommandPut, 8, 1<<44-4, nla(0x2000))
	add("notification with an address", regs.RMACommandNotiPut, 500, 1, 1<<48)
	add("a put that leaves its table", regs.RMACommandPut, 700, nla(rmaPages<<12-300), nla(0x2000))
	add("a get that does", regs.RMACommandGet, 700, nla(rmaPages<<12-300), nla(0x2000))
	add("no such node", regs.RMACommandPut, 700, nla(0x1003), nla(0x2000))
	list[len(list)-1].desc.DstNode = 2
	add("no such node", regs.RMACommandFCAA, 700, 0, 2)
	list[len(list)-1].desc.DstNode = 2
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

// openRMA opens two nodes whose process 0 has a ring, a table and pages, and watches of the rings.
func openRMA(t *testing.T, uri string, a *arrivals) (drivers.System, drivers.Timed, []drivers.WatchID) {
	sys, err := registry.Open(context.Background(), uri, drivers.Options{Nodes: 2, MemoryBytes: rmaMemory, Trace: a})
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
		for _, r := range [][2]uint64{{uint64(regs.PDID(0)), 1}, {uint64(regs.NotiBase(0)), ringAt}, {uint64(regs.NotiSlots(0)), ringSlots},
			{uint64(regs.NotiCtrl(0)), regs.NotiCtrlEnable | regs.NotiCtrlWindow},
			{uint64(regs.ATUBase(0)), tableAt}, {uint64(regs.ATUPages(0)), rmaPages}} {
			m.PostReg(n, 0, uint32(r[0]), r[1])
		}
		watches[n], err = m.Watch(n, ringAt, ringSlots*regs.NotiBytes)
		require.NoError(t, err)
	}
	require.NoError(t, m.Run(start, &stop))
	return sys, m, watches
}

// postRMA posts a descriptor of node 0's process 0.
func postRMA(m drivers.Timed, d regs.RMADescFields, w1, w2 uint64) {
	var line [24]byte
	binary.LittleEndian.PutUint64(line[0:], uint64(d.Pack()))
	binary.LittleEndian.PutUint64(line[8:], w1)
	binary.LittleEndian.PutUint64(line[16:], w2)
	m.PostPIO(0, m.Now(), regs.Descriptors(0), line[:])
}

func memories(m drivers.Timed) (list [][]byte) {
	for n := range 2 {
		list = append(list, slices.Clone(m.Device(n).Memory()))
	}
	return list
}

// runRMA performs the operations one after the other and tells, for each, when
// packets and notifications were seen.
func runRMA(t *testing.T, uri string) (seen [][]arrival, memory [][]byte) {
	a := &arrivals{}
	sys, m, watches := openRMA(t, uri, a)
	var stop drivers.Stop
	for _, op := range operations() {
		for n := range 2 {
			v, err := m.Device(n).ReadReg(regs.NotiWP(0))
			require.NoError(t, err)
			require.NoError(t, m.Device(n).WriteReg(regs.NotiRP(0), v))
		}
		require.NoError(t, m.Run(m.Now()+50, &stop))
		a.seen, a.posted = nil, m.Now()
		postRMA(m, op.desc, op.w1, op.w2)
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
	memory = memories(m)
	require.NoError(t, sys.Close())
	return seen, memory
}

// Every RMA command, one at a time: its packets leave and arrive, and both sides are told, in the
// same cycles.
func TestSingleOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	rtl, rtlMemory := runRMA(t, "rtl:")
	model, modelMemory := runRMA(t, "model:")
	require.Equal(t, rtlMemory, modelMemory)
	for i, op := range operations() {
		require.Equal(t, inOrder(rtl[i]), inOrder(model[i]), op.name)
	}
}

// inOrder brings what is told in one cycle into an order.
func inOrder(list []arrival) []arrival {
	slices.SortFunc(list, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.after, b.after), cmp.Compare(a.what, b.what)) })
	return list
}

// A full ring holds the unit that has to notify and nobody else, and counts for how long, in the
// RTL's cycles; all goes on when there is room.
func TestFullRing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	run := func(uri string) (stalls []uint64, seen []arrival, memory [][]byte) {
		a := &arrivals{}
		sys, m, _ := openRMA(t, uri, a)
		var stop drivers.Stop
		for _, r := range [][2]uint64{{uint64(regs.NotiCtrl(0)), 0}, {uint64(regs.NotiSlots(0)), 2},
			{uint64(regs.NotiCtrl(0)), regs.NotiCtrlEnable | regs.NotiCtrlWindow}} {
			for n := range 2 {
				m.PostReg(n, m.Now(), uint32(r[0]), r[1])
			}
		}
		require.NoError(t, m.Run(m.Now()+50, &stop))
		a.posted = m.Now()
		for i := range 8 {
			d := regs.RMADescFields{Command: regs.RMACommandPut, BytesMinus1: 99, DstNode: 1,
				NotiRequester: i%2 == 0, NotiCompleter: true}
			postRMA(m, d, 0x1000, uint64(0x2000+256*i))
		}
		for round := range uint64(7) {
			require.NoError(t, m.Run(m.Now()+301, &stop))
			for n := range 2 {
				v, err := m.Device(n).ReadReg(regs.NotiStall(0))
				require.NoError(t, err)
				stalls = append(stalls, v)
				require.NoError(t, m.Device(n).WriteReg(regs.NotiRP(0), round))
			}
		}
		require.NoError(t, m.Run(drivers.Forever, &stop))
		require.True(t, stop.Idle)
		require.Positive(t, stalls[len(stalls)-1])
		memory = memories(m)
		require.NoError(t, sys.Close())
		return stalls, inOrder(a.seen), memory
	}
	rtl, rtlSeen, rtlMemory := run("rtl:")
	model, modelSeen, modelMemory := run("model:")
	require.Equal(t, rtl, model)
	require.Equal(t, rtlSeen, modelSeen)
	require.True(t, slices.EqualFunc(rtlMemory, modelMemory, bytes.Equal), "memory differs")
}
