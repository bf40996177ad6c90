// Package traffic says who sends to whom: uniform, pairwise permutations, adversarial patterns and hotspots.
//
// A Pattern depends on what it was made from and the random numbers it is given, on nothing else.
package traffic

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
)

// A Pattern gives the destination of a node's next packet.
type Pattern interface {
	Next(src int, dice rand.Source) int
	// Partner is the one node that a node sends to and receives from, if it is so.
	Partner(node int) (int, bool)
}

// Names lists what New knows.
func Names() []string { return []string{"uniform", "permutation", "adversarial", "hotspot"} }

// New gives a pattern by name. Permutations and hot nodes are drawn with the seed; of the packets of hotspot traffic a
// share goes to the hot nodes.
func New(name string, t topology.Topology, seed uint64, hot int, share float64) (Pattern, error) {
	switch name {
	case "uniform":
		return uniform(t.Nodes()), nil
	case "permutation":
		return Pairs(t.Nodes(), seed), nil
	case "adversarial":
		return against(t), nil
	case "hotspot":
		if hot < 1 || hot > t.Nodes() || !(share > 0 && share <= 1) {
			return nil, fmt.Errorf("%w: %g of the traffic to %d hot nodes: expected a share up to 1 and 1 to %d nodes", drivers.ErrConfig, share, hot, t.Nodes())
		}
		return &hotspot{uniform(t.Nodes()), share, Order(t.Nodes(), seed)[:hot]}, nil
	}
	return nil, fmt.Errorf("%w: traffic %q: expected one of %s%s", drivers.ErrConfig, name, strings.Join(Names(), ", "), drivers.Nearest(name, Names()))
}

// Intn is a random number below n.
func Intn(dice rand.Source, n int) int {
	hi, _ := bits.Mul64(dice.Uint64(), uint64(n))
	return int(hi)
}

// Order is the numbers below n in a random order.
func Order(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, 0x7261666669636b)).Perm(n)
}

// noPartner is embedded by patterns in which a node sends to several.
type noPartner struct{}

// Partner implements Pattern.
func (noPartner) Partner(int) (int, bool) { return 0, false }

type uniformly struct {
	noPartner
	nodes int
}

func uniform(nodes int) uniformly { return uniformly{nodes: nodes} }

// Next implements Pattern: any node but oneself.
func (u uniformly) Next(src int, dice rand.Source) int {
	if u.nodes == 1 {
		return 0
	}
	dst := Intn(dice, u.nodes-1)
	if dst >= src {
		dst++
	}
	return dst
}

type pairs []int32

// Pairs has every node send to another one which sends back, drawn with the seed; of an odd number one sends to itself.
func Pairs(nodes int, seed uint64) Pattern {
	p := make(pairs, nodes)
	list := Order(nodes, seed)
	for i := 0; i+1 < nodes; i += 2 {
		p[list[i]], p[list[i+1]] = int32(list[i+1]), int32(list[i])
	}
	if nodes%2 == 1 {
		p[list[nodes-1]] = int32(list[nodes-1])
	}
	return p
}

// Next implements Pattern.
func (p pairs) Next(src int, _ rand.Source) int { return int(p[src]) }

// Partner implements Pattern.
func (p pairs) Partner(node int) (int, bool) { return int(p[node]), true }

// A shift sends to any node of a block some nodes ahead.
type shift struct {
	noPartner
	nodes, block, ahead int
}

// against is the pattern that a topology's shortest ways serve worst: a Dragonfly's groups send all to the next
// group; of other topologies every node sends half way round (tornado on rings, across the root of trees).
func against(t topology.Topology) Pattern {
	switch t := t.(type) {
	case topology.Dragonfly:
		return shift{nodes: t.Nodes(), block: t.A * t.P, ahead: t.A * t.P}
	case topology.Grid:
		return tornado{Grid: t}
	}
	return shift{nodes: t.Nodes(), block: 1, ahead: t.Nodes() / 2}
}

// Next implements Pattern.
func (s shift) Next(src int, dice rand.Source) int {
	return (src - src%s.block + s.ahead + Intn(dice, s.block)) % s.nodes
}

type tornado struct {
	noPartner
	topology.Grid
}

// Next implements Pattern: almost half way round in the first dimension.
func (t tornado) Next(src int, _ rand.Source) int {
	size := t.Dims[0]
	at := src % size
	return src - at + (at+max(1, (size-1)/2))%size
}

type hotspot struct {
	uniformly
	share float64
	hot   []int
}

// Next implements Pattern.
func (h *hotspot) Next(src int, dice rand.Source) int {
	if Unit(dice) < h.share {
		return h.hot[Intn(dice, len(h.hot))]
	}
	return h.uniformly.Next(src, dice)
}

// Unit is a random number from 0 up to 1.
func Unit(dice rand.Source) float64 { return float64(dice.Uint64()>>11) / (1 << 53) }

// Births is a Bernoulli process: in every cycle a packet is born with the same probability.
type Births struct{ scale float64 }

// Bernoulli gives one of a rate in packets per cycle, up to 1; of rate 0 nothing is ever born.
func Bernoulli(rate float64) Births {
	return Births{1 / math.Log1p(-min(rate, 1))}
}

// Never is the gap of a process of rate 0.
const Never = math.MaxInt64 / 4

// Gap is how many cycles after the last packet the next one is born.
func (b Births) Gap(dice rand.Source) int64 {
	if math.IsInf(b.scale, 0) {
		return Never
	}
	return 1 + int64(math.Log(1-Unit(dice))*b.scale)
}
