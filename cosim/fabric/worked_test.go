package fabric

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkedExampleOfRuns checks the worked example of doc.go: a packet of 8 flits over one link,
// with buffers of 4 entries, in runs of up to 8 and flit by flit.
func TestWorkedExampleOfRuns(t *testing.T) {
	lines, arrive := workedRun(t, 8)
	single, same := workedRun(t, 1)
	require.Equal(t, arrive, same)
	require.Len(t, lines, 6, "decisions")
	require.Len(t, single, 24, "decisions flit by flit")
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	block := "//\t" + strings.Join(lines, "\n//\t") + "\n"
	require.True(t, strings.Contains(string(text), block), "doc.go does not have this block:\n%s", block)
}

// workedRun sends the packet. It returns a line for each decision, with sender and flits, and the
// cycles in which the flits reach the NIC.
func workedRun(t *testing.T, most int) (lines []string, arrive []uint64) {
	const flits = 8
	f, err := New(Config{Topology: Mesh(2), VCDepth: 4, Run: most})
	require.NoError(t, err)
	p := f.Part(0)
	across, out := f.outputVC(0, 1, 0), f.outputVC(1, 0, 0)
	note := func(at uint64, who string, from, n, seen uint64) {
		lines = append(lines, fmt.Sprintf("cycle %2d  %-21s flits %d to %d, there in cycles %d to %d", at, who, from, from+n-1, seen, seen+n-1))
	}
	injected := 0
	for cycle := range uint64(200) {
		for _, e := range p.Ejected() {
			for i := range uint64(e.Run) {
				arrive = append(arrive, cycle+i)
			}
			p.ReleaseRun(1, 0, cycle, int(e.Run))
		}
		if injected < flits && p.CanInject(0, 0) {
			n := p.InjectRun(0, 0, packetFlit(1, 1, injected, flits)|Tail, flits-injected)
			note(cycle, "NIC 0 to router 0:", uint64(injected), uint64(n), cycle+uint64(f.cfg.InjectCycles+f.cfg.RouterCycles)-1)
			injected += n
		}
		a, b := across.sent, out.sent
		p.Step()
		if across.sent > a {
			note(cycle, "router 0 to router 1:", a, across.sent-a, cycle+f.hop)
		}
		if out.sent > b {
			note(cycle, "router 1 to NIC 1:", b, out.sent-b, cycle+1)
		}
	}
	require.Len(t, arrive, flits)
	return lines, arrive
}
