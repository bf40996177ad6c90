package tune

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/host"
)

// Options configure the measurements.
type Options struct {
	Device      string
	Ranks       []int // of worlds with one process per node
	Sizes       []int // as counted by IMB
	Collectives []host.Collective
	Progress    func(done, of int)
}

// Default is the configuration from which host's table was generated. A message of 40 bytes is the
// longest that fits one packet, one of 96 bytes two.
func Default() Options {
	o := Options{Device: "model:", Ranks: []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 24, 32, 48, 64}, Sizes: []int{8, 40, 96, 256, 1024, 2048, 4096, 16384, 65536}}
	for _, k := range host.Collectives() {
		if len(k.Algorithms()) > 1 && k != host.Alltoallv { // its ranks lack the byte count that the choice depends on
			o.Collectives = append(o.Collectives, k)
		}
	}
	return o
}

// A Point is one algorithm at one size.
type Point struct {
	Collective string  `json:"collective"`
	Ranks      int     `json:"ranks"`
	Bytes      int     `json:"bytes"`
	Algorithm  string  `json:"algorithm"`
	Micros     float64 `json:"t_max_us"` // until the last rank has finished

	kind host.Collective
}

// A Report holds all measurements by collective, ranks and bytes, with the linear algorithm first.
type Report struct {
	Device string  `json:"device"`
	Points []Point `json:"points"`
}

// mostBytes limits the bytes of all ranks in one call: larger calls take hours and give no new
// information.
const mostBytes = 1 << 20

// Run performs the measurements.
func Run(ctx context.Context, o Options) (*Report, error) {
	rep := &Report{Device: o.Device}
	var jobs []Point
	for _, k := range o.Collectives {
		for _, ranks := range o.Ranks {
			for _, name := range k.Algorithms() {
				if k.Fits(name, ranks, 0) {
					jobs = append(jobs, Point{Collective: k.String(), Ranks: ranks, Algorithm: name, kind: k})
				}
			}
		}
	}
	for i, job := range jobs {
		points, err := o.measure(ctx, job)
		if err != nil {
			return nil, fmt.Errorf("%s by %s among %d ranks: %w", job.Collective, job.Algorithm, job.Ranks, err)
		}
		rep.Points = append(rep.Points, points...)
		if o.Progress != nil {
			o.Progress(i+1, len(jobs))
		}
	}
	return rep, nil
}

// measure measures one algorithm at all sizes for which a rank might choose it.
func (o *Options) measure(ctx context.Context, job Point) (points []Point, err error) {
	c := imb.Default()
	c.Run.Device, c.Run.Nodes, c.Run.Procs = o.Device, job.Ranks, 1
	c.Benchmarks, c.MinProcs, c.Algorithm = []string{imb.NameOf(job.kind)}, job.Ranks, job.Algorithm
	c.Iterations, c.Warmup, c.Sizes = 2, 1, nil
	for _, n := range o.Sizes {
		if job.kind.Fits(job.Algorithm, job.Ranks, n) && n*job.Ranks <= mostBytes {
			c.Sizes = append(c.Sizes, n)
		}
	}
	if len(c.Sizes) == 0 {
		return nil, nil
	}
	rep, err := imb.Run(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, row := range rep.Tables[0].Rows {
		job.Bytes, job.Micros = row.Bytes, row.Max
		points = append(points, job)
	}
	return points, nil
}
