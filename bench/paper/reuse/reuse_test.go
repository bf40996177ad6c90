package reuse

import (
	"context"
	"fmt"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/stretchr/testify/require"
)

// The tables of the paper's results, as its text has them.

func goodReuse5(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: reuse5Columns()}
	for _, buffers := range []string{oneBuffer, newBuffers} {
		for i, n := range reuseSizes(e) {
			v := float64(2 + i)
			switch {
			case buffers == newBuffers:
				v = -0.5
			case n == 8<<10:
				v = 14.2
			}
			t.Add(buffers, n, 100, 10.0, 9.0, 9.0, v, v+0.8, 90.0)
		}
	}
	return t
}

func goodReuse6(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: reuse6Columns()}
	for _, allocation := range []string{ownPages, backToBack} {
		for i, n := range spectrumSizes(e) {
			v := float64(3 + i)
			switch {
			case n == 8<<10:
				v = 12.7
			case allocation == backToBack && n < 4<<10:
				v += 3
			}
			t.Add(allocation, n, 1000, 10.0, 9.0, v, 14.0, 90.0, 1000)
		}
	}
	return t
}

func goodReuse7(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: reuse7Columns()}
	for _, op := range reuseOps() {
		for i, n := range reuseSizes(e) {
			v, w := 2+2*float64(i), 3+2*float64(i)
			switch {
			case op == opPut && n <= 256:
				v = 0
			case op != opPut && n < 3<<10:
				v = 0.5
			case op == opPut && n == 8<<10:
				v, w = 20, 21
			case n == 8<<10:
				v, w = 17, 22
			}
			t.Add(op, n, 100, 10.0, 9.0, v, w, 90.0)
		}
	}
	return t
}

func goodReuse8(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: reuse8Columns()}
	for _, op := range []string{opPut, opGet} {
		for _, n := range spectrumSizes(e) {
			t.Add(op, n, 1000, 10.0, 9.0, 15.0, 20.0, 90.0)
		}
	}
	return t
}

func goodReuse9(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: reuse9Columns()}
	for _, l := range reuse9Lines() {
		for i, n := range reuseSizes(e) {
			v := 5 + float64(i)
			switch {
			case l.world.Ranks() == 16:
				v = 2
			case l.what == "scatter" && n > 4<<10:
				v = 1
			case l.what != "pingpong" && l.what != "scatter" && n == 8<<10:
				v = 25
			}
			t.Add(l.what, l.world.Ranks(), n, 100, 10.0, 9.0, v, -50.0, v, 90.0)
		}
	}
	return t
}

func goodReuseTable(*paper.Env) *paper.Table {
	t := &paper.Table{Columns: []string{"used often (%)", "table", "buffers", "in the table (%)", "entries per look-up", "copied (µs)", "with the table (µs)", "slower (%)", "without a copy (%)"}}
	for _, share := range []int{0, 10, 25} {
		for _, table := range []string{adaptiveTable, endlessTable} {
			part, slower := 100.0, 6.0
			if table == adaptiveTable && share < 20 {
				part, slower = float64(5+4*share), 2.0
			}
			t.Add(share, table, 1000, part, 1.5, 1.0, 1.1, slower, float64(3*share))
		}
	}
	return t
}

func init() {
	big := 8 << 10
	cases["reuse-fig5.5"] = papertest.Case{Good: goodReuse5, Plants: []func(*paper.Table){
		papertest.Set("gain (%)", 4.0, "buffers", oneBuffer, "bytes", big), papertest.Set("gain (%)", 44.5, "buffers", oneBuffer, "bytes", big), papertest.Set("gain (%)", 20.0, "buffers", oneBuffer, "bytes", 1<<10),
		papertest.Set("theory (%)", 17.0, "buffers", oneBuffer, "bytes", big), papertest.Set("gain (%)", -1.1, "buffers", newBuffers, "bytes", big),
	}}
	cases["reuse-fig5.6"] = papertest.Case{Good: goodReuse6, Plants: []func(*paper.Table){
		papertest.Set("gain (%)", 15.0, "allocation", ownPages, "bytes", big), papertest.Set("gain (%)", 13.0, "allocation", ownPages, "bytes", 1<<10),
		papertest.Set("gain (%)", 3.0, "allocation", backToBack, "bytes", 1<<10), papertest.Set("gain (%)", 10.0, "allocation", backToBack, "bytes", big),
	}}
	cases["reuse-fig5.7"] = papertest.Case{Good: goodReuse7, Plants: []func(*paper.Table){
		papertest.Set("gain (%)", 4.0, "operation", opPut, "bytes", big), papertest.Set("gain (%)", 79.0, "operation", opPut, "bytes", big), papertest.Set("theory (%)", 25.0, "operation", opPut, "bytes", big),
		papertest.Set("gain (%)", 0.0, "operation", opPut, "bytes", 4<<10), papertest.Set("gain (%)", 4.0, "operation", opGet, "bytes", big), papertest.Set("gain (%)", 79.0, "operation", opGet, "bytes", big),
		papertest.Set("theory (%)", 18.0, "operation", opGet, "bytes", big), papertest.Scale("gain (%)", 1, 2, "operation", opGet),
		papertest.Set("theory (%)", 18.0, "operation", opGetLate, "bytes", big), papertest.Scale("gain (%)", 1, 2, "operation", opGetLate),
	}}
	cases["reuse-fig5.8"] = papertest.Case{Good: goodReuse8, Plants: []func(*paper.Table){
		papertest.Set("gain (%)", 21.0, "operation", opPut, "bytes", big), papertest.Set("gain (%)", -1.0, "operation", opGet, "bytes", big),
	}}
	cases["reuse-fig5.9"] = papertest.Case{Good: goodReuse9, Plants: []func(*paper.Table){
		papertest.Set(lastGains, 4.0, "collective", "bcast", "processes", 4, "bytes", big),
		papertest.Set(meanGains, 5.0, "collective", "bcast", "processes", 4, "bytes", big), papertest.Set(meanGains, 30.0, "collective", "bcast", "processes", 16, "bytes", big),
		papertest.Set(meanGains, 30.0, "collective", "scatter", "processes", 16, "bytes", 1<<10), papertest.Set(meanGains, 30.0, "collective", "scatter", "processes", 4, "bytes", big),
	}}
	cases["reuse-adaptation"] = papertest.Case{Good: goodReuseTable, Plants: []func(*paper.Table){
		papertest.Set("in the table (%)", 100.0, "used often (%)", 10, "table", adaptiveTable), papertest.Set("in the table (%)", 80.0, "used often (%)", 25, "table", adaptiveTable),
		papertest.Set("without a copy (%)", 10.0, "used often (%)", 10, "table", adaptiveTable), papertest.Set("slower (%)", 7.0, "used often (%)", 0, "table", adaptiveTable),
	}}
}

// What the figures say of this machine: both devices, to the byte.
func TestReuse(t *testing.T) {
	devices := []string{"ideal:"}
	if !testing.Short() {
		devices = append(devices, "model:")
	}
	for _, device := range devices {
		rep, err := fig5().Run(context.Background(), paper.Env{Device: device, Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2})
		require.NoError(t, err)
		for i, v := range rep.Claims {
			require.Equal(t, i != 1, v.Holds(), "%s: %s: %s", device, v.Claim, v.Ours) // copies are dearer here
		}
		rep, err = fig7().Run(context.Background(), paper.Env{Device: device, Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2})
		require.NoError(t, err)
		v := reuseVerdict(rep, "put of 8 KB: faster")
		require.True(t, v.Holds(), "%s", v.Ours)
	}
	if testing.Short() {
		return
	}
	why, err := fig9().Run(context.Background(), paper.Env{Device: "ideal:", Scale: paper.Small, Seed: 1, Samples: 1, Jobs: 2, Why: true})
	require.NoError(t, err)
	require.Equal(t, "RSSRSRRRRSS", papertest.ReasonWords(why), "%+v", why.Reasons)
	rep := papertest.Small(t, adaptation())
	for _, v := range rep.Claims {
		require.True(t, v.Holds(), "%s: %s", v.Claim, v.Ours)
	}
}

func reuseVerdict(rep *paper.Report, claim string) paper.Verdict {
	for _, v := range rep.Claims {
		if v.Claim == claim {
			return v
		}
	}
	panic(fmt.Sprintf("no claim %q", claim))
}

// Each of a thousand buffers, or every hundredth, is used as often on average, and each as often as
// it shall.
func TestSpectrum(t *testing.T) {
	for _, count := range []int{10, 100, 1000} {
		list := make([][]byte, count)
		for i := range list {
			list[i] = []byte{0}
		}
		next, uses := spectrum(list), 0
		for b := next(0); b != nil; b = next(0) {
			b[0] = 1
			uses++
		}
		require.InDelta(t, 500, uses/count, 1)
		for i := range list {
			require.EqualValues(t, 1, list[i][0], "buffer %d of %d", i, count)
		}
	}
}
