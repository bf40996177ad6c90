package report

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nicloop/nicloop/bench/runs"
	"github.com/nicloop/nicloop/cosim/lockstep"
)

// diverged returns a divergence at cycle 100: a packet that the reference sends a cycle later.
func diverged() *lockstep.Divergence {
	head := func(at lockstep.Head) *lockstep.Head { return &at }
	event := func(w lockstep.Event) []lockstep.Event { return []lockstep.Event{w} }
	return &lockstep.Divergence{
		Devices: [2]string{"rtl:?x=<1>", "model:"}, Cycle: 100, Node: 2, Block: "u_nic.u_router",
		Drawing: &lockstep.Drawing{
			From: 40, To: 160,
			Lanes: []lockstep.Lane{{Name: "departs on +X", Events: [2][]lockstep.Event{
				event(lockstep.Event{Cycle: 100, Data: "0x17", What: "head"}), event(lockstep.Event{Cycle: 101, Data: "0x17", What: "head"}),
			}}, {Name: "DMA AW", Events: [2][]lockstep.Event{event(lockstep.Event{Cycle: 97, Data: "0x40"}), event(lockstep.Event{Cycle: 97, Data: "0x40"})}}},
			Signals: []lockstep.Waveform{
				{Name: "out_valid", Width: 1, Values: [2][]lockstep.Value{{{Cycle: 40, Value: "x"}, {Cycle: 60, Value: "0"}, {Cycle: 100, Value: "1"}},
					{{Cycle: 40, Value: "x"}, {Cycle: 60, Value: "0"}, {Cycle: 101, Value: "1"}}}},
				{Name: "<b>data</b>[63:0]", Width: 64, Values: [2][]lockstep.Value{{{Cycle: 40, Value: "0"}, {Cycle: 98, Value: "deadbeef<script>"}}}},
			},
			Packet: &lockstep.Packet{Type: "VELO", Bytes: 24, Source: [2]int{2, 1}, Target: [2]int{7, 3}},
			Path: []lockstep.Hop{
				{Node: 2, What: lockstep.HopEnters, Heads: [2]*lockstep.Head{head(lockstep.Head{Cycle: 97}), head(lockstep.Head{Cycle: 97})}},
				{Node: 2, What: lockstep.HopDeparts, Link: "+X", Diverges: true, Heads: [2]*lockstep.Head{head(lockstep.Head{Cycle: 100}), head(lockstep.Head{Cycle: 101, VC: 1})}},
				{Node: 5, What: lockstep.HopArrives, Link: "-X", Heads: [2]*lockstep.Head{nil, head(lockstep.Head{Cycle: 105, VC: 1})}},
				{Node: 5, What: lockstep.HopDeparts, Link: "+Y", Heads: [2]*lockstep.Head{nil, head(lockstep.Head{Cycle: 107, VC: 1})}},
			},
		},
	}
}

// wellFormed checks that a picture is XML.
func wellFormed(t *testing.T, svg string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err, svg)
	}
}

var pictures = regexp.MustCompile(`(?s)<svg.*?</svg>`)

func TestDrawing(t *testing.T) {
	run, _ := night()
	var b strings.Builder
	require.NoError(t, Write(&b, "out", run, []runs.Record{
		{Test: "x/fail", Status: "FAIL", Error: "one", Divergence: diverged()}, {Test: "x/other", Status: "FAIL", Error: "other", Divergence: diverged()},
		{Test: "x/old", Status: "FAIL", Error: "old", Divergence: &lockstep.Divergence{}},
	}))
	text := b.String()
	svgs := pictures.FindAllString(text, -1)
	require.Len(t, svgs, 2*(len(zooms)+1), "a picture of each zoom and a path, for both failures")
	for _, svg := range svgs {
		wellFormed(t, svg)
	}
	require.NotContains(t, text, "<b>data")
	require.NotContains(t, text, "deadbeef<script>")

	near, path := svgs[0], svgs[len(zooms)]
	require.Contains(t, near, `aria-label="waveforms of u_nic.u_router, cycles 92 to 108"`)
	require.Contains(t, near, ">cycle 100</text>")
	require.Equal(t, 2, strings.Count(near, `class="event differs"`), "the heads, in different cycles")
	require.Equal(t, 2, strings.Count(near, `class="event"`), "the accesses, in the same one")
	require.Equal(t, 1, strings.Count(near, `class="differing"`), "out_valid, for one cycle")
	require.Contains(t, svgs[2], "cycles 40 to 160")
	require.Contains(t, svgs[2], `class="unknown"`)

	for _, s := range []string{"source, process 1", ">router<", "link +X", "link +Y: no arrival", ">100<", ">101<", ">0 / 1<"} {
		require.Contains(t, path, s)
	}
	require.Equal(t, 1, strings.Count(path, `class="mark"`))
	require.Equal(t, 1, strings.Count(path, `class="arrow differs absent"`), "only the reference departs from node 5")
	require.Contains(t, text, "from process 1 of node 2 to process 3 of node 7")

	for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		require.Equal(t, 1, strings.Count(text, id[0]), "%s is not unique", id[1])
	}
	if file := os.Getenv("NICLOOP_REPORT"); file != "" { // for manual inspection
		require.NoError(t, os.WriteFile(filepath.Clean(file)+".drawing.html", []byte(text), 0o644))
	}
}

// TestPolicyAllowsScript: a browser runs the script of the page, because its policy has the hash of
// it, and no other.
func TestPolicyAllowsScript(t *testing.T) {
	run, list := night()
	var b strings.Builder
	require.NoError(t, Write(&b, "out", run, list))
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(b.String(), -1)
	require.Len(t, scripts, 1)
	sum := sha256.Sum256([]byte(scripts[0][1]))
	policy := strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(b.String())
	require.Contains(t, policy, "script-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"';")
	require.NotContains(t, b.String(), "script-src 'unsafe-inline'")
	require.NotRegexp(t, ` on[a-z]+="`, b.String())
}
