package differ

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

const (
	vpids    = 3
	boxBytes = 1 << 16
	start    = drivers.Cycle(1000) // set-up is over
)

// A send is a line posted for a cycle, or its quadwords one by one from then on, in some order; a
// release is a read pointer moved at one.
type send struct {
	at    drivers.Cycle
	node  int
	pio   regs.PioFields
	bytes int
	order []int
}

type release struct {
	at         drivers.Cycle
	node, vpid int
	rp         uint32
}

// A route is an entry of a node's route table.
type route struct {
	node      int
	dst, port uint8
}

// traffic is what a run does; it does not depend on what happens.
type traffic struct {
	nodes, slots int
	set          [][2]uint64 // registers of every node: address, value
	routes       []route
	sends        []send
	releases     []release
	acks         []release // of refused lines
}

// A step is something that a packet went through: the k-th of its kind between
// two nodes.
type step struct {
	point    uint8
	src, dst uint16
	k        int
}

// steps are the trace points that are compared, in the order that a packet meets them.
var steps = func() []uint8 {
	list := []uint8{drivers.PointPIO, drivers.PointInject}
	for link := range uint8(6) {
		list = append(list, drivers.PointLink1+link, drivers.PointArrive1+link)
	}
	return append(list, drivers.PointEject, drivers.PointSlot)
}()

var stepNames = func() map[uint8]string {
	names := map[uint8]string{
		drivers.PointPIO: "line taken", drivers.PointInject: "injected", drivers.PointEject: "ejected", drivers.PointSlot: "slot written",
	}
	for link, name := range []string{"+X", "-X", "+Y", "-Y", "+Z", "-Z"} {
		names[drivers.PointLink1+uint8(link)] = "to " + name
		names[drivers.PointArrive1+uint8(link)] = "from " + name
	}
	return names
}()

// seen is what a run showed.
type seen struct {
	cycles map[step]drivers.Cycle
	count  map[step]int // by step with k = 0
	memory [][]byte
	text   []string // registers and the end
}

// Trace implements drivers.TraceSink.
func (s *seen) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		at := step{point: e.Point}
		switch h := regs.Header(e.Data); {
		case e.Point == drivers.PointPIO:
			at.src, at.dst = e.Node, uint16(regs.Pio(e.Data).DstNode())
		case e.Point == drivers.PointSlot:
			at.src, at.dst = regs.Slot(e.Data).SrcNode(), e.Node
		case e.Flags&drivers.TraceHead != 0 && (e.Point <= drivers.PointEject || e.Point >= drivers.PointArrive1):
			at.src, at.dst = h.SrcNode(), h.DstNode()
		default:
			continue
		}
		s.count[at]++
		at.k = s.count[at]
		s.cycles[at] = e.Cycle
	}
	return nil
}

// run opens a system and lets the traffic through.
func run(t *testing.T, uri string, tr *traffic) *seen {
	t.Helper()
	s := &seen{cycles: map[step]drivers.Cycle{}, count: map[step]int{}}
	sys, err := registry.Open(context.Background(), uri, drivers.Options{
		Nodes: tr.nodes, MemoryBytes: vpids * boxBytes, Trace: s, Progress: func(what string) { t.Log(what) },
	})
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	m := sys.(drivers.Timed)
	var stop drivers.Stop
	for n := range tr.nodes {
		for v := range uint8(vpids) {
			m.PostReg(n, 0, regs.PDID(v), 1)
			m.PostReg(n, 0, regs.MboxBase(v), uint64(v)*boxBytes)
			m.PostReg(n, 0, regs.MboxSlots(v), uint64(tr.slots))
			m.PostReg(n, 0, regs.MboxCtrl(v), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		}
	}
	for n := range tr.nodes {
		for _, r := range tr.set {
			m.PostReg(n, 0, uint32(r[0]), r[1])
		}
	}
	for _, r := range tr.routes {
		m.PostReg(r.node, 0, regs.Route(r.dst), regs.RouteOverride|uint64(r.port))
	}
	require.NoError(t, m.Run(start-1, &stop))
	for i, x := range tr.sends {
		line := make([]byte, x.bytes)
		for k := range line {
			line[k] = byte(i + k)
		}
		if x.order == nil {
			m.PostPIO(x.node, x.at, uint32(x.pio.Pack()), line)
		}
		for k, quad := range x.order {
			x.pio.Byte = uint8(8 * quad)
			m.PostPIO(x.node, x.at+drivers.Cycle(k), uint32(x.pio.Pack()), line[8*quad:min(8*quad+8, len(line))])
		}
	}
	for _, x := range tr.acks {
		m.PostReg(x.node, x.at, regs.VELOWindow(uint8(x.vpid)), 0)
	}
	for _, x := range tr.releases {
		m.PostReg(x.node, x.at, regs.MboxRP(uint8(x.vpid)), uint64(x.rp))
	}
	require.NoError(t, m.Run(drivers.Forever, &stop))
	require.True(t, stop.Idle, "%s: packets are left", uri)
	s.settle(t, m, tr.nodes)
	require.NoError(t, sys.Close())
	return s
}

// settle notes counters and memory.
func (s *seen) settle(t *testing.T, m drivers.Timed, nodes int) {
	for n := range nodes {
		for _, r := range []uint32{regs.TXPackets, regs.RXPackets, regs.TXDropped, regs.RXDropped, regs.RouteErrors, regs.ErrorInfo, regs.IRQStatus,
			regs.TXStall, regs.RXStall, regs.RXStallVPID, regs.NVMLevel(1), regs.NVMBytes(1), regs.NVMStall(1)} {
			v, err := m.Device(n).ReadReg(r)
			require.NoError(t, err)
			s.text = append(s.text, regs.Describe(r)+" = "+hex(v))
		}
		for v := range uint8(vpids) {
			for _, r := range []uint32{regs.MboxWP(v), regs.MboxStall(v), regs.VELOWindow(v)} {
				x, err := m.Device(n).ReadReg(r)
				require.NoError(t, err)
				s.text = append(s.text, regs.Describe(r)+" = "+hex(x))
			}
		}
		s.memory = append(s.memory, append([]byte(nil), m.Device(n).Memory()...))
	}
}
