package build

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/drivers"
)

// smallSpec is a model of a few lines that builds in seconds. body is inserted into sim_node.
func smallSpec(body string) Spec {
	return Spec{
		RTL: fstest.MapFS{
			"nicloop_pkg.sv": {Data: []byte("package nicloop_pkg;\n  localparam logic [63:0] DESC_HASH_VALUE = 64'habc;\nendpackage\n")},
			"top/sim_node.sv": {Data: []byte(`module sim_node #(parameter int PORTS = 3, VC_DEPTH = 1, TORUS = 0)
 (input logic clk, clk_local, clk_rma, clk_link0, clk_link1, rst, link_rst, reg_pending, pio_pending, trace_on, expect_credits, input logic [11:0] node_id, input logic [59:0] shape, input logic [63:0] slept,
  input logic [15:0] host_wr_latency, host_rd_latency, input logic [PORTS-2:0] link_up, carrier, rx_valid, input logic [(PORTS-1)*128-1:0] rx_word,
  output logic [PORTS-2:0] wire_down, tx_valid, output logic [(PORTS-1)*128-1:0] tx_word, output logic irq, idle, active, local_rests, rma_rests, output logic [PORTS-2:0] link_rests);
  import "DPI-C" function void nl_reg_next(input int node, output bit write, output int unsigned addr, output longint unsigned wdata);
  import "DPI-C" function void nl_reg_done(input int node, input int resp, input longint unsigned rdata);
  import "DPI-C" function void nl_pio_next(input int node, output int unsigned addr, output int unsigned beats, output bit [511:0] data);
  import "DPI-C" function void nl_pio_done(input int node, input int resp);
  import "DPI-C" function int nl_dma_write(input int node, input longint unsigned addr, input int unsigned beats, input bit [511:0] data, input bit [63:0] strobes);
  import "DPI-C" function int nl_dma_read(input int node, input longint unsigned addr, input int unsigned beats, output bit [511:0] data);
  import "DPI-C" function void nl_trace(input int node, input int point, input int flags, input int vc, input longint unsigned data);
  assign irq = reg_pending | pio_pending; assign idle = !rst; assign active = trace_on; assign {wire_down, tx_valid, local_rests, rma_rests, link_rests} = '0; assign tx_word = rx_word;
` + body + "\nendmodule\n")},
		},
		Files: []string{"nicloop_pkg.sv", "top/sim_node.sv"}, Include: "top", Ports: 3,
	}
}

// ownCache gives the test an empty cache of models.
func ownCache(t *testing.T) string {
	t.Setenv("CCACHE_DIR", ccacheDir(t))
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	return filepath.Join(dir, "nicloop", "models")
}

// ccacheDir is the directory of ccache without this test's XDG_CACHE_HOME.
func ccacheDir(t *testing.T) string {
	out, err := exec.Command("ccache", "--get-config", "cache_dir").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func entries(t *testing.T, dir string) (names []string) {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), ".lock") && !strings.HasPrefix(e.Name(), "receipt-") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestConcurrentBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds simulators")
	}
	dir := ownCache(t)
	var built, found int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			m, err := Build(context.Background(), smallSpec(""))
			mu.Lock()
			defer mu.Unlock()
			if err == nil && m.Built {
				built++
			} else if err == nil {
				found++
			} else {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, built)
	require.Equal(t, 3, found)

	began := time.Now()
	m, err := Build(context.Background(), smallSpec(""))
	require.NoError(t, err)
	require.False(t, m.Built)
	require.Less(t, time.Since(began), time.Second)
	require.Len(t, entries(t, dir), 2, "the node and the program around it")
	require.Equal(t, uint64(0xabc), m.DescHash)
	require.FileExists(t, m.Program)
	headers, err := filepath.Glob(filepath.Join(dir, "*", "obj", "Vsim_node___024root.h"))
	require.NoError(t, err)
	require.Len(t, headers, 1)
	text, err := os.ReadFile(headers[0])
	require.NoError(t, err)
	require.Contains(t, string(text), headerMember, "quicken knows the code that the pinned Verilator writes")
}

// Generated code of an unknown form is not changed.
func TestQuickenLeavesStrangersAlone(t *testing.T) {
	const source, headerFile, inputsCall = "Vsim_node___024root__0.cpp", "Vsim_node___024root.h", "Vsim_node___024root___eval_ico(vlSelf);"
	for name, files := range map[string]map[string]string{
		"no call":   {headerFile: headerAnchor, source: "eval();"},
		"two calls": {headerFile: headerAnchor, source: "{ " + inputsCall + "\n " + inputsCall},
		"no anchor": {headerFile: "class", source: "{ " + inputsCall},
	} {
		dir := t.TempDir()
		for file, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		}
		require.NoError(t, quicken(dir, "sim_node"), name)
		for file, text := range files {
			got, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			require.Equal(t, text, string(got), name)
		}
	}
}

// A cancelled or killed build leaves nothing behind.
func TestInterruptedBuild(t *testing.T) {
	dir := ownCache(t)
	ctx, cancel := context.WithCancel(context.Background())
	spec := smallSpec("")
	spec.Progress = func(what string) {
		if strings.HasPrefix(what, "building") {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
	}
	t.Setenv("CCACHE_DISABLE", "1") // otherwise it may finish too early
	_, err := Build(ctx, spec)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, entries(t, dir))

	c, err := openCache(nil)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(c.path("dead")+".part", 0o755))
	lock, err := c.lock(context.Background(), thing{hash: "busy"})
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, os.MkdirAll(c.path("busy")+".part", 0o755))
	made, err := c.provide(context.Background(), thing{hash: "new"}, func(string) error { return errors.New("no") })
	require.Error(t, err)
	require.False(t, made)
	require.Equal(t, []string{"busy.part"}, entries(t, dir), "the one under way stays")
}

func TestBrokenBuild(t *testing.T) {
	dir := ownCache(t)
	_, err := Build(context.Background(), smallSpec("  assign idle = no_such_thing;"))
	require.ErrorContains(t, err, "%Error: top/sim_node.sv:13:17: Can't find definition of variable: 'no_such_thing'")
	names := entries(t, dir)
	require.Len(t, names, 1)
	require.Contains(t, err.Error(), filepath.Join(dir, names[0]))
	log, err := os.ReadFile(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	require.Contains(t, string(log), "no_such_thing")
}

func TestMissingTool(t *testing.T) {
	bin := t.TempDir()
	for _, p := range packages[:4] {
		path, err := exec.LookPath(p.program)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(bin, p.program)))
	}
	t.Setenv("PATH", bin)
	_, err := Build(context.Background(), smallSpec(""))
	require.ErrorIs(t, err, drivers.ErrEnvironment)
	require.ErrorContains(t, err, "ccache")
	require.ErrorContains(t, err, "apt-get install ccache")
}

// Every input of the model changes its hash.
func TestHash(t *testing.T) {
	tl, err := findTools(context.Background())
	require.NoError(t, err)
	hash := func(s Spec, tl tools) [32]byte {
		in, err := s.inputs()
		require.NoError(t, err)
		return s.hash(&tl, in)
	}
	base := hash(smallSpec(""), *tl)
	require.Equal(t, base, hash(smallSpec(""), *tl))
	seen := map[[32]byte]string{base: "nothing"}
	changed := func(what string, h [32]byte) {
		require.NotContains(t, seen, h, what)
		seen[h] = what
	}
	changed("a source", hash(smallSpec("// comment"), *tl))
	s := smallSpec("")
	s.Ports = 5
	changed("the ports", hash(s, *tl))
	s = smallSpec("")
	s.VCDepth = 8
	changed("a parameter", hash(s, *tl))
	s = smallSpec("")
	s.Torus = true
	changed("another parameter", hash(s, *tl))
	s = smallSpec("")
	s.ClockPS = 4000
	changed("the clock", hash(s, *tl))
	require.Contains(t, string(s.modelHeader()), "#define NL_PERIOD_PS 4000\n")
	s = smallSpec("")
	s.Files = []string{s.Files[1], s.Files[0]}
	changed("the order", hash(s, *tl))
	s = smallSpec("")
	s.RTL.(fstest.MapFS)["top/new.svh"] = &fstest.MapFile{Data: []byte("// new")}
	changed("an include file", hash(s, *tl))
	other := *tl
	other.verilatorVersion += " patched"
	changed("a tool", hash(smallSpec(""), other))
	other = *tl
	other.arch = "-march=x86-64"
	changed("the processor", hash(smallSpec(""), other))
	s = smallSpec("")
	s.VCDepth = DefaultVCDepth
	require.Equal(t, base, hash(s, *tl), "the default by its name")
}

func TestSourcesWithoutDescription(t *testing.T) {
	s := smallSpec("")
	s.Files = s.Files[1:]
	_, err := Build(context.Background(), s)
	require.ErrorContains(t, err, "no nicloop_pkg.sv")
}

// TestTemporariesOfKilledTools: a killed tool leaves no temporary files.
func TestTemporariesOfKilledTools(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			for _, pattern := range []string{"cc1.s", "*/cc1.s"} {
				if list, _ := filepath.Glob(filepath.Join(dir, pattern)); len(list) > 0 {
					cancel()
					return
				}
			}
			time.Sleep(time.Millisecond)
		}
	}()
	err := newBuildLog(filepath.Join(dir, "log"), nil).run(ctx, dir, "sh", "-c", "touch $TMPDIR/cc1.s; sleep 60")
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, entries(t, dir))
}
