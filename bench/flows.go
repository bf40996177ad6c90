package bench

import (
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// flowWindow is how many messages of a flow are under way.
const flowWindow = 4

// traffic is what the ranks of a hotspot with slow memory share: the plan, and
// what came of it. Simulated time runs one rank at a time, so it needs no lock,
// and the order in which they look at it is the same in every run.
type traffic struct {
	flows   []flow
	lanes   []laneTraffic // of flow i / Procs, process i % Procs
	victims int           // flows that have not received all; hot ones go on until there are none
	held    *heldLinks
	now     func() uint64 // cycles
	began   uint64        // cycle at which all ranks were ready
	cycles  uint64        // of the measurement
}

// laneTraffic is one flow between two processes.
type laneTraffic struct {
	flow
	rankFrom, rankTo int
	sent, posted     int // messages, receives
	received         int
	bytes            uint64 // timed
	start, end       drivers.Time
}

// FlowResult is what one flow between two ranks got.
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
	flows, err := planFlows(w.Sys.Info().Dims, slow, c.Hot)
	if err != nil {
		return nil, err
	}
	f := &traffic{flows: flows, held: c.held, now: func() uint64 { return uint64(w.Sys.Now()) }}
	for _, x := range flows {
		for p := range c.Procs {
			f.lanes = append(f.lanes, laneTraffic{flow: x, rankFrom: x.from*c.Procs + p, rankTo: x.to*c.Procs + p})
			if x.class != HotFlow {
				f.victims++
			}
		}
	}
	return f, nil
}

// results gives the throughput of every flow.
func (f *traffic) results() (list []FlowResult) {
	if f == nil {
		return nil
	}
	for _, l := range f.lanes {
		r := FlowResult{From: l.rankFrom, To: l.rankTo, Class: l.class, Bytes: l.bytes, Elapsed: l.end - l.start}
		if r.Elapsed > 0 {
			r.MBps = float64(r.Bytes) / 1e6 / (float64(r.Elapsed) / float64(drivers.Second))
		}
		list = append(list, r)
	}
	return list
}

// A place is a buffer of one flow at one rank, with the request that uses it.
type place struct {
	lane    *laneTraffic
	buf     []byte
	k       int
	receive bool
}

// pump keeps flowWindow messages of each of a rank's flows under way until the
// flows are over.
type pump struct {
	t        *task
	r        *host.Rank
	places   []place
	requests []*host.Request
	active   int
}

// congest is hotspot with slow memory, at one rank.
func (t *task) congest(r *host.Rank, n int) error {
	p := &pump{t: t, r: r}
	f := t.traffic
	for i := range f.lanes {
		l := &f.lanes[i]
		if l.rankFrom != r.ID() && l.rankTo != r.ID() {
			continue
		}
		for range flowWindow {
			buf, err := r.Alloc(n)
			if err != nil {
				return err
			}
			p.places = append(p.places, place{lane: l, buf: buf, receive: l.rankTo == r.ID()})
		}
	}
	p.requests = make([]*host.Request, len(p.places))
	if err := r.Barrier(); err != nil {
		return err
	}
	f.begin(r.Now(), t.c.Warmup)
	if err := p.run(); err != nil {
		return err
	}
	t.timed[r.ID()].to = r.Now()
	return nil
}

// begin notes when the flows start; the last rank counts.
func (f *traffic) begin(now drivers.Time, warmup int) {
	if f.held != nil {
		f.held.on = true
	}
	f.began = f.now()
	if warmup > 0 {
		return // the last warm-up message begins the measurement of a flow
	}
	for i := range f.lanes {
		f.lanes[i].start = now
	}
}

func (p *pump) run() error {
	for i := range p.places {
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
		if p.places[i].receive {
			if err := p.arrived(&p.places[i], st); err != nil {
				return err
			}
			if st.Bytes == 0 {
				continue // the sender has ended this place
			}
		}
		if err := p.post(i); err != nil {
			return err
		}
	}
	return nil
}

// post begins the next message of a place. A flow ends with one empty message
// for every receive that waits for it.
func (p *pump) post(i int) (err error) {
	x := &p.places[i]
	switch {
	case x.receive:
		x.k = x.lane.posted // messages of a pair match in order
		x.lane.posted++
		p.requests[i], err = p.r.Irecv(x.lane.rankFrom, tagApp, x.buf)
	case x.buf == nil:
		return nil // its end has been sent
	default:
		x.k = x.lane.sent
		x.lane.sent++
		if p.over(x) {
			x.buf = nil
		} else {
			fill(x.buf, p.t.c.Seed, p.r.ID(), x.lane.rankTo, x.k)
		}
		p.requests[i], err = p.r.Isend(x.lane.rankTo, tagApp, x.buf)
	}
	p.active++
	return err
}

// over tells whether a flow has sent enough: victims so many messages, hot ones
// until the victims have got all theirs.
func (p *pump) over(x *place) bool {
	enough := x.k >= p.t.c.Warmup+p.t.c.Iterations
	return enough && (x.lane.class != HotFlow || p.t.traffic.victims == 0)
}

// arrived checks and counts one message.
func (p *pump) arrived(x *place, st host.Status) error {
	if st.Bytes == 0 {
		return nil
	}
	c, k := p.t.c, x.k
	if st.Bytes != len(x.buf) {
		return fmt.Errorf("message %d from rank %d to rank %d has %d bytes, expected %d (seed %d)", k, x.lane.rankFrom, x.lane.rankTo, st.Bytes, len(x.buf), c.Seed)
	}
	if err := verify(x.buf, c.Seed, x.lane.rankFrom, x.lane.rankTo, k); err != nil {
		return err
	}
	p.t.bytes += uint64(st.Bytes)
	l := x.lane
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
		p.t.traffic.victimDone()
	}
	return nil
}

// victimDone ends the measurement with the last victim.
func (f *traffic) victimDone() {
	if f.victims--; f.victims > 0 {
		return
	}
	if f.held != nil {
		f.held.on = false
	}
	f.cycles = f.now() - f.began
}
