package rdrp

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/papertest"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/stretchr/testify/require"
)

var transferColumns = []string{"slow to 1/", "slow nodes", "slow (%)", "FECN/BECN", "outstanding", "permutations",
	"throughput", "± (95 %)", "lowest", "highest", "deepest window", "steady"}

// transferTable has a row for each point, with what throughput says and a spread around it.
func transferTable(points []transfer, throughput func(x transfer) float64, spread func(x transfer) float64) *paper.Table {
	t := &paper.Table{Columns: transferColumns}
	for _, x := range points {
		v, s := throughput(x), spread(x)
		t.Add(x.factor, x.count, 100*float64(x.count)/5256, x.ecn, x.window, 10, v, s/2, v*(1-s), v*(1+s), v/2, 10)
	}
	return t
}

func evenly(transfer) float64 { return 0.02 }

// goodRDRP1 is as the paper has it.
func goodRDRP1(e *paper.Env) *paper.Table {
	return transferTable(rdrp1(e, 5256), func(x transfer) float64 {
		switch {
		case x.count == 0:
			return 0.59
		case x.count < 3:
			return 0.5 - 0.05*float64(x.count)
		}
		return 0.25/float64(x.factor) + 0.1/float64(x.count)
	}, func(x transfer) float64 {
		if x.count == 1 || x.count == 2 {
			return 0.3
		}
		return 0.02
	})
}

func goodRDRP4(e *paper.Env) *paper.Table {
	return transferTable(rdrp4(e, 5256), func(x transfer) float64 {
		v := 0.59
		if x.count > 0 {
			v = 0.5 / float64(x.factor)
		}
		switch {
		case x.ecn == aggressive && x.factor == 1:
			return v * 0.6
		case x.ecn == aggressive && x.factor == 8:
			return v * 0.5
		case x.ecn == defaultECN && x.factor == 2 && x.count < 10:
			return v * 1.3
		}
		return v
	}, evenly)
}

func goodRDRP5(e *paper.Env) *paper.Table {
	return transferTable(rdrp5(e, 5256), func(x transfer) float64 {
		best := 0.5
		switch w := x.window; {
		case w == 0 && x.ecn == noECN:
			return best / map[int]float64{2: 1.7, 4: 3.3, 8: 4.3}[x.factor]
		case w == 0:
			return 0.1
		case w < 30:
			return best * (0.4 + float64(w)/60)
		default:
			return best * (1 - float64(w-30)/200)
		}
	}, evenly)
}

// goodBounds is what would be best.
func goodBounds(e *paper.Env) *paper.Table {
	t := &paper.Table{Columns: boundColumns()}
	for _, x := range boundTrials() {
		v, p99 := 0.5, 500
		switch {
		case x.bound == anyBound && x.factor > 1:
			v, p99 = 0.3, 2000
		case x.bound == "80" && x.factor > 1:
			v = 0.4
		case x.bound == "10":
			v = 0.45
		}
		t.Add(x.net, string(x.routing), x.partners, 100*x.others, x.factor, x.bound, x.ecn, 10, v, 0.01, v-0.01, v+0.01, 100, p99, 900)
	}
	// a bound per node holds flows up that a bound per pair does not
	papertest.Set("throughput", 0.4, "partners", 4, "bound", "20")(t)
	return t
}

func init() {
	cases["rdrp-bounds"] = papertest.Case{Good: goodBounds, Plants: []func(*paper.Table){
		papertest.Set("throughput", 0.48, "slow to 1/", 8, "bound", granted, "partners", 1, "FECN/BECN", noECN), papertest.Set("throughput", 0.49, "slow to 1/", 1, "bound", granted),
		papertest.Set("throughput", 0.6, "slow to 1/", 2, "bound", ideal), papertest.Set("throughput", 0.55, "bound", "20", "FECN/BECN", defaultECN),
		func(t *paper.Table) {
			papertest.Set("throughput", 0.3, "bound", "20/pair")(t)
			papertest.Set("throughput", 0.3, "bound", "5/pair")(t)
		},
		papertest.Set("p99 (cycles)", 800, "bound", granted, "slow to 1/", 8),
		papertest.Set("throughput", 0.6, "network", dragonflyNet, "routing", string(routing.UGAL), "bound", anyBound),
		papertest.Set("throughput", 0.6, "network", fatTreeNet, "bound", anyBound),
	}}
	cases["rdrp-fig1"] = papertest.Case{Good: goodRDRP1, Plants: []func(*paper.Table){
		papertest.Set("throughput", 0.7, "slow nodes", 0), papertest.Set("throughput", 0.4, "slow to 1/", 2, "slow nodes", 5), papertest.Set("throughput", 0.4, "slow to 1/", 8, "slow nodes", 5),
		papertest.Set("highest", 0.9, "slow to 1/", 8, "slow nodes", 53), papertest.Set("throughput", 0.55, "slow to 1/", 2, "slow nodes", 53),
	}}
	cases["rdrp-fig4"] = papertest.Case{Good: goodRDRP4, Plants: []func(*paper.Table){
		papertest.Set("throughput", 0.1, "slow to 1/", 2, "FECN/BECN", defaultECN), papertest.Set("throughput", 0.3, "slow to 1/", 4, "FECN/BECN", defaultECN),
		papertest.Set("throughput", 0.5, "slow nodes", 0, "FECN/BECN", aggressive), papertest.Set("throughput", 0.06, "slow to 1/", 8, "FECN/BECN", aggressive),
	}}
	cases["rdrp-fig5"] = papertest.Case{Good: goodRDRP5, Plants: []func(*paper.Table){
		papertest.Set("throughput", 0.6, "slow to 1/", 8, "outstanding", 5), papertest.Set("throughput", 0.5, "slow to 1/", 2, "FECN/BECN", defaultECN),
		papertest.Set("throughput", 0.3, "slow to 1/", 4, "FECN/BECN", aggressive), papertest.Set("throughput", 0.2, "slow to 1/", 8, "outstanding", 30),
		papertest.Set("throughput", 0.5, "slow to 1/", 4, "outstanding", 2), papertest.Set("throughput", 0.49, "slow to 1/", 8, "outstanding", 100),
	}}
}

// The same report however many runs go on at a time and whatever the device is; points that the
// journal has are not measured again.
func TestTransfers(t *testing.T) {
	var want string
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	for i, jobs := range []int{1, 3, 1} {
		if testing.Short() && i == 2 {
			break // once with nothing known, once with all
		}
		j, err := paper.OpenJournal(name, i > 0)
		require.NoError(t, err)
		known, _ := j.Runs()
		require.Equal(t, i > 0, known > 0)
		rep, err := fig4().Run(context.Background(), paper.Env{Device: []string{"model:", "ideal:", "rtl:"}[i], Scale: paper.Small, Seed: 1, Samples: 1, Jobs: jobs, Journal: j})
		require.NoError(t, err)
		require.NoError(t, j.Close())
		b, err := json.Marshal(rep)
		require.NoError(t, err)
		if want == "" {
			want = string(b)
		}
		require.Equal(t, want, string(b))
		var out bytes.Buffer
		rep.Print(&out)
		require.Contains(t, out.String(), "runs on: cosim/fabric/packets, 72 nodes")
		require.Contains(t, out.String(), "SCALED DOWN (--scale small): the paper has 5,256 nodes")
		_, err = rep.Save(t.TempDir(), "f")
		require.NoError(t, err)
	}
}
