package load

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nicloop/nicloop/bench/steady"
	"github.com/nicloop/nicloop/cosim/fabric/packets"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"
)

// A Study measures a network at several loads.
type Study struct {
	Config packets.Config // the rate is set per point
	Flits  bool           // simulate flit by flit, with the RTL's routers and buffers
	Rule   Rule
	Seeds  int // seeds of traffic and random choices per rate; the first is that of Config
	Jobs   int // concurrent points
	// Reseed returns the configuration for another seed, with its permutation and slow nodes. Nil:
	// only the random choices change.
	Reseed func(c packets.Config, seed uint64) (packets.Config, error)
	// Step reports progress: done of the current number of points.
	Step func(done, of int)
	Log  *logrus.Logger // nil: the standard logger
}

// A Rate is a load measured with one or more seeds.
type Rate struct {
	Rate     float64 `json:"offered_share"`
	Accepted float64 `json:"accepted_share"`
	Within   float64 `json:"within_share"`            // half width of the 95 % interval: between seeds, or from the batches of one
	Latency  float64 `json:"latency_cycles,omitzero"` // mean; absent if no packet was measured
	Spread   float64 `json:"latency_within_cycles"`   // between seeds
	// Steady is transient if one of the points is.
	Steady steady.State `json:"steady"`
	State  State        `json:"state"`
	Seeds  []*Point     `json:"seeds"`
}

// Curve measures a list of rates.
func (s *Study) Curve(ctx context.Context, rates []float64) ([]*Rate, error) {
	seeds := max(s.Seeds, 1)
	if err := s.checkMemory(len(rates) * seeds); err != nil {
		return nil, err
	}
	points := make([]*Point, len(rates)*seeds)
	done := 0
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(s.Jobs, 1))
	for i := range points {
		g.Go(func() (err error) {
			if points[i], err = s.one(ctx, rates[i/seeds], i%seeds); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; s.Step != nil {
				s.Step(done, len(points))
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var list []*Rate
	for i, rate := range rates {
		list = append(list, gather(rate, points[i*seeds:(i+1)*seeds]))
	}
	return list, nil
}

// checkMemory compares the memory of the concurrently simulated networks with the memory available.
func (s *Study) checkMemory(points int) error {
	return limits.CheckMemory(s.Config.Topology.String(), s.memory(points), "the size of the topology, --depth or --jobs")
}

// What a study occupies, in bytes, measured as peaks of resident memory: see TestMemory.
const (
	memoryOfProgram = 38 << 20 // before the first network
	garbage         = 1.6      // peak of the heap by what a network of the packet engine allocates
	// The flit engine, per node, per flit of a queue and per pair of nodes.
	memoryOfFlitNode = 36 << 10
	memoryOfFlit     = 160
	memoryOfDistance = 8
)

// memory estimates how much a study of some points occupies.
func (s *Study) memory(points int) float64 {
	c := &s.Config
	each := garbage * c.Memory()
	if n := float64(c.Topology.Nodes()); s.Flits {
		queues := float64(c.Topology.Ports(0) * c.Routing.VCs())
		each = n * (n*memoryOfDistance + memoryOfFlitNode + queues*float64(c.Depth)*memoryOfFlit)
	}
	return memoryOfProgram + each*float64(min(points, max(s.Jobs, 1)))
}

func (s *Study) one(ctx context.Context, rate float64, seed int) (*Point, error) {
	if ctx.Err() != nil { // do not build the networks of all remaining points
		return nil, context.Cause(ctx)
	}
	c := s.Config
	c.Rate = rate
	if seed > 0 {
		c.Seed += uint64(seed)
		if s.Reseed != nil {
			var err error
			if c, err = s.Reseed(c, c.Seed); err != nil {
				return nil, err
			}
		}
	}
	build := Packets
	if s.Flits {
		build = Flits
	}
	p, err := Measure(ctx, build, c, s.Rule, nil)
	if err == nil {
		logs.Layer(s.Log, "load").WithFields(logrus.Fields{"rate": rate, "seed": c.Seed, "accepted": p.Accepted, "state": p.State}).Debug("load measured")
	}
	return p, err
}

func gather(rate float64, points []*Point) *Rate {
	r := &Rate{Rate: rate, Seeds: points, Steady: steady.Steady}
	var accepted, latency []float64
	offered := 0.0
	for _, p := range points {
		accepted = append(accepted, p.Accepted)
		if p.Packets > 0 {
			latency = append(latency, p.Latency.Mean)
		}
		if p.Steady != steady.Steady {
			r.Steady = p.Steady
		}
		offered += p.offered
	}
	r.Accepted, r.Within = steady.Interval(accepted)
	r.Latency, r.Spread = steady.Interval(latency)
	if len(points) == 1 {
		r.Within = points[0].Within
	}
	r.State = stateOf(rate, r.Accepted, r.Within, offered, r.Steady)
	return r
}

// errNever: no rate saturates the network, or every rate does.
var errNever = errors.New("no saturation")

// Saturation finds by bisection between 0 and 1, to within the given accuracy, the highest rate of
// which the network accepts 95 %. It returns all rates that it measured.
func (s *Study) Saturation(ctx context.Context, within float64) (rate float64, tried []*Rate, err error) {
	low, high := 0.0, 1.0
	for high-low > within {
		at := (low + high) / 2
		if len(tried) == 0 {
			at = high
		}
		r, err := s.Curve(ctx, []float64{at})
		if err != nil {
			return 0, tried, err
		}
		tried = append(tried, r...)
		switch {
		case r[0].Accepted < acceptedShare*at: // a search must decide, so only the mean counts
			high = at
		case at == 1:
			return 1, tried, nil
		default:
			low = at
		}
	}
	if low == 0 {
		return 0, tried, fmt.Errorf("%w: less than %g is taken already", errNever, within)
	}
	return low, tried, nil
}
