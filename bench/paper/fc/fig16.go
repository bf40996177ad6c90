package fc

import (
	"context"
	"slices"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

func fig16() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig16", "fc-fig17"}, Title: "What the overhead consists of: stalls and traffic, and the host's work",
		Paper: "FC, section 7.1, Figures 16 and 17", PaperSize: "alltoall: 1,024 processes; multi-pingpong: 16+16 processes, 1 hop",
		Thinned: "alltoall with 8, 12, 16, 30 and 60 slots only",
		Freedom: paper.StartSkew,
		Measure: measureFig16, Plot: plotFig16,
		Mutations: []paper.Mutation{{What: "static instead of dynamic flow control", Mutate: neverDynamic(), Claims: []string{"multi-pingpong: dynamic has much less overhead"}}},
		Claims: []paper.Claim{
			{
				Text:  "alltoall below 16 slots: dynamic costs marginally more than static",
				Paper: "slightly larger", Judge: marginallyMore,
			},
			{
				Text:  "alltoall from 16 slots on: very similar",
				Paper: "very similar", Judge: similarFrom16,
			},
			{
				Text:  "multi-pingpong: dynamic has much less overhead",
				Paper: "much lower", Judge: pingpongPart("total (%)"),
			},
			{
				Text:  "multi-pingpong: dynamic has less computation, for it makes fewer credit packets",
				Paper: "lower", Judge: pingpongPart("computation (%)"),
			},
		},
	}
}

// measureFig16 counts the host's work for flow control: credit bookkeeping, and
// making, posting and taking control packets. What the overhead has beyond it is
// stalls and traffic; that is less than nothing where the work hides behind the
// network.
func measureFig16(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"pattern", "flow control", "slots", "total (%)", "stalls and traffic (%)", "computation (%)", "credit packets"}}
	pair := paper.World{Nodes: 2, Procs: e.Repeats(4, 16, 16), Hops: 1}
	var runs []paper.Run
	for _, flow := range flows() {
		for _, slots := range []int{6, 8, 10, 12, 16, 22, 30, 36, 40, 44, 50, 56, 60, 64} {
			if !e.Scale.Thin() || slices.Contains([]int{8, 12, 16, 30, 60}, slots) {
				runs = append(runs, e.Alltoall(cluster1024()[e.Scale], flow, slots, 2))
			}
			runs = append(runs,
				paper.Run{World: pair, Benchmark: "PingPong", Pairs: true, Active: 2, Flow: flow, Slots: slots, Iterations: e.Repeats(20, 40, 100), Warmup: 10})
		}
	}
	samples, refs, err := e.Compare(ctx, runs)
	for i, s := range samples {
		total, work := s.Overhead(refs[i]), 100*work(s, runs[i])/refs[i].Time
		pattern := "alltoall"
		if runs[i].Pairs {
			pattern = "multi-pingpong"
		}
		t.Add(pattern, string(runs[i].Flow), runs[i].Slots, total, total-work, work, int(s.Flow.CreditPackets))
	}
	return t, err
}

// work is the host time, in µs, that flow control took of each rank in an
// iteration as long as the run's time is.
func work(s paper.Sample, r paper.Run) float64 {
	cost := host.DefaultCost()
	credit := cost.Static
	if r.Flow == velo.Dynamic {
		credit = cost.Dynamic
	}
	control := s.Flow.CreditPackets + s.Flow.Requests + s.Flow.Responses
	total := drivers.Time(2*s.Flow.DataPackets)*credit + drivers.Time(control)*(2*cost.Control+cost.PIOWrite)
	each := total.Nanoseconds() / 1000 / float64(r.Ranks()*(r.Iterations+r.Warmup))
	if r.Pairs {
		each /= 2 // the time is half of a round trip
	}
	return each
}

// marginallyMore: a run takes longer, but by less than a tenth.
func marginallyMore(t *paper.Table) judge.Finding {
	a, b, ours := percentsByFlow(t.Where("pattern", "alltoall").Keep("slots", paper.Below(16)), "total (%)")
	return judge.Of(ours, judge.NotMore(a, b, judge.Points), judge.AtMost((100+b)/(100+a), 1.1))
}

func similarFrom16(t *paper.Table) judge.Finding {
	a, b, ours := percentsByFlow(t.Where("pattern", "alltoall").Keep("slots", paper.AtLeast(16)), "total (%)")
	return judge.Of(ours, judge.Similar(a, b, judge.Points))
}

func pingpongPart(column string) func(*paper.Table) judge.Finding {
	return func(t *paper.Table) judge.Finding {
		a, b, ours := percentsByFlow(t.Where("pattern", "multi-pingpong"), column)
		return judge.Of(ours, judge.Less(b, a, judge.Points))
	}
}

func plotFig16(t *paper.Table) (list []*figure.Figure) {
	for _, pattern := range []string{"alltoall", "multi-pingpong"} {
		f := &figure.Figure{Title: "Overhead, " + pattern, X: figure.Axis{Label: "buffer size", Unit: "slots per process"}, Y: figure.Axis{Label: "overhead", Unit: "%"}}
		for _, flow := range []string{"static", "dynamic"} {
			rows := t.Where("pattern", pattern, "flow control", flow)
			for _, part := range []string{"stalls and traffic", "computation"} {
				f.Series = append(f.Series, figure.Series{Name: flow + ": " + part, Points: rows.Points("slots", part+" (%)")})
			}
		}
		list = append(list, f)
	}
	return list
}
