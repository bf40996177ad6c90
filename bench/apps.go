package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/rendezvous"
)

// AppPrefix begins the names of workloads that are the communication of an application.
const AppPrefix = "pattern:"

// An app is how an application communicates and when it computes, without what it computes (SPEC,
// sections 4.4.1 and 4.4.2).
type app struct {
	name, doc string
	// sends is what all of so many ranks send in an iteration, where the longest message has n bytes.
	sends func(ranks, n int) []lot
	// buffers is how many of them, and of those that it receives, it holds at a time.
	buffers func(ranks int) int
	check   func(*Config) error
	// begin makes what a rank does in one iteration, after what it does once.
	begin func(p *player) (func(k int) error, error)
	// end is what it does after the last one; nil: nothing.
	end func(p *player)
}

// IsApp tells whether a workload is one that computes between its messages, as Config.Compute says.
func IsApp(workload string) bool {
	return slices.ContainsFunc(apps, func(a *app) bool { return AppPrefix+a.name == workload })
}

// DefaultCompute is what nicloop run has such workloads compute, unless told otherwise.
const DefaultCompute = 50 * drivers.Microsecond

func (a *app) workload() *Workload {
	return &Workload{
		Name: AppPrefix + a.name, Doc: a.doc, Sizes: []int{128 << 10}, Iterations: 20, Warmup: 2, check: a.check, computes: true,
		messages: func(c *Config) int { return countOf(a.sends(c.Ranks(), 1)) },
		lots:     func(c *Config, n int) []lot { return a.sends(c.Ranks(), n) },
		buffers:  func(c *Config) int { return a.buffers(c.Ranks()) },
		body:     func(t *task, r *host.Rank, n int) error { return t.play(a, r, n) },
	}
}

// alike: every rank sends so many messages, all of them of n bytes.
func alike(each func(ranks int) int) func(ranks, n int) []lot {
	return func(ranks, n int) []lot { return []lot{{ranks * each(ranks), n}} }
}

// AppStats are what ranks did between the messages of a pattern, and what became of RTRs.
type AppStats struct {
	// Means over the ranks, of one timed iteration.
	Wait    drivers.Time `json:"wait_ps"`    // in Wait and Waitall: what SPEC, section 4.4.2, measures
	Send    drivers.Time `json:"send_ps"`    // in sends that block
	Receive drivers.Time `json:"receive_ps"` // in receives that block
	Compute drivers.Time `json:"compute_ps"` // producing, consuming and packing
	// Of all ranks, warm-up included.
	RTRs     uint64 `json:"rtrs"`
	Used     uint64 `json:"rtrs_used"`
	Messages uint64 `json:"message_bytes"`
	// Extra is the bytes of RTRs that were not used: what speculation adds (section 4.4.3). It needs
	// no acknowledgements.
	Extra uint64 `json:"extra_bytes"`
}

// RTRUsage is the share of the RTRs that their messages have used.
func (s *AppStats) RTRUsage() float64 { return float64(s.Used) / float64(max(s.RTRs, 1)) }

// controlBytes is what a control message is, with its header.
const controlBytes = rendezvous.ControlBytes + host.HeaderBytes

// addApp says what the last row's ranks did besides.
func (res *Result) addApp(t *task, spoken AppStats) {
	row := &res.Rows[len(res.Rows)-1]
	for _, s := range t.played {
		spoken.Wait, spoken.Send, spoken.Compute = spoken.Wait+s.Wait, spoken.Send+s.Send, spoken.Compute+s.Compute
		spoken.Receive += s.Receive
	}
	each := drivers.Time(len(t.played) * t.c.Iterations)
	spoken.Wait, spoken.Send, spoken.Receive, spoken.Compute = spoken.Wait/each, spoken.Send/each, spoken.Receive/each, spoken.Compute/each
	row.App = &spoken
}

// spoken is what all ranks have said so far.
func (w *World) spoken() (s AppStats) {
	for _, r := range w.Ranks {
		x := r.RendezvousStats()
		s.RTRs, s.Used, s.Messages = s.RTRs+x.Offered, s.Used+x.Used, s.Messages+r.Stats().BytesSent
	}
	s.Extra = (s.RTRs - s.Used) * uint64(controlBytes)
	return s
}

func (s AppStats) minus(b AppStats) AppStats {
	s.RTRs, s.Used, s.Messages, s.Extra = s.RTRs-b.RTRs, s.Used-b.Used, s.Messages-b.Messages, s.Extra-b.Extra
	return s
}

// ---- a rank of a pattern ----

// A player is one rank: it sends and receives messages of n bytes, and computes.
type player struct {
	t    *task
	r    *host.Rank
	n    int
	rnd  uint64
	done AppStats // in timed iterations
	err  error    // of telling memory of computations
}

func (t *task) play(a *app, r *host.Rank, n int) error {
	p := &player{t: t, r: r, n: n, rnd: uint64(t.c.Seed)<<16 ^ uint64(r.ID())}
	r.LengthenGets(t.c.GetsLonger)
	once, err := a.begin(p)
	if err != nil {
		return err
	}
	if err := t.iterate(r, func(k int) error {
		if k == t.c.Warmup {
			p.done = AppStats{}
		}
		return errors.Join(once(k), p.err)
	}); err != nil {
		return err
	}
	t.played[r.ID()] = p.done
	if a.end != nil {
		a.end(p)
	}
	return nil
}

// work produces or consumes the data of an iteration: nothing is called meanwhile.
func (p *player) work() { p.workPart(1) }

// workPart does one of so many equal parts of that.
func (p *player) workPart(parts int) {
	d := p.t.c.Compute / drivers.Time(parts)
	if j := p.t.c.Jitter; j > 0 {
		d += d * drivers.Time(mix(&p.rnd)%uint64(100*j+1)) / 10000
	}
	p.compute(d)
}

// pack gathers the data of a message of n bytes into its buffer.
func (p *player) pack(n int) { p.compute(drivers.Time(n) * p.t.c.Cost.CopyByte) }

func (p *player) compute(d drivers.Time) {
	p.tell(true)
	p.r.Compute(d)
	p.tell(false)
	p.done.Compute += d
}

// tell has memory know whether the rank computes, where that makes a difference.
func (p *player) tell(computes bool) {
	if p.t.beside != nil && p.err == nil {
		p.err = p.t.beside(p.r.ID(), computes)
	}
}

// buffers are so many of a longest message each.
func (p *player) buffers(count int) ([][]byte, error) { return p.buffersOf(count, p.n) }

func (p *player) buffersOf(count, n int) (list [][]byte, err error) {
	for range count {
		b, err := p.r.Alloc(n)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// isend begins to send message k to a rank.
func (p *player) isend(to, tag, k int, buf []byte) (*host.Request, error) {
	fill(buf, p.t.c.Seed, p.r.ID(), to, k)
	return p.r.Isend(to, tag, buf)
}

// send is a send that blocks.
func (p *player) send(to, tag, k int, buf []byte) error {
	fill(buf, p.t.c.Seed, p.r.ID(), to, k)
	from := p.r.Now()
	err := p.r.Send(to, tag, buf)
	p.done.Send += p.r.Now() - from
	return err
}

// An arrival is a receive: of message k from a rank.
type arrival struct {
	q       *host.Request
	buf     []byte
	from, k int
}

func (p *player) irecv(from, tag, k int, buf []byte) (arrival, error) {
	q, err := p.r.Irecv(from, tag, buf)
	return arrival{q, buf, from, k}, err
}

// recv is a receive that blocks.
func (p *player) recv(from, tag, k int, buf []byte) error {
	began := p.r.Now()
	st, err := p.r.Recv(from, tag, buf)
	p.done.Receive += p.r.Now() - began
	if err != nil {
		return err
	}
	return p.check(arrival{nil, buf, from, k}, st)
}

// wait waits for sends.
func (p *player) wait(sends ...*host.Request) error {
	from := p.r.Now()
	err := p.r.Waitall(sends)
	p.done.Wait += p.r.Now() - from
	return err
}

// take waits for receives, and verifies what has come.
func (p *player) take(list ...arrival) error {
	for _, a := range list {
		from := p.r.Now()
		st, err := p.r.Wait(a.q)
		p.done.Wait += p.r.Now() - from
		if err != nil {
			return err
		}
		if err := p.check(a, st); err != nil {
			return err
		}
	}
	return nil
}

// check verifies what has come, and of whom.
func (p *player) check(a arrival, st host.Status) error {
	if st.Source != a.from || st.Bytes != len(a.buf) {
		return fmt.Errorf("message %d to rank %d: %d bytes of rank %d, expected %d of rank %d (seed %d)",
			a.k, p.r.ID(), st.Bytes, st.Source, len(a.buf), a.from, p.t.c.Seed)
	}
	p.t.bytes[p.r.ID()] += uint64(st.Bytes)
	return verify(a.buf, p.t.c.Seed, a.from, p.r.ID(), a.k)
}

// ring is the rank so many further.
func (p *player) ring(further int) int {
	n := p.r.Size()
	return ((p.r.ID()+further)%n + n) % n
}
