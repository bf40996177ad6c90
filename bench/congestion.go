package bench

import (
	"context"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
)

// A Congestion compares hotspot with slow memory with the same flows into fast memory, for several
// limits of the outstanding gets of a receiver.
type Congestion struct {
	Config Config          `json:"config"`
	Info   drivers.Info    `json:"device"`
	Rows   []CongestionRow `json:"rows"`
	// Links and NICs describe the congestion in the limited run of the first row.
	Links []HeldLink `json:"links"`
	NICs  []NIC      `json:"nics"`
	// Flows of the first row, between the same ranks in Fast and Slow.
	Fast []FlowResult `json:"flows_fast"`
	Slow []FlowResult `json:"flows_slow"`
	// Sums over all runs.
	Verified uint64       `json:"verified_bytes"`
	End      drivers.Time `json:"end_ps"`
	Cycles   uint64       `json:"cycles"`
}

// A CongestionRow holds the classes of flows for one limit.
type CongestionRow struct {
	Outstanding int         `json:"outstanding"` // outstanding gets per receiver; 0: the protocol has no limit
	Classes     []ClassRate `json:"classes"`
}

// A ClassRate is the mean throughput of the flows of a class.
type ClassRate struct {
	Class string  `json:"class"`
	Flows int     `json:"flows"`
	Fast  float64 `json:"fast_mb_per_s"` // without limiter
	Slow  float64 `json:"slow_mb_per_s"` // with it
}

// Ratio returns the share of throughput that remains with the limiter.
func (r ClassRate) Ratio() float64 {
	if r.Fast == 0 {
		return 0
	}
	return r.Slow / r.Fast
}

// Class returns the rate of a class, if it has flows.
func (r *CongestionRow) Class(name string) (ClassRate, bool) {
	for _, c := range r.Classes {
		if c.Class == name {
			return c, true
		}
	}
	return ClassRate{}, false
}

// congestionSizes and the following are the defaults of hotspot with slow memory: long enough for a
// congestion tree to grow to its full size.
var congestionSizes = []int{16 << 10}

const (
	congestionIterations = 8
	congestionWarmup     = 2
)

// Congest runs hotspot with slow memory with and without the limiter, for each limit in
// outstanding, with the same plan of flows.
func Congest(ctx context.Context, c Config, outstanding []int) (*Congestion, error) {
	if err := c.completeCongestion(); err != nil {
		return nil, err
	}
	res := &Congestion{Config: c}
	step, runs := c.Step, 2*len(outstanding)
	for i, n := range outstanding {
		c.Outstanding = n
		row := CongestionRow{Outstanding: n}
		if c.Rendezvous != "chunked" {
			row.Outstanding = 0
		}
		var pair [2]*Result
		for k := range pair {
			run := c
			if k == 0 {
				run.NVM = unlimited(c.NVM)
			} else if i == 0 {
				run.held = newHeldLinks(c.Nodes)
			}
			if step != nil {
				run.Step = progressOf(step, 2*i+k, runs, c.Ranks()*(c.Iterations+c.Warmup))
			}
			var err error
			if pair[k], err = Run(ctx, run); err != nil {
				return nil, err
			}
			res.Verified += pair[k].Verified
			res.End += pair[k].End
			res.Cycles += pair[k].Cycles
		}
		row.Classes = classRates(pair[0].Rows[0].Flows, pair[1].Rows[0].Flows)
		res.Rows = append(res.Rows, row)
		if i == 0 {
			res.Info, res.NICs, res.Links = pair[1].Info, pair[1].NICs, pair[1].Rows[0].Links
			res.Fast, res.Slow = pair[0].Rows[0].Flows, pair[1].Rows[0].Flows
		}
	}
	return res, nil
}

func (c *Config) completeCongestion() error {
	c.Workload = hotspot.Name
	if len(c.Sizes) == 0 {
		c.Sizes = congestionSizes
	}
	if c.Iterations == 0 {
		c.Iterations = congestionIterations
		if c.Warmup == 0 {
			c.Warmup = congestionWarmup
		}
	}
	if c.Hot == 0 {
		c.Hot = max(1, c.Nodes/4)
	}
	switch {
	case len(c.NVM) == 0:
		return fmt.Errorf("%w: no node with slow memory: specify one, such as 5:1/8", drivers.ErrConfig)
	case len(c.Sizes) != 1:
		return fmt.Errorf("%w: %d message sizes: expected one for hotspot with slow memory", drivers.ErrConfig, len(c.Sizes))
	case c.Hot < 0:
		return fmt.Errorf("%w: %d hot senders: expected at least 1", drivers.ErrConfig, c.Hot)
	case c.Pcap != nil || c.Record != nil || c.Waves != nil || c.Checkpoints != nil || c.Blocks:
		return fmt.Errorf("%w: hotspot with slow memory consists of several runs, captures, logs, waves and blocks need a single one: use another workload with --nvm", drivers.ErrConfig)
	}
	return nil
}

// unlimited returns the same nodes without limits, for the same plan of flows.
func unlimited(list []NVM) []NVM {
	fast := make([]NVM, len(list))
	for i, n := range list {
		n.Num = n.Den
		fast[i] = n
	}
	return fast
}

// progressOf combines the progress of several runs. Messages of hot flows do not count as steps.
func progressOf(step func(done, of int), run, runs, each int) func(done, of int) {
	return func(done, _ int) { step(run*each+min(done, each), runs*each) }
}

// classRates returns the mean throughput of each class in both runs.
func classRates(fast, slow []FlowResult) (list []ClassRate) {
	for _, class := range []string{HotFlow, VictimFlow, ClearFlow} {
		r := ClassRate{Class: class}
		for i, f := range fast {
			if f.Class == class {
				r.Flows++
				r.Fast += f.MBps
				r.Slow += slow[i].MBps
			}
		}
		if r.Flows > 0 {
			r.Fast /= float64(r.Flows)
			r.Slow /= float64(r.Flows)
			list = append(list, r)
		}
	}
	return list
}
