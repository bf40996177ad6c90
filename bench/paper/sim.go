package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/velo"
)

// Alltoall is the paper's: everybody sends to everybody, then receives.
func (e *Env) Alltoall(w World, flow velo.Flow, slots, credit int) Run {
	return Run{World: w, Benchmark: "Alltoall", Linear: true, Flow: flow, Slots: slots, Credit: credit,
		Iterations: e.Repeats(4, 2, 1), Warmup: 1}
}

// A World is what an experiment runs on at some scale.
type World struct {
	Nodes, Procs int
	Dims         string // mesh, where the default is not meant
	Hosts        []int  // nodes with processes; nil: all
	Hops         int    // between two hosts, for devices without topology
}

// Ranks returns the number of processes.
func (w World) Ranks() int {
	if w.Hosts != nil {
		return len(w.Hosts) * w.Procs
	}
	return w.Nodes * w.Procs
}

func (w World) String() string {
	s := fmt.Sprintf("%d nodes", w.Nodes)
	if w.Dims != "" {
		s += " (" + w.Dims + ")"
	}
	s += fmt.Sprintf(" x %d processes", w.Procs)
	if w.Hosts != nil {
		s += fmt.Sprintf(" on nodes %v", w.Hosts)
	}
	return s
}

// Use notes a world for the report.
func (e *Env) Use(w World) World {
	if s := w.String(); !slices.Contains(e.Worlds, s) {
		e.Worlds = append(e.Worlds, s)
	}
	return w
}

// device is the URI for a world. The ideal device has no topology: it gets the
// latency of the hops instead, at the RTL's 4 cycles for a router and a link.
func (e *Env) device(w World) string {
	key := ""
	switch {
	case strings.HasPrefix(e.Device, "ideal:"):
		if w.Hops > 0 {
			key = fmt.Sprintf("latency=%d", 16+4*w.Hops)
		}
	case w.Dims != "" && !strings.Contains(e.Device, "dims="):
		key = "dims=" + w.Dims
	}
	switch {
	case key == "":
		return e.Device
	case strings.Contains(e.Device, "?"):
		return e.Device + "&" + key
	}
	return e.Device + "?" + key
}

// A Run is one benchmark in one world under one flow control.
type Run struct {
	World
	Benchmark  string
	Active     int  // processes that take part; 0: all
	Pairs      bool // every process of one node with one of another
	Bytes      int  // 0: 2048
	Flow       velo.Flow
	Slots      int // per peer; without flow control enough is taken
	Credit     int // of them credit slots; 0: 2
	Piggyback  bool
	Local      bool
	Linear     bool
	Spread     bool         // neighbouring ranks on different nodes
	RootShift  int          // 0: 1
	Free       bool         // bookkeeping of credits takes a core no time
	FreeReturn bool         // so do credit packets, apart from their way through the NIC
	Search     drivers.Time // extra time for each packet that a sender without credits receives
	Meet       bool         // a barrier before each repetition
	Iterations int
	Warmup     int
	Skew       drivers.Time // longest delay of a rank at the start of a repetition
}

// startSkew is that of experiments that are measured under several seeds. The last rank leaves a
// barrier of 16 about so much later than the first one.
const startSkew = 2 * drivers.Microsecond

// StartSkew describes the freedom of those experiments.
const StartSkew = "when ranks start, by up to 2 µs"

// A Sample is what one run measured.
type Sample struct {
	Time  float64 // µs per iteration: mean over the ranks
	Flow  bench.FlowStats
	slots int
}

// Delayed is the share of messages that waited for credits, in percent.
func (s Sample) Delayed() float64 {
	return 100 * float64(s.Flow.DelayedMessages) / float64(max(s.Flow.Messages, 1))
}

// Overhead is the time above that of the reference, in percent.
func (s Sample) Overhead(ref Sample) float64 { return 100 * (s.Time/ref.Time - 1) }

// perform runs one run. Without flow control the mailboxes grow until none was
// ever full: the paper's reference.
func (e *Env) perform(ctx context.Context, r Run, step func(done, of int)) (Sample, error) {
	if r.Flow != velo.None {
		s, stalled, err := e.once(ctx, r, step)
		if err == nil && stalled != 0 {
			err = fmt.Errorf("%s flow control let mailboxes stall the network for %d cycles", r.Flow, stalled)
		}
		return s, err
	}
	var s Sample
	err := bench.WithoutStall(func(slots int) (bool, error) {
		r.Slots = slots
		got, stalled, err := e.once(ctx, r, step)
		s = got
		return stalled != 0, err
	})
	return s, err
}

func (e *Env) once(ctx context.Context, r Run, step func(done, of int)) (Sample, uint64, error) {
	c := e.config(r)
	c.Step, c.Run = step, Mutated(e, c.Run)
	rep, err := imb.Run(ctx, c)
	if err != nil {
		return Sample{}, 0, fmt.Errorf("%s on %v, %s, %d slots: %w", r.Benchmark, r.World, r.Flow, r.Slots, err)
	}
	t := rep.Tables[0]
	return Sample{Time: t.Rows[0].Avg, Flow: t.Flow, slots: r.Slots}, t.Stalled, nil
}

// BaseConfig is what every run of a world has: its device, on the machine that is asked for.
func (e *Env) BaseConfig(w World, workload string) bench.Config {
	c := bench.Default(workload)
	c.Log = e.Log
	c.Device, c.SlotTime, c.Seed, c.Building = e.device(w), e.Machine.slotTime(), e.Seed, e.Building
	c.Nodes, c.Procs, c.Hosts = w.Nodes, w.Procs, w.Hosts
	return c
}

func (e *Env) config(r Run) imb.Config {
	c := imb.Default()
	c.Run = e.BaseConfig(r.World, "")
	c.Run.Velo = velo.Config{Flow: r.Flow, Slots: r.Slots, CreditSlots: cmp.Or(r.Credit, 2), Piggyback: r.Piggyback}
	c.Run.Local, c.Run.Threads = r.Local, e.threads(r)
	c.Benchmarks, c.Sizes = []string{r.Benchmark}, []int{cmp.Or(r.Bytes, 2048)}
	c.Procs = []int{cmp.Or(r.Active, r.Ranks())}
	c.Iterations, c.Warmup, c.RootShift, c.Skew = r.Iterations, r.Warmup, cmp.Or(r.RootShift, 1), r.Skew
	// The alltoalls that are measured by themselves begin together, as IMB has it:
	// once ranks drift apart, an alltoall takes up to three times as long by itself.
	c.Sync, c.Linear = r.Linear || r.Meet, r.Linear
	if !r.Linear {
		c.Algorithm = usual()[r.Benchmark]
	}
	if r.Free {
		c.Run.Cost.Static, c.Run.Cost.Dynamic = 0, 0
	}
	if r.FreeReturn {
		c.Run.Cost.Control = 0
	}
	c.Run.Cost.Search = r.Search
	if r.Spread {
		c.Map = [2]int{r.Procs, r.Nodes}
	}
	if r.Pairs {
		c.Multi, c.Map = true, [2]int{r.Procs, 2}
	}
	return c
}

// usual are the algorithms of MPI libraries of the papers' time for messages of this length; host
// would choose some of them otherwise.
func usual() map[string]string {
	return map[string]string{
		"Bcast": "binomial", "Gather": "binomial", "Scatter": "binomial", "Allgather": "ring", "Allgatherv": "ring",
		"Alltoall": "pairwise", "Alltoallv": "pairwise", "Reduce": "binomial", "Allreduce": "recursive-doubling",
		"Reduce_scatter": "pairwise",
	}
}

// threads is how many simulate a run, which does not change it. If only some ranks are active,
// those share few nodes.
func (e *Env) threads(r Run) int {
	if r.Active != 0 && r.Active != r.Ranks() {
		return 1
	}
	return e.ThreadShare(r.Nodes, e.Jobs)
}

// ThreadShare is how many threads a run on so many nodes may have where there are so many runs at a
// time. Of smaller worlds they wait for each other more than they gain.
func (e *Env) ThreadShare(nodes, runs int) int {
	if nodes < 64 {
		return 1
	}
	return max(1, e.Cores/max(1, runs))
}

// Sweep performs runs and gives their samples in the same order. Those that the journal has are
// not performed again.
func (e *Env) Sweep(ctx context.Context, runs []Run) ([]Sample, error) {
	if e.sampled {
		runs = slices.Clone(runs)
		for i := range runs {
			runs[i].Skew = startSkew
		}
	}
	keys, err := e.Journal.keys(e, runs)
	if err != nil {
		return nil, err
	}
	samples := make([]Sample, len(runs))
	var left []int
	for i, r := range runs {
		e.Use(r.World)
		known := false
		if samples[i], known = e.Journal.get(keys[i]); !known {
			left = append(left, i)
		}
	}
	m := newMeter(e, runs, left)
	err = e.Each(ctx, len(left), func(ctx context.Context, n int) (err error) {
		i := left[n]
		if samples[i], err = e.perform(ctx, runs[i], m.of(runs[i])); err != nil {
			return err
		}
		return e.Journal.put(keys[i], samples[i])
	})
	e.RunCount += len(runs)
	for _, s := range samples {
		e.PacketCount += s.Flow.DataPackets + s.Flow.CreditPackets
	}
	return samples, err
}

// reference is the same run without flow control.
func (r Run) reference() Run {
	r.Flow, r.Slots, r.Credit, r.Piggyback, r.Free, r.FreeReturn, r.Search = velo.None, 0, 0, false, false, false, 0
	return r
}

// Compare performs runs and their references, equal ones once.
func (e *Env) Compare(ctx context.Context, runs []Run) (samples, refs []Sample, err error) {
	var all []Run
	index := map[string]int{}
	row := func(r Run) int {
		key := fmt.Sprintf("%#v", r) // every field: run has the String of its world
		if _, known := index[key]; !known {
			index[key] = len(all)
			all = append(all, r)
		}
		return index[key]
	}
	at := make([][2]int, len(runs))
	for i, r := range runs {
		at[i] = [2]int{row(r), row(r.reference())}
	}
	got, err := e.Sweep(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range at {
		samples, refs = append(samples, got[i[0]]), append(refs, got[i[1]])
	}
	return samples, refs, nil
}

// Repeats is how often an experiment repeats its operation, by scale.
func (e *Env) Repeats(small, medium, thin int) int {
	return map[Scale]int{Small: small, Medium: medium, Large: thin, Full: thin}[e.Scale]
}
