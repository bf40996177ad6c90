package bridge

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/build"
	"github.com/nicloop/nicloop/cosim/inside"
	"github.com/nicloop/nicloop/cosim/machine"
	"github.com/nicloop/nicloop/drivers"
)

const testDesc = 0x1122334455667788

// The stand-in model in testdata, built once: a program, and a shared object (nil without cgo).
var fixture, sharedFixture *build.Model

func TestMain(m *testing.M) {
	if role := os.Getenv("BRIDGE_TEST_ROLE"); role != "" {
		playRole(role)
		return
	}
	var err error
	if fixture, err = buildFixture(false); err == nil && inside.Supported() == nil {
		sharedFixture, err = buildFixture(true)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	before := resources()
	code := m.Run()
	if code == 0 && flag.Lookup("test.fuzz").Value.String() == "" { // the fuzzer keeps a goroutine
		code = checkLeaks(before)
	}
	os.Exit(code)
}

func buildFixture(shared bool) (*build.Model, error) {
	files := fstest.MapFS{
		"nicloop_pkg.sv": {Data: fmt.Appendf(nil, "package nicloop_pkg;\n  localparam logic [63:0] DESC_HASH_VALUE = 64'h%x;\nendpackage\n", uint64(testDesc))},
	}
	for _, name := range []string{"sim_node.sv", "nicloop_dpi.svh"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			return nil, err
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	return build.Build(context.Background(), build.Spec{
		RTL: files, Files: []string{"nicloop_pkg.sv", "sim_node.sv"}, Include: ".", Ports: 5, Shared: shared,
	})
}

// resources counts what a session could leak.
func resources() [3]int {
	fds, _ := os.ReadDir("/proc/self/fd")
	children := 0
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		children += len(strings.Fields(string(list)))
	}
	return [3]int{len(fds), runtime.NumGoroutine(), children}
}

func checkLeaks(before [3]int) int {
	var after [3]int
	for range 100 {
		if after = resources(); after[0] <= before[0] && after[1] <= before[1] && after[2] <= before[2] {
			return 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "leak: descriptors, goroutines, children were %v, are %v\n", before, after)
	return 1
}

func config() Config {
	return Config{
		Program: fixture.Program, Dims: [3]int{2, 2, 1}, VPIDs: machine.VPIDs,
		DescHash: testDesc, BuildHash: fixture.Hash, MemoryBytes: 1 << 16,
	}
}

// start opens a session whose socket directory belongs to this test.
func start(t testing.TB, change func(*Config)) *Session {
	t.Helper()
	cfg := config()
	if change != nil {
		change(&cfg)
	}
	s, err := Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// seed returns the seed of a test, and prints the command that repeats it on failure.
func seed(t *testing.T) uint64 {
	n := uint64(1)
	if text := os.Getenv("BRIDGE_SEED"); text != "" {
		var err error
		n, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: BRIDGE_SEED=%d go test -run '^%s$' ./cosim/bridge", n, t.Name())
		}
	})
	return n
}

// Addresses of the stand-in model.
const (
	regScratch   = 0x20
	regNodeID    = 0x28
	regCycles    = 0x30
	regIRQ       = 0x40
	regHold      = 0x48
	regBase      = 0x50
	regSlots     = 0x58
	regMisbehave = 0x60
)

func pio(from, to, length uint32) uint32 { return from<<25 | to<<19 | length<<6 }

func run(t testing.TB, s *Session, deadline drivers.Cycle) drivers.Stop {
	t.Helper()
	var stop drivers.Stop
	require.NoError(t, s.Run(deadline, &stop))
	return stop
}
