package bench

import "sync"

// A meter drives a progress bar by the iterations that ranks have ended and, because one may be
// long, by the messages sent and received. Ranks call step on their threads.
type meter struct {
	sync.Mutex
	w        *World
	done, of int // iterations of all ranks
	shown    int
	before   uint64 // messages sent and received at the start
	messages float64
	posts    bool // iterations only begin sends
}

func newMeter(w *World, c *Config, wl *Workload) *meter {
	m := &meter{w: w, of: c.Ranks() * (c.Iterations + c.Warmup), messages: float64(wl.messages(c) * (c.Iterations + c.Warmup)), posts: wl.posts}
	if !m.posts {
		m.messages *= 2
	}
	if wl == &pingpong {
		m.of = 2 * (c.Iterations + c.Warmup)
	}
	m.before = m.moved()
	return m
}

func (m *meter) moved() (n uint64) {
	for _, r := range m.w.Ranks {
		s := r.Stats()
		n += s.MessagesReceived
		if !m.posts { // such iterations do not measure progress
			n += s.MessagesSent
		}
	}
	return n
}

func (m *meter) step() {
	m.Lock()
	defer m.Unlock()
	m.done++
	m.show(m.done)
}

// tick counts messages. It is capped, because messages of barriers count, too; the last iteration
// or finish completes the bar.
func (m *meter) tick() {
	m.Lock()
	defer m.Unlock()
	m.show(min(int(float64(m.of)*float64(m.moved()-m.before)/m.messages), m.of-1))
}

func (m *meter) finish() { m.show(m.of) }

func (m *meter) show(n int) {
	if n > m.shown {
		m.shown = n
		m.w.Config.Step(n, m.of)
	}
}
