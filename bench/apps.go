package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/rendezvous"
)

// AppPrefix is the prefix of workloads that have the communication pattern of an application.
const AppPrefix = "pattern:"

// An app is the pattern of communication and computation of an application, without its arithmetic
// (SPEC, sections 4.4.1 and 4.4.2).
type app struct {
	name, doc string
	// sends returns the messages of all ranks in one iteration, for a longest message of n bytes.
	sends func(ranks, n int) []lot
	// buffers returns the number of message buffers that a rank holds at a time, for sends and
	// receives.
	buffers func(ranks int) int
	check   func(*Config) error
	// begin runs the setup of a rank and returns the function of one iteration.
	begin func(p *player) (func(k int) error, error)
	// end runs after the last iteration; nil: nothing.
	end func(p *player)
}

// IsApp reports whether a workload computes between its messages, for Config.Compute.
func IsApp(workload string) bool {
	return slices.ContainsFunc(apps, func(a *app) bool { return AppPrefix+a.name == workload })
}

// DefaultCompute is the default of --compute for such workloads.
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

// alike returns one lot: every rank sends the same number of messages, all of n bytes.
func alike(each func(ranks int) int) func(ranks, n int) []lot {
	return func(ranks, n int) []lot { return []lot{{ranks * each(ranks), n}} }
}

// AppStats describes the time that ranks of a pattern spend outside their messages, and the use of
// RTRs.
type AppStats struct {
	// Means over all ranks, per timed iteration.
	Wait    drivers.Time `json:"wait_ps"`    // in Wait and Waitall, as in SPEC, section 4.4.2
	Send    drivers.Time `json:"send_ps"`    // in blocking sends
	Receive drivers.Time `json:"receive_ps"` // in blocking receives
	Compute drivers.Time `json:"compute_ps"` // producing, consuming and packing
	// Sums over all ranks, including warm-up.
	RTRs     uint64 `json:"rtrs"`
	Used     uint64 `json:"rtrs_used"`
	Messages uint64 `json:"message_bytes"`
	// Extra is the number of bytes of unused RTRs: the overhead of speculation (section 4.4.3). RTRs
	// need no acknowledgements.
	Extra uint64 `json:"extra_bytes"`
}

// RTRUsage returns the share of RTRs that a message has used.
func (s *AppStats) RTRUsage() float64 { return float64(s.Used) / float64(max(s.RTRs, 1)) }

// controlBytes is the length of a control message with its header.
const controlBytes = rendezvous.ControlBytes + host.HeaderBytes

// addApp adds the statistics of the ranks to the last row.
func (res *Result) addApp(t *task, sum AppStats) {
	row := &res.Rows[len(res.Rows)-1]
	for _, s := range t.played {
		sum.Wait, sum.Send, sum.Compute = sum.Wait+s.Wait, sum.Send+s.Send, sum.Compute+s.Compute
		sum.Receive += s.Receive
	}
	each := drivers.Time(len(t.played) * t.c.Iterations)
	sum.Wait, sum.Send, sum.Receive, sum.Compute = sum.Wait/each, sum.Send/each, sum.Receive/each, sum.Compute/each
	row.App = &sum
}

// rtrStats sums the RTR counters of all ranks so far.
func (w *World) rtrStats() (s AppStats) {
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
	done AppStats // of the timed iterations
	err  error    // of switching the memory rate
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

// work computes the data of an iteration, without library calls.
func (p *player) work() { p.workPart(1) }

// workPart computes one of several equal parts of an iteration.
func (p *player) workPart(parts int) {
	d := p.t.c.Compute / drivers.Time(parts)
	if j := p.t.c.Jitter; j > 0 {
		d += d * drivers.Time(mix(&p.rnd)%uint64(100*j+1)) / 10000
	}
	p.compute(d)
}

// pack charges the time of packing n bytes into a message buffer.
func (p *player) pack(n int) { p.compute(drivers.Time(n) * p.t.c.Cost.CopyByte) }

func (p *player) compute(d drivers.Time) {
	p.tell(true)
	p.r.Compute(d)
	p.tell(false)
	p.done.Compute += d
}

// tell switches the memory rate when the rank begins or ends to compute, if the configuration has
// two.
func (p *player) tell(computes bool) {
	if p.t.beside != nil && p.err == nil {
		p.err = p.t.beside(p.r.ID(), computes)
	}
}

// buffers allocates buffers for the longest message.
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

// send is a blocking send.
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

// recv is a blocking receive.
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

// take waits for receives and verifies their messages.
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

// check verifies the bytes and the source of a message.
func (p *player) check(a arrival, st host.Status) error {
	if st.Source != a.from || st.Bytes != len(a.buf) {
		return fmt.Errorf("message %d to rank %d: received %d bytes from rank %d, expected %d from rank %d (seed %d)",
			a.k, p.r.ID(), st.Bytes, st.Source, len(a.buf), a.from, p.t.c.Seed)
	}
	p.t.bytes[p.r.ID()] += uint64(st.Bytes)
	return verify(a.buf, p.t.c.Seed, a.from, p.r.ID(), a.k)
}

// ring returns the rank at a distance on the ring of ranks.
func (p *player) ring(further int) int {
	n := p.r.Size()
	return ((p.r.ID()+further)%n + n) % n
}
