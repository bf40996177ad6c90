package coverage

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
)

// counts is the output of two simulators, each with three points of the NIC.
const counts = "# SystemC::Coverage-3\n" +
	"C '\x01f\x02core/fifo.sv\x01l\x022\x01n\x023\x01t\x02line\x01page\x02v_line/fifo\x01o\x02block\x01h\x02TOP.node0' 5\n" +
	"C '\x01f\x02core/fifo.sv\x01l\x023\x01n\x023\x01t\x02line\x01page\x02v_line/fifo\x01o\x02elsif\x01h\x02TOP.node0' 0\n" +
	"C '\x01f\x02core/fifo.sv\x01l\x021\x01n\x023\x01t\x02toggle\x01page\x02v_toggle/fifo\x01o\x02full[1]\x01h\x02TOP.node0' 0\n" +
	"C '\x01f\x02sim/host_bus.sv\x01l\x029\x01n\x023\x01t\x02line\x01page\x02v_line/host_bus\x01o\x02if\x01h\x02TOP.node0' 0\n"

func folder(t *testing.T, files ...string) string {
	dir := t.TempDir()
	for i, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".dat"), []byte(text), 0o644))
	}
	return dir
}

func inOrder(x, y *Test) int { return strings.Compare(x.Name, y.Name) }

// TestReport: tests are merged over files, holes are grouped by block, and tests without a
// contribution are listed in the order of tests.
func TestReport(t *testing.T) {
	b := New()
	toggled := strings.Replace(counts, "h\x02TOP.node0' 0\nC '\x01f\x02sim", "h\x02TOP.node0' 1\nC '\x01f\x02sim", 1)
	require.NotEqual(t, counts, toggled)
	require.NoError(t, b.Add("x/second", 1, folder(t, counts), &FunctionalSink{}))
	require.NoError(t, b.Add("x/first", 1, folder(t, counts, toggled, ""), &FunctionalSink{}))
	r := b.Report(inOrder)
	require.Equal(t, []string{"x/second (seed 1)"}, r.Nothing)
	require.Equal(t, []string{"x/first (seed 1)"}, r.Lost, "one of its simulators has left an empty file")
	require.Equal(t, []Alone{{Test: "x/first", Toggles: 1}}, r.Alone)
	require.Equal(t, Count{1, 2}, r.Lines)
	require.Equal(t, Count{1, 1}, r.Toggles)
	require.Len(t, r.Blocks, 1, "what is not the NIC does not count")
	require.Equal(t, []Point{{Line, "core/fifo.sv", 3, "elsif"}}, r.Blocks[0].Holes)
	require.Equal(t, 0, r.Functional.Seen)
	require.Greater(t, r.Functional.Of, 30)

	var text, html strings.Builder
	r.Text(&text)
	require.Contains(t, text.String(), "coverage: lines 1 of 2 (50.0 %), toggles 1 of 1")
	require.Contains(t, text.String(), "not reached: core/fifo.sv:3")
	require.Contains(t, text.String(), "was killed: x/first (seed 1)")
	require.Contains(t, text.String(), "never seen: packets: RMA_PUT, 256, VC 1, held up")
	require.NoError(t, r.HTML(&html, fstest.MapFS{"core/fifo.sv": {Data: []byte("module fifo <a>;\n  seen\n  hole\n")}}))
	require.Contains(t, html.String(), `<span id="fifo.3" class="hole"><span class="c"> 3</span>  hole</span>`)
	require.Contains(t, html.String(), `<span class="seen"><span class="c">15 2</span>  seen</span>`)
	require.Contains(t, html.String(), `<td class="n"><a href="#fifo.3">3</a></td><td class="code">hole</td>`)
	require.Contains(t, html.String(), "module fifo &lt;a&gt;;")
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		require.NotContains(t, html.String(), outside, "one file, no network")
	}
}

// TestDamaged: invalid counts are an error, not an empty report.
func TestDamaged(t *testing.T) {
	for _, text := range []string{"C '\x01f\x02core/a.sv' many\n", "C '\x01f\x02core/a.sv 3\n", "C '\x01l\x02x\x01page\x02v_line/a' 3\n"} {
		require.ErrorContains(t, New().Add("x/y", 1, folder(t, text), &FunctionalSink{}), "is no point")
	}
}

// TestFunctional: packets that enter the network are recorded by size class, stalled or not.
func TestFunctional(t *testing.T) {
	f := &FunctionalSink{}
	sys, err := f.Open(context.Background(), "model:", drivers.Options{Nodes: 2, MemoryBytes: 1 << 16})
	require.NoError(t, err)
	m := sys.(drivers.Timed)
	for n := range 2 {
		for _, w := range [][2]uint64{{uint64(regs.PDID(0)), 1}, {uint64(regs.MboxSlots(0)), 2}, {uint64(regs.MboxCtrl(0)), regs.MboxCtrlEnable | regs.MboxCtrlWindow}} {
			m.PostReg(n, 0, uint32(w[0]), w[1])
		}
	}
	var stop drivers.Stop
	require.NoError(t, m.Run(100, &stop))
	for range 20 { // exceeds the capacity of mailbox and network
		m.PostPIO(0, m.Now(), uint32(regs.PioFields{DstNode: 1, Length: 56}.Pack()), make([]byte, 56))
	}
	require.NoError(t, m.Run(2000, &stop))
	m.PostReg(1, m.Now(), regs.MboxRP(0), 1)
	require.NoError(t, m.Run(4000, &stop))
	require.NoError(t, m.Close())
	velo := classes(regs.PacketTypeVELO)
	seen := f.points()
	require.NotZero(t, seen[packetPoint(regs.PacketTypeVELO, velo[3], 0, false)])
	require.NotZero(t, seen[packetPoint(regs.PacketTypeVELO, velo[3], 0, true)])
	require.Zero(t, seen[packetPoint(regs.PacketTypeVELO, velo[1], 0, false)])
	known := New().known
	for p := range seen {
		require.True(t, known[p], "%v is seen, but not among those that there are", p)
	}
}
