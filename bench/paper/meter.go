package paper

import (
	"cmp"
	"sync"

	"github.com/nicloop/nicloop/bench/imb"
)

// packets is roughly how many data packets a run sends.
func (r Run) packets() float64 {
	n := imb.IterationPackets(r.Benchmark, cmp.Or(r.Active, r.Ranks()), cmp.Or(r.Bytes, 2048))
	if r.Pairs {
		n *= r.Procs
	}
	return float64(n * (r.Warmup + r.Iterations))
}

// A meter shows the common progress of concurrent runs. It counts packets, not runs, because some
// runs take a thousand times as long as others.
type meter struct {
	mu   sync.Mutex
	e    *Env
	done float64
	all  float64
}

// Permille: a run is shown in so many parts of the whole.
const Permille = 1000

// newMeter is for those of runs that are left to do.
func newMeter(e *Env, runs []Run, left []int) *meter {
	m := &meter{e: e}
	for _, i := range left {
		m.all += runs[i].packets()
	}
	if e.Plan != nil {
		e.Plan(len(left), len(runs)-len(left), m.all/1e6)
	}
	if m.all > 0 {
		m.add(0)
	}
	return m
}

// of is the step function of one run. A run that starts again, with larger
// mailboxes, counts only for what it has not done before.
func (m *meter) of(r Run) func(done, of int) {
	counted := 0.0
	return func(done, of int) {
		if now := r.packets() * float64(done) / float64(of); now > counted {
			m.add(now - counted)
			counted = now
		}
	}
}

func (m *meter) add(packets float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done += packets
	if m.e.Step != nil {
		m.e.Step(int(Permille*m.done/m.all), Permille)
	}
}
