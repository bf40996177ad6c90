package reproduce

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/imb"
	"github.com/nicloop/nicloop/velo"
)

// A world is what an experiment runs on at some scale.
type world struct {
	nodes, procs int
	dims         string // mesh, where the default is not meant
	hosts        []int  // nodes with processes; nil: all
	hops         int    // between two hosts, for devices without topology
}

func (w world) ranks() int {
	if w.hosts != nil {
		return len(w.hosts) * w.procs
	}
	return w.nodes * w.procs
}

func (w world) String() string {
	s := fmt.Sprintf("%d nodes", w.nodes)
	if w.dims != "" {
		s += " (" + w.dims + ")"
	}
	s += fmt.Sprintf(" x %d processes", w.procs)
	if w.hosts != nil {
		s += fmt.Sprintf(" on nodes %v", w.hosts)
	}
	return s
}

// cluster1024 is the paper's machine at Full scale and what stands for it at the others. From Medium
// on, 16 processes share a NIC as in the paper: then the NIC is the bottleneck, not the host.
var cluster1024 = map[Scale]world{
	Small: {nodes: 4, procs: 4}, Medium: {nodes: 4, procs: 16}, Large: {nodes: 16, procs: 16},
	Full: {nodes: 64, procs: 16, dims: "4x4x4"},
}

// cluster256 is the same for the smaller of the paper's two machines.
var cluster256 = map[Scale]world{
	Small: {nodes: 4, procs: 2}, Medium: {nodes: 2, procs: 16}, Large: {nodes: 4, procs: 16}, Full: {nodes: 16, procs: 16},
}

// use notes a world for the report.
func (e *Env) use(w world) world {
	if s := w.String(); !slices.Contains(e.sizes, s) {
		e.sizes = append(e.sizes, s)
	}
	return w
}

// device is the URI for a world. The ideal device has no topology: it gets the
// latency of the hops instead, at the RTL's 4 cycles for a router and a link.
func (e *Env) device(w world) string {
	key := ""
	switch {
	case strings.HasPrefix(e.Device, "ideal:"):
		if w.hops > 0 {
			key = fmt.Sprintf("latency=%d", 16+4*w.hops)
		}
	case w.dims != "" && !strings.Contains(e.Device, "dims="):
		key = "dims=" + w.dims
	}
	switch {
	case key == "":
		return e.Device
	case strings.Contains(e.Device, "?"):
		return e.Device + "&" + key
	}
	return e.Device + "?" + key
}

// A run is one benchmark in one world under one flow control.
type run struct {
	world
	benchmark  string
	active     int  // processes that take part; 0: all
	pairs      bool // every process of one node with one of another
	bytes      int  // 0: 2048
	flow       velo.Flow
	slots      int // per peer; without flow control enough is taken
	credit     int // of them credit slots; 0: 2
	piggyback  bool
	local      bool
	linear     bool
	spread     bool // neighbouring ranks on different nodes
	rootShift  int  // 0: 1
	free       bool // bookkeeping of credits takes a core no time
	meet       bool // a barrier before each repetition
	iterations int
	warmup     int
}

// A sample is what one run measured.
type sample struct {
	time  float64 // µs per iteration: mean over the ranks
	flow  bench.FlowStats
	slots int
}

// delayed is the share of messages that waited for credits, in percent.
func (s sample) delayed() float64 {
	return 100 * float64(s.flow.DelayedMessages) / float64(max(s.flow.Messages, 1))
}

// overhead is the time above that of the reference, in percent.
func (s sample) overhead(ref sample) float64 { return 100 * (s.time/ref.time - 1) }

// perform runs one run. Without flow control the mailboxes grow until none was
// ever full: the paper's reference.
func (e *Env) perform(ctx context.Context, r run, step func(done, of int)) (sample, error) {
	if r.flow != velo.None {
		s, stalled, err := e.once(ctx, r, step)
		if err == nil && stalled != 0 {
			err = fmt.Errorf("%s flow control let mailboxes stall the network for %d cycles", r.flow, stalled)
		}
		return s, err
	}
	var s sample
	err := bench.WithoutStall(func(slots int) (bool, error) {
		r.slots = slots
		got, stalled, err := e.once(ctx, r, step)
		s = got
		return stalled != 0, err
	})
	return s, err
}

func (e *Env) once(ctx context.Context, r run, step func(done, of int)) (sample, uint64, error) {
	c := e.config(r)
	c.Step = step
	rep, err := imb.Run(ctx, c)
	if err != nil {
		return sample{}, 0, fmt.Errorf("%s on %v, %s, %d slots: %w", r.benchmark, r.world, r.flow, r.slots, err)
	}
	t := rep.Tables[0]
	return sample{time: t.Rows[0].Avg, flow: t.Flow, slots: r.slots}, t.Stalled, nil
}

// on is what every run of a world has: its device, on the machine that is asked for.
func (e *Env) on(w world, workload string) bench.Config {
	c := bench.Default(workload)
	c.Device, c.SlotTime, c.Seed, c.Building = e.device(w), e.Machine.slotTime(), e.Seed, e.Building
	c.Nodes, c.Procs, c.Hosts = w.nodes, w.procs, w.hosts
	return c
}

func (e *Env) config(r run) imb.Config {
	c := imb.Default()
	c.Run = e.on(r.world, "")
	c.Run.Velo = velo.Config{Flow: r.flow, Slots: r.slots, CreditSlots: cmp.Or(r.credit, 2), Piggyback: r.piggyback}
	c.Run.Local, c.Run.Threads = r.local, e.threads(r)
	c.Benchmarks, c.Sizes = []string{r.benchmark}, []int{cmp.Or(r.bytes, 2048)}
	c.Procs = []int{cmp.Or(r.active, r.ranks())}
	c.Iterations, c.Warmup, c.RootShift = r.iterations, r.warmup, cmp.Or(r.rootShift, 1)
	// The alltoalls that are measured by themselves begin together, as IMB has it:
	// once ranks drift apart, an alltoall takes up to three times as long by itself.
	c.Sync, c.Linear = r.linear || r.meet, r.linear
	if !r.linear {
		c.Algorithm = usual[r.benchmark]
	}
	if r.free {
		c.Run.Cost.Static, c.Run.Cost.Dynamic = 0, 0
	}
	if r.spread {
		c.Map = [2]int{r.procs, r.nodes}
	}
	if r.pairs {
		c.Multi, c.Map = true, [2]int{r.procs, 2}
	}
	return c
}

// usual are the algorithms of MPI libraries of the papers' time for messages of this length; host
// would choose some of them otherwise.
var usual = map[string]string{
	"Bcast": "binomial", "Gather": "binomial", "Scatter": "binomial", "Allgather": "ring", "Allgatherv": "ring",
	"Alltoall": "pairwise", "Alltoallv": "pairwise", "Reduce": "binomial", "Allreduce": "recursive-doubling",
	"Reduce_scatter": "pairwise",
}

// threads is how many simulate a run, which does not change it. If only some ranks are active,
// those share few nodes.
func (e *Env) threads(r run) int {
	if r.active != 0 && r.active != r.ranks() {
		return 1
	}
	return e.share(r.nodes, e.Jobs)
}

// share is how many threads a run on so many nodes may have where there are so many runs at a time.
// Of smaller worlds they wait for each other more than they gain.
func (e *Env) share(nodes, runs int) int {
	if nodes < 64 {
		return 1
	}
	return max(1, e.Cores/max(1, runs))
}

// sweep performs runs and gives their samples in the same order. Those that the journal has are
// not performed again.
func (e *Env) sweep(ctx context.Context, runs []run) ([]sample, error) {
	keys, err := e.Journal.keys(e, runs)
	if err != nil {
		return nil, err
	}
	samples := make([]sample, len(runs))
	var left []int
	for i, r := range runs {
		e.use(r.world)
		known := false
		if samples[i], known = e.Journal.get(keys[i]); !known {
			left = append(left, i)
		}
	}
	m := newMeter(e, runs, left)
	err = e.each(ctx, len(left), func(ctx context.Context, n int) (err error) {
		i := left[n]
		if samples[i], err = e.perform(ctx, runs[i], m.of(runs[i])); err != nil {
			return err
		}
		return e.Journal.put(keys[i], samples[i])
	})
	e.runs += len(runs)
	for _, s := range samples {
		e.packets += s.flow.DataPackets + s.flow.CreditPackets
	}
	return samples, err
}

// reference is the same run without flow control.
func (r run) reference() run {
	r.flow, r.slots, r.credit, r.piggyback, r.free = velo.None, 0, 0, false, false
	return r
}

// compare performs runs and their references, equal ones once.
func (e *Env) compare(ctx context.Context, runs []run) (samples, refs []sample, err error) {
	var all []run
	index := map[string]int{}
	row := func(r run) int {
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
	got, err := e.sweep(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range at {
		samples, refs = append(samples, got[i[0]]), append(refs, got[i[1]])
	}
	return samples, refs, nil
}

// flows are the flow controls that are compared.
var flows = []velo.Flow{velo.Static, velo.Dynamic}

// repeats is how often an experiment repeats its operation, by scale.
func (e *Env) repeats(small, medium, thin int) int {
	return map[Scale]int{Small: small, Medium: medium, Large: thin, Full: thin}[e.Scale]
}
