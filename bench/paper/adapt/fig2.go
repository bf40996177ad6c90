package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

func fig2() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"adapt-fig2"}, Title: "Rate of small messages between pairs, by the eager threshold",
		Paper: "ADAPT, section 1.1, Figure 2", PaperSize: "32 processes",
		Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
			return measureRates(ctx, e, adapt2Thresholds(), append(small2(), between2))
		},
		Plot: plotAdapt2,
		Mutations: []paper.Mutation{{
			What: "larger thresholds make receiving ten times as expensive", Mutate: costlyReceives(), Repaired: []string{largerIsSlower},
			Measure: func(ctx context.Context, e *paper.Env) (*paper.Table, error) {
				return measureRates(ctx, e, adapt2Thresholds()[:2], []int{8, 2048})
			},
		}},
		Claims: []paper.Claim{
			{
				Text:  largerIsSlower,
				Paper: "less with each larger threshold", Judge: slowerSmall,
			},
			{
				Text:  "for they are received into the larger buffers",
				Paper: "one length of buffers for all", Judge: smallInBuffers,
			},
		},
	}
}

const largerIsSlower = "a larger threshold, with its larger buffers, slows small messages down"

// costlyReceives makes packets and messages ten times as expensive under thresholds above VELO's.
// In the paper small messages are slower there because each of them occupies a large buffer.
func costlyReceives() func(any) {
	return paper.MutateRun(func(c *bench.Config) {
		if c.Eager != nil {
			c.Cost.Take *= 10
			c.Cost.Match *= 10
		}
	})
}

func adapt2Columns() []string {
	return []string{"threshold", "bytes", "messages per ms", "in buffers (%)"}
}

// adapt2Thresholds are the default and two larger ones; those that are used are in buffers from the
// start.
func adapt2Thresholds() []int {
	return []int{host.EagerMax, 17 << 10, 129 << 10}
}

const (
	window2 = 16 // messages under way
	rounds2 = 4
)

func small2() []int {
	return []int{8, 64, 512, 2048}
}

const between2 = 8 << 10

func measureRates(ctx context.Context, e *paper.Env, thresholds, sizes []int) (*paper.Table, error) {
	w := map[paper.Scale]paper.World{paper.Small: {Nodes: 2, Procs: 4}}[e.Scale]
	if w.Nodes == 0 {
		w = paper.World{Nodes: 2, Procs: 16}
	}
	e.Use(w)
	t := &paper.Table{Columns: adapt2Columns()}
	type point struct{ threshold, bytes int }
	var points []point
	for _, th := range thresholds {
		for _, n := range sizes {
			points = append(points, point{th, n})
		}
	}
	rates, buffered := make([]float64, len(points)), make([]float64, len(points))
	if e.Plan != nil {
		e.Plan(len(points), 0, 0)
	}
	err := e.Each(ctx, len(points), func(ctx context.Context, i int) (err error) {
		rates[i], buffered[i], err = messageRate(ctx, e, w, points[i].threshold, points[i].bytes)
		return err
	})
	e.RunCount += len(points)
	for i, p := range points {
		t.Add(p.threshold, p.bytes, rates[i], buffered[i])
	}
	return t, err
}

// messageRate has each rank of one node send windows of messages to one of the other, which answers
// each window. It gives their number in a millisecond, and how many of a hundred went through
// buffers of the threshold.
func messageRate(ctx context.Context, e *paper.Env, w paper.World, threshold, n int) (rate, buffered float64, err error) {
	c := e.BaseConfig(w, "")
	c.Sizes = []int{max(between2, n)}
	if threshold > host.EagerMax {
		c.Eager = &bench.Thresholds{Threshold: threshold, All: true, Buffers: 6 * w.Ranks() * (threshold + 64)}
	}
	ended := make([]drivers.Time, w.Ranks())
	began := make([]drivers.Time, w.Ranks())
	used := make([]uint64, w.Ranks())
	err = bench.Launch(ctx, paper.Mutated(e, c), window2+1, func(r *host.Rank) error {
		half := r.Size() / 2
		buf, err := r.Alloc(window2 * n)
		if err != nil {
			return err
		}
		for range 2 { // what begins with the first messages is over
			if err := r.Barrier(); err != nil {
				return err
			}
			if err := exchangeWindows(r, (r.ID()+half)%r.Size(), r.ID() < half, n, 1, buf, e.Seed); err != nil {
				return err
			}
		}
		if err := r.Barrier(); err != nil {
			return err
		}
		before, _ := r.EagerStats()
		began[r.ID()] = r.Now()
		err = exchangeWindows(r, (r.ID()+half)%r.Size(), r.ID() < half, n, rounds2, buf, e.Seed)
		ended[r.ID()] = r.Now()
		after, _ := r.EagerStats()
		used[r.ID()] = after.Buffered - before.Buffered
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	took := slices.Max(ended) - slices.Min(began)
	messages := float64(w.Ranks() / 2 * window2 * rounds2)
	for _, n := range used {
		buffered += 100 * float64(n) / messages
	}
	return messages / (float64(took) / float64(drivers.Millisecond)), buffered, nil
}

// exchangeWindows sends messages and takes an answer to each window, or the other way round, and
// verifies them.
func exchangeWindows(r *host.Rank, peer int, sends bool, n, rounds int, buf []byte, seed int64) error {
	list := make([]*host.Request, window2)
	for round := range rounds {
		for i := range list {
			b := buf[i*n : (i+1)*n]
			var err error
			if sends {
				bench.Fill(b, seed, r.ID(), peer, round*window2+i)
				list[i], err = r.Isend(peer, 1, b)
			} else {
				list[i], err = r.Irecv(peer, 1, b)
			}
			if err != nil {
				return err
			}
		}
		if err := r.Waitall(list); err != nil {
			return err
		}
		if sends {
			if _, err := r.Recv(peer, 2, nil); err != nil {
				return err
			}
			continue
		}
		for i := range list {
			if err := bench.Verify(buf[i*n:(i+1)*n], seed, peer, r.ID(), round*window2+i); err != nil {
				return err
			}
		}
		if err := r.Send(peer, 2, nil); err != nil {
			return err
		}
	}
	return nil
}

// smallRates are those of each threshold relative to the default, over the small sizes.
func smallRates(t *paper.Table) (least, most float64) {
	least, most = 1e9, 0
	small := t.Keep("bytes", paper.Below(host.EagerMax+1))
	for _, n := range paper.Distinct[int](small, "bytes") {
		rates := small.Where("bytes", n)
		base := rates.Only("messages per ms", "threshold", host.EagerMax)
		for _, v := range rates.Keep("threshold", paper.AtLeast(host.EagerMax+1)).Values("messages per ms") {
			least, most = min(least, v/base), max(most, v/base)
		}
	}
	return least, most
}

func slowerSmall(t *paper.Table) judge.Finding {
	least, most := smallRates(t)
	return judge.Of(fmt.Sprintf("%.2f to %.2f of the default's rate", least, most), judge.Less(most, 1, 0))
}

// smallInBuffers: VELO has slots of 64 bytes for small messages, whatever the threshold.
func smallInBuffers(t *paper.Table) judge.Finding {
	small := t.Keep("bytes", func(n float64) bool { return n <= host.EagerMax }).Keep("threshold", func(n float64) bool { return n > host.EagerMax })
	between := t.Where("bytes", between2, "threshold", adapt2Thresholds()[1]).Values("in buffers (%)")
	v := small.Values("in buffers (%)")
	return judge.Of(fmt.Sprintf("%.0f %% of small messages, %d bytes: %.0f %%", slices.Max(v), between2, slices.Max(between)),
		judge.Above(slices.Min(v), 0))
}

func plotAdapt2(t *paper.Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "Rate of messages between pairs", X: figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y: figure.Axis{Label: "messages per ms", Min: figure.At(0)},
	}
	for _, th := range adapt2Thresholds() {
		f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("threshold %d", th), Points: t.Where("threshold", th).Points("bytes", "messages per ms")})
	}
	return []*figure.Figure{f}
}
