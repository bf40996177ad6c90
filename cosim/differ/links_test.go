package differ

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// mixedLinks is how many links nodes are built with; two of them lead somewhere.
const mixedLinks = 4

// linkRegisters are the pages of all links and wires.
func linkRegisters() (list []uint32) {
	for l := range uint8(mixedLinks) {
		list = append(list, regs.LinkStatus(l), regs.LinkCRCErrors(l), regs.LinkRetransmissions(l), regs.LinkTimeouts(l), regs.LinkFailures(l),
			regs.LinkCut(l), regs.LinkPatience(l), regs.WireErrors(l), regs.WireLosses(l), regs.WireSeed(l), regs.WireCtrl(l), regs.WireFaults(l))
	}
	return list
}

// A breakage is what is done to the wires while there is traffic.
type breakage struct {
	errors, losses float64 // of the wires that are given faults now and then
	every          int     // cycles between two of them at a node, on average
	down, swallow  int     // of ten, so many go down, and so many lose every word, for a while
	lasts          int     // cycles
	patience       uint64
}

// orders are the writes that do it. In the end all wires are whole.
func (b breakage) orders(seed uint64, end drivers.Cycle) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 8))
	for node := range mixedNodes {
		for l := range uint8(mixedLinks) {
			list = append(list, mixedCommand{start, node, regs.LinkPatience(l), b.patience}, mixedCommand{start, node, regs.WireSeed(l), seed})
		}
		for at := start; b.every > 0; {
			at += drivers.Cycle(1 + rng.IntN(2*b.every))
			if at >= end {
				break
			}
			l, c := uint8(rng.IntN(mixedLinks)), mixedCommand{at: at, node: node}
			switch n := rng.IntN(10); {
			case n < b.down:
				c.off, c.v = regs.WireCtrl(l), regs.WireCtrlDown
			case n < b.down+b.swallow:
				c.off, c.v = regs.WireLosses(l), 1<<32-1
			default:
				list = append(list, mixedCommand{at, node, regs.WireLosses(l), uint64(b.losses * (1 << 32))})
				c.off, c.v = regs.WireErrors(l), uint64(b.errors*(1<<32))
			}
			list = append(list, c)
			at += drivers.Cycle(rng.IntN(2 * b.lasts))
			list = append(list, mixedCommand{at, node, c.off, 0})
		}
		for l := range uint8(mixedLinks) {
			for _, off := range []uint32{regs.WireCtrl(l), regs.WireErrors(l), regs.WireLosses(l)} {
				list = append(list, mixedCommand{end + 20_000, node, off, 0})
			}
		}
	}
	return list
}

// TestLinksInError: VELO and RMA over links whose wires corrupt and lose words, go down and come back, swallow everything until
// the link is dead, and end packets. The same words are hit, every packet arrives in the very cycle, every counter of every link
// is the same.
func TestLinksInError(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, c := range []struct {
		keys string
		gap  int
		breakage
	}{
		{"link_errors=1e-2&link_losses=1e-2&link_seed=%d", 100, breakage{patience: 16384}},
		{"link_errors=1e-1&link_losses=5e-2&link_seed=%d", 100, breakage{patience: 16384}},
		{"link_losses=1e-3&link_seed=%d&wire_latency=7", 40, breakage{patience: 16384}},
		{"link_errors=3e-2&link_losses=1e-2&link_seed=%d&wire_latency=50", 200, breakage{patience: 16384}},
		{"link_seed=%d", 100, breakage{errors: 0.05, losses: 0.02, every: 1500, lasts: 800, patience: 16384}},
		{"link_seed=%d&wire_latency=20", 100, breakage{errors: 0.05, losses: 0.02, every: 3000, down: 4, lasts: 1500, patience: 0}},
		{"link_seed=%d", 50, breakage{errors: 0.05, losses: 0.02, every: 3000, down: 4, swallow: 3, lasts: 1500, patience: 0}},
		{"link_errors=1e-3&link_seed=%d", 100, breakage{errors: 0.05, every: 3000, down: 4, swallow: 4, lasts: 1500, patience: 300}},
		{"link_seed=%d&wire_latency=5", 100, breakage{errors: 0.05, every: 3000, down: 4, swallow: 4, lasts: 3000, patience: 100}},
		{"link_seed=%d", 30, breakage{errors: 0.3, losses: 0.2, every: 300, down: 3, swallow: 4, lasts: 1200, patience: 20}},
		{"link_seed=%d", 200, breakage{errors: 0.3, losses: 0.2, every: 600, down: 3, swallow: 4, lasts: 900, patience: 1}},
		{"link_seed=%d&dims=4x1x1&torus=1&vc_depth=2", 100, breakage{errors: 0.05, losses: 0.02, every: 1500, down: 3, swallow: 2, lasts: 1000, patience: 0}},
		{"link_seed=%d&dims=4x1x1&torus=1&vc_depth=2", 100, breakage{errors: 0.3, losses: 0.2, every: 900, down: 3, swallow: 3, lasts: 1000, patience: 50}},
	} {
		t.Run(fmt.Sprintf("%s gap %d %v", c.keys, c.gap, c.breakage), func(t *testing.T) {
			for s := *seed; s < *seed+2; s++ {
				compareLinks(t, fmt.Sprintf(c.keys, s), s, c.gap, c.breakage)
			}
		})
	}
}

func compareLinks(t *testing.T, keys string, seed uint64, gap int, b breakage) {
	list := mixedTraffic(seed, gap)
	orders := b.orders(seed, list[len(list)-1].at)
	rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:?"+keys, list, 0, orders...)
	model, modelMemory, modelCounters := runMixed(t, "model:?"+keys, list, 0, orders...)
	sum := map[string]uint64{}
	for _, c := range rtlCounters {
		for _, name := range []string{"WIRE_FAULTS", "CRC_ERRORS", "RETRANSMISSIONS", "TIMEOUTS", "FAILURES", "LINK_CUT", "RMA_RX_DROPPED"} {
			if strings.Contains(c.name, name) {
				sum[name] += c.value
			}
		}
	}
	t.Logf("%d packets, %v", len(rtl.at), sum)
	var first, where = drivers.Forever, mixedPacket{}
	for p, at := range rtl.at {
		if model.at[p] != at && at < first {
			first, where = at, p
		}
	}
	if first != drivers.Forever {
		t.Logf("first difference: %+v: RTL at %d, model at %d", where, first, model.at[where])
	}
	for i := range rtlCounters {
		if rtlCounters[i] != modelCounters[i] {
			t.Errorf("node %d %s: RTL %d, model %d", rtlCounters[i].node, rtlCounters[i].name, rtlCounters[i].value, modelCounters[i].value)
		}
	}
	require.Equal(t, len(rtl.at), len(model.at))
	require.Equal(t, drivers.Forever, first, "rerun: go test ./cosim/differ -run TestLinksInError -v -seed %d", seed)
	for n := range rtlMemory {
		require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
	}
}
