package differ

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
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
			regs.LinkCut(l), regs.LinkDrained(l), regs.LinkResets(l), regs.LinkLost(l), regs.LinkCtrl(l), regs.LinkPatience(l), regs.WireErrors(l), regs.WireLosses(l), regs.WireSeed(l), regs.WireCtrl(l), regs.WireFaults(l))
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
	resets, drains int // of ten, so many are resets of an end; in so many the link drains from then on, or no longer
	rewrites       int // of ten, in so many patience is another from then on: up to twice what it was first, 0 now and then
}

// wires are the writes that do it. In the end all wires are whole.
func (b breakage) wires(seed uint64, end drivers.Cycle) (list []mixedCommand) {
	rng := rand.New(rand.NewPCG(seed, 8))
	for node := range mixedNodes {
		add := func(at drivers.Cycle, off uint32, v uint64) {
			list = append(list, mixedCommand{at: at, node: node, off: off, v: v})
		}
		for l := range uint8(mixedLinks) {
			add(start, regs.LinkPatience(l), b.patience)
		}
		for at := start; b.every > 0; {
			if at += drivers.Cycle(1 + rng.IntN(2*b.every)); at >= end {
				break
			}
			l := uint8(rng.IntN(mixedLinks))
			if rng.IntN(10) < b.drains {
				add(at, regs.LinkCtrl(l), uint64(rng.IntN(2))*regs.LinkCtrlDrain)
			}
			if rng.IntN(10) < b.resets {
				add(at, regs.LinkCtrl(l), regs.LinkCtrlReset|uint64(rng.IntN(2))*regs.LinkCtrlDrain)
				continue
			}
			off, v := regs.WireErrors(l), uint64(b.errors*(1<<32))
			switch n := rng.IntN(10); {
			case n < b.down:
				off, v = regs.WireCtrl(l), regs.WireCtrlDown
			case n < b.down+b.swallow:
				off, v = regs.WireLosses(l), 1<<32-1
			default:
				add(at, regs.WireLosses(l), uint64(b.losses*(1<<32)))
			}
			add(at, off, v)
			if b.rewrites > 0 && rng.IntN(10) < b.rewrites {
				at += drivers.Cycle(rng.IntN(b.lasts))
				add(at, regs.LinkPatience(l), uint64(rng.IntN(5))*b.patience/2)
			}
			at += drivers.Cycle(rng.IntN(2 * b.lasts))
			add(at, off, 0)
		}
		for l := range uint8(mixedLinks) {
			for _, off := range []uint32{regs.WireCtrl(l), regs.WireErrors(l), regs.WireLosses(l)} {
				add(end+20_000, off, 0)
			}
		}
	}
	return list
}

// TestLinksInError: VELO and RMA over links whose wires corrupt and lose words, go down and come
// back, swallow everything until the link is dead, and end packets. The same words are hit, every
// packet arrives in the very cycle, every counter of every link is the same.
func TestLinksInError(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	const ring = "dims=4x1x1&torus=1&vc_depth=2"
	for _, c := range []struct {
		keys string
		gap  int
		breakage
	}{
		{"link_errors=1e-2&link_losses=1e-2&link_seed=%d", 100, breakage{patience: 16384}},
		{"link_errors=1e-1&link_losses=5e-2&link_seed=%d", 100, breakage{patience: 16384}},
		{"link_losses=1e-3&wire_latency=7&link_seed=%d", 40, breakage{patience: 16384}},
		{"link_errors=3e-2&link_losses=1e-2&wire_latency=50&link_seed=%d", 200, breakage{patience: 16384}},
		{"link_seed=%d", 100, breakage{errors: 0.05, losses: 0.02, every: 1500, lasts: 800, patience: 16384}},
		{"wire_latency=20&link_seed=%d", 100, breakage{errors: 0.05, losses: 0.02, every: 3000, down: 4, lasts: 1500}},
		{"link_seed=%d", 50, breakage{errors: 0.05, losses: 0.02, every: 3000, down: 4, swallow: 3, lasts: 1500}},
		{"link_errors=1e-3&link_seed=%d", 100, breakage{errors: 0.05, every: 3000, down: 4, swallow: 4, lasts: 1500, patience: 300}},
		{"wire_latency=5&link_seed=%d", 100, breakage{errors: 0.05, every: 3000, down: 4, swallow: 4, lasts: 3000, patience: 100}},
		{"link_seed=%d", 30, breakage{errors: 0.3, losses: 0.2, every: 300, down: 3, swallow: 4, lasts: 1200, patience: 20}},
		{"link_seed=%d", 200, breakage{errors: 0.3, losses: 0.2, every: 600, down: 3, swallow: 4, lasts: 900, patience: 1}},
		{ring + "&link_seed=%d", 100, breakage{errors: 0.05, losses: 0.02, every: 1500, down: 3, swallow: 2, lasts: 1000}},
		{ring + "&link_seed=%d", 100, breakage{errors: 0.3, losses: 0.2, every: 900, down: 3, swallow: 3, lasts: 1000, patience: 50}},
	} {
		t.Run(fmt.Sprintf("%s gap %d %v", c.keys, c.gap, c.breakage), func(t *testing.T) {
			for s := *seed; s < *seed+2; s++ {
				list := mixedTraffic(s, c.gap)
				compareLinks(t, fmt.Sprintf(c.keys, s), list, c.wires(s, list[len(list)-1].at))
			}
		})
	}
}

// TestLateFaults: wires that nobody has touched before are given faults in traffic.
func TestLateFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	for _, keys := range []string{"", "wire_latency=7"} {
		for s := *seed; s < *seed+3; s++ {
			list := mixedTraffic(s, 300)
			b := breakage{errors: 0.05, losses: 0.02, every: 8000, down: 4, swallow: 2, lasts: 1500, patience: 1000}
			compareLinks(t, keys, list, inTraffic(b.wires(s, list[len(list)-1].at)))
		}
	}
}

// TestLinksDrainAndReset: links that drain when they have failed and whose ends are reset at random
// cycles, beside everything else that befalls them, from the start or touched in traffic. What is
// lost is lost in the very cycle, and told in the same counters.
func TestLinksDrainAndReset(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	const ring = "dims=4x1x1&torus=1&vc_depth=2"
	for _, c := range []struct {
		keys string
		gap  int
		late bool
		breakage
	}{
		{"link_seed=%d", 100, false, breakage{every: 400, lasts: 1, resets: 10, patience: 16384}},
		{"link_seed=%d", 20, false, breakage{every: 150, lasts: 1, resets: 10, patience: 300}},
		{"wire_latency=20&link_seed=%d", 50, false, breakage{every: 600, lasts: 1, resets: 10, patience: 300}},
		{"wire_latency=50&link_errors=1e-2&link_losses=1e-2&link_seed=%d", 100, false, breakage{every: 1500, lasts: 1, resets: 10, patience: 16384}},
		{"link_errors=3e-2&link_losses=3e-2&link_seed=%d", 60, false, breakage{every: 300, lasts: 1, resets: 10, patience: 100}},
		{"link_seed=%d", 60, false, breakage{errors: 0.05, losses: 0.02, every: 900, down: 5, swallow: 4, lasts: 1500, patience: 200, drains: 8}},
		{"wire_latency=5&link_seed=%d", 30, false, breakage{errors: 0.05, losses: 0.02, every: 900, down: 5, swallow: 4, lasts: 1500, patience: 50, drains: 8}},
		{"link_seed=%d", 60, false, breakage{errors: 0.1, losses: 0.1, every: 500, down: 4, swallow: 4, lasts: 900, patience: 100, resets: 4, drains: 5}},
		{"wire_latency=30&link_seed=%d", 60, false, breakage{errors: 0.1, losses: 0.1, every: 700, down: 4, swallow: 4, lasts: 900, patience: 150, resets: 4, drains: 5}},
		{ring + "&link_seed=%d", 60, false, breakage{errors: 0.1, losses: 0.05, every: 500, down: 3, swallow: 3, lasts: 800, patience: 100, resets: 4, drains: 5}},
		{ring + "&wire_latency=7&link_seed=%d", 60, false, breakage{errors: 0.1, losses: 0.05, every: 500, down: 3, swallow: 3, lasts: 800, patience: 0, resets: 5, drains: 5}},
		{"link_seed=%d", 60, false, breakage{errors: 0.1, losses: 0.1, every: 300, down: 4, swallow: 4, lasts: 900, patience: 200, drains: 5, rewrites: 8}},
		{"wire_latency=5&link_seed=%d", 30, false, breakage{errors: 0.1, losses: 0.1, every: 300, down: 4, swallow: 4, lasts: 600, patience: 30, resets: 2, drains: 5, rewrites: 10}},
		{"", 300, true, breakage{errors: 0.05, losses: 0.02, every: 8000, down: 4, swallow: 2, lasts: 1500, patience: 1000, resets: 5, drains: 5}},
		{"wire_latency=7", 300, true, breakage{errors: 0.05, losses: 0.02, every: 8000, down: 4, swallow: 2, lasts: 1500, patience: 1000, resets: 5, drains: 5}},
	} {
		t.Run(fmt.Sprintf("%s gap %d %+v", c.keys, c.gap, c.breakage), func(t *testing.T) {
			for s := *seed; s < *seed+2; s++ {
				list, keys := mixedTraffic(s, c.gap), c.keys
				wires := c.wires(s, list[len(list)-1].at)
				if c.late {
					wires = inTraffic(wires)
				} else {
					keys = fmt.Sprintf(keys, s)
				}
				compareLinks(t, keys, list, wires)
			}
		})
	}
}

// inTraffic has writes posted no sooner than they are to be done.
func inTraffic(wires []mixedCommand) []mixedCommand {
	slices.SortStableFunc(wires, func(a, b mixedCommand) int { return cmp.Compare(a.at, b.at) })
	for i := range wires {
		wires[i].late = true
	}
	return wires
}

// compareLinks runs the same on both, and demands the same.
func compareLinks(t *testing.T, keys string, list []mixedSend, wires []mixedCommand) {
	t.Helper()
	rtl, rtlMemory, rtlCounters := runMixed(t, "rtl:?"+keys, list, 0, wires...)
	model, modelMemory, modelCounters := runMixed(t, "model:?"+keys, list, 0, wires...)
	sum, names := map[string]uint64{}, []string{"WIRE_FAULTS", "CRC_ERRORS", "RETRANSMISSIONS", "TIMEOUTS", "FAILURES", "LINK_CUT", "LINK_DRAINED", "LINK_RESETS", "LINK_LOST"}
	for _, c := range rtlCounters {
		for _, name := range names {
			if strings.Contains(c.name, name) {
				sum[name] += c.value
			}
		}
	}
	t.Logf("?%s: %d packets, %v", keys, len(rtl.at), sum)
	require.NotZero(t, sum["WIRE_FAULTS"]+sum["FAILURES"]+sum["LINK_RESETS"], "nothing went wrong: the scenario lost its point")
	require.Empty(t, firstApart(rtl, model), "rerun: go test ./cosim/differ -run %s -v -seed %d", t.Name(), *seed)
	require.Equal(t, rtl.at, model.at)
	require.Equal(t, rtlCounters, modelCounters)
	for n := range rtlMemory {
		require.True(t, bytes.Equal(rtlMemory[n], modelMemory[n]), "memory of node %d", n)
	}
}
