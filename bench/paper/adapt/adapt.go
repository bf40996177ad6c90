package adapt

import (
	"context"
	"fmt"
	"sync"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// What the experiments of ADAPT (dynamic eager thresholds) have in common: the same exchange by
// several settings.

// The settings.
const (
	adaptDefault  = "default"            // what VELO does not carry goes by a rendezvous
	adaptManual   = "manual"             // one threshold for all pairs, with a buffer for every peer from the start, as the process-wide setting of the paper
	adaptOnDemand = "manual on demand"   // the same, but a pair has buffers from its first message on
	adaptDynamic  = "dynamic"            // each pair its own
	adaptNotReady = "not ready"          // no buffers: receivers are asked until they are ready
	adaptFew      = "manual, 4 messages" // manual where a process has as many messages as the NIC has room for puts
	adaptPuts     = "default by rput"    // the default, by a rendezvous in which the sender moves the bytes, as an eager message does
)

// adaptPublished is the dynamic setting by sections 3.1 to 3.3 and 4.4 as they are written: see
// threshold.Config.AsPublished.
const adaptPublished = "as published"

// adaptOffset is what a threshold is above a power of two (section 3.2).
const adaptOffset = 1024

// neverIdle keeps buffers for ever.
const neverIdle = -1

// noCopies are copies that cost nothing.
const noCopies = -1

// An adaptRun is one exchange by one setting.
type adaptRun struct {
	paper.World
	workload string
	setting  string
	bytes    int
	manual   int // threshold
	steps    int
	warmup   int
	copies   int // times what copying costs; 0: 1; noCopies: nothing
	hurry    int // the part of the usual computation; 0: all
	// variation of lengths, in eighths; 0: the workload's.
	variation int
	// idle is the time after which a buffer is reclaimed; 0: the default; neverIdle: never.
	idle    drivers.Time
	weights int
}

func adaptConfig(e *paper.Env, r adaptRun) bench.Config {
	c := e.BaseConfig(r.World, r.workload)
	c.Sizes, c.Iterations, c.Warmup = []int{r.bytes}, r.steps, r.warmup
	c.Variation = r.variation
	c.Velo.Slots = 16 // enough for the handshakes; what matters is RMA
	switch r.copies {
	case 0:
	case noCopies:
		c.Cost.CopyByte = 0
	default:
		c.Cost.CopyByte *= drivers.Time(r.copies)
	}
	c.Eager = r.thresholds()
	if r.setting == adaptPuts {
		c.Rendezvous = host.RPUT
	}
	if r.hurry > 0 {
		c.Compute = bench.StepComputation(r.workload, r.Ranks(), r.bytes) / drivers.Time(r.hurry)
	}
	return c
}

// thresholds returns the configuration of a setting. Memory is not the limit: it has room for two
// buffers of the longest message for every peer.
func (r adaptRun) thresholds() *bench.Thresholds {
	t := bench.DefaultThresholds()
	longest := max(r.manual, 2*r.bytes+adaptOffset) + 64
	t.Buffers = min(2*r.Ranks()*longest, 64<<20)
	switch {
	case r.setting == adaptDefault || r.setting == adaptPuts:
		return nil
	case r.setting == adaptManual || r.setting == adaptFew || r.setting == manualAt(r.manual):
		t.Threshold, t.All, t.Idle = r.manual, true, 0
	case r.setting == adaptPublished:
		t.Published = true
	case r.setting == adaptNotReady:
		t.NotReady = true
	case r.setting == adaptOnDemand:
		t.Threshold, t.Idle = r.manual, 0
	}
	switch {
	case r.idle == neverIdle:
		t.Idle = 0
	case r.idle > 0:
		t.Idle = r.idle
	}
	t.Weights = r.weights
	return &t
}

// An adaptSample is what a run measured.
type adaptSample struct {
	*bench.Exchange
	Elapsed float64 // ms, of all steps
	Eager   []bench.EagerRank
	Packets uint64
}

// buffers of all ranks at their highest, in KB.
func (s adaptSample) buffers() float64 {
	n := 0
	for _, r := range s.Eager {
		n += r.Most
	}
	return float64(n) / 1024
}

// adaptSweep performs runs concurrently and shows their common progress. Runs in the journal are
// not performed again.
func adaptSweep(ctx context.Context, e *paper.Env, runs []adaptRun) ([]adaptSample, error) {
	var mu sync.Mutex
	shares := make([]float64, len(runs))
	tell := func(i int, share float64) {
		mu.Lock()
		defer mu.Unlock()
		shares[i] = max(shares[i], share)
		sum := 0.0
		for _, s := range shares {
			sum += s
		}
		if e.Step != nil {
			e.Step(int(paper.Permille*sum/float64(len(runs))), paper.Permille)
		}
	}
	samples := make([]adaptSample, len(runs))
	keys := make([]string, len(runs))
	var left []int
	for i, r := range runs {
		var err error
		if keys[i], err = e.Journal.Key(e, r); err != nil {
			return nil, err
		}
		known, err := e.Journal.Value(keys[i], &samples[i])
		if err != nil {
			return nil, err
		}
		if shares[i] = 1; !known {
			shares[i] = 0
			left = append(left, i)
		}
	}
	if e.Plan != nil {
		e.Plan(len(left), len(runs)-len(left), 0)
	}
	err := e.Each(ctx, len(left), func(ctx context.Context, n int) error {
		i := left[n]
		c := adaptConfig(e, runs[i])
		c.Step = func(done, of int) { tell(i, float64(done)/float64(of)) }
		res, err := bench.Run(ctx, paper.Mutated(e, c))
		if err != nil {
			return fmt.Errorf("%s of %d bytes on %v, %s: %w", runs[i].workload, runs[i].bytes, runs[i].World, runs[i].setting, err)
		}
		row := res.Rows[0]
		samples[i] = adaptSample{Exchange: row.Exchange, Elapsed: float64(row.Elapsed) / 1e9, Eager: row.Eager, Packets: row.Flow.DataPackets + row.Flow.CreditPackets}
		return e.Journal.PutValue(keys[i], samples[i])
	})
	for i, r := range runs {
		e.Use(r.World)
		e.PacketCount += samples[i].Packets
	}
	e.RunCount += len(runs)
	return samples, err
}

// addRows adds the rows of a run to a table.
type addRows func(t *paper.Table, r adaptRun, s adaptSample)

// tabulate performs runs, and adds the rows of each to a table with these columns.
func tabulate(ctx context.Context, e *paper.Env, columns []string, runs []adaptRun, add addRows) (*paper.Table, error) {
	samples, err := adaptSweep(ctx, e, runs)
	if err != nil {
		return nil, err
	}
	t := &paper.Table{Columns: columns}
	for i, s := range samples {
		add(t, runs[i], s)
	}
	return t, nil
}

// saved is by how many percent a is below b.
func saved(a, b float64) float64 { return 100 * (1 - a/b) }

// micro is a time in µs.
func micro(t drivers.Time) float64 { return float64(t) / float64(drivers.Microsecond) }
