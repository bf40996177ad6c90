package packets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nicloop/nicloop/cosim/fabric/congestion"
	"github.com/nicloop/nicloop/cosim/fabric/routing"
	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/cosim/fabric/traffic"
	"github.com/nicloop/nicloop/drivers"
)

// Config describes a network and its traffic.
type Config struct {
	Topology topology.Topology
	Routing  routing.Algorithm

	Flits        int     // per packet
	Depth        int     // flits per queue
	Speedup      float64 // flits that cross a router's port per cycle
	RouterCycles int     // from the head's crossing to the wire
	NodeCycles   int     // latency of the wire from a node to its router

	Traffic traffic.Pattern
	Rate    float64 // flits created per node and cycle
	Seed    uint64

	// Rates, if not nil, are the rates by node instead.
	Rates []float64
	// Watched, if not nil, selects the nodes whose packets' latencies count.
	Watched []bool

	// Slow is, by node, the number of cycles that its memory takes for a flit; nil: 1.
	Slow []int
	// ECN, if not nil, throttles nodes by marks.
	ECN *congestion.ECN
	// Bound limits the unacknowledged packets of a node. It requires traffic between partners:
	// acknowledgements are piggybacked on packets to them, and travel alone, in packets of one
	// flit, when no packet may be sent.
	Bound Bound
	// Window is the limit for PerNode and PerPair.
	Window int
	// AckCycles: acknowledgements and grants use separate wires with this latency. 0: they are
	// piggybacked or travel alone, as described for Bound.
	AckCycles int
	// Paced: a node sends no faster than its share of its partners' memory bandwidth. A real node
	// does not know that.
	Paced bool

	Threads int // 0: 1
	Block   int // cycles that parts simulate independently; 0: the maximum
}

// A Bound selects who limits the packets in flight.
type Bound uint8

// The bounds.
const (
	NoBound Bound = iota
	PerNode       // the sender, for all its partners together
	PerPair       // the sender, for each partner
	Granted       // the receiver, by measurement: congestion.Grant
)

// ParseBound parses a bound: any, a number of packets per node such as 20, or per pair such as
// 20/pair, or granted.
func ParseBound(text string) (b Bound, window int, err error) {
	switch text {
	case "any", "0":
		return NoBound, 0, nil
	case "granted":
		return Granted, 0, nil
	}
	number, pair := strings.CutSuffix(text, "/pair")
	if b = PerNode; pair {
		b = PerPair
	}
	if window, err = strconv.Atoi(number); err != nil || window < 1 {
		return NoBound, 0, refuse("bound %q: expected any, a number of packets, such as 20, or of a pair, such as 20/pair, or granted", text)
	}
	return b, window, nil
}

// Paper returns the router as simulated in the RDRP paper, without topology and traffic.
func Paper() Config {
	return Config{Flits: 16, Depth: 256, Speedup: 2.4, RouterCycles: 2, NodeCycles: 1, Rate: 1, Seed: 1}
}

// Limits of the masks and small integers.
const (
	maxPorts    = 64
	maxQueues   = 128
	maxCapacity = 255
	ticks       = 120 // per cycle

	maxAckCycles = 4096
)

func (c *Config) check() error {
	switch {
	case c.Flits < 1 || c.Flits > 128:
		return refuse("packets of %d flits: expected 1 to 128", c.Flits)
	case c.capacity() < 1 || c.capacity() > maxCapacity:
		return refuse("queues of %d flits: expected 1 to %d packets of %d flits", c.Depth, maxCapacity, c.Flits)
	case !(c.Speedup >= 1 && c.Speedup <= ticks):
		return refuse("speed-up %g: expected 1 or more", c.Speedup)
	case c.RouterCycles < 1 || c.NodeCycles < 1:
		return refuse("routers of %d cycles, wires of nodes of %d: expected at least 1", c.RouterCycles, c.NodeCycles)
	case !(c.Rate >= 0 && c.Rate <= float64(c.Flits)):
		return refuse("rate %g: expected 0 to %d flits per node and cycle", c.Rate, c.Flits)
	case c.Slow != nil && len(c.Slow) != c.Topology.Nodes():
		return refuse("slowness of %d nodes, expected %d", len(c.Slow), c.Topology.Nodes())
	case c.Bound > Granted:
		return refuse("bound %d: expected 0 to %d", c.Bound, Granted)
	case (c.Bound == PerNode || c.Bound == PerPair) != (c.Window != 0) || c.Window < 0 || c.Window > math.MaxInt16:
		return refuse("window of %d packets: expected 1 to %d where senders bound, and none elsewhere", c.Window, math.MaxInt16)
	case c.AckCycles < 0 || c.AckCycles > maxAckCycles:
		return refuse("acknowledgements of %d cycles: expected 0 (on packets) to %d", c.AckCycles, maxAckCycles)
	case c.AckCycles > 0 && c.Bound == NoBound:
		return refuse("acknowledgements of %d cycles without a bound on packets in flight; acknowledgements only serve to count these", c.AckCycles)
	case c.Rates != nil && len(c.Rates) != c.Topology.Nodes() || c.Watched != nil && len(c.Watched) != c.Topology.Nodes():
		return refuse("rates of %d nodes, %d watched: expected %d", len(c.Rates), len(c.Watched), c.Topology.Nodes())
	}
	for i, r := range c.Rates {
		if !(r >= 0 && r <= float64(c.Flits)) {
			return refuse("rate %g of node %d: expected 0 to %d flits per cycle", r, i, c.Flits)
		}
	}
	for i, s := range c.Slow {
		if s < 1 || s > math.MaxInt16 {
			return refuse("node %d needs %d cycles for a flit: expected 1 or more", i, s)
		}
	}
	if !c.anyPartner() && (c.Bound != NoBound || c.Paced || c.ECN != nil) {
		return refuse("bounds, paces and FECN/BECN need traffic of partners, such as a permutation")
	}
	return c.checkPorts()
}

func (c *Config) checkPorts() error {
	for r := range c.Topology.Routers() {
		if p := c.Topology.Ports(r); p > maxPorts || p*c.Routing.VCs() > maxQueues {
			return refuse("router %d has %d ports of %d VCs: expected at most %d ports, and %d VCs on all of them together",
				r, p, c.Routing.VCs(), maxPorts, maxQueues)
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{drivers.ErrConfig}, args...)...)
}

// capacity is the number of packets that fit in a queue.
func (c *Config) capacity() int { return c.Depth / c.Flits }

// flitTicks is the time for which a flit occupies a port.
func (c *Config) flitTicks() int64 { return max(1, int64(math.Round(ticks/c.Speedup))) }

func (c *Config) anyPartner() bool {
	for i := range c.Topology.Nodes() {
		if len(c.Traffic.Partners(i)) > 0 {
			return true
		}
	}
	return false
}

func (c *Config) rate(node int) float64 {
	if c.Rates == nil {
		return c.Rate
	}
	return c.Rates[node]
}

// pace is the number of cycles per flit of each sender to a slow memory; senders to a fast memory
// share its wire.
func (c *Config) pace(node int) int64 {
	if slow := c.slow(node); slow > 1 {
		return slow * int64(len(c.Traffic.Partners(node)))
	}
	return 1
}

// DrawSlow makes the memories of count nodes, drawn by Seed, take a flit in the given number of
// cycles, and all others one flit per cycle. Watched nodes are not drawn. A smaller count draws a
// subset.
func (c *Config) DrawSlow(count, cycles int) {
	c.Slow = slices.Repeat([]int{1}, c.Topology.Nodes())
	for _, n := range traffic.Order(c.Topology.Nodes(), c.Seed+1<<32) {
		if count > 0 && (c.Watched == nil || !c.Watched[n]) {
			c.Slow[n] = cycles
			count--
		}
	}
}

func (c *Config) slow(node int) int64 {
	if c.Slow == nil {
		return 1
	}
	return int64(c.Slow[node])
}
