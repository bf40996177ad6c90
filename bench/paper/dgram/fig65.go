package dgram

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench/figure"
	"github.com/nicloop/nicloop/bench/iwarpperf"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/bench/paper/judge"
)

const (
	udHasMore  = "UD has a higher bidirectional bandwidth than RC at most sizes"
	udAtTwoKB  = "the gain at 2 KB reaches 40 %"
	mbPerS     = "MB/s"
	window     = 64  // messages in flight
	bandwidths = 200 // messages of each size
)

func fig65() *paper.Experiment {
	return &paper.Experiment{
		IDs: []string{"dgram-fig6.5"}, Engine: engine, Title: "Bidirectional bandwidth over connections and datagrams",
		Paper: "datagram iWARP, section 6.6.1, Figure 6.5, measured below MPI here", PaperSize: paperSize,
		Measure: measured(mbPerS, bandwidth, sizes),
		Plot:    plot("Both directions together, windows of 64 messages", mbPerS, "throughput", figure.Linear),
		Claims: []paper.Claim{
			{Text: udHasMore, Paper: "most of the message sizes", Judge: judgeMost},
			{Text: udAtTwoKB, Paper: "more than 40 %", Judge: judgeTwoKB},
		},
		Mutations: []paper.Mutation{
			{
				What: "no datagrams", Mutate: noDatagrams, Claims: []string{udHasMore, udAtTwoKB},
				Measure: measured(mbPerS, bandwidth, decisive),
			},
			{
				What: "the core works in no time", Mutate: freeCore, Claims: []string{udAtTwoKB},
				Measure: measured(mbPerS, bandwidth, decisive),
			},
		},
	}
}

func bandwidth(ctx context.Context, c *iwarpperf.Client, size int) (float64, error) {
	row, err := c.Bandwidth(ctx, size, bandwidths, window, true)
	if err == nil && row.Lost > 0 {
		err = fmt.Errorf("%d bytes: %d messages were lost without a fault", size, row.Lost)
	}
	return row.Bandwidth, err
}

func judgeMost(t *paper.Table) judge.Finding {
	rc, ud := t.Values(column("rc", mbPerS)), t.Values(column("ud", mbPerS))
	higher := 0
	for i := range rc {
		if ud[i] > rc[i]*(1+judge.Margin) {
			higher++
		}
	}
	return judge.Of(fmt.Sprintf("%d of %d sizes", higher, len(rc)), judge.AtLeast(float64(higher)/float64(len(rc)), 0.6))
}

func judgeTwoKB(t *paper.Table) judge.Finding {
	at := func(kind string) float64 { return t.Only(column(kind, mbPerS), "bytes", 2*kilobyte) }
	return judge.Of(fmt.Sprintf("UD %.0f MB/s, RC %.0f MB/s: %+.0f %%", at("ud"), at("rc"), 100*(at("ud")/at("rc")-1)),
		judge.AtLeast(at("ud")/at("rc"), 1.3))
}
