package suite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench/regress"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/stretchr/testify/require"
)

var errBroken = errors.New("expected a, found b")

// options runs tests on the functional NIC.
func options(t *testing.T) regress.Options {
	return regress.Options{Device: "ideal:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

func names(tests []regress.Test) (list []string) {
	for _, t := range tests {
		list = append(list, t.Name)
	}
	return list
}

func TestConformanceIsAPartOfTheList(t *testing.T) {
	all, part := names(List()), names(Conformance())
	require.Less(t, len(part), len(all))
	for _, n := range part {
		require.Contains(t, all, n)
	}
	for _, want := range []string{"velo/lengths", "rma/traffic", "matching/rget", "collectives/reduce_scatter"} {
		require.Contains(t, part, want)
	}
	everyday, deep := regress.WithoutDeep(List(), nil)
	require.NotEmpty(t, deep)
	for _, x := range everyday {
		require.False(t, slices.Contains(x.Tags, regress.Deep), x.Name)
	}
}

// TestListPassesOnIdeal runs the whole list on the functional NIC with three
// seeds: a test that only one body passes tests that body, not the contract.
func TestListPassesOnIdeal(t *testing.T) {
	o := options(t)
	o.Seeds = 3
	list := List()
	if testing.Short() {
		o.Seeds = 1
		list = slices.DeleteFunc(list, func(x regress.Test) bool { return !slices.Contains(x.Tags, "smoke") })
	}
	out, err := regress.Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		if why := notOnIdeal(x.Test.Name); why != "" {
			require.Equal(t, regress.Skipped, x.Status, "%s: %s", x.Test.Name, why)
			continue
		}
		require.Equal(t, regress.Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
		require.NotZero(t, x.Simulated, x.Test.Name)
	}
}

// TestConformanceAnywhere runs what every backend must pass on memory that lies anywhere for the
// NIC, and on goroutines that run in parallel, for which nothing simulates time.
func TestConformanceAnywhere(t *testing.T) {
	for device, alone := range map[string]bool{
		"ideal:?dma_base=0x7f0000000000&dma_segment=4194304": false,
		"ideal:?clock=wall": true, "ideal:?clock=wall&dma_base=0x100000000&depth=1": true,
	} {
		if testing.Short() && !alone {
			continue
		}
		o := options(t)
		o.Device = device
		out, err := regress.Run(context.Background(), Conformance(), o)
		require.NoError(t, err)
		for _, x := range out {
			if alone && (strings.HasPrefix(x.Test.Name, "velo/") || strings.HasPrefix(x.Test.Name, "rma/")) {
				require.Equal(t, regress.Skipped, x.Status, "%s owns the clock", x.Test.Name)
				continue
			}
			if x.Test.Name == "rma/page-sizes" && strings.Contains(device, "dma_base") {
				require.ErrorIs(t, x.Err, drivers.ErrNotSupported, "its pages of 2 MB are where memory begins")
				continue
			}
			require.Equal(t, regress.Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
		}
	}
}

// TestOverALine runs the conformance cases, and all else that is tagged for it, over the serial
// line of the RTL: what can be passes there, and what cannot is skipped and says why.
func TestOverALine(t *testing.T) {
	if testing.Short() {
		t.Skip("moves bits for seconds")
	}
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	o := options(t)
	o.Device, o.NoWaves, o.Timeout = "rtl:?uart=pty&baud=19531250", true, 5*time.Minute
	list, err := regress.Select(List(), []string{regress.Line, regress.Conform})
	require.NoError(t, err)
	if testing.Short() {
		list = slices.DeleteFunc(list, func(x regress.Test) bool { return x.Name == "velo/full-mailbox" })
	}
	out, err := regress.Run(context.Background(), list, o)
	require.NoError(t, err)
	passed := 0
	for _, x := range out {
		if slices.Contains(x.Test.Tags, regress.Line) {
			require.Equal(t, regress.Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
			passed++
			continue
		}
		require.Equal(t, regress.Skipped, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
		require.ErrorIs(t, x.Err, drivers.ErrNotSupported, x.Test.Name)
	}
	require.GreaterOrEqual(t, passed, 7)
}

// TestOnASmallBoard runs what is tagged for a serial line on the small NIC in loopback, as RTL and
// as the netlist of its bitstream.
func TestOnASmallBoard(t *testing.T) {
	if testing.Short() {
		t.Skip("moves bits for seconds")
	}
	for device, tool := range map[string]string{"rtl:?uart=pty&size=small": "verilator", "rtl:?uart=pty&netlist=ice40": "yosys"} {
		t.Run(device, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
				t.Skipf("needs %s: scripts/setup-debian.sh", tool)
			}
			o := options(t)
			o.Device, o.NoWaves, o.Timeout = device, true, 20*time.Minute // with its synthesis
			list, err := regress.Select(List(), []string{regress.Line})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(passing(t, list, o)), 8)
		})
	}
}

// TestNetworkOnModel runs rings, tables and links in error on the network in Go.
func TestNetworkOnModel(t *testing.T) {
	o := options(t)
	o.Device = "model:"
	list, err := regress.Select(List(), []string{"network/", "links/", "faults/"})
	require.NoError(t, err)
	if testing.Short() {
		list = slices.DeleteFunc(list, func(x regress.Test) bool { return strings.Contains(x.Name, "soak") })
	}
	out, err := regress.Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		want := regress.Passed
		if x.Test.Name == "faults/killed" { // there is no process to kill
			want = regress.Skipped
		}
		require.Equal(t, want, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
	}
}

// passing runs tests, all of which pass.
func passing(t *testing.T, list []regress.Test, o regress.Options) []regress.Outcome {
	out, err := regress.Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		require.Equal(t, regress.Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
	}
	return out
}

// behindBus are options for simulators with a bus, if they can be built.
func behindBus(t *testing.T) regress.Options {
	if testing.Short() {
		t.Skip("builds a simulator")
	}
	if _, err := exec.LookPath("verilator"); err != nil && os.Getenv("CI") == "" {
		t.Skip("needs verilator: scripts/setup-debian.sh")
	}
	o := options(t)
	o.NoWaves, o.NoLockstep, o.Timeout = true, true, 5*time.Minute
	return o
}

// TestBehindPCIe has all that PCIe leaves open at random, and what goes wrong on it.
func TestBehindPCIe(t *testing.T) {
	o := behindBus(t)
	passes := func(device string, tests ...regress.Test) {
		o.Device = device
		passing(t, tests, o)
	}
	list, err := regress.Select(List(), []string{"pcie/*", "bridge/*", "velo/*"})
	require.NoError(t, err)
	rates, err := regress.Select(List(), []string{"pcie/*-rate"}) // of a bus that is never late
	require.NoError(t, err)
	list = slices.DeleteFunc(list, func(x regress.Test) bool {
		return slices.ContainsFunc(rates, func(r regress.Test) bool { return r.Name == x.Name })
	})
	passes("rtl:?bus=pcie&bus_seed=3", list...)
	passes("rtl:?bus=pcie", rates...)
	rma, err := regress.Select(List(), []string{"rma/sizes", "rma/traffic"})
	require.NoError(t, err)
	for _, sizes := range []string{"mps=128&mrrs=128", "mps=128&mrrs=4096", "mps=512&mrrs=128", "mps=512&mrrs=4096", "mps=512&mrrs=1024"} {
		passes("rtl:?bus=pcie&bus_seed=5&"+sizes, rma...)
	}
}

// TestBehindAXI has a host's clock that is faster and slower than the core's, and all that AXI
// leaves open at random.
func TestBehindAXI(t *testing.T) {
	o := behindBus(t)
	for device, patterns := range map[string][]string{
		"rtl:?bus=axi":                      {"axi/*", "bridge/*", "velo/*", "isolation/rate-switches", "faults/killed"},
		"rtl:?bus=axi&bus_seed=3&ratio=1/1": {"axi/*", "velo/*", "rma/sizes"},
		"rtl:?bus=axi&bus_seed=4&ratio=2/7": {"axi/*", "velo/*", "rma/traffic"},
		"rtl:?bus=axi&bus_seed=5&ratio=8/1": {"axi/*", "velo/*", "rma/traffic"},
	} {
		list, err := regress.Select(List(), patterns)
		require.NoError(t, err)
		o.Device = device
		passing(t, list, o)
	}
}

// notOnIdeal says why a test cannot run on the functional NIC.
func notOnIdeal(test string) string {
	wires := strings.HasPrefix(test, "faults/errors") || strings.HasPrefix(test, "faults/l")
	if wires || strings.HasPrefix(test, "links/") || test == "board/links" {
		return "the ideal network has no wires"
	}
	if strings.HasPrefix(test, "network/") {
		return "the ideal network has no topology"
	}
	if strings.HasPrefix(test, "rates/velo-") || strings.HasPrefix(test, "rates/put-") || strings.HasPrefix(test, "rates/get-") || strings.HasPrefix(test, "isolation/failed-") {
		return "the ideal NIC's memory answers when it likes"
	}
	if strings.HasPrefix(test, "pcie/") || strings.HasPrefix(test, "axi/") {
		return "the ideal NIC is on no bus"
	}
	if test == "faults/killed" {
		return "there is no process to kill"
	}
	return ""
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range List() {
		require.False(t, seen[x.Name], x.Name)
		require.NotEmpty(t, x.Doc, x.Name)
		seen[x.Name] = true
	}
}

func TestSelect(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		first    string
		n        int
	}{
		{nil, "bridge/registers", len(List()) - 1}, // without the long one
		{[]string{"long"}, "isolation/lives-long", 1},
		{[]string{"isolation/lives*"}, "isolation/lives", 1},
		{[]string{"velo/lengths"}, "velo/lengths", 1},
		{[]string{"static/*", "static/alltoall"}, "static/pingpong", 7},
		{[]string{"alltoall"}, "none/alltoall", 3},
		{[]string{"bridge/"}, "bridge/registers", 4},
	} {
		got, err := regress.Select(List(), c.patterns)
		require.NoError(t, err)
		require.Len(t, got, c.n, "%v", c.patterns)
		require.Equal(t, c.first, got[0].Name)
	}
	for _, bad := range []string{"nothing/*", "velo/[", "velo/lenghts"} {
		_, err := regress.Select(List(), []string{bad})
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
}

// registerBroken makes a scheme known whose machines cannot be built.
var registerBroken = sync.OnceFunc(func() {
	registry.Register(registry.Backend{Scheme: "broken", Doc: "cannot be built", Open: func(context.Context, string, map[string]string, drivers.Options) (drivers.System, error) {
		panic("not reached")
	}, Prepare: func(context.Context, string, map[string]string, drivers.Options) error {
		return errors.New("syntax error in core/fifo.sv")
	}})
})

// TestBuildFails: RTL that cannot be built ends the regression, not each of its tests.
func TestBuildFails(t *testing.T) {
	registerBroken()
	o := options(t)
	o.Device = "broken:"
	out, err := regress.Run(context.Background(), List(), o)
	require.ErrorContains(t, err, "syntax error in core/fifo.sv")
	for _, x := range out {
		require.Equal(t, regress.NotRun, x.Status, "%s: %v", x.Test.Name, x.Err)
	}
}
