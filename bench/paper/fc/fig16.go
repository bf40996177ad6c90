package reproduce

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

var fcFig16 = &Experiment{
	IDs: []string{"fc-fig16", "fc-fig17"}, Title: "What the overhead consists of: stalls and traffic, and the host's work",
	Paper: "FC, section 7.1, Figures 16 and 17", PaperSize: "alltoall: 1,024 processes; multi-pingpong: 16+16 processes, 1 hop",
	Thinned: "alltoall with 8, 12, 16, 30 and 60 slots only",
	measure: measureFig16, plot: plotFig16,
	claims: []claim{
		{"alltoall below 16 slots: dynamic costs marginally more than static", "slightly larger", marginallyMore},
		{"alltoall from 16 slots on: very similar", "very similar", similarFrom16},
		{"multi-pingpong: dynamic has much less overhead", "much lower", pingpongPart("total (%)")},
		{"multi-pingpong: dynamic has less computation, for it makes fewer credit packets", "lower", pingpongPart("computation (%)")},
	},
}

// measureFig16 counts the host's work for flow control: credit bookkeeping, and
// making, posting and taking control packets. What the overhead has beyond it is
// stalls and traffic; that is less than nothing where the work hides behind the
// network.
func measureFig16(ctx context.Context, e *Env) (*Table, error) {
	t := &Table{Columns: []string{"pattern", "flow control", "slots", "total (%)", "stalls and traffic (%)", "computation (%)", "credit packets"}}
	pair := world{nodes: 2, procs: e.repeats(4, 16, 16), hops: 1}
	var runs []run
	for _, flow := range flows {
		for _, slots := range []int{6, 8, 10, 12, 16, 22, 30, 36, 40, 44, 50, 56, 60, 64} {
			if !e.Scale.thin() || slices.Contains([]int{8, 12, 16, 30, 60}, slots) {
				runs = append(runs, e.alltoall(cluster1024[e.Scale], flow, slots, 2))
			}
			runs = append(runs,
				run{world: pair, benchmark: "PingPong", pairs: true, active: 2, flow: flow, slots: slots, iterations: e.repeats(20, 40, 100), warmup: 10})
		}
	}
	samples, refs, err := e.compare(ctx, runs)
	for i, s := range samples {
		total, work := s.overhead(refs[i]), 100*s.work(runs[i])/refs[i].time
		pattern := "alltoall"
		if runs[i].pairs {
			pattern = "multi-pingpong"
		}
		t.add(pattern, string(runs[i].flow), runs[i].slots, total, total-work, work, int(s.flow.CreditPackets))
	}
	return t, err
}

// work is the host time, in µs, that flow control took of each rank in an
// iteration as long as the run's time is.
func (s sample) work(r run) float64 {
	cost := host.DefaultCost()
	credit := cost.Static
	if r.flow == velo.Dynamic {
		credit = cost.Dynamic
	}
	control := s.flow.CreditPackets + s.flow.Requests + s.flow.Responses
	total := drivers.Time(2*s.flow.DataPackets)*credit + drivers.Time(control)*(2*cost.Control+cost.PIOWrite)
	each := total.Nanoseconds() / 1000 / float64(r.ranks()*(r.iterations+r.warmup))
	if r.pairs {
		each /= 2 // the time is half of a round trip
	}
	return each
}

// staticAndDynamic are the means of a column of a pattern.
func staticAndDynamic(t *Table, pattern, column string) (static, dynamic float64, ours string) {
	rows := t.where("pattern", pattern)
	static, dynamic = mean(rows.where("flow control", "static").values(column)), mean(rows.where("flow control", "dynamic").values(column))
	return static, dynamic, fmt.Sprintf("mean %.1f %% static, %.1f %% dynamic", static, dynamic)
}

// marginallyMore: a run takes longer, but by less than a tenth.
func marginallyMore(t *Table) (string, bool) {
	a, b, ours := staticAndDynamic(t.keep("slots", below(16)), "alltoall", "total (%)")
	return ours, b >= a && (100+b)/(100+a) <= 1.1
}

func similarFrom16(t *Table) (string, bool) {
	a, b, ours := staticAndDynamic(t.keep("slots", from(16)), "alltoall", "total (%)")
	return ours, math.Abs(b-a) <= visible
}

func pingpongPart(column string) func(*Table) (string, bool) {
	return func(t *Table) (string, bool) {
		a, b, ours := staticAndDynamic(t, "multi-pingpong", column)
		return ours, b < a
	}
}

func plotFig16(t *Table) (list []*figure.Figure) {
	for _, pattern := range []string{"alltoall", "multi-pingpong"} {
		f := &figure.Figure{Title: "Overhead, " + pattern, X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: "overhead", Unit: "%"}}
		for _, flow := range []string{"static", "dynamic"} {
			rows := t.where("pattern", pattern, "flow control", flow)
			for _, part := range []string{"stalls and traffic", "computation"} {
				f.Series = append(f.Series, figure.Series{Name: flow + ": " + part, Points: rows.points("slots", part+" (%)")})
			}
		}
		list = append(list, f)
	}
	return list
}
