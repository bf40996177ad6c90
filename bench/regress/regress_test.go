package regress

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nicloop/nicloop/bench"
	_ "github.com/nicloop/nicloop/cosim/ideal"
	_ "github.com/nicloop/nicloop/cosim/model"
	_ "github.com/nicloop/nicloop/cosim/rtl"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/stretchr/testify/require"
)

func options(t *testing.T) Options {
	return Options{Device: "ideal:", Seed: 1, Seeds: 1, Jobs: 2, Timeout: time.Minute, Dir: t.TempDir()}
}

// TestListPassesOnIdeal runs the whole list on the functional NIC with three
// seeds: a test that only one body passes tests that body, not the contract.
func TestListPassesOnIdeal(t *testing.T) {
	o := options(t)
	o.Seeds = 3
	list := List()
	if testing.Short() {
		o.Seeds = 1
		list = slices.DeleteFunc(list, func(x Test) bool { return !slices.Contains(x.Tags, "smoke") })
	}
	out, err := Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		if why := notOnIdeal(x.Test.Name); why != "" {
			require.Equal(t, Skipped, x.Status, "%s: %s", x.Test.Name, why)
			continue
		}
		require.Equal(t, Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
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
		out, err := Run(context.Background(), Conformance(), o)
		require.NoError(t, err)
		for _, x := range out {
			if alone && (strings.HasPrefix(x.Test.Name, "velo/") || strings.HasPrefix(x.Test.Name, "rma/")) {
				require.Equal(t, Skipped, x.Status, "%s owns the clock", x.Test.Name)
				continue
			}
			if x.Test.Name == "rma/page-sizes" && strings.Contains(device, "dma_base") {
				require.ErrorIs(t, x.Err, drivers.ErrNotSupported, "its pages of 2 MB are where memory begins")
				continue
			}
			require.Equal(t, Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
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
	list, err := Select(List(), []string{Line, Conform})
	require.NoError(t, err)
	if testing.Short() {
		list = slices.DeleteFunc(list, func(x Test) bool { return x.Name == "velo/full-mailbox" })
	}
	out, err := Run(context.Background(), list, o)
	require.NoError(t, err)
	passed := 0
	for _, x := range out {
		if slices.Contains(x.Test.Tags, Line) {
			require.Equal(t, Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
			passed++
			continue
		}
		require.Equal(t, Skipped, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
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
			list, err := Select(List(), []string{Line})
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(passing(t, list, o)), 8)
		})
	}
}

// TestNetworkOnModel runs rings, tables and links in error on the network in Go.
func TestNetworkOnModel(t *testing.T) {
	o := options(t)
	o.Device = "model:"
	list, err := Select(List(), []string{"network/", "links/", "faults/"})
	require.NoError(t, err)
	if testing.Short() {
		list = slices.DeleteFunc(list, func(x Test) bool { return strings.Contains(x.Name, "soak") })
	}
	out, err := Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		want := Passed
		if x.Test.Name == "faults/killed" { // there is no process to kill
			want = Skipped
		}
		require.Equal(t, want, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
	}
}

// passing runs tests, all of which pass.
func passing(t *testing.T, list []Test, o Options) []Outcome {
	out, err := Run(context.Background(), list, o)
	require.NoError(t, err)
	for _, x := range out {
		require.Equal(t, Passed, x.Status, "%s: %v\nreproduce with: %s", x.Test.Name, x.Err, x.Rerun)
	}
	return out
}

// behindBus are options for simulators with a bus, if they can be built.
func behindBus(t *testing.T) Options {
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
	passes := func(device string, tests ...Test) {
		o.Device = device
		passing(t, tests, o)
	}
	list, err := Select(List(), []string{"pcie/*", "bridge/*", "velo/*"})
	require.NoError(t, err)
	rates, err := Select(List(), []string{"pcie/*-rate"}) // of a bus that is never late
	require.NoError(t, err)
	list = slices.DeleteFunc(list, func(x Test) bool { return slices.ContainsFunc(rates, func(r Test) bool { return r.Name == x.Name }) })
	passes("rtl:?bus=pcie&bus_seed=3", list...)
	passes("rtl:?bus=pcie", rates...)
	rma, err := Select(List(), []string{"rma/sizes", "rma/traffic"})
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
		list, err := Select(List(), patterns)
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
		got, err := Select(List(), c.patterns)
		require.NoError(t, err)
		require.Len(t, got, c.n, "%v", c.patterns)
		require.Equal(t, c.first, got[0].Name)
	}
	for _, bad := range []string{"nothing/*", "velo/[", "velo/lenghts"} {
		_, err := Select(List(), []string{bad})
		require.ErrorIs(t, err, drivers.ErrConfig, bad)
	}
}

var errBroken = errors.New("expected a, found b")

// sample has a test of every ending.
func sample() []Test {
	touch := func(t *T) error { _, err := t.Open(2, 1<<20, nil); return err }
	return []Test{
		{Name: "x/pass", Run: touch},
		{Name: "x/fail", Run: func(t *T) error { return errors.Join(touch(t), errBroken) }},
		{Name: "x/hang", Run: func(*T) error { return &bench.Verdict{Class: bench.HostBlocked} }},
		{Name: "x/panic", Run: func(*T) error { panic("oh") }},
		{Name: "x/cannot", Run: func(*T) error { return drivers.ErrNotSupported }},
	}
}

func TestEndings(t *testing.T) {
	o := options(t)
	out, err := Run(context.Background(), sample(), o)
	require.NoError(t, err)
	want := []Status{Passed, Failed, Hung, Failed, Skipped}
	for i, x := range out {
		require.Equal(t, want[i], x.Status, x.Test.Name)
	}
	require.ErrorIs(t, out[1].Err, errBroken)
	require.Contains(t, out[3].Err.Error(), "panic: oh")

	var text bytes.Buffer
	table := NewTable(&text, sample())
	table.Close(out)
	require.Contains(t, text.String(), "expected a, found b")
	require.Contains(t, text.String(), "rerun: nicloop regress x/fail --device ideal: --seed 1")
	require.Contains(t, text.String(), "1 passed, 3 failed, 1 skipped, of the failed 1 hung")

	log, err := os.ReadFile(filepath.Join(o.Dir, "x.fail", "test.log"))
	require.NoError(t, err)
	require.Contains(t, string(log), "seed 1; reproduce with: nicloop regress x/fail")

	file := filepath.Join(o.Dir, "results.xml")
	j, err := NewJUnit(file)
	require.NoError(t, err)
	for i := range out {
		require.NoError(t, j.Add(&out[i]))
	}
	require.NoError(t, j.Close(out))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var suite junitSuite
	require.NoError(t, xml.Unmarshal(b, &suite))
	require.Equal(t, 5, suite.Tests)
	require.Equal(t, 3, suite.Failures)
	require.Equal(t, "expected a, found b", suite.Cases[1].Failure.Message)
	require.Equal(t, drivers.ErrNotSupported.Error(), suite.Cases[4].Skipped.Message)
	require.Equal(t, "fail [seed 1]", suite.Cases[1].Name)
	require.Equal(t, "bench/regress/regress_test.go", suite.Cases[1].File)
	require.NotZero(t, suite.Cases[1].Line)
	props := map[string]string{}
	for _, p := range suite.Cases[1].Props {
		props[p.Name] = p.Value
	}
	require.Equal(t, "ideal:", props["device"])
	require.Equal(t, filepath.Join(o.Dir, "x.fail", "test.log"), props["log"])
	require.Equal(t, out[1].Rerun, props["rerun"])
}

func TestFailFastStops(t *testing.T) {
	o := options(t)
	o.Jobs, o.FailFast = 1, true
	out, err := Run(context.Background(), sample(), o)
	require.NoError(t, err)
	require.Equal(t, map[Status]int{Passed: 1, Failed: 1, Skipped: 3}, Count(out))
}

func TestRepeatTakesNewSeeds(t *testing.T) {
	o := options(t)
	o.Seed, o.Seeds = 40, 3
	seen := map[int64]uint64{}
	out, err := Run(context.Background(), []Test{{Name: "x/seed", Run: func(t *T) error {
		seen[t.Seed] = t.Rand.Uint64()
		return nil
	}}}, Options{Device: o.Device, Seed: 40, Seeds: 3, Jobs: 1, Timeout: time.Minute, Dir: o.Dir})
	require.NoError(t, err)
	require.Len(t, out, 3)
	require.Len(t, seen, 3)
	require.NotEqual(t, seen[40], seen[41])
}

func TestMissingToolEndsTheRegression(t *testing.T) {
	o := options(t)
	_, err := Run(context.Background(), []Test{{Name: "x/tool", Run: func(*T) error { return drivers.ErrEnvironment }}}, o)
	require.ErrorIs(t, err, drivers.ErrEnvironment)
}

func TestBuildingAModelIsNotTheTestsTime(t *testing.T) {
	o := options(t)
	o.Timeout, o.NoWaves = 50*time.Millisecond, true
	out, err := Run(context.Background(), []Test{{Name: "x/first", Run: func(t *T) error {
		t.building("building …")
		select {
		case <-t.Ctx.Done():
			return t.Ctx.Err()
		case <-time.After(200 * time.Millisecond):
			return nil
		}
	}}}, o)
	require.NoError(t, err)
	require.Equal(t, Passed, out[0].Status)
}

func TestTimeoutSaysSo(t *testing.T) {
	o := options(t)
	o.Timeout, o.NoWaves = 50*time.Millisecond, true
	out, err := Run(context.Background(), []Test{{Name: "x/slow", Run: func(t *T) error {
		<-t.Ctx.Done()
		return t.Ctx.Err()
	}}}, o)
	require.NoError(t, err)
	require.ErrorContains(t, out[0].Err, "no verdict within 50ms")

	// One that has the time when it is repeated is not called indeterministic.
	o.NoWaves, o.Device = false, "model:"
	runs := 0
	out, err = Run(context.Background(), []Test{{Name: "x/sometimes", Run: func(t *T) error {
		if runs++; runs > 1 {
			return nil
		}
		<-t.Ctx.Done()
		return t.Ctx.Err()
	}}}, o)
	require.NoError(t, err)
	require.Equal(t, Flaky, out[0].Status)
	require.ErrorContains(t, out[0].Err, "the time was too short")
	require.NotContains(t, out[0].Err.Error(), "deterministic")
}

// TestPlan: what is built beforehand is what the tests open, each machine once.
func TestPlan(t *testing.T) {
	o := options(t)
	o.Device = "rtl:"
	r := newRunner(o, List())
	kinds := map[machine]bool{}
	for _, x := range List() {
		plan := r.planOf(x, r.o.Device)
		require.NotEmpty(t, plan, "%s opens nothing that could be known before", x.Name)
		for _, m := range plan {
			kinds[m] = true
		}
	}
	require.Len(t, r.site.order, len(kinds))
	require.Equal(t, machine{"rtl:", 2}, r.site.order[0])
	require.Contains(t, r.site.order, machine{"rtl:?dims=4x1x1&torus=1&vc_depth=2", 4})
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
	out, err := Run(context.Background(), List(), o)
	require.ErrorContains(t, err, "syntax error in core/fifo.sv")
	for _, x := range out {
		require.Equal(t, Skipped, x.Status, "%s: %v", x.Test.Name, x.Err)
	}
}
