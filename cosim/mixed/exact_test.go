package mixed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/pacing"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/drivers/regs"
)

var seed = flag.Uint64("seed", 1, "seed of the random traffic")

const (
	procs       = 2
	targetBytes = 512
	boxSlots    = 512
	rings       = procs * boxSlots * regs.SlotBytes
	ringSlots   = 512
	tables      = rings + procs*ringSlots*regs.NotiBytes
	data        = tables + procs<<12
	pages       = 24
	memory      = data + pages<<12
	start       = drivers.Cycle(1000) // after set-up
)

// A post is a line, or the write of a register.
type post struct {
	at   drivers.Cycle
	node int
	off  uint32
	line []byte // nil: a register
	v    uint64
}

// load is the schedule of software in a run; it does not depend on events.
type load struct {
	nodes int
	posts []post
	trace bool
	lead  bool // the RTL may lead
}

// newLoad returns random lines of all nodes, one per node every gap cycles on average: VELO only,
// or with RMA.
func newLoad(seed uint64, nodes, each, gap int, rma bool) *load {
	rng := rand.New(rand.NewPCG(seed, 7))
	l := &load{nodes: nodes}
	for node := range nodes {
		at := start
		for i := range each {
			at += drivers.Cycle(rng.IntN(2*gap + 1))
			p := post{at: at, node: node}
			if rma && rng.IntN(2) == 0 {
				p.operation(rng, rng.IntN(nodes), uint64(1<<12+(node*each+i)%((pages-1)<<12/targetBytes)*targetBytes))
			} else {
				p.velo(rng, rng.IntN(nodes))
			}
			l.posts = append(l.posts, p)
		}
	}
	slices.SortStableFunc(l.posts, func(a, b post) int { return int(a.at) - int(b.at) })
	return l
}

func bytesOf(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func (p *post) velo(rng *rand.Rand, dst int) {
	n := rng.IntN(regs.VELOPayload + 1)
	p.off = uint32(regs.PioFields{DstNode: uint8(dst), Length: uint8(n), DstVPID: uint8(rng.IntN(procs))}.Pack())
	p.line = bytesOf(rng, n)
}

func (p *post) operation(rng *rand.Rand, dst int, target uint64) {
	vpid := rng.IntN(procs)
	table := uint64(regs.NLAFields{Table: uint8(vpid)}.Pack())
	target, source := target|table, uint64(rng.IntN(1<<12-targetBytes))|table
	d := regs.RMADescFields{NotiRequester: rng.IntN(2) == 0, NotiResponder: rng.IntN(2) == 0, NotiCompleter: rng.IntN(2) == 0,
		DstNode: uint16(dst), DstVPID: uint8(vpid), BytesMinus1: uint32(rng.IntN(targetBytes))}
	var w1, w2 uint64
	switch rng.IntN(5) {
	case 0:
		d.Command, w1, w2 = regs.RMACommandPut, source, target
	case 1:
		d.Command, w1, w2 = regs.RMACommandGet, source, target
	case 2:
		d.Command, d.BytesMinus1, w1, w2 = regs.RMACommandImmPut, uint32(rng.IntN(8)), rng.Uint64(), target
	case 3:
		d.Command, w1 = regs.RMACommandNotiPut, rng.Uint64()>>8
	default:
		d.Command, w1, w2 = regs.RMACommandFCAA, 3<<32|uint64(rng.IntN(9)), 8*uint64(p.node)|table
	}
	p.off = regs.Descriptors(uint8(vpid))
	for _, w := range []uint64{uint64(d.Pack()), w1, w2} {
		p.line = binary.LittleEndian.AppendUint64(p.line, w)
	}
}

// passes are the cycles in which heads passed a point, in order, by point, node, source and
// destination.
type passes map[[4]uint16][]drivers.Cycle

// Trace implements drivers.TraceSink.
func (s passes) Trace(events []drivers.TraceEvent) error {
	for _, e := range events {
		h := regs.Header(e.Data)
		k := [4]uint16{uint16(e.Point), e.Node, h.SrcNode(), h.DstNode()}
		switch {
		case e.Point == drivers.PointPIO && regs.ForDescriptors(uint32(e.Data)):
			continue // the model shows descriptors, too
		case e.Point == drivers.PointPIO || e.Point == drivers.PointSlot || e.Point == drivers.PointDropped:
			k[2], k[3] = 0, 0
		case e.Flags&drivers.TraceHead == 0 || e.Point > drivers.PointEject && e.Point < drivers.PointArrive1:
			continue
		}
		s[k] = append(s[k], e.Cycle)
	}
	return nil
}

// seen is the complete observation of a run.
type seen struct {
	passes passes
	text   []string
	memory [][]byte // by node
}

func opened(t *testing.T, uri string, opt drivers.Options) drivers.Timed {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	opt.Progress = func(what string) { t.Log(what) }
	sys, err := registry.Open(context.Background(), uri, opt)
	if errors.Is(err, drivers.ErrEnvironment) && os.Getenv("CI") == "" {
		t.Skipf("no simulator here: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys.(drivers.Timed)
}

// counters are registers that summarise a run.
var counters = []uint32{regs.TXPackets, regs.TXStall, regs.TXDropped, regs.RXPackets, regs.RXStall, regs.RXDropped, regs.RouteErrors, regs.ErrorInfo,
	regs.IRQStatus, regs.RMATXPackets, regs.RMARXPackets, regs.RMANotis, regs.RMAErrors, regs.ATUHits, regs.ATUMisses, regs.NotiWP(0), regs.NotiWP(1),
	regs.MboxWP(0), regs.MboxWP(1), regs.MboxStall(0), regs.TXLevel, regs.RXLevel, regs.NVMStall(0), regs.LinkCRCErrors(0), regs.LinkTimeouts(0),
	regs.LinkStatus(0), regs.LinkStatus(1), regs.NodeID, regs.Params,
	regs.VELOWindow(0), regs.VELOWindow(1), regs.RMAWindow(0), regs.RMAWindow(1)}

func (l *load) run(t *testing.T, uri string) *seen {
	t.Helper()
	s := &seen{passes: passes{}}
	opt := drivers.Options{Nodes: l.nodes, MemoryBytes: memory}
	if l.trace {
		opt.Trace = s.passes
	}
	m := opened(t, uri, opt)
	if !l.lead { // lead promises that nothing is posted meanwhile
		m = pacing.NewSystem(m)
	}
	for n := range l.nodes {
		setUp(m, n)
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(start-1, &stop))
	for _, p := range l.posts {
		if p.line == nil {
			m.PostReg(p.node, p.at, p.off, p.v)
		} else {
			m.PostPIO(p.node, p.at, p.off, p.line)
		}
	}
	if s, ok := m.(drivers.RunAheadSystem); ok && l.lead { // all lines are posted
		s.RunAhead(func() drivers.Cycle { return drivers.Forever })
		defer s.RunAhead(nil)
	}
	for {
		err := m.Run(1<<20, &stop)
		if err == nil && len(stop.Fired) == 0 {
			break
		}
		s.text = append(s.text, fmt.Sprintf("cycle %d: %v, error %v", stop.Now, stop.Fired, err))
		require.NotErrorIs(t, err, drivers.ErrProtocol, "%s, leading %v, seed %d", uri, l.lead, *seed)
	}
	s.text = append(s.text, fmt.Sprintf("end: quiet %v, idle %v", stop.Quiet, stop.Idle))
	for n := range l.nodes {
		for _, off := range counters {
			v, err := m.Device(n).ReadReg(off)
			s.text = append(s.text, fmt.Sprintf("cycle %d: node %d %s = 0x%x %v", m.Now(), n, regs.Describe(off), v, err))
		}
		s.memory = append(s.memory, slices.Clone(m.Device(n).Memory()))
	}
	require.NoError(t, m.Close())
	return s
}

func setUp(m drivers.Timed, n int) {
	mem := m.Device(n).Memory()
	for i := range mem[data:] {
		mem[data+i] = byte(i*7 + n)
	}
	set := func(off uint32, v uint64) { m.PostReg(n, 0, off, v) }
	for v := range uint8(procs) {
		table := tables + uint64(v)<<12
		for p := range uint64(pages) {
			e := regs.ATUEntryFields{Rights: regs.ATURightsRw, VPID: v, Page: data>>12 + p}
			binary.LittleEndian.PutUint64(mem[table+8*p:], uint64(e.Pack()))
		}
		set(regs.PDID(v), 1)
		set(regs.MboxBase(v), uint64(v)*boxSlots*regs.SlotBytes)
		set(regs.MboxSlots(v), boxSlots)
		set(regs.MboxCtrl(v), regs.MboxCtrlEnable|regs.MboxCtrlWindow)
		set(regs.NotiBase(v), rings+uint64(v)*ringSlots*regs.NotiBytes)
		set(regs.NotiSlots(v), ringSlots)
		set(regs.NotiCtrl(v), regs.NotiCtrlEnable|regs.NotiCtrlWindow)
		set(regs.ATUBase(v), table)
		set(regs.ATUPages(v), pages)
	}
}

// first describes the first difference between two runs.
func first(rtl, here *seen) string {
	var b strings.Builder
	n := 0
	for i := range rtl.text {
		if i >= len(here.text) || rtl.text[i] != here.text[i] {
			if n++; n < 6 {
				fmt.Fprintf(&b, "\nrtl:   %s\nmixed: %s", rtl.text[i], here.text[min(i, len(here.text)-1)])
			}
		}
	}
	for n := range rtl.memory {
		if !bytes.Equal(rtl.memory[n], here.memory[n]) {
			at := 0
			for rtl.memory[n][at] == here.memory[n][at] {
				at++
			}
			fmt.Fprintf(&b, "\nnode %d, memory from 0x%x on", n, at)
		}
	}
	var at drivers.Cycle = drivers.Forever
	where := ""
	for k, list := range rtl.passes {
		for i, c := range list {
			if i >= len(here.passes[k]) || here.passes[k][i] != c {
				if c < at {
					at, where = c, fmt.Sprintf("\npoint %d of node %d, from %d to %d, number %d: rtl: at %d, mixed: %v", k[0], k[1], k[2], k[3], i, c, here.passes[k][min(i, len(here.passes[k])):min(i+1, len(here.passes[k]))])
				}
				break
			}
		}
	}
	return b.String() + where
}

func compare(t *testing.T, l *load, keys string, rtlNodes ...string) {
	t.Helper()
	sep := "?"
	if keys != "" {
		sep = "?" + keys + "&"
	}
	wants := map[bool]*seen{} // by whether the RTL leads
	for _, nodes := range rtlNodes {
		uri := "mixed:" + sep + "rtl=" + nodes
		l.lead = !l.lead
		want := wants[l.lead]
		if want == nil {
			want = l.run(t, "rtl:"+strings.TrimSuffix(sep, "&"))
			wants[l.lead] = want
		}
		got := l.run(t, uri)
		if where := first(want, got); where != "" || len(want.text) != len(got.text) {
			t.Errorf("%s differs from rtl:%s; leading %v; rerun: go test ./cosim/mixed -run '%s' -seed %d", uri, where, l.lead, t.Name(), *seed)
		}
	}
}

// Kinds of networks; each has its own node type, which is built once.
var networks = []struct {
	keys  string
	nodes int
	rtl   []string // choices: a corner, adjacent nodes, separate nodes, all but one
}{
	{"", 2, []string{"0", "1"}},
	{"", 4, []string{"0", "1,2", "0,1", "0,1,3"}},
	{"dims=4x3", 12, []string{"5", "0,5,6,11", "0,1,2,3,4,5,6,7,9,10,11"}},
	{"dims=4x1x1&torus=1&vc_depth=2", 4, []string{"0", "1,2", "0,3", "0,1,3"}},
	{"dims=3x3&torus=1", 9, []string{"4", "0,1,8", "0,1,2,3,5,6,7,8"}},
}

// Random traffic, from light load to overload: the same cycles of every flit at every point, and
// the same registers, counters and bytes of memory.
func differ(t *testing.T, rma bool, gaps ...int) {
	for _, n := range networks {
		for i, gap := range gaps {
			t.Run(fmt.Sprintf("%s/%dnodes/gap%d", n.keys, n.nodes, gap), func(t *testing.T) {
				l := newLoad(*seed+uint64(i), n.nodes, 400/n.nodes, gap, rma)
				// With a trace, flits are simulated one by one.
				if l.trace = (n.nodes+i)%2 == 0; n.nodes == 4 {
					compare(t, l, n.keys, n.rtl...)
					l.trace = !l.trace
				}
				compare(t, l, n.keys, n.rtl...)
			})
		}
	}
}

func TestVELO(t *testing.T) { differ(t, false, 200, 12) }

func TestRMA(t *testing.T) { differ(t, true, 400, 60) }

// Random routes on a ring: the longer way round, or none.
func TestRoutes(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 8))
	for _, gap := range []int{200, 20} {
		l := newLoad(*seed, 4, 100, gap, false)
		l.trace = gap == 200
		var routes []post
		for node := range l.nodes {
			for dst := range l.nodes {
				if node != dst && rng.IntN(3) > 0 {
					port := []uint64{1, 2, 1, 2, 7}[rng.IntN(5)]
					routes = append(routes, post{at: start / 2, node: node, off: regs.Route(uint8(dst)), v: regs.RouteOverride | port})
				}
			}
		}
		l.posts = append(routes, l.posts...)
		compare(t, l, "dims=4x1x1&torus=1&vc_depth=2", "0", "1,2", "0,1,3")
	}
}
