package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// Eager is the protocol of messages up to host.EagerMax.
const Eager = "eager"

// An Overlap is the result of overlap or progress, by protocol.
type Overlap struct {
	Config Config       `json:"config"`
	Info   drivers.Info `json:"device"`
	Rows   []OverlapRow `json:"rows"`
	// Sums over all runs.
	Verified uint64       `json:"verified_bytes"`
	End      drivers.Time `json:"end_ps"`
	Cycles   uint64       `json:"cycles"`
}

// An OverlapRow is a case for one size and protocol.
type OverlapRow struct {
	Protocol string `json:"protocol"` // eager, or a rendezvous
	Bytes    int    `json:"bytes"`
	RTRs     uint64 `json:"rtrs,omitempty"` // speculative ones, in all cases of the size
	OverlapCase
}

// MeasuresOverlap reports whether a workload is run by MeasureOverlap.
func MeasuresOverlap(workload string) bool {
	return workload == overlap.Name || workload == progress.Name
}

// IsOverlap reports whether a workload measures shares over the size, not over the delay.
func IsOverlap(workload string) bool { return workload == overlap.Name }

// MeasureOverlap runs overlap or progress: sizes up to host.EagerMax once, longer ones with each
// protocol.
func MeasureOverlap(ctx context.Context, c Config, protocols []host.Rendezvous) (*Overlap, error) {
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return nil, err
	}
	wl.complete(&c)
	switch {
	case !wl.paired:
		return nil, fmt.Errorf("%w: %s does not measure overlap: expected %s or %s", drivers.ErrConfig, c.Workload, overlap.Name, progress.Name)
	case c.Pcap != nil || c.Record != nil || c.Waves != nil || c.Checkpoints != nil || c.Blocks:
		return nil, fmt.Errorf("%w: %s consists of several runs, captures, logs, waves and blocks need a single one: use another workload", drivers.ErrConfig, c.Workload)
	}
	c.Offset = c.offset()
	res := &Overlap{Config: c}
	step, parts := c.Step, overlapParts(c.Sizes, protocols)
	for i, part := range parts {
		run := c
		run.Sizes = part.sizes
		if part.protocol != Eager {
			run.Rendezvous = host.Rendezvous(part.protocol)
		}
		if step != nil {
			run.Step = func(done, of int) { step(i*of+done, len(parts)*of) }
		}
		one, err := Run(ctx, run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.protocol, err)
		}
		res.Info = one.Info
		res.Verified, res.End, res.Cycles = res.Verified+one.Verified, res.End+one.End, res.Cycles+one.Cycles
		for _, r := range one.Rows {
			for _, c := range r.Overlap {
				res.Rows = append(res.Rows, OverlapRow{part.protocol, r.Bytes, r.rtrs, c})
			}
		}
	}
	return res, nil
}

// An overlapPart holds the sizes of one run.
type overlapPart struct {
	protocol string
	sizes    []int
}

func overlapParts(sizes []int, protocols []host.Rendezvous) (parts []overlapPart) {
	long := slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n <= host.EagerMax })
	if short := slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > host.EagerMax }); len(short) > 0 {
		parts = append(parts, overlapPart{Eager, short})
	}
	for _, p := range protocols {
		if len(long) > 0 {
			parts = append(parts, overlapPart{string(p), long})
		}
	}
	return parts
}
