// Package traffic generates destinations: uniform, pairwise permutations, adversarial patterns and
// hotspots.
//
// A Pattern depends only on its parameters and on the random numbers passed to it.
package traffic

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/cosim/fabric/topology"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/suggest"
)

// A Pattern selects the destination of a node's next packet.
type Pattern interface {
	Next(src int, dice rand.Source) int
	// Partners returns the nodes with which a node exchanges packets in equal shares; none:
	// destinations vary, see Next.
	Partners(node int) []int32
}

// Names lists the patterns known to New.
func Names() []string {
	return []string{"uniform", "permutation", "partners", "adversarial", "hotspot"}
}

// Options are parameters of some patterns.
type Options struct {
	Hot      int     // number of hot nodes of hotspot
	Share    float64 // share of packets to hot nodes
	Partners int     // partners per node
}

// New returns a pattern by name. Permutations, partners and hot nodes are drawn with the seed.
func New(name string, t topology.Topology, seed uint64, o Options) (Pattern, error) {
	switch name {
	case "uniform":
		return uniform(t.Nodes()), nil
	case "permutation":
		return Pairs(t.Nodes(), seed), nil
	case "partners":
		if o.Partners < 1 || o.Partners > maxPartners {
			return nil, fmt.Errorf("%w: %d partners of a node: expected 1 to %d", drivers.ErrConfig, o.Partners, maxPartners)
		}
		return Several(t.Nodes(), o.Partners, seed)
	case "adversarial":
		return against(t), nil
	case "hotspot":
		if o.Hot < 1 || o.Hot > t.Nodes() || !(o.Share > 0 && o.Share <= 1) {
			return nil, fmt.Errorf("%w: %g of the traffic to %d hot nodes: expected a share up to 1 and 1 to %d nodes", drivers.ErrConfig, o.Share, o.Hot, t.Nodes())
		}
		return &hotspot{uniform(t.Nodes()), o.Share, Order(t.Nodes(), seed)[:o.Hot]}, nil
	}
	return nil, fmt.Errorf("%w: traffic %q: expected one of %s%s", drivers.ErrConfig, name, strings.Join(Names(), ", "), suggest.Nearest(name, Names()))
}

// Intn returns a random number below n.
func Intn(dice rand.Source, n int) int {
	hi, _ := bits.Mul64(dice.Uint64(), uint64(n))
	return int(hi)
}

// Order returns the numbers below n in random order.
func Order(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, 0x7261666669636b)).Perm(n)
}

// noPartner is embedded by patterns without fixed partners.
type noPartner struct{}

// Partners implements Pattern.
func (noPartner) Partners(int) []int32 { return nil }

type uniformly struct {
	noPartner
	nodes int
}

func uniform(nodes int) uniformly { return uniformly{nodes: nodes} }

// Next implements Pattern: any other node.
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

// Pairs makes every node send to another one that sends back, drawn with the seed; with an odd
// number of nodes, one sends to itself.
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

// Partners implements Pattern.
func (p pairs) Partners(node int) []int32 { return p[node : node+1] }

// maxPartners is small because a node examines all of its partners for every packet.
const maxPartners = 8

// Several makes every node send to k others in equal shares, which send back: k pairings of all
// nodes without common pairs.
func Several(nodes, k int, seed uint64) (Pattern, error) {
	s := several{k: k, list: make([]int32, nodes*k)}
	tries := seed
	for i := range k {
		for last := tries + 10_000; !s.add(i, Pairs(nodes, tries).(pairs)); tries++ {
			if tries == last {
				return nil, fmt.Errorf("%w: %d partners of %d nodes: expected fewer, they meet again and again", drivers.ErrConfig, k, nodes)
			}
		}
		tries += 1 << 40
	}
	return s, nil
}

type several struct {
	k    int
	list []int32
}

// add adds a pairing unless it has pairs in common with earlier ones.
func (s several) add(i int, p pairs) bool {
	for n := range p {
		list := s.list[n*s.k:]
		if slices.Contains(list[:i], p[n]) {
			return false
		}
		list[i] = p[n]
	}
	return true
}

// Next implements Pattern.
func (s several) Next(src int, dice rand.Source) int { return int(s.list[src*s.k+Intn(dice, s.k)]) }

// Partners implements Pattern.
func (s several) Partners(node int) []int32 { return s.list[node*s.k : (node+1)*s.k] }

// Beside makes some nodes send to each other at random, and all others in pairs.
func Beside(nodes, others int, seed uint64) (Pattern, []bool) {
	b := &beside{pairs: make(pairs, nodes), others: Order(nodes, seed)[:others]}
	at := make([]bool, nodes)
	for i, n := range b.others {
		at[n], b.pairs[n] = true, int32(-1-i)
	}
	last := int32(-1)
	for _, n := range Order(nodes, seed+1<<41) {
		switch {
		case at[n]:
		case last < 0:
			last = int32(n)
			b.pairs[n] = last
		default:
			b.pairs[n], b.pairs[last] = last, int32(n)
			last = -1
		}
	}
	return b, at
}

type beside struct {
	pairs
	others []int
}

// Next implements Pattern.
func (b *beside) Next(src int, dice rand.Source) int {
	if b.pairs[src] >= 0 {
		return int(b.pairs[src])
	}
	return b.others[uniform(len(b.others)).Next(int(-1-b.pairs[src]), dice)]
}

// Partners implements Pattern.
func (b *beside) Partners(node int) []int32 {
	if b.pairs[node] < 0 {
		return nil
	}
	return b.pairs.Partners(node)
}

// A shift sends to any node of a block at a fixed distance.
type shift struct {
	noPartner
	nodes, block, ahead int
}

// against is the worst pattern for minimal routes: all nodes of a Dragonfly's group send to the
// next group; in other topologies every node sends half way round (tornado on rings, through the
// root of trees).
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

// Unit returns a random number in [0, 1).
func Unit(dice rand.Source) float64 { return float64(dice.Uint64()>>11) / (1 << 53) }

// Births is a Bernoulli process: a packet is created with the same probability in every cycle.
type Births struct{ scale float64 }

// Bernoulli returns the process for a rate in packets per cycle, up to 1; rate 0 never creates a
// packet.
func Bernoulli(rate float64) Births {
	return Births{1 / math.Log1p(-min(rate, 1))}
}

// Never is the gap of a process of rate 0.
const Never = math.MaxInt64 / 4

// Gap is the number of cycles between the last packet and the next one.
func (b Births) Gap(dice rand.Source) int64 {
	if math.IsInf(b.scale, 0) {
		return Never
	}
	gap := math.Log(1-Unit(dice)) * b.scale
	if gap >= Never { // a rate so small that the gap would overflow an int64
		return Never
	}
	return 1 + int64(gap)
}
