package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

var adaptFig2 = &Experiment{
	IDs: []string{"adapt-fig2"}, Title: "Rate of small messages between pairs, by the eager threshold",
	Paper: "ADAPT, section 1.1, Figure 2", PaperSize: "32 processes",
	measure: measureAdapt2, plot: plotAdapt2,
	claims: []claim{
		{"a larger threshold, with its larger buffers, slows small messages down", "less with each larger threshold", slowerSmall},
		{"for they are received into the larger buffers", "one length of buffers for all", smallInBuffers},
	},
}

var adapt2Columns = []string{"threshold", "bytes", "messages per ms", "in buffers (%)"}

// adapt2Thresholds are the default and two larger ones; those that are used are in buffers from the
// start.
var adapt2Thresholds = []int{host.EagerMax, 17 << 10, 129 << 10}

const (
	window2 = 16 // messages under way
	rounds2 = 4
)

var small2 = []int{8, 64, 512, 2048}

const between2 = 8 << 10

func measureAdapt2(ctx context.Context, e *Env) (*Table, error) {
	w := map[Scale]world{Small: {nodes: 2, procs: 4}}[e.Scale]
	if w.nodes == 0 {
		w = world{nodes: 2, procs: 16}
	}
	e.use(w)
	t := &Table{Columns: adapt2Columns}
	type point struct{ threshold, bytes int }
	var points []point
	for _, th := range adapt2Thresholds {
		for _, n := range append(slices.Clone(small2), between2) {
			points = append(points, point{th, n})
		}
	}
	rates, buffered := make([]float64, len(points)), make([]float64, len(points))
	if e.Plan != nil {
		e.Plan(len(points), 0, 0)
	}
	err := e.each(ctx, len(points), func(ctx context.Context, i int) (err error) {
		rates[i], buffered[i], err = e.messageRate(ctx, w, points[i].threshold, points[i].bytes)
		return err
	})
	e.runs += len(points)
	for i, p := range points {
		t.add(p.threshold, p.bytes, rates[i], buffered[i])
	}
	return t, err
}

// messageRate has each rank of one node send windows of messages to one of the other, which answers
// each window. It gives their number in a millisecond, and how many of a hundred went through
// buffers of the threshold.
func (e *Env) messageRate(ctx context.Context, w world, threshold, n int) (rate, buffered float64, err error) {
	c := e.on(w, "")
	c.Sizes = []int{max(between2, n)}
	if threshold > host.EagerMax {
		c.Eager = &bench.Thresholds{Threshold: threshold, All: true, Buffers: 6 * w.ranks() * (threshold + 64)}
	}
	ended := make([]drivers.Time, w.ranks())
	began := make([]drivers.Time, w.ranks())
	used := make([]uint64, w.ranks())
	err = bench.Launch(ctx, c, window2+1, func(r *host.Rank) error {
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
	messages := float64(w.ranks() / 2 * window2 * rounds2)
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
func smallRates(t *Table) (least, most float64) {
	least, most = 1e9, 0
	for _, n := range small2 {
		base := t.only("messages per ms", "threshold", host.EagerMax, "bytes", n)
		for _, th := range adapt2Thresholds[1:] {
			v := t.only("messages per ms", "threshold", th, "bytes", n) / base
			least, most = min(least, v), max(most, v)
		}
	}
	return least, most
}

func slowerSmall(t *Table) (string, bool) {
	least, most := smallRates(t)
	return fmt.Sprintf("%.2f to %.2f of the default's rate", least, most), most < 0.97
}

// smallInBuffers: VELO has slots of 64 bytes for small messages, whatever the threshold.
func smallInBuffers(t *Table) (string, bool) {
	small := t.keep("bytes", func(n float64) bool { return n <= host.EagerMax }).keep("threshold", func(n float64) bool { return n > host.EagerMax })
	between := t.where("bytes", between2, "threshold", adapt2Thresholds[1]).values("in buffers (%)")
	v := small.values("in buffers (%)")
	return fmt.Sprintf("%.0f %% of small messages are, of those of %d bytes %.0f %%", slices.Max(v), between2, slices.Max(between)), slices.Min(v) > 0
}

func plotAdapt2(t *Table) []*figure.Figure {
	f := &figure.Figure{
		Title: "Rate of messages between pairs", X: figure.Axis{Label: "message", Unit: "bytes", Scale: figure.Log2},
		Y: figure.Axis{Label: "messages per ms", Min: figure.At(0)},
	}
	for _, th := range adapt2Thresholds {
		f.Series = append(f.Series, figure.Series{Name: fmt.Sprintf("threshold %d", th), Points: t.where("threshold", th).points("bytes", "messages per ms")})
	}
	return []*figure.Figure{f}
}
