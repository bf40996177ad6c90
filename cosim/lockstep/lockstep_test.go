package lockstep

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	hdl "github.com/nicloop/nicloop/rtl"
)

const nodes = 4

// traffic is software that sends random packets and reads registers from time to time. It closes
// the system.
func traffic(ctx context.Context, s *Side, uri string, lines int) (err error) {
	defer s.End()
	sys, err := s.Open(ctx, uri, drivers.Options{Nodes: nodes, MemoryBytes: 1 << 16})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	m := sys.(drivers.Timed)
	for n := range nodes {
		for _, w := range [][2]uint64{{uint64(regs.PDID(0)), 1}, {uint64(regs.MboxBase(0)), 0}, {uint64(regs.MboxSlots(0)), 1024},
			{uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow}} {
			m.PostReg(n, 0, uint32(w[0]), w[1])
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var stop drivers.Stop
	if err := m.Run(100, &stop); err != nil {
		return err
	}
	for i := range lines {
		n := rng.IntN(57)
		line := make([]byte, n)
		for k := range line {
			line[k] = byte(rng.Uint32())
		}
		m.PostPIO(rng.IntN(nodes), m.Now(), uint32(regs.PioFields{DstNode: uint8(rng.IntN(nodes)), Length: uint8(n)}.Pack()), line)
		if err := m.Run(m.Now()+drivers.Cycle(rng.IntN(40)), &stop); err != nil {
			return err
		}
		if i%16 == 15 {
			if _, err := m.Device(i % nodes).ReadReg(regs.RXPackets); err != nil {
				return err
			}
		}
	}
	return m.Run(drivers.Forever, &stop)
}

// both runs the same software on two devices.
func both(t *testing.T, mode Mode, left, right string, lines [2]int) (*Pair, [2]error) {
	t.Helper()
	pair := New(mode, left, right)
	var errs [2]error
	var wg sync.WaitGroup
	for i, uri := range []string{left, right} {
		wg.Go(func() { errs[i] = traffic(context.Background(), pair.Side(i), uri, lines[i]) })
	}
	wg.Wait()
	return pair, errs
}

func TestSame(t *testing.T) {
	pair, errs := both(t, Cycles, "model:", "model:", [2]int{200, 200})
	require.NoError(t, errors.Join(errs[:]...))
	require.Nil(t, pair.Parted())
	require.Greater(t, pair.Agreed(), uint64(2000))
}

// params returns the model's parameters with one change.
func params(t *testing.T, old, edited string) string {
	text, err := os.ReadFile("../nic/rtl.json")
	require.NoError(t, err)
	require.Contains(t, string(text), old)
	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), old, edited, 1)), 0o644))
	return "model:?params=" + file
}

// TestParts: a block that takes a cycle longer is the one that is reported.
func TestParts(t *testing.T) {
	for _, c := range []struct{ other, module string }{
		{"model:?host_wr_latency=5", "velo_completer"},
		{"model:?wire_latency=1", "link"},
		{params(t, `"router": 2`, `"router": 3`), "router"},
	} {
		pair, errs := both(t, Cycles, "model:", c.other, [2]int{200, 200})
		for _, err := range errs {
			require.ErrorIs(t, err, ErrParted)
		}
		d := pair.Parted()
		require.NotNil(t, d, c.other)
		require.Equal(t, c.module, d.Module(), "%v", d)
		require.NotEqual(t, d.Values[0], d.Values[1])
		require.Positive(t, d.Agreed)
		again, _ := both(t, Cycles, "model:", c.other, [2]int{200, 200})
		require.Equal(t, d, again.Parted(), "the same divergence whenever the same is compared")
	}
}

// TestPackets: compared packet by packet, a slower block is not a difference, but a missing packet
// is.
func TestPackets(t *testing.T) {
	pair, errs := both(t, Packets, "model:", "model:?wire_latency=7", [2]int{200, 200})
	require.NoError(t, errors.Join(errs[:]...))
	require.Nil(t, pair.Parted())
	require.Positive(t, pair.Agreed())
	pair, _ = both(t, Packets, "model:", "model:", [2]int{200, 199})
	require.NotNil(t, pair.Parted())
	require.Contains(t, pair.Parted().Values[1], "nothing more there up to cycle ")
}

// TestEndsEarly: when software ends on one side for any reason, the other side does not wait.
func TestEndsEarly(t *testing.T) {
	pair, errs := both(t, Cycles, "model:", "model:", [2]int{200, 20})
	require.ErrorIs(t, errs[0], ErrParted)
	require.NotNil(t, pair.Parted())

	pair = New(Cycles, "model:", "nonsense:")
	done := make(chan error)
	go func() { done <- traffic(context.Background(), pair.Side(0), "model:", 10) }()
	require.ErrorIs(t, traffic(context.Background(), pair.Side(1), "nonsense:", 10), drivers.ErrConfig)
	select {
	case err := <-done:
		require.True(t, err == nil || errors.Is(err, ErrParted), "%v", err)
	case <-time.After(10 * time.Second):
		t.Fatal("a side waits for one that has ended")
	}

	ctx, cancel := context.WithCancel(context.Background())
	pair = New(Cycles, "model:", "model:")
	go func() { done <- traffic(context.Background(), pair.Side(0), "model:", 10) }()
	_, err := pair.Side(1).Open(ctx, "model:", drivers.Options{Nodes: nodes})
	require.NoError(t, err)
	cancel()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a side waits for one that was cancelled")
	}
}

func TestReference(t *testing.T) {
	for uri, want := range map[string]string{
		"rtl:": "model:", "rtl:?src=.&dims=4x1x1&inside=1&torus=1": "model:?dims=4x1x1&torus=1", "rtl:?link_errors=1e-3&random_init=7": "model:?link_errors=1e-3",
		"mixed:?rtl=5,9&nodes=64": "model:",
	} {
		got, err := Reference(uri)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := Reference("ideal:")
	require.ErrorIs(t, err, drivers.ErrNotSupported)
}

// TestBlocks: every block in blame.go exists in the RTL, with its file and instance.
func TestBlocks(t *testing.T) {
	parents := map[string]string{"": "sim/sim_node.sv", "u_nic": "core/nic_core.sv", blockMemory: "core/nic_rma.sv", blockRouter: "core/router.sv"}
	blocks := slices.Collect(maps.Keys(sources))
	for _, r := range regs.Registers() {
		blocks = append(blocks, blockOfRegister(r.Address(0)))
	}
	for _, block := range blocks {
		file := source(block)
		_, err := fs.Stat(hdl.Sources, file)
		require.NoError(t, err, block)
		above, instance := "", block
		if i := strings.LastIndexByte(block, '.'); i >= 0 {
			above, instance = block[:i], block[i+1:]
		}
		if strings.HasPrefix(above, "u_nic.g_link[") {
			above = "u_nic"
		}
		text, err := fs.ReadFile(hdl.Sources, parents[above])
		require.NoError(t, err, block)
		require.Regexp(t, `\b`+strings.TrimSuffix(path.Base(file), ".sv")+`\b[^;]*\b`+instance+` \(`, string(text), "%s is no instance of %s", block, file)
	}
}

// waveFile returns an FST file that contains only a header and names.
func waveFile(t testing.TB, tree []byte) []byte {
	packed := make([]byte, lz4.CompressBlockBound(len(tree)))
	n, err := lz4.CompressBlock(tree, packed, nil)
	require.NoError(t, err)
	if n == 0 { // incompressible
		t.Fatal("too little to compress")
	}
	block := func(kind byte, body []byte) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(body)+8)), body...)
	}
	header := make([]byte, 321)
	header[64] = 0xf4 // timescale 10^-12 s
	return append(block(0, header), block(6, append(binary.BigEndian.AppendUint64(nil, uint64(len(tree))), packed[:n]...))...)
}

func tree() (b []byte) {
	scope := func(name string) { b = append(b, 254, 0); b = append(b, name+"\x00\x00"...) }
	signal := func(name string, width byte) {
		b = append(b, 16, 0)
		b = append(b, name+"\x00"...)
		b = append(b, width, 0)
	}
	scope("node2")
	scope("sim_node")
	scope("u_nic")
	for _, unit := range []string{"u_router", "u_completer"} {
		scope(unit)
		signal("clk", 1)
		signal("data [63:0]", 64)
		scope("u_inner")
		signal("deep", 1)
		b = append(b, 255, 255)
	}
	return append(b, 255, 255, 255)
}

// TestSave: the save file shows the signals of the block, and no others.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	waves, save := filepath.Join(dir, "w.fst"), filepath.Join(dir, "w.gtkw")
	require.NoError(t, os.WriteFile(waves, waveFile(t, tree()), 0o644))
	d := &Divergence{Cycle: 100, Node: 2, Block: blockCompleter, What: "slot 3 is written"}
	require.NoError(t, d.Save(waves, save))
	text, err := os.ReadFile(save)
	require.NoError(t, err)
	require.Contains(t, string(text), "[dumpfile] \"w.fst\"\n[timestart] 512000\n*-15.0 640000 ")
	require.Contains(t, string(text), "@28\nnode2.sim_node.u_nic.u_completer.clk\n@22\nnode2.sim_node.u_nic.u_completer.data[63:0]\n")
	require.NotContains(t, string(text), "u_router.")
	require.NotContains(t, string(text), "deep")
	d.Block = blockATU
	require.ErrorContains(t, d.Save(waves, save), "no signals of node2.sim_node.u_nic.u_rma.u_atu")
}

// TestSidesAreReleased: a context that outlives a comparison does not keep its sides alive.
func TestSidesAreReleased(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sides := func() (list [2]weak.Pointer[Side]) {
		pair := New(Cycles, "model:", "model:")
		var wg sync.WaitGroup
		for i := range list {
			list[i] = weak.Make(pair.Side(i))
			wg.Go(func() { _ = traffic(ctx, pair.Side(i), "model:", 5) })
		}
		wg.Wait()
		return list
	}()
	require.Eventually(t, func() bool {
		runtime.GC()
		return sides[0].Value() == nil && sides[1].Value() == nil
	}, 5*time.Second, 10*time.Millisecond, "the context keeps the sides")
}
