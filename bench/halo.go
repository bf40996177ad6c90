package bench

import "github.com/nicloop/nicloop/host"

var halo = Workload{
	Name:  "halo",
	Doc:   "as molecular dynamics: 6 neighbours and 2 far partners that change, messages of many lengths beside a computation (ADAPT, section 5.3)",
	Sizes: []int{32 << 10}, Iterations: 80, Warmup: 0, steps: true,
	messages: func(c *Config) int { return c.Ranks() * (len(spaceOf(c.Ranks()).faces(0)) + far) },
	buffers:  func(c *Config) int { return 2 * (len(spaceOf(c.Ranks()).faces(0)) + far) },
	body:     (*task).halo,
}

const (
	far      = 2  // partners that are no neighbours in space
	epoch    = 20 // steps before they are others
	farTag   = 8  // of the first of them
	shortest = 8  // a message has at least one eighth of the longest
)

// halo walks through epochs. All ranks derive the same plan from the seed.
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

// haloEdges are those of a rank in a step.
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

// partner is far partner i of a rank in an epoch: ranks are shuffled and paired. Itself: it has
// none.
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

// haloBytes is the length of a message: of each pair and direction one, which particles that move
// change by up to an eighth.
func (t *task) haloBytes(n, from, to, tag, k int) int {
	pair := pattern(t.c.Seed, from, to, -2-tag)
	step := pattern(t.c.Seed, from, to, -64-k*tags-tag)
	least := max(n/shortest, 1)
	length := least + int(mix(&pair)%uint64(max(n-least, 1)))
	return max(length-int(mix(&step)%uint64(length/8+1)), 1)
}
