package bench

import (
	"encoding/binary"
	"fmt"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
)

// Workloads of applications that exchange the borders of their parts of space in steps: all
// receives, all sends, computation, one wait for all of them, and an allreduce (ADAPT, section
// 2.3).

// An edge is one message each way between a rank and a neighbour in a step. Tags distinguish the
// edges of two ranks that are neighbours more than once.
type edge struct {
	peer          int
	outTag, inTag int
	out, in       int // bytes
}

// An Exchange holds the times of a step, averaged over all ranks and steps.
type Exchange struct {
	Computation drivers.Time `json:"computation_ps"`
	// Alone is the time of a step without computation, Overall with computation; both exclude the
	// allreduce.
	Alone   drivers.Time `json:"alone_ps,omitempty"`
	Overall drivers.Time `json:"overall_ps"`
	// Begin is the time of the calls that begin messages, Wait the time spent waiting after the
	// computation.
	Begin drivers.Time `json:"begin_ps"`
	Wait  drivers.Time `json:"wait_ps"`
	// Overlap is the share of Alone that is hidden by the computation.
	Overlap float64 `json:"overlap_share,omitempty"`
}

// stepTimes sums the times of a rank over its steps.
type stepTimes struct {
	computation                 drivers.Time // of one step, equal at all ranks
	alone, overall, begin, wait drivers.Time
	steps                       int
}

// A stepper executes the steps of one rank.
type stepper struct {
	t       *task
	r       *host.Rank
	out, in [][]byte // by edge
	reqs    []*host.Request
	sum     [8]byte
}

func (t *task) newStepper(r *host.Rank, edges, n int) (*stepper, error) {
	s := &stepper{t: t, r: r}
	for range edges {
		for _, list := range []*[][]byte{&s.out, &s.in} {
			b, err := r.Alloc(n)
			if err != nil {
				return nil, err
			}
			*list = append(*list, b)
		}
	}
	return s, nil
}

// IsExchange reports whether a workload exchanges borders in steps, with Config.Compute.
func IsExchange(workload string) bool {
	wl, err := FindWorkload(workload)
	return err == nil && wl.steps
}

// step exchanges the edges during a computation, verifies the messages, and reduces over all ranks.
func (s *stepper) step(k int, edges []edge, compute drivers.Time, into *stepTimes) error {
	t, r := s.t, s.r
	for i, e := range edges {
		fill(s.out[i][:e.out], t.c.Seed, r.ID(), e.peer, s.number(k, e.outTag))
	}
	s.reqs = s.reqs[:0]
	began := r.Now()
	for i, e := range edges {
		q, err := r.Irecv(e.peer, e.inTag, s.in[i][:e.in])
		if err != nil {
			return err
		}
		s.reqs = append(s.reqs, q)
	}
	for i, e := range edges {
		q, err := r.Isend(e.peer, e.outTag, s.out[i][:e.out])
		if err != nil {
			return err
		}
		s.reqs = append(s.reqs, q)
	}
	begun := r.Now()
	into.computation = compute
	r.Compute(compute)
	waits := r.Now()
	if err := r.Waitall(s.reqs); err != nil {
		return err
	}
	into.begin += begun - began
	into.wait += r.Now() - waits
	into.overall += r.Now() - began
	into.steps++
	for i, e := range edges {
		if err := verify(s.in[i][:e.in], t.c.Seed, e.peer, r.ID(), s.number(k, e.inTag)); err != nil {
			return err
		}
		t.bytes[r.ID()] += uint64(e.in)
	}
	return s.reduce(k)
}

// tags exceeds the number of tags of a step.
const tags = 32

func (s *stepper) number(k, tag int) int { return k*tags + tag }

// reduce is the allreduce at the end of a step.
func (s *stepper) reduce(k int) error {
	n := uint64(s.r.Size())
	binary.LittleEndian.PutUint64(s.sum[:], uint64(k+s.r.ID()))
	if err := s.r.Allreduce(s.sum[:], host.Sum[int64]()); err != nil {
		return err
	}
	if got, want := binary.LittleEndian.Uint64(s.sum[:]), n*uint64(k)+n*(n-1)/2; got != want {
		return fmt.Errorf("step %d: rank %d has a sum of %d, expected %d (seed %d)", k, s.r.ID(), got, want, s.t.c.Seed)
	}
	return nil
}

// exchange averages the measurements of the ranks.
func (t *task) exchange() *Exchange {
	var sum stepTimes
	for _, s := range t.steps {
		sum.alone, sum.overall, sum.begin, sum.wait, sum.steps = sum.alone+s.alone, sum.overall+s.overall, sum.begin+s.begin, sum.wait+s.wait, sum.steps+s.steps
	}
	n := drivers.Time(max(sum.steps, 1))
	x := &Exchange{Computation: t.steps[0].computation, Alone: sum.alone / n, Overall: sum.overall / n, Begin: sum.begin / n, Wait: sum.wait / n}
	if x.Alone > 0 {
		x.Overlap = min(max(float64(x.Alone+x.Computation-x.Overall)/float64(x.Alone), 0), 1)
	}
	return x
}

// space is a periodic 3D grid of ranks.
type space [3]int

// spaceOf returns the grid whose sides differ least.
func spaceOf(ranks int) (best space) {
	least := -1
	for x := 1; x*x*x <= ranks; x++ {
		for y := x; x*y*y <= ranks; y++ {
			if z := ranks / (x * y); x*y*z == ranks && (least < 0 || z-x < least) {
				best, least = space{z, y, x}, z-x
			}
		}
	}
	return best
}

// faces returns the neighbours of a rank: two in each dimension longer than 1. A message in
// direction d has tag d.
func (s space) faces(rank int) (list []edge) {
	at := [3]int{rank % s[0], rank / s[0] % s[1], rank / s[0] / s[1]}
	for d := range 6 {
		if s[d/2] == 1 {
			continue
		}
		to := at
		to[d/2] = (to[d/2] + 1 + (d%2)*(s[d/2]-2)) % s[d/2]
		list = append(list, edge{peer: (to[2]*s[1]+to[1])*s[0] + to[0], outTag: d, inTag: d ^ 1})
	}
	return list
}
