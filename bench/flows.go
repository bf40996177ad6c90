package bench

import (
	"fmt"
	"sync/atomic"

	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// flowWindow is the number of messages of a flow in flight.
const flowWindow = 4

// traffic is shared by the ranks of a hotspot with slow memory: the plan and the results. Ranks may
// run on several threads, so each writes only its own part, and sees the end of the victims only
// after vtime.Window cycles.
type traffic struct {
	flows   []flow
	pairs   []pairTraffic // of flow i / Procs, process i % Procs
	starts  []start       // by rank
	victims atomic.Int64  // number of unfinished victim flows; hot flows continue until it is 0
	ended   atomic.Uint64 // cycle in which the last finished so far
	held    *heldLinks
	cycle   func(rank int) uint64
}

// A start is the time at which a rank was ready.
type start struct {
	at    drivers.Time
	cycle uint64
}

// pairTraffic is one flow between two processes. The sender writes what was sent, the receiver the
// rest.
type pairTraffic struct {
	flow
	rankFrom, rankTo int
	sent, posted     int // messages, receives
	received         int
	bytes            uint64 // timed
	start, end       drivers.Time
}

// FlowResult is the throughput of one flow between two ranks.
type FlowResult struct {
	From    int          `json:"from"` // ranks
	To      int          `json:"to"`
	Class   string       `json:"class"`
	Bytes   uint64       `json:"bytes"`
	Elapsed drivers.Time `json:"elapsed_ps"`
	MBps    float64      `json:"mb_per_s"`
}

func (w *World) newTraffic() (*traffic, error) {
	c := &w.Config
	if c.Workload != hotspot.Name || len(c.NVM) == 0 {
		return nil, nil
	}
	slow := make([]int, len(c.NVM))
	for i, n := range c.NVM {
		slow[i] = n.Node
	}
	on, err := routesOf(w.Sys.Info())
	if err != nil {
		return nil, err
	}
	flows, err := planFlows(on, slow, c.Hot)
	if err != nil {
		return nil, err
	}
	f := &traffic{flows: flows, held: c.held, starts: make([]start, len(w.Ranks)), cycle: func(rank int) uint64 { return uint64(w.procs[rank].Cycle()) }}
	for _, x := range flows {
		for p := range c.Procs {
			f.pairs = append(f.pairs, pairTraffic{flow: x, rankFrom: x.from*c.Procs + p, rankTo: x.to*c.Procs + p})
			if x.class != HotFlow {
				f.victims.Add(1)
			}
		}
	}
	return f, nil
}

// results returns the throughput of every flow.
func (f *traffic) results() (list []FlowResult) {
	if f == nil {
		return nil
	}
	for _, l := range f.pairs {
		if l.start == 0 { // no warm-up message
			l.start = f.ready().at
		}
		r := FlowResult{From: l.rankFrom, To: l.rankTo, Class: l.class, Bytes: l.bytes}
		if l.end > 0 { // otherwise nothing arrived after the warm-up
			r.Elapsed = l.end - l.start
		}
		if r.Elapsed > 0 {
			r.MBps = float64(r.Bytes) / 1e6 / (float64(r.Elapsed) / float64(drivers.Second))
		}
		list = append(list, r)
	}
	return list
}

// An outstanding is a message of a flow at one rank: its buffer and its request.
type outstanding struct {
	pair    *pairTraffic
	buf     []byte
	k       int
	receive bool
}

// pump keeps flowWindow messages of each of a rank's flows in flight until the flows are over.
type pump struct {
	t        *task
	r        *host.Rank
	messages []outstanding
	requests []*host.Request
	active   int
}

// congest is hotspot with slow memory, at one rank.
func (t *task) congest(r *host.Rank, n int) error {
	p := &pump{t: t, r: r}
	f := t.traffic
	for i := range f.pairs {
		l := &f.pairs[i]
		if l.rankFrom != r.ID() && l.rankTo != r.ID() {
			continue
		}
		for range flowWindow {
			buf, err := r.Alloc(n)
			if err != nil {
				return err
			}
			p.messages = append(p.messages, outstanding{pair: l, buf: buf, receive: l.rankTo == r.ID()})
		}
	}
	p.requests = make([]*host.Request, len(p.messages))
	if err := r.Barrier(); err != nil {
		return err
	}
	f.begin(r)
	if err := p.run(); err != nil {
		return err
	}
	t.timed[r.ID()].to = r.Now()
	return nil
}

// begin records when a rank starts its flows.
func (f *traffic) begin(r *host.Rank) {
	if f.held != nil {
		f.held.on = true
	}
	f.starts[r.ID()] = start{r.Now(), f.cycle(r.ID())}
}

// ready returns when the last rank was ready.
func (f *traffic) ready() (last start) {
	for _, s := range f.starts {
		last.at, last.cycle = max(last.at, s.at), max(last.cycle, s.cycle)
	}
	return last
}

// cycles returns the length of the measurement.
func (f *traffic) cycles() uint64 { return f.ended.Load() - f.ready().cycle }

func (p *pump) run() error {
	for i := range p.messages {
		if err := p.post(i); err != nil {
			return err
		}
	}
	for p.active > 0 {
		i, st, err := p.r.Waitany(p.requests)
		if err != nil {
			return err
		}
		p.requests[i] = nil
		p.active--
		if p.messages[i].receive {
			if err := p.arrived(&p.messages[i], st); err != nil {
				return err
			}
			if st.Bytes == 0 {
				continue // ended by the sender
			}
		}
		if err := p.post(i); err != nil {
			return err
		}
	}
	return nil
}

// post begins the next message with a buffer. A flow ends with one empty message for every receive
// that waits for it.
func (p *pump) post(i int) (err error) {
	x := &p.messages[i]
	switch {
	case x.receive:
		x.k = x.pair.posted // messages of a pair match in order
		x.pair.posted++
		p.requests[i], err = p.r.Irecv(x.pair.rankFrom, tagApp, x.buf)
	case x.buf == nil:
		return nil // the end has been sent
	default:
		x.k = x.pair.sent
		x.pair.sent++
		if p.over(x) {
			x.buf = nil
		} else {
			fill(x.buf, p.t.c.Seed, p.r.ID(), x.pair.rankTo, x.k)
		}
		p.requests[i], err = p.r.Isend(x.pair.rankTo, tagApp, x.buf)
	}
	p.active++
	return err
}

// over reports whether a flow has sent enough: victims a fixed number of messages, hot flows until
// the victims are done.
func (p *pump) over(x *outstanding) bool {
	enough := x.k >= p.t.c.Warmup+p.t.c.Iterations
	return enough && (x.pair.class != HotFlow || p.t.traffic.over(p.r.ID()))
}

// arrived verifies and counts one message.
func (p *pump) arrived(x *outstanding, st host.Status) error {
	if st.Bytes == 0 {
		return nil
	}
	c, k := p.t.c, x.k
	if st.Bytes != len(x.buf) {
		return fmt.Errorf("message %d from rank %d to rank %d has %d bytes, expected %d (seed %d)", k, x.pair.rankFrom, x.pair.rankTo, st.Bytes, len(x.buf), c.Seed)
	}
	if err := verify(x.buf, c.Seed, x.pair.rankFrom, x.pair.rankTo, k); err != nil {
		return err
	}
	p.t.bytes[p.r.ID()] += uint64(st.Bytes)
	l := x.pair
	l.received++
	switch {
	case l.received == c.Warmup:
		l.start = p.r.Now()
	case l.received > c.Warmup:
		l.bytes += uint64(st.Bytes)
		l.end = p.r.Now()
	}
	if l.class == HotFlow {
		return nil
	}
	p.t.step()
	if l.received == c.Warmup+c.Iterations {
		p.t.traffic.victimDone(p.r.ID())
	}
	return nil
}

// victimDone records that a rank has received a whole victim flow; the last one ends the
// measurement.
func (f *traffic) victimDone(rank int) {
	at := f.cycle(rank)
	for was := f.ended.Load(); at > was && !f.ended.CompareAndSwap(was, at); was = f.ended.Load() {
	}
	if f.victims.Add(-1) == 0 && f.held != nil {
		f.held.on = false
	}
}

// over reports whether a rank knows that the victims are done. A victim that ends at this time on
// another thread may or may not be counted, but is ignored until its news may have arrived.
func (f *traffic) over(rank int) bool {
	return f.victims.Load() == 0 && f.ended.Load()+vtime.Window <= f.cycle(rank)
}
