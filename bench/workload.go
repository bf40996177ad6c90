package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
)

// A Workload is a program that every rank runs.
type Workload struct {
	Name, Doc string
	// Sizes, Iterations and Warmup are the defaults of a Config.
	Sizes              []int
	Iterations, Warmup int
	// check rejects configurations that are invalid for this workload, beyond Config.Validate.
	check func(*Config) error
	// body runs rank r for messages of n bytes.
	body func(t *task, r *host.Rank, n int) error
	// messages returns the number of messages of one iteration in the whole world.
	messages func(*Config) int
	// lots returns these messages by length, for a longest message of n bytes; nil: all have n bytes.
	lots func(c *Config, n int) []lot
	// buffers returns the number of message buffers that a rank holds at a time.
	buffers func(*Config) int
	// active is how many ranks hold them; nil: all.
	active func(*Config) int
	// halfTrip: an iteration is a round trip, and half of it is the latency.
	halfTrip bool
	// posts: an iteration only posts a message, so iterations do not measure progress.
	posts bool
	// paired: the results are the cases of two ranks, not iterations.
	paired bool
	// steps: an iteration is a step of an exchange with computation.
	steps bool
	// computes: the workload is an application pattern, which Config.Compute applies to.
	computes bool
	// collective: the workload measures the collective kind, with Config.Algorithm or as selected by
	// host's table.
	collective bool
	kind       host.Collective
}

// A lot is a number of messages of one length.
type lot struct{ messages, bytes int }

func countOf(lots []lot) (count int) {
	for _, l := range lots {
		count += l.messages
	}
	return count
}

// sends returns the messages of one iteration in the whole world for size n.
func (wl *Workload) sends(c *Config, n int) []lot {
	if wl.lots == nil {
		return []lot{{wl.messages(c), n}}
	}
	return wl.lots(c, n)
}

// volume returns the bytes of one iteration in the whole world.
func (wl *Workload) volume(c *Config, n int) (bytes int) {
	for _, l := range wl.sends(c, n) {
		bytes += l.messages * l.bytes
	}
	return bytes
}

// Workloads returns all workloads, sorted by name.
func Workloads() []*Workload {
	list := []*Workload{&alltoall, &halo, &hotspot, &multiPingpong, &overlap, &pingpong, &progress, &random, &stencil}
	for i := range exchanges {
		list = append(list, exchanges[i].workload())
	}
	for _, a := range apps {
		list = append(list, a.workload())
	}
	slices.SortFunc(list, func(a, b *Workload) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// FindWorkload returns the workload with the given name.
func FindWorkload(name string) (*Workload, error) {
	var names []string
	for _, w := range Workloads() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("%w: unknown workload %q%s; known: %v", drivers.ErrConfig, name, suggest.Nearest(name, names), names)
}

// A task is a workload for one message size. Its ranks may run on several threads; each writes only
// its own elements.
type task struct {
	ctx   context.Context
	c     *Config
	timed []span           // by rank: begin and end of its timed iterations
	bytes []uint64         // by rank: verified bytes
	each  [][]drivers.Time // by rank: duration of each timed iteration
	step  func()
	// beside is World.beside.
	beside func(rank int, computes bool) error
	// traffic is the flows of a hotspot with slow memory, else nil.
	traffic *traffic
	// overlap holds the results of overlap and progress.
	overlap []OverlapCase
	sent    int
	// steps holds the times of each rank's steps of an exchange.
	steps  []stepTimes
	played []AppStats // by rank: statistics of an application pattern
}

func newTask(ctx context.Context, c *Config, ranks int) *task {
	return &task{
		ctx: ctx, c: c, timed: make([]span, ranks), each: make([][]drivers.Time, ranks), bytes: make([]uint64, ranks),
		played: make([]AppStats, ranks), steps: make([]stepTimes, ranks), step: func() {},
	}
}

type span struct{ from, to drivers.Time }

// iterate runs warm-up and timed iterations. Every rank that takes part calls it.
func (t *task) iterate(r *host.Rank, once func(k int) error) error {
	const untilCheck = 1 << 10                                  // check the context after this many iterations: posting a send may need neither time nor the device
	each := make([]drivers.Time, 0, min(t.c.Iterations, 1<<16)) // longer runs are often cancelled
	for k := range t.c.Warmup + t.c.Iterations {
		from := r.Now()
		if k == t.c.Warmup {
			t.timed[r.ID()].from = from
		}
		if err := once(k); err != nil {
			return err
		}
		if k%untilCheck == 0 && t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		if k >= t.c.Warmup {
			each = append(each, r.Now()-from)
		}
		t.step()
	}
	t.each[r.ID()] = each
	t.timed[r.ID()].to = r.Now()
	return nil
}

// send sends message k of n bytes; recv at the receiver verifies it.
func (t *task) send(r *host.Rank, buf []byte, to, k int) error {
	fill(buf, t.c.Seed, r.ID(), to, k)
	return r.Send(to, tagApp, buf)
}

func (t *task) recv(r *host.Rank, buf []byte, from, k int) error {
	st, err := r.Recv(from, tagApp, buf)
	if err != nil {
		return err
	}
	if st.Bytes != len(buf) {
		return fmt.Errorf("message %d from rank %d to rank %d has %d bytes, expected %d (seed %d)", k, from, r.ID(), st.Bytes, len(buf), t.c.Seed)
	}
	t.bytes[r.ID()] += uint64(st.Bytes)
	return verify(buf, t.c.Seed, from, r.ID(), k)
}

const tagApp = 1

var pingpong = Workload{
	Name:  "pingpong",
	Doc:   "rank 0 and the last rank bounce one message",
	Sizes: []int{8}, Iterations: 100, Warmup: 10, halfTrip: true,
	messages: func(*Config) int { return 2 },
	active:   func(*Config) int { return 2 },
	body: func(t *task, r *host.Rank, n int) error {
		last := r.Size() - 1
		switch r.ID() {
		case 0:
			return t.bounce(r, last, n, true)
		case last:
			return t.bounce(r, 0, n, false)
		}
		return nil
	},
}

// bounce runs one side of a ping-pong.
func (t *task) bounce(r *host.Rank, peer, n int, first bool) error {
	buf, err := r.Alloc(n)
	if err != nil {
		return err
	}
	return t.iterate(r, func(k int) error {
		if first {
			if err := t.send(r, buf, peer, k); err != nil {
				return err
			}
			return t.recv(r, buf, peer, k)
		}
		if err := t.recv(r, buf, peer, k); err != nil {
			return err
		}
		return t.send(r, buf, peer, k)
	})
}

var multiPingpong = Workload{
	Name:  "multi-pingpong",
	Doc:   "every process of node 0 bounces a message with one of the last node (FC paper, section 5.3)",
	Sizes: []int{host.EagerMax}, Iterations: 20, Warmup: 2, halfTrip: true,
	messages: func(c *Config) int { return 2 * c.Procs },
	active:   func(c *Config) int { return 2 * c.Procs },
	check: func(c *Config) error {
		if c.Nodes < 2 {
			return fmt.Errorf("%w: multi-pingpong runs between two nodes: set --nodes to at least 2", drivers.ErrConfig)
		}
		return nil
	},
	body: func(t *task, r *host.Rank, n int) error {
		far := r.Size() - t.c.Procs
		switch {
		case r.ID() < t.c.Procs:
			return t.bounce(r, far+r.ID(), n, true)
		case r.ID() >= far:
			return t.bounce(r, r.ID()-far, n, false)
		}
		return nil
	},
}

var alltoall = Workload{
	Name: "alltoall", collective: true, kind: host.Alltoall,
	Doc:   "every rank sends one message to every other, then receives from every other (FC paper, section 5.3)",
	Sizes: []int{host.EagerMax}, Iterations: 2, Warmup: 1,
	messages: func(c *Config) int { return c.Ranks() * (c.Ranks() - 1) },
	buffers:  func(c *Config) int { return 2 * c.Ranks() * host.Alltoall.Longest(c.Algorithm, c.Ranks()) },
	body: func(t *task, r *host.Rank, n int) error {
		algorithm := cmp.Or(t.c.Algorithm, host.Linear)
		if err := r.SetAlgorithm(host.Alltoall, algorithm); err != nil {
			return err
		}
		if n <= host.EagerMax && algorithm == host.Linear {
			return t.alltoallEager(r, n)
		}
		out, err := r.Alloc(n * r.Size())
		if err != nil {
			return err
		}
		in, err := r.Alloc(n * r.Size())
		if err != nil {
			return err
		}
		return t.iterate(r, func(k int) error {
			for d := range r.Size() {
				fill(out[d*n:(d+1)*n], t.c.Seed, r.ID(), d, k)
			}
			if err := r.Alltoall(out, in, n); err != nil {
				return err
			}
			for s := range r.Size() {
				if err := verify(in[s*n:(s+1)*n], t.c.Seed, s, r.ID(), k); err != nil {
					return err
				}
			}
			t.bytes[r.ID()] += uint64(n * (r.Size() - 1))
			return r.Barrier()
		})
	},
}

// alltoallEager generates and verifies block by block, because a thousand ranks with a thousand
// blocks each would need more memory than the simulation.
func (t *task) alltoallEager(r *host.Rank, n int) error {
	out, in := make([]byte, n), make([]byte, n)
	known := &recall{seed: t.c.Seed, self: r.ID()}
	r.UseContents(known)
	defer r.UseContents(nil) // all messages have been received
	return t.iterate(r, func(k int) error {
		known.k = k
		if err := r.AlltoallEach(n,
			func(to int) []byte { fill(out, t.c.Seed, r.ID(), to, k); return out },
			func(int) []byte { return in },
			func(from int) error { return verify(in, t.c.Seed, from, r.ID(), k) },
		); err != nil {
			return err
		}
		t.bytes[r.ID()] += uint64(n * (r.Size() - 1))
		return r.Barrier()
	})
}

var hotspot = Workload{
	Name:  "hotspot",
	Doc:   "every rank sends to rank 0; with --nvm: some ranks to slow memory, the others past them",
	Sizes: []int{256}, Iterations: 10, Warmup: 1,
	messages: func(c *Config) int { return c.Ranks() - 1 },
	buffers:  func(c *Config) int { return flowWindow*(1+max(c.Hot, 1)) + 1 },
	body: func(t *task, r *host.Rank, n int) error {
		if t.traffic != nil {
			return t.congest(r, n)
		}
		buf, err := r.Alloc(n)
		if err != nil {
			return err
		}
		next := make([]int, r.Size()) // by rank: next expected message
		return t.iterate(r, func(k int) error {
			if r.ID() != 0 {
				return t.send(r, buf, 0, k)
			}
			for range r.Size() - 1 {
				st, err := r.Recv(host.AnySource, tagApp, buf)
				if err != nil {
					return err
				}
				if err := verify(buf, t.c.Seed, st.Source, 0, next[st.Source]); err != nil {
					return err
				}
				next[st.Source]++
				t.bytes[r.ID()] += uint64(st.Bytes)
			}
			return nil
		})
	},
}

var random = Workload{
	Name:  "random",
	Doc:   "every rank sends messages of random length to random ranks",
	Sizes: []int{host.EagerMax}, Iterations: 20, posts: true,
	messages: (*Config).Ranks,
	buffers:  func(c *Config) int { return min(c.Iterations+c.Warmup, randomBatch) + 1 },
	body:     (*task).random,
}

// randomBatch is the number of messages that a rank sends before it receives those of the others.
// It bounds the memory of a run of any length.
const randomBatch = 1 << 12

// random sends this rank's messages and receives all messages of the others batch by batch: every
// rank derives the whole traffic from the seed.
func (t *task) random(r *host.Rank, n int) error {
	x := &randomRank{task: t, r: r, mine: newPlan(t.c, n, r.ID()), sent: make([]int, r.Size()), got: make([]int, r.Size())}
	for from := range r.Size() {
		x.plans = append(x.plans, newPlan(t.c, n, from))
	}
	last := t.c.Warmup + t.c.Iterations
	err := t.iterate(r, func(k int) error {
		if err := x.sendNext(); err != nil || len(x.sends) < randomBatch || k == last-1 {
			return err
		}
		if err := x.receiveBatch(n); err != nil {
			return err
		}
		return x.freeBatch()
	})
	if err == nil {
		err = x.receiveBatch(n)
	}
	t.timed[r.ID()].to = r.Now()
	return err
}

// A randomRank is one rank of the workload random.
type randomRank struct {
	*task
	r       *host.Rank
	mine    *plan
	plans   []*plan // by rank: the traffic received so far
	sent    []int   // by rank: number of messages
	got     []int
	sends   []*host.Request // of the batch
	buffers [][]byte        // of the batch
}

func (x *randomRank) sendNext() error {
	to, length := x.mine.next()
	buf, err := x.r.Alloc(length)
	if err != nil {
		return err
	}
	fill(buf, x.c.Seed, x.r.ID(), to, x.sent[to])
	x.sent[to]++
	q, err := x.r.Isend(to, tagApp, buf)
	x.sends, x.buffers = append(x.sends, q), append(x.buffers, buf)
	return err
}

// receiveBatch receives the messages that the others have sent here in as many iterations as this
// rank has sent messages, and waits for its own sends.
func (x *randomRank) receiveBatch(n int) error {
	buf, err := x.r.Alloc(n)
	if err != nil {
		return err
	}
	for from := range x.r.Size() {
		if from == x.r.ID() {
			continue
		}
		for range x.sends {
			to, length := x.plans[from].next()
			if to != x.r.ID() {
				continue
			}
			if err := x.recv(x.r, buf[:length], from, x.got[from]); err != nil {
				return err
			}
			x.got[from]++
		}
	}
	x.buffers = append(x.buffers, buf)
	return x.r.Waitall(x.sends)
}

// freeBatch frees the buffers of a batch.
func (x *randomRank) freeBatch() error {
	for _, b := range x.buffers {
		if err := x.r.Free(b); err != nil {
			return err
		}
	}
	x.sends, x.buffers = x.sends[:0], x.buffers[:0]
	return nil
}

// A plan is the traffic of one rank.
type plan struct {
	state   uint64
	from    int
	ranks   int
	longest int
}

func newPlan(c *Config, longest, from int) *plan {
	p := &plan{state: uint64(c.Seed) ^ uint64(from)<<32, from: from, ranks: c.Ranks(), longest: longest}
	mix(&p.state)
	return p
}

func (p *plan) next() (to, length int) {
	to = int(mix(&p.state) % uint64(p.ranks-1))
	if to >= p.from {
		to++
	}
	return to, int(mix(&p.state) % uint64(p.longest+1))
}
