package reproduce

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tables of the paper's results, as its text has them.

func goodReuse5(e *Env) *Table {
	t := &Table{Columns: reuse5Columns}
	for _, buffers := range []string{oneBuffer, newBuffers} {
		for i, n := range e.reuseSizes() {
			v := float64(2 + i)
			switch {
			case buffers == newBuffers:
				v = -0.5
			case n == 8<<10:
				v = 14.2
			}
			t.add(buffers, n, 100, 10.0, 9.0, 9.0, v, v+0.8, 90.0)
		}
	}
	return t
}

func goodReuse6(e *Env) *Table {
	t := &Table{Columns: reuse6Columns}
	for _, allocation := range []string{ownPages, backToBack} {
		for i, n := range e.spectrumSizes() {
			v := float64(3 + i)
			switch {
			case n == 8<<10:
				v = 12.7
			case allocation == backToBack && n < 4<<10:
				v += 3
			}
			t.add(allocation, n, 1000, 10.0, 9.0, v, 14.0, 90.0, 1000)
		}
	}
	return t
}

func goodReuse7(e *Env) *Table {
	t := &Table{Columns: reuse7Columns}
	for _, op := range reuseOps {
		for i, n := range e.reuseSizes() {
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
			t.add(op, n, 100, 10.0, 9.0, v, w, 90.0)
		}
	}
	return t
}

func goodReuse8(e *Env) *Table {
	t := &Table{Columns: reuse8Columns}
	for _, op := range []string{opPut, opGet} {
		for _, n := range e.spectrumSizes() {
			t.add(op, n, 1000, 10.0, 9.0, 15.0, 20.0, 90.0)
		}
	}
	return t
}

func goodReuse9(e *Env) *Table {
	t := &Table{Columns: reuse9Columns}
	for _, l := range reuse9Lines {
		for i, n := range e.reuseSizes() {
			v := 5 + float64(i)
			switch {
			case l.world.ranks() == 16:
				v = 2
			case l.what == "scatter" && n > 4<<10:
				v = 1
			case l.what != "pingpong" && l.what != "scatter" && n == 8<<10:
				v = 25
			}
			t.add(l.what, l.world.ranks(), n, 100, 10.0, 9.0, v, -50.0, v, 90.0)
		}
	}
	return t
}

func goodReuseTable(*Env) *Table {
	t := &Table{Columns: []string{"used often (%)", "table", "buffers", "in the table (%)", "entries per look-up", "copied (µs)", "with the table (µs)", "slower (%)", "without a copy (%)"}}
	for _, share := range []int{0, 10, 25} {
		for _, table := range []string{adaptiveTable, endlessTable} {
			part, slower := 100.0, 6.0
			if table == adaptiveTable && share < 20 {
				part, slower = float64(5+4*share), 2.0
			}
			t.add(share, table, 1000, part, 1.5, 1.0, 1.1, slower, float64(3*share))
		}
	}
	return t
}

func init() {
	big := 8 << 10
	cases["reuse-fig5.5"] = planted{goodReuse5, []func(*Table){
		set("gain (%)", 13.0, "buffers", oneBuffer, "bytes", big), set("gain (%)", 20.0, "buffers", oneBuffer, "bytes", 1<<10),
		set("theory (%)", 17.0, "buffers", oneBuffer, "bytes", big), set("gain (%)", -1.1, "buffers", newBuffers, "bytes", big),
	}}
	cases["reuse-fig5.6"] = planted{goodReuse6, []func(*Table){
		set("gain (%)", 15.0, "allocation", ownPages, "bytes", big), set("gain (%)", 13.0, "allocation", ownPages, "bytes", 1<<10),
		set("gain (%)", 3.0, "allocation", backToBack, "bytes", 1<<10), set("gain (%)", 10.0, "allocation", backToBack, "bytes", big),
	}}
	cases["reuse-fig5.7"] = planted{goodReuse7, []func(*Table){
		set("gain (%)", 12.0, "operation", opPut, "bytes", big), set("theory (%)", 25.0, "operation", opPut, "bytes", big),
		set("gain (%)", 0.0, "operation", opPut, "bytes", 4<<10), set("gain (%)", 12.0, "operation", opGet, "bytes", big),
		set("theory (%)", 18.0, "operation", opGet, "bytes", big), scale("gain (%)", 1, 2, "operation", opGet),
		set("theory (%)", 18.0, "operation", opGetLate, "bytes", big), scale("gain (%)", 1, 2, "operation", opGetLate),
	}}
	cases["reuse-fig5.8"] = planted{goodReuse8, []func(*Table){
		set("gain (%)", 21.0, "operation", opPut, "bytes", big), set("gain (%)", -1.0, "operation", opGet, "bytes", big),
	}}
	cases["reuse-fig5.9"] = planted{goodReuse9, []func(*Table){
		set(meanGains, 5.0, "collective", "bcast", "processes", 4, "bytes", big), set(meanGains, 30.0, "collective", "bcast", "processes", 16, "bytes", big),
		set(meanGains, 30.0, "collective", "scatter", "processes", 16, "bytes", 1<<10), set(meanGains, 30.0, "collective", "scatter", "processes", 4, "bytes", big),
	}}
	cases["reuse-adaptation"] = planted{goodReuseTable, []func(*Table){
		set("in the table (%)", 100.0, "used often (%)", 10, "table", adaptiveTable), set("in the table (%)", 80.0, "used often (%)", 25, "table", adaptiveTable),
		set("without a copy (%)", 10.0, "used often (%)", 10, "table", adaptiveTable), set("slower (%)", 7.0, "used often (%)", 0, "table", adaptiveTable),
	}}
}

// What the figures say of this machine: both devices, to the byte.
func TestReuse(t *testing.T) {
	devices := []string{"ideal:"}
	if !testing.Short() {
		devices = append(devices, "model:")
	}
	for _, device := range devices {
		rep, err := reuseFig5.Run(context.Background(), Env{Device: device, Scale: Small, Seed: 1, Jobs: 2})
		require.NoError(t, err)
		for _, v := range rep.Claims {
			require.True(t, v.Holds, "%s: %s: %s", device, v.Claim, v.Ours)
		}
		rep, err = reuseFig7.Run(context.Background(), Env{Device: device, Scale: Small, Seed: 1, Jobs: 2})
		require.NoError(t, err)
		v := reuseVerdict(rep, "put of 8 KB: faster")
		require.True(t, v.Holds, "%s", v.Ours)
	}
	if testing.Short() {
		return
	}
	why, err := reuseFig9.Run(context.Background(), Env{Device: "ideal:", Scale: Small, Seed: 1, Jobs: 2, Why: true})
	require.NoError(t, err)
	require.Equal(t, "RSSSSRRRSSS", reasonWords(why), "%+v", why.Reasons)
	rep := small(t, reuseTable)
	for _, v := range rep.Claims {
		require.True(t, v.Holds, "%s: %s", v.Claim, v.Ours)
	}
}

func reuseVerdict(rep *Report, claim string) Verdict {
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
