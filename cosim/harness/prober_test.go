package harness_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/cosim/harness"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/registry"
)

// proberPS is the clock of testdata/prober.yaml.
const proberPS = 3333

func openProber(t *testing.T, query string, opt drivers.Options) *harness.System {
	t.Helper()
	return openProberAt(t, "testdata/prober.yaml", query, opt)
}

func openProberAt(t *testing.T, file, query string, opt drivers.Options) *harness.System {
	t.Helper()
	opt.Nodes, opt.MemoryBytes = max(1, opt.Nodes), 1<<16
	sys, err := registry.Open(t.Context(), "design:"+file+query, opt)
	require.NoError(t, err)
	t.Cleanup(func() { sys.Close() })
	return sys.(*harness.System)
}

// let lets some cycles pass.
func let(sys *harness.System, cycles drivers.Cycle) error {
	var stop drivers.Stop
	for end := sys.Now() + cycles; sys.Now() < end; {
		if err := sys.Run(end, &stop); err != nil {
			return err
		}
	}
	return nil
}

// Kinds of AXI4 bursts.
const (
	fixed = iota
	incr
	wrap
)

// A burst is one of the prober's masters A (4 bytes wide) and B (16).
type burst struct {
	master string
	addr   uint64
	beats  int
	size   int // log2 of the bytes of a beat
	kind   int
	write  bool
	seed   byte
	flags  uint64 // raw strobes, early WLAST
	strobe uint64
}

const (
	rawStrobes = 1 << 16
	earlyLast  = 1 << 17
)

func (b *burst) width() uint64 { return map[string]uint64{"A": 4, "B": 16}[b.master] }

func (b *burst) start(dev harness.Device) error {
	strobe := b.strobe
	if b.flags&rawStrobes == 0 {
		strobe = 0xffff
	}
	for _, w := range []struct {
		name string
		v    uint64
	}{
		{"ADDR", b.addr}, {"SHAPE", uint64(b.beats-1) | uint64(b.size)<<8 | uint64(b.kind)<<12 | b.flags}, {"SEED", uint64(b.seed)},
		{"STRB", strobe}, {"GO", map[bool]uint64{true: 1}[b.write]},
	} {
		if err := dev.Set(b.master+"_"+w.name, w.v); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with the number, bus word and lanes [from, to) of every beat, by the rules of AXI4.
func (b *burst) each(do func(n int, word, from, to uint64)) {
	step := uint64(1) << b.size
	whole := step * uint64(b.beats)
	at := b.addr
	for n := range b.beats {
		word := at &^ (b.width() - 1)
		do(n, word, at-word, (at&^(step-1))-word+step)
		switch b.kind {
		case incr:
			at = at&^(step-1) + step
		case wrap:
			if at += step; at%whole == 0 {
				at -= whole
			}
		}
	}
}

// random is a legal burst within 4 KB from base on.
func random(rng *rand.Rand, master string, base uint64) *burst {
	b := &burst{master: master, kind: rng.IntN(3), write: rng.IntN(2) == 0, seed: byte(rng.Uint32())}
	b.size = rng.IntN(bits.Len64(b.width()))
	step := uint64(1) << b.size
	switch b.kind {
	case fixed:
		b.beats, b.addr = 1+rng.IntN(16), base+rng.Uint64N(4096)
	case incr:
		b.addr = base + rng.Uint64N(4096)
		b.beats = 1 + rng.IntN(int(min(16, (base+4096-b.addr&^(step-1))/step)))
	case wrap:
		b.beats = 2 << rng.IntN(4)
		b.addr = base + rng.Uint64N(4096)&^(step-1)
	}
	return b
}

// Random bursts of both masters at the same time read and write what AXI4 says, and nothing else.
func TestBursts(t *testing.T) {
	for _, query := range []string{"", "?stall=90&stall_seed=5"} {
		t.Run(query, func(t *testing.T) { bursts(t, query) })
	}
}

func bursts(t *testing.T, query string) {
	sys := openProber(t, query, drivers.Options{})
	dev := sys.Node(0)
	rng := rand.New(rand.NewPCG(3, 4))
	mem := dev.Memory()
	for i := range mem {
		mem[i] = byte(rng.Uint32())
	}
	want := append([]byte(nil), mem...)
	for n := range 60 {
		pair := []*burst{random(rng, "A", 0x1000), random(rng, "B", 0x2000)}
		for _, b := range pair {
			require.NoError(t, b.start(dev))
			if b.write {
				b.each(func(n int, word, from, to uint64) {
					for i := from; i < to; i++ {
						want[word+i] = b.seed + byte(16*n) + byte(i)
					}
				})
			}
		}
		require.NoError(t, let(sys, 1500))
		for _, b := range pair {
			what := fmt.Sprintf("pair %d: %+v", n, *b)
			done, err := dev.Get(b.master + "_DONE")
			require.NoError(t, err)
			require.Equal(t, uint64(n+1), done, what)
			resp, err := dev.Get(b.master + "_RESP")
			require.NoError(t, err)
			require.Equal(t, map[bool]uint64{true: 0x20, false: 0x10}[b.write], resp, what)
			if !b.write {
				b.expectRead(t, dev, want, what)
			}
		}
		require.Equal(t, want, mem, "pair %d: %+v %+v", n, *pair[0], *pair[1])
	}
}

// expectRead compares what the prober has received with memory, in the lanes of each beat.
func (b *burst) expectRead(t *testing.T, dev harness.Device, mem []byte, what string) {
	t.Helper()
	b.each(func(n int, word, from, to uint64) {
		line := make([]byte, b.width())
		for i := 0; i < len(line); i += 4 {
			v, err := dev.Get(fmt.Sprintf("%s_RDATA[%d]", b.master, (n*len(line)+i)/4))
			require.NoError(t, err)
			binary.LittleEndian.PutUint32(line[i:], uint32(v))
		}
		require.Equal(t, mem[word+from:word+to], line[from:to], "beat %d of %s", n, what)
	})
}

// Each broken rule ends the run with the rule, the port and the address, at a time of the design's
// own clock.
func TestBrokenRules(t *testing.T) {
	for _, c := range []struct {
		b    burst
		want string
	}{
		{burst{master: "A", addr: 0xff8, beats: 3, size: 2, kind: incr, write: true}, "port 0: write of 3 beats at 0x0000000000000ff8: a burst crosses a boundary of 4096 bytes"},
		{burst{master: "B", addr: 0xff8, beats: 2, size: 4, kind: incr}, "port 1: read of 2 beats at 0x0000000000000ff8: a burst crosses a boundary of 4096 bytes"},
		{burst{master: "A", beats: 3, size: 2, kind: wrap}, "a WRAP burst has 2, 4, 8 or 16 beats"},
		{burst{master: "A", addr: 2, beats: 4, size: 2, kind: wrap, write: true}, "the address of a WRAP burst is not aligned"},
		{burst{master: "B", beats: 17, size: 2, kind: fixed}, "a FIXED burst has at most 16 beats"},
		{burst{master: "A", beats: 1, size: 2, kind: 3, write: true}, "burst type 3 is reserved"},
		{burst{master: "A", beats: 1, size: 3, kind: incr}, "a beat is wider than the bus"},
		{burst{master: "A", addr: 1, beats: 1, kind: incr, write: true, flags: rawStrobes, strobe: 5}, "strobes 5 outside the lanes 2 of its beat"},
		{burst{master: "A", beats: 4, size: 2, kind: incr, write: true, flags: earlyLast}, "WLAST is 1 in beat 3"},
	} {
		t.Run(c.want, func(t *testing.T) {
			sys := openProber(t, "", drivers.Options{})
			err := c.b.start(sys.Node(0))
			if err == nil {
				err = let(sys, 300)
			}
			expectFault(t, err, c.want)
		})
	}
}

func expectFault(t *testing.T, err error, want string) {
	t.Helper()
	var fault *drivers.AssertionError
	require.ErrorAs(t, err, &fault)
	require.Contains(t, fault.Text, want)
	require.Zero(t, fault.Node)
	require.Equal(t, drivers.Time(fault.Cycle)*proberPS, fault.Time)
}

// An access that the design never answers is reported with the register.
func TestSilentRegister(t *testing.T) {
	_, err := openProber(t, "", drivers.Options{}).Node(0).Get("SILENT")
	expectFault(t, err, "has not answered the read of register 0x00008000")
	sys := openProber(t, "", drivers.Options{})
	require.NoError(t, sys.Node(0).Set("SILENT", 1))
	expectFault(t, let(sys, 110_000), "has not answered the write of register 0x00008000")
}

// A design that says when it is idle sleeps then, and wakes for an access. With random stalls it
// does not sleep: the random numbers would depend on whether there are waves.
func TestSleep(t *testing.T) {
	const cycles = 50_000
	edges := func(query string) uint64 {
		sys := openProber(t, query, drivers.Options{})
		before, err := sys.Node(0).Get("EDGES")
		require.NoError(t, err)
		require.NoError(t, let(sys, cycles))
		after, err := sys.Node(0).Get("EDGES")
		require.NoError(t, err)
		var stop drivers.Stop
		if query == "" {
			require.NoError(t, sys.Run(drivers.Forever, &stop))
			require.True(t, stop.Quiet)
		}
		return after - before
	}
	require.Less(t, edges(""), uint64(200))
	require.GreaterOrEqual(t, edges("?stall=1"), uint64(cycles))
}

// In a ring every node sends to the next one. A receiver that holds back stalls its sender, and no
// word is lost.
func TestRing(t *testing.T) {
	sys := openProber(t, "", drivers.Options{Nodes: 3})
	words := func(node int, want uint64) {
		t.Helper()
		got, err := sys.Node(node).Get("WORDS")
		require.NoError(t, err)
		require.Equal(t, want, got, "node %d", node)
	}
	require.NoError(t, sys.Node(1).Set("HOLD", 1))
	for i := range 40 {
		require.NoError(t, sys.Node(0).Set("SEND", uint64(i)))
	}
	require.NoError(t, let(sys, 1000))
	words(1, 0)
	require.NoError(t, sys.Node(1).Set("HOLD", 0))
	require.NoError(t, let(sys, 1000))
	words(0, 0)
	words(1, 40)
	words(2, 0)
	last, err := sys.Node(1).Get("LAST_WORD")
	require.NoError(t, err)
	require.Equal(t, uint64(39), last)
	require.NoError(t, sys.Node(2).Set("SEND_LAST", 7))
	require.NoError(t, let(sys, 100))
	words(0, 1)
}

// Two nodes of a ring are a pair: each is the next one of the other.
func TestRingOfTwo(t *testing.T) {
	sys := openProber(t, "", drivers.Options{Nodes: 2})
	for node := range 2 {
		require.NoError(t, sys.Node(node).Set("SEND", uint64(7+node)))
		require.NoError(t, let(sys, 100))
		v, err := sys.Node(1 - node).Get("LAST_WORD")
		require.NoError(t, err)
		require.Equal(t, uint64(7+node), v)
	}
}

// The network loses whole frames and returns their credits; the seed decides which.
func TestLoss(t *testing.T) {
	frames := func(query string) uint64 {
		sys := openProber(t, query, drivers.Options{Nodes: 2})
		for range 200 {
			require.NoError(t, sys.Node(0).Set("SEND", 1))
			require.NoError(t, sys.Node(0).Set("SEND_LAST", 2))
		}
		require.NoError(t, let(sys, 10_000))
		words, err := sys.Node(1).Get("WORDS")
		require.NoError(t, err)
		frames, err := sys.Node(1).Get("FRAMES")
		require.NoError(t, err)
		require.Equal(t, 2*frames, words)
		return frames
	}
	require.Equal(t, uint64(200), frames(""))
	lossy := frames("?loss=16384&net_seed=5")
	require.InDelta(t, 150, lossy, 25)
	require.Equal(t, lossy, frames("?loss=16384&net_seed=5"))
}

// The network inverts single bits of data.
func TestCorruption(t *testing.T) {
	sys := openProber(t, "?corrupt=32768", drivers.Options{Nodes: 2})
	corrupt, positions := 0, map[uint64]bool{}
	for range 200 {
		require.NoError(t, sys.Node(0).Set("SEND_LAST", 0))
		require.NoError(t, let(sys, 40))
		v, err := sys.Node(1).Get("LAST_WORD")
		require.NoError(t, err)
		require.LessOrEqual(t, bits.OnesCount64(v), 1)
		corrupt += bits.OnesCount64(v)
		positions[v] = true
	}
	require.InDelta(t, 100, corrupt, 40)
	require.Greater(t, len(positions), 16, "any bit")
	words, err := sys.Node(1).Get("WORDS")
	require.NoError(t, err)
	require.Equal(t, uint64(200), words)
}

// Waves count in the design's own clock.
func TestPeriodOfWaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "waves.fst")
	sys := openProber(t, "", drivers.Options{Waves: &drivers.WaveWindow{File: file, From: 100, To: 300}})
	require.Equal(t, proberPS, sys.Info().ClockPS)
	require.NoError(t, let(sys, 400))
	require.NoError(t, sys.Close())
	head, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Zero(t, head[0], "a header block")
	begin, end := binary.BigEndian.Uint64(head[9:]), binary.BigEndian.Uint64(head[17:])
	require.InDelta(t, 200*proberPS, end-begin, proberPS)
}

// What nodes send is captured as frames, at times of the design's own clock.
func TestPcap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "frames.pcapng")
	sys := openProber(t, "?pcap="+file, drivers.Options{Nodes: 2})
	for i := range 20 {
		require.NoError(t, sys.Node(0).Set("SEND", 0x03020100+uint64(i)))
	}
	require.NoError(t, sys.Node(0).Set("SEND_LAST", 0xddccbbaa))
	require.NoError(t, sys.Node(1).Set("SEND_LAST", 0x11))
	require.NoError(t, let(sys, 500))
	end := sys.Now()
	require.NoError(t, sys.Close())
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	require.NoError(t, err)
	lengths := map[int]int{}
	for range 2 {
		data, info, err := r.ReadPacketData()
		require.NoError(t, err)
		lengths[info.InterfaceIndex] = len(data)
		require.Less(t, info.Timestamp.UnixNano(), int64(end)*proberPS/1000)
		if info.InterfaceIndex == 0 {
			require.Equal(t, []byte{0, 1, 2, 3, 1, 1, 2, 3}, data[:8])
			require.Equal(t, []byte{0xaa, 0xbb, 0xcc, 0xdd}, data[80:])
		}
	}
	require.Equal(t, map[int]int{0: 84, 1: 4}, lengths)
}
