package differ

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

var seed = flag.Uint64("seed", 1, "seed of the random traffic")

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// differences counts, by step, how many cycles later than the RTL the model is.
type differences map[uint8]map[int64]int

// compare runs the traffic on both and counts what differs. Where nothing does, the
// memories and the final counters must be the same too.
func compare(t *testing.T, keys string, tr *traffic) differences {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	rtl, model := run(t, "rtl:"+keys, tr), run(t, "model:"+keys, tr)
	d := differences{}
	for s, at := range rtl.cycles {
		here, ok := model.cycles[s]
		require.True(t, ok, "the model did not show packet %d from %d to %d %s", s.k, s.src, s.dst, stepNames[s.point])
		if d[s.point] == nil {
			d[s.point] = map[int64]int{}
		}
		d[s.point][int64(here)-int64(at)]++
	}
	require.Len(t, model.cycles, len(rtl.cycles))
	t.Log(d)
	if !d.exact() {
		t.Log(firstDifferences(rtl, model))
		return d
	}
	require.Equal(t, rtl.text, model.text)
	for n := range rtl.memory {
		require.True(t, bytes.Equal(rtl.memory[n], model.memory[n]), "the memories of node %d differ", n)
	}
	return d
}

func (d differences) exact() bool {
	for _, h := range d {
		for cycles := range h {
			if cycles != 0 {
				return false
			}
		}
	}
	return true
}

// share of the packets that are within some cycles at a point.
func (d differences) share(point uint8, within int64) float64 {
	near, all := 0, 0
	for cycles, n := range d[point] {
		all += n
		if cycles >= -within && cycles <= within {
			near += n
		}
	}
	return float64(near) / float64(all)
}

func (d differences) String() string {
	var b strings.Builder
	for _, p := range steps {
		if len(d[p]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%-13s", stepNames[p])
		keys := slices.Sorted(maps.Keys(d[p]))
		if len(keys) > 12 {
			fmt.Fprintf(&b, " exact %.1f %%, within 10 cycles %.1f %%, from %+d to %+d", 100*d.share(p, 0), 100*d.share(p, 10), keys[0], keys[len(keys)-1])
			continue
		}
		for _, k := range keys {
			fmt.Fprintf(&b, "  %+d: %d", k, d[p][k])
		}
	}
	return b.String()
}

// firstDifferences lists where model and RTL part, in order of time.
func firstDifferences(rtl, model *seen) string {
	list := slices.SortedFunc(maps.Keys(rtl.cycles), func(a, b step) int { return cmp.Compare(rtl.cycles[a], rtl.cycles[b]) })
	var b strings.Builder
	n := 0
	for _, s := range list {
		if r, m := rtl.cycles[s], model.cycles[s]; r != m && n < 12 {
			n++
			fmt.Fprintf(&b, "\npacket %d from %d to %d %s: RTL at %d, model at %d", s.k, s.src, s.dst, stepNames[s.point], r, m)
		}
	}
	return b.String()
}

// random makes n packets between any two nodes, one per node every gap cycles on average.
func random(seed uint64, nodes, n, gap int) *traffic {
	rng := rand.New(rand.NewPCG(seed, 1))
	tr := &traffic{nodes: nodes, slots: boxBytes / regs.SlotBytes}
	at := make([]drivers.Cycle, nodes)
	for i := range at {
		at[i] = start
	}
	for range n {
		node := rng.IntN(nodes)
		at[node] += drivers.Cycle(rng.IntN(2*gap + 1))
		f := regs.PioFields{DstNode: uint8(rng.IntN(nodes)), DstVPID: uint8(rng.IntN(vpids)), SrcVPID: uint8(rng.IntN(vpids)),
			Kind: regs.Kind(rng.IntN(4)), Piggyback: rng.IntN(3) == 0}
		f.Length = uint8(rng.IntN(57))
		if f.Piggyback {
			f.Length = uint8(rng.IntN(55))
		}
		bytes := int(f.Length)
		if f.Piggyback {
			bytes += 2
		}
		x := send{at: at[node], node: node, pio: f, bytes: bytes}
		if rng.IntN(3) == 0 {
			x.order = rng.Perm((bytes + 7) / 8)
		}
		tr.sends = append(tr.sends, x)
		// Where the network takes less, lines are refused until software says that it knows.
		tr.acks = append(tr.acks, release{at: start + drivers.Cycle(rng.IntN(int(at[node]-start)+1)), node: rng.IntN(nodes), vpid: rng.IntN(vpids)})
	}
	return tr
}

// ring is of the shape that regress network/ uses, so that they share a simulator.
const ring = "?dims=4x1x1&torus=1&vc_depth=2"

// One packet at a time, every length and every pair of nodes.
func TestSinglePackets(t *testing.T) {
	for _, c := range []struct {
		keys  string
		nodes int
	}{{"", 4}, {"?dims=4x1x1", 4}, {ring, 4}, {"?wire_latency=7", 4}} {
		tr := &traffic{nodes: c.nodes, slots: 100}
		at := start
		for i := range 57 {
			src, dst := i%c.nodes, i/c.nodes%c.nodes
			tr.sends = append(tr.sends, send{at: at, node: src, bytes: i,
				pio: regs.PioFields{DstNode: uint8(dst), Length: uint8(i), SrcVPID: 1, DstVPID: 2}})
			at += 300
		}
		require.True(t, compare(t, c.keys, tr).exact())
	}
}

// toOwnNode lets every packet return to where it came from.
func toOwnNode(tr *traffic) *traffic {
	for i := range tr.sends {
		tr.sends[i].pio.DstNode = uint8(tr.sends[i].node)
	}
	return tr
}

// Lines back to back into one's own node: window, requester, completer.
func TestOwnNode(t *testing.T) {
	require.True(t, compare(t, "", toOwnNode(random(*seed, 4, 400, 10))).exact())
}

// Mailboxes that are full most of the time, and emptied slot by slot: stalls, and the
// way back to the bus, to the cycle.
func TestFullMailboxes(t *testing.T) {
	const each = 100
	tr := toOwnNode(random(*seed, 4, 4*each, 80))
	tr.slots = 3
	sent := make([]int, tr.nodes)
	for i := range tr.sends {
		x := &tr.sends[i]
		k := sent[x.node]
		sent[x.node]++
		x.pio.DstVPID = uint8(k % vpids)
		tr.releases = append(tr.releases, release{
			at: start + drivers.Cycle(200+97*k+13*x.node), node: x.node, vpid: k % vpids, rp: uint32(k/vpids + 1)})
	}
	require.True(t, compare(t, "", tr).exact())
}

// Memory that is slow to write: the limiter's buffer fills, drains and holds.
func TestSlowMemory(t *testing.T) {
	for _, c := range []struct{ rate, border uint64 }{{1 << 15, 0}, {7001, 0}, {7001, 24}} {
		tr := toOwnNode(random(*seed, 4, 200, 15))
		tr.set = [][2]uint64{{uint64(regs.NVMBase(1)), boxBytes + c.border}, {uint64(regs.NVMEnd(1)), 3*boxBytes - c.border},
			{uint64(regs.NVMRate(1)), c.rate}, {uint64(regs.NVMDepth(1)), 300}}
		require.True(t, compare(t, "", tr).exact())
	}
}

// Random traffic, from few packets to nearly as many as the network takes, also on a
// ring whose channels have two entries.
func TestRandomTraffic(t *testing.T) {
	for _, c := range []struct {
		keys string
		gap  int
	}{{"", 400}, {"", 100}, {"", 40}, {"", 20}, {"?host_wr_latency=50", 20}, {"?host_wr_latency=250", 20}, {ring, 400}, {ring, 40}, {"?wire_latency=5", 40}, {"?wire_latency=50", 20}, {ring + "&wire_latency=64", 400}} {
		t.Logf("rtl:%s, a packet per node every %d cycles; rerun: go test ./cosim/differ -run TestRandomTraffic -seed %d", c.keys, c.gap, *seed)
		require.True(t, compare(t, c.keys, random(*seed, 4, 1000, c.gap)).exact())
	}
}

// Routes drawn at random on a ring: the longer way round, or none. Where one node's entry
// leads back to the node before, or no entry to a wire, both discard the packet in the same cycle.
func TestRoutes(t *testing.T) {
	rng := rand.New(rand.NewPCG(*seed, 2))
	for _, gap := range []int{200, 20} {
		tr := random(*seed, 4, 1000, gap)
		for node := range tr.nodes {
			for dst := range tr.nodes {
				if node != dst && rng.IntN(3) > 0 {
					tr.routes = append(tr.routes, route{node, uint8(dst), []uint8{1, 2, 1, 2, 7}[rng.IntN(5)]})
				}
			}
		}
		t.Logf("%v; rerun: go test ./cosim/differ -run TestRoutes -seed %d", tr.routes, *seed)
		d := compare(t, ring, tr)
		require.True(t, d.exact())
		require.Less(t, d[drivers.PointSlot][0], len(tr.sends), "nothing was discarded")
	}
}
