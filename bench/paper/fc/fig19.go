package fc

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

func fig19() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"fc-fig19"}, Title: "Credits of rank 0 while the set of active ranks changes, 30 slots per process",
		Paper: "FC, section 7.3, Figure 19", PaperSize: "1,024 processes, 7 phases of 100 alltoalls",
		Thinned: "3 alltoalls in a phase of all ranks, 12 of half and 20 of a quarter: about what credits need to settle",
		Freedom: paper.StartSkew, Measure: measureFig19, Plot: plotFig19,
		Mutations: []paper.Mutation{{
			What: "static instead of dynamic flow control", Mutate: neverDynamic(),
			Claims: []string{"the active ranks of a phase have more credits than those that are not"},
		}},
		Claims: []paper.Claim{
			{
				Text:  "in the phases of a quarter of the ranks rank 0 has more credits to them than when all are active",
				Paper: "adapts", Judge: quarterGains,
			},
			{
				Text:  "when all are active again, the ranks of the upper half get credits back",
				Paper: "adapts", Judge: upperHalfRecovers,
			},
			{
				Text:  "the active ranks of a phase have more credits than those that are not",
				Paper: "adapts", Judge: activeHaveMore,
			},
			{
				Text:  awakens,
				Paper: "suddenly gain credits after 200 executions", Judge: barrierAwakens,
			},
		},
		Reasons: []paper.Hypothesis{
			{Claim: awakens, Changed: "ten barriers instead of one", Measure: meeting(func(_ *paper.Env, r *host.Rank) error {
				for range 10 {
					if err := r.Barrier(); err != nil {
						return err
					}
				}
				return nil
			})},
			{Claim: awakens, Changed: "an alltoall of a byte instead of the barrier, which reaches everybody", Measure: meeting(func(e *paper.Env, r *host.Rank) error { return sendToAll(e, &r.Comm, 1, 0) })},
			{Claim: awakens, Changed: "ten of them", Measure: meeting(func(e *paper.Env, r *host.Rank) error {
				for k := range 10 {
					if err := sendToAll(e, &r.Comm, 1, k); err != nil {
						return err
					}
				}
				return nil
			})},
		},
	}
}

const awakens = "the barrier between phases awakens idle ranks: the upper half gains credits after the second phase"

// meeting has ranks meet otherwise between phases.
func meeting(meet func(e *paper.Env, r *host.Rank) error) func(context.Context, *paper.Env, *paper.Table) (*paper.Table, error) {
	return func(ctx context.Context, e *paper.Env, _ *paper.Table) (*paper.Table, error) {
		return phased(ctx, e, meet)
	}
}

// phases are the shares of active ranks: 1/1, 1/4, 1/2, …
func phases() []int {
	return []int{1, 4, 2, 1, 2, 4, 1}
}

// The groups of ranks that rank 0's credits are shown for.
func fig19Groups() []string {
	return []string{"first quarter", "second quarter", "upper half"}
}

func measureFig19(ctx context.Context, e *paper.Env) (*paper.Table, error) {
	return phased(ctx, e, func(_ *paper.Env, r *host.Rank) error { return r.Barrier() })
}

// phased goes through the phases; between two of them ranks meet.
func phased(ctx context.Context, e *paper.Env, meet func(e *paper.Env, r *host.Rank) error) (*paper.Table, error) {
	t := &paper.Table{Columns: []string{"operation", "phase", "active", "ranks", "credits (median)", "credits (mean)", "least", "most"}}
	w := e.Use(cluster1024()[e.Scale])
	c := e.BaseConfig(w, "")
	c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 30, CreditSlots: 2}
	c.Sizes = []int{2048}
	e.RunCount = 1
	c.Threads = e.ThreadShare(w.Nodes, e.RunCount)
	all := 0
	for _, share := range phases() {
		all += phaseLength(e, share)
	}
	res, err := bench.Measure(ctx, paper.Mutated(e, c), 2, func(r *host.Rank) error {
		r.SetLinear(true)
		operation := 0
		for phase, share := range phases() {
			active := w.Ranks() / share
			if err := runPhase(e, r, active, phaseLength(e, share), func() {
				operation++
				if r.ID() == 0 {
					credits(t, r, operation, phase+1, active)
					if e.Step != nil {
						e.Step(operation, all)
					}
				}
			}); err != nil {
				return err
			}
			if err := meet(e, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.PacketCount = res.Rows[0].Flow.DataPackets + res.Rows[0].Flow.CreditPackets
	return t, nil
}

// phaseLength is the number of alltoalls of a phase. The fewer ranks are active, the
// more of them it takes until these have all the credits.
func phaseLength(e *paper.Env, share int) int {
	if e.Scale.Thin() {
		return map[int]int{1: 3, 2: 12, 4: 20}[share]
	}
	return 20
}

// runPhase runs alltoalls among the first ranks; each is followed by after.
func runPhase(e *paper.Env, r *host.Rank, active, times int, after func()) error {
	if r.ID() >= active {
		return nil
	}
	members := make([]int, active)
	for i := range members {
		members[i] = i
	}
	g, err := r.Group(members)
	if err != nil {
		return err
	}
	delay := e.Delays(r.ID())
	for k := range times {
		r.Compute(delay())
		if err := sendToAll(e, g, 2048, k); err != nil {
			return err
		}
		after()
	}
	return nil
}

// sendToAll is the one number k, of n bytes from everybody to everybody.
func sendToAll(e *paper.Env, g *host.Comm, n, k int) error {
	out, in := make([]byte, n), make([]byte, n)
	return g.AlltoallEach(n,
		func(d int) []byte { bench.Fill(out, e.Seed, g.ID(), d, k); return out },
		func(int) []byte { return in },
		func(s int) error { return bench.Verify(in, e.Seed, s, g.ID(), k) })
}

// credits adds what rank 0 may send to the ranks of each group: the median and the borders, which
// Figure 19 shows, and the mean.
func credits(t *paper.Table, r *host.Rank, operation, phase, active int) {
	bounds := []int{1, r.Size() / 4, r.Size() / 2, r.Size()}
	for g, name := range fig19Groups() {
		var list []float64
		for p := bounds[g]; p < bounds[g+1]; p++ {
			list = append(list, float64(r.Endpoint().Credits(p)))
		}
		slices.Sort(list)
		n := len(list)
		t.Add(operation, phase, active, name, (list[(n-1)/2]+list[n/2])/2, paper.Mean(list), int(list[0]), int(list[n-1]))
	}
}

// later is the mean over time of the median of a group's credits, in the second half of a phase.
func later(t *paper.Table, phase int, group string) float64 {
	v := t.Where("phase", phase, "ranks", group).Values("credits (median)")
	return paper.Mean(v[len(v)/2:])
}

func quarterGains(t *paper.Table) judge.Finding {
	all, two, six := later(t, 1, fig19Groups()[0]), later(t, 2, fig19Groups()[0]), later(t, 6, fig19Groups()[0])
	return judge.Of(fmt.Sprintf("%.1f with all; %.1f and %.1f with a quarter", all, two, six),
		judge.Less(all, two, 0), judge.Less(all, six, 0))
}

func upperHalfRecovers(t *paper.Table) judge.Finding {
	v := t.Where("ranks", fig19Groups()[2], "phase", 3).Values("credits (median)")
	w := t.Where("ranks", fig19Groups()[2], "phase", 6).Values("credits (median)")
	four, seven := later(t, 4, fig19Groups()[2]), later(t, 7, fig19Groups()[2])
	return judge.Of(fmt.Sprintf("%.1f, then %.1f; %.1f, then %.1f", v[len(v)-1], four, w[len(w)-1], seven),
		judge.Less(v[len(v)-1], four, 0), judge.Less(w[len(w)-1], seven, 0))
}

func activeHaveMore(t *paper.Table) judge.Finding {
	quarter, half := later(t, 2, fig19Groups()[0]), later(t, 3, fig19Groups()[1])
	idle2, idle3 := later(t, 2, fig19Groups()[2]), later(t, 3, fig19Groups()[2])
	return judge.Of(fmt.Sprintf("quarter: %.1f against %.1f; half: %.1f against %.1f", quarter, idle2, half, idle3),
		judge.Less(idle2, quarter, 0), judge.Less(idle3, half, 0))
}

func barrierAwakens(t *paper.Table) judge.Finding {
	before := t.Where("ranks", fig19Groups()[2], "phase", 2).Values("credits (median)")
	after := t.Where("ranks", fig19Groups()[2], "phase", 3).Values("credits (median)")
	last, next := before[len(before)-1], after[0]
	return judge.Of(fmt.Sprintf("%.2f before the barrier, %.2f after it", last, next), judge.Less(last, next, 0))
}

func plotFig19(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{Title: "Credits of rank 0 (median)", X: figure.Axis{Label: "alltoall"}, Y: figure.Axis{Label: "credits to a rank"}, Width: 8}
	for _, g := range fig19Groups() {
		f.Series = append(f.Series, figure.Series{Name: g, Points: t.Where("ranks", g).Points("operation", "credits (median)")})
	}
	first := 0
	for _, n := range t.Values("phase") {
		if int(n) != first {
			first = int(n)
			at := t.Where("phase", first).Values("operation")[0]
			f.Marks = append(f.Marks, figure.Mark{Vertical: true, At: at, Text: fmt.Sprintf("1/%d", phases()[first-1])})
		}
	}
	return []*figure.Figure{f}
}
