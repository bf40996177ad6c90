package bench

import (
	"cmp"

	"github.com/nicloop/nicloop/host"
)

var halo = Workload{
	Name:  "halo",
	Doc:   "like molecular dynamics: 6 neighbours and 2 changing far partners, messages of many lengths during a computation (ADAPT, section 5.3)",
	Sizes: []int{32 << 10}, Iterations: 80, Warmup: 0, steps: true,
	messages: func(c *Config) int { return c.Ranks() * (len(spaceOf(c.Ranks()).faces(0)) + far) },
	buffers:  func(c *Config) int { return 2 * (len(spaceOf(c.Ranks()).faces(0)) + far) },
	body:     (*task).halo,
}

const (
	far      = 2  // number of partners that are not neighbours
	epoch    = 20 // steps until far partners change
	farTag   = 8  // tag of the first far partner
	shortest = 8  // shortest message as a fraction of the longest
)

// halo runs through epochs. All ranks derive the same plan from the seed.
func (t *task) halo(r *host.Rank, n int) error {
	faces := spaceOf(r.Size()).faces(r.ID())
	s, err := t.newStepper(r, len(faces)+far, n)
	if err != nil {
		return err
	}
	var warm stepTimes
	compute := t.c.computation(n * (len(faces) + far) / 2)
	return t.iterate(r, func(k int) error {
		into := &t.steps[r.ID()]
		if k < t.c.Warmup {
			into = &warm
		}
		return s.step(k, t.haloEdges(faces, r, n, k), compute, into)
	})
}

// haloEdges returns the edges of a rank in a step.
func (t *task) haloEdges(faces []edge, r *host.Rank, n, k int) []edge {
	edges := append([]edge{}, faces...)
	for i := range far {
		if peer := t.partner(r.ID(), r.Size(), k/epoch, i); peer != r.ID() {
			edges = append(edges, edge{peer: peer, outTag: farTag + i, inTag: farTag + i})
		}
	}
	for i := range edges {
		e := &edges[i]
		e.out, e.in = t.haloBytes(n, r.ID(), e.peer, e.outTag, k), t.haloBytes(n, e.peer, r.ID(), e.inTag, k)
	}
	return edges
}

// partner returns far partner i of a rank in an epoch: ranks are shuffled and paired. The rank
// itself means none.
func (t *task) partner(rank, ranks, epoch, i int) int {
	x := pattern(t.c.Seed, epoch, i, -1)
	order := make([]int, ranks)
	at := 0
	for j := range order {
		other := int(mix(&x) % uint64(j+1))
		order[j] = order[other]
		order[other] = j
	}
	for j, r := range order {
		if r == rank {
			at = j
		}
	}
	if at ^= 1; at < ranks {
		return order[at]
	}
	return rank
}

// haloBytes returns the length of a message: a base length per pair and direction, which moving
// particles change by up to Config.Variation eighths.
func (t *task) haloBytes(n, from, to, tag, k int) int {
	pair := pattern(t.c.Seed, from, to, -2-tag)
	step := pattern(t.c.Seed, from, to, -64-k*tags-tag)
	least := max(n/shortest, 1)
	length := least + int(mix(&pair)%uint64(max(n-least, 1)))
	return max(length-int(mix(&step)%uint64(cmp.Or(t.c.Variation, 1)*length/8+1)), 1)
}
