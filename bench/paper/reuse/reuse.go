package reuse

import (
	"bytes"
	"context"
	"fmt"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/paper"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/host/reuse"
)

// A reuseRun is one program of the REUSE experiments in one world: every rank runs body and says
// how long one of its operations takes.
type reuseRun struct {
	paper.World
	mode    host.ReuseMode
	bytes   int // of a message
	arena   int // bytes of DMA memory that a rank takes buffers from
	local   bool
	endless bool                // without the adaptation of section 5.3.4
	cost    func(c *host.Cost)  // changes the host; nil: as it is
	change  func(c *host.Reuse) // and this the rings; nil: as they are
	body    func(x *reuseRank) (drivers.Time, error)
}

// A reuseSample is what a run measured.
type reuseSample struct {
	time    float64 // µs per operation, mean over the ranks
	last    float64 // that of the slowest rank
	packets uint64  // of VELO
	first   float64 // that of rank 0
	direct  float64 // of the operations of all ranks, percent that needed no copy
	buffers int     // in rank 0's table
	pins    uint64  // registrations of rank 0
	looked  float64 // entries that a look-up of rank 0 looks at
}

// measureReuse performs runs, as many at a time as there are jobs.
func measureReuse(ctx context.Context, e *paper.Env, runs []reuseRun) ([]reuseSample, error) {
	if e.Plan != nil {
		e.Plan(len(runs), 0, 0)
	}
	for _, r := range runs {
		e.Use(r.World)
	}
	samples := make([]reuseSample, len(runs))
	err := e.EachCounted(ctx, len(runs), func(ctx context.Context, i int) (err error) {
		samples[i], err = reuseOnce(ctx, e, runs[i])
		return err
	})
	e.RunCount += len(runs)
	for _, s := range samples {
		e.PacketCount += s.packets
	}
	return samples, err
}

// copiedAndAdaptive measures each run twice: with every message copied, and with adaptive reuse.
func copiedAndAdaptive(ctx context.Context, e *paper.Env, runs []reuseRun) (copied, adaptive []reuseSample, err error) {
	var both []reuseRun
	for _, r := range runs {
		for _, r.mode = range []host.ReuseMode{host.ReuseCopy, host.ReuseAdapt} {
			both = append(both, r)
		}
	}
	s, err := measureReuse(ctx, e, both)
	for i := range runs {
		copied, adaptive = append(copied, s[2*i]), append(adaptive, s[2*i+1])
	}
	return copied, adaptive, err
}

func reuseOnce(ctx context.Context, e *paper.Env, run reuseRun) (s reuseSample, err error) {
	c := e.BaseConfig(run.World, "")
	c.Local, c.Sizes = run.local, []int{run.arena + 2*reuseLongest}
	c.Reuse = host.Reuse{Mode: run.mode, Endless: run.endless}
	if run.change != nil {
		run.change(&c.Reuse)
	}
	if run.cost != nil {
		run.cost(&c.Cost)
	}
	ranks := run.Ranks()
	times, stats := make([]drivers.Time, ranks), make([]host.ReuseStats, ranks)
	res, err := bench.Measure(ctx, paper.Mutated(e, c), 2, func(r *host.Rank) (err error) {
		x := &reuseRank{Rank: r, run: run, base: reusePattern(e.Seed)}
		if times[r.ID()], err = run.body(x); err != nil {
			return fmt.Errorf("rank %d, %s, %d bytes (seed %d): %w", r.ID(), run.mode, run.bytes, e.Seed, err)
		}
		stats[r.ID()] = r.Reused()
		return nil
	})
	if err != nil {
		return s, err
	}
	s.packets = res.Rows[0].Flow.DataPackets + res.Rows[0].Flow.CreditPackets
	var copied, direct uint64
	for i := range times {
		s.last = max(s.last, float64(times[i])/float64(drivers.Microsecond))
		s.time += float64(times[i]) / float64(drivers.Microsecond) / float64(ranks)
		copied, direct = copied+stats[i].Copied+stats[i].Other, direct+stats[i].Direct
	}
	s.first = float64(times[0]) / float64(drivers.Microsecond)
	s.direct = 100 * float64(direct) / float64(max(copied+direct, 1))
	s.looked = float64(stats[0].Table.Looked) / float64(max(stats[0].Table.Uses, 1))
	s.buffers, s.pins = stats[0].Buffers, stats[0].Pins
	return s, nil
}

// A reuseRank is a rank with the contents of its messages.
type reuseRank struct {
	*host.Rank
	run  reuseRun
	base []byte
}

const (
	reuseLongest = 8192
	reusePeriod  = 251
	reusePageLen = 4096
)

// reusePattern is what messages are cut from: two that are fewer than reusePeriod apart have
// nothing in common.
func reusePattern(seed int64) []byte {
	b := make([]byte, 4*reuseLongest+reusePeriod)
	for i := range b {
		b[i] = byte(i%reusePeriod*7 + int(seed))
	}
	return b
}

func (x *reuseRank) message(k, n int) []byte { return x.base[k%reusePeriod:][:n] }
func (x *reuseRank) fill(b []byte, k int)    { copy(b, x.message(k, len(b))) }

func (x *reuseRank) verify(b []byte, k int) error {
	if !bytes.Equal(b, x.message(k, len(b))) {
		return fmt.Errorf("message %d is not what was sent", k)
	}
	return nil
}

// buffers allocates buffers of n bytes, in pages of their own or back to back.
func (x *reuseRank) buffers(count, n int, backToBack bool) ([][]byte, error) {
	step := reuseStep(n, backToBack)
	all, err := x.Alloc(count*step + reusePageLen)
	if err != nil {
		return nil, err
	}
	list := make([][]byte, count)
	for i := range list {
		list[i] = all[i*step:][:n:n]
	}
	return list, nil
}

func reuseStep(n int, backToBack bool) int {
	if backToBack {
		return n
	}
	return (n + reusePageLen - 1) / reusePageLen * reusePageLen
}

// opened exchanges a few messages, so that the rings of two ranks are granted before anything is
// timed.
func (x *reuseRank) opened() error {
	peer := x.Size() - 1 - x.ID()
	b := make([]byte, host.ReuseFrom)
	for range 4 {
		if err := x.exchange(peer, b, b); err != nil {
			return err
		}
	}
	return nil
}

// exchange is half a ping-pong: the lower rank sends first.
func (x *reuseRank) exchange(peer int, out, in []byte) error {
	if x.ID() < peer {
		if err := x.Send(peer, 0, out); err != nil {
			return err
		}
		_, err := x.Recv(peer, 0, in)
		return err
	}
	if _, err := x.Recv(peer, 0, in); err != nil {
		return err
	}
	return x.Send(peer, 0, out)
}

// pingpong exchanges messages from buffers in the order of next, until that gives none. Its time is
// that of one way, after so many that are not timed.
func (x *reuseRank) pingpong(warmup int, next func(k int) []byte) (drivers.Time, error) {
	if err := x.opened(); err != nil {
		return 0, err
	}
	in, err := x.Alloc(x.run.bytes)
	if err != nil {
		return 0, err
	}
	began := x.Now()
	k := 0
	for ; ; k++ {
		if k == warmup {
			began = x.Now()
		}
		out := next(k)
		if out == nil {
			break
		}
		x.fill(out, k)
		if err := x.exchange(1-x.ID(), out, in); err != nil {
			return 0, err
		}
		if err := x.verify(in, k); err != nil {
			return 0, err
		}
	}
	return (x.Now() - began) / drivers.Time(2*(k-warmup)), nil
}

// warmup is so many uses of a buffer that it is registered, if it ever is.
func warmup(n int) int {
	c := host.DefaultCost()
	costs := reuse.Costs{CopyByte: float64(c.CopyByte), Look: float64(c.Look), Register: float64(c.Pin + c.Register), Page: float64(c.PinPage)}
	return costs.Threshold(n, reuse.DefaultPortion) + 20
}

// again returns the same buffer the given number of times.
func again(b []byte, times int) func(int) []byte {
	return func(k int) []byte {
		if k == times {
			return nil
		}
		return b
	}
}

// spectrum gives buffers that are used from 1 to 1,000 times (section 5.5.1), one after the other:
// each of the thousand, or in their stead every so manyth.
func spectrum(list [][]byte) func(int) []byte {
	every := 1000 / len(list)
	i, left := -1, 0
	return func(int) []byte {
		if left == 0 {
			i++
			left = i*every + (every+1)/2
		}
		if i == len(list) {
			return nil
		}
		left--
		return list[i]
	}
}

// each once.
func once(list [][]byte) func(int) []byte {
	return func(k int) []byte {
		if k == len(list) {
			return nil
		}
		return list[k]
	}
}

// gain is how much less time the second takes, percent.
func gain(before, after reuseSample) float64 { return 100 * (1 - after.time/before.time) }

// theory is equation 5.6: a copy less and a look more, of what a message took before.
func theory(n int, before reuseSample) float64 {
	c := host.DefaultCost()
	saved := c.CopyByte*drivers.Time(n) - c.Look
	return 100 * float64(saved) / float64(drivers.Microsecond) / before.time
}

// reuseSizes are those of the paper's figures.
func reuseSizes(e *paper.Env) []int {
	if e.Scale == paper.Small {
		return []int{128, 512, 1 << 10, 4 << 10, 8 << 10}
	}
	return []int{128, 256, 512, 1 << 10, 2 << 10, 3 << 10, 4 << 10, 6 << 10, 8 << 10}
}

// spectrumSizes are those of the spectra, each of which is half a million messages in the paper.
func spectrumSizes(e *paper.Env) []int {
	if e.Scale == paper.Small {
		return []int{1 << 10, 8 << 10}
	}
	return []int{512, 1 << 10, 4 << 10, 8 << 10}
}

// spectrumBuffers stand for 1,000.
func spectrumBuffers(e *paper.Env) int {
	return map[paper.Scale]int{paper.Small: 10, paper.Medium: 20, paper.Large: 100, paper.Full: 1000}[e.Scale]
}

// two nodes, a process on each.
func reusePair() paper.World {
	return paper.World{Nodes: 2, Procs: 1}
}
