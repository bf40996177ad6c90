package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/logs"
	"github.com/nicloop/nicloop/drivers/registry"
	"github.com/nicloop/nicloop/host"
	"github.com/sirupsen/logrus"
)

// Run runs one workload and closes the device. If one message size fails or ctx ends, the result
// holds only the rows of the sizes before it.
func Run(ctx context.Context, c Config) (res *Result, err error) {
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return nil, err
	}
	if err := wl.prepare(&c); err != nil {
		return nil, err
	}
	w, obs, err := openObserved(ctx, &c, drivers.CanSimulate)
	if err != nil {
		return nil, err
	}
	defer func() { w.failed(ctx, err); err = causeOf(ctx, errors.Join(err, w.close(), obs.close())) }()
	res = newResult(w)
	for _, n := range c.Sizes {
		if err := w.measure(ctx, wl, n, res, obs); err != nil {
			return res, err
		}
	}
	return res, errors.Join(w.finish(res), wl.checkVerified(&c, res))
}

// prepare completes the configuration, and checks it as far as that needs no device.
func (wl *Workload) prepare(c *Config) error {
	wl.complete(c)
	if err := c.Validate(); err != nil {
		return err
	}
	if err := wl.checkAlgorithm(c); err != nil {
		return err
	}
	if c.Helper && !wl.paired {
		return fmt.Errorf("%w: progress thread for %s: the workload does not compute", drivers.ErrConfig, wl.Name)
	}
	if c.Compute > 0 && !wl.computes && !wl.steps || c.Jitter > 0 && !wl.computes {
		return fmt.Errorf("%w: computation for %s: the workload does not compute", drivers.ErrConfig, wl.Name)
	}
	if wl.check != nil {
		return wl.check(c)
	}
	return nil
}

// Check finds the mistakes of a configuration that Run would refuse before it opens the device.
func Check(c Config) error {
	wl, err := FindWorkload(c.Workload)
	if err != nil {
		return err
	}
	if err := errors.Join(wl.prepare(&c), registry.Validate(c.Device)); err != nil {
		return err
	}
	on := c.world()
	m, err := on.Layout(nil)
	if err != nil {
		return err
	}
	return c.checkMemory(&on, m)
}

// openObserved opens the world of a run with the observers that its configuration asks for.
func openObserved(ctx context.Context, c *Config, needs drivers.Capabilities) (*World, *observers, error) {
	obs, err := newObservers(c)
	if err != nil {
		return nil, nil, err
	}
	w, err := openWorld(ctx, *c, obs.sink(), needs)
	return w, obs, causeOf(ctx, err)
}

// checkVerified fails a run that should have verified bytes and verified none.
func (wl *Workload) checkVerified(c *Config, res *Result) error {
	if res.Verified > 0 || !slices.ContainsFunc(c.Sizes, func(n int) bool { return wl.volume(c, n) > 0 }) {
		return nil
	}
	return fmt.Errorf("%s verified no byte: expected messages of %v bytes", wl.Name, c.Sizes)
}

// complete applies the workload's defaults to the configuration.
func (wl *Workload) complete(c *Config) {
	if len(c.Sizes) == 0 {
		c.Sizes = wl.Sizes
	}
	if c.Iterations == 0 {
		c.Iterations, c.bounded = wl.Iterations, true
		if c.Warmup == 0 {
			c.Warmup = wl.Warmup
		}
	}
	c.buffers = 1
	if wl.buffers != nil {
		c.buffers = wl.buffers(c)
	}
}

// enoughBytes of a sender are enough to measure long messages.
const enoughBytes = 4 << 20

// pairedSamples is the approximate number of iterations of a paired workload at each size.
const pairedSamples = 64

// onceBytes of all ranks in one iteration take minutes: then there is one iteration and no warm-up.
const onceBytes = 1 << 30

// at returns the configuration for one message size. If the number of iterations is not set, long
// messages have fewer iterations (at least two after a warm-up), and a large world has one.
func (c Config) at(wl *Workload, n int) *Config {
	enough := enoughBytes
	if wl.paired {
		enough /= pairedSamples
	}
	enough = max(2, enough/max(n, 1))
	switch {
	case c.bounded && wl.volume(&c, max(n, 1)) > onceBytes:
		c.Iterations, c.Warmup = 1, 0
	case c.bounded && c.Iterations > enough:
		c.Iterations, c.Warmup = enough, min(c.Warmup, 1)
	}
	return &c
}

// measure runs the workload at one message size.
func (w *World) measure(ctx context.Context, wl *Workload, n int, res *Result, obs *observers) error {
	c := w.Config.at(wl, n)
	t := newTask(ctx, c, len(w.Ranks))
	t.beside = w.beside()
	for _, r := range w.Ranks {
		r.FreeAll()
	}
	var err error
	if t.traffic, err = w.newTraffic(); err != nil {
		return err
	}
	obs.start()
	ended := func() {}
	if c.Step != nil {
		m := newMeter(w, c, wl)
		if !wl.posts {
			t.step = m.step
		}
		ended = m.finish
		if t.traffic == nil { // its hot flows send until the others are done
			w.Kernel.OnTick(m.tick)
			defer w.Kernel.OnTick(nil)
		}
	}
	before, reused, rtr := w.flowStats(), w.reuseStats(), w.rtrStats()
	if err := w.run(ctx, func(r *host.Rank) error { return wl.body(t, r, n) }); err != nil {
		return err
	}
	ended()
	logs.Layer(w.Config.Log, "world").WithFields(logrus.Fields{"workload": wl.Name, "bytes": n, "iterations": c.Iterations, "elapsed": t.elapsed()}).Debug("size measured")
	res.add(w, wl, t, n, w.flowStats().minus(before), obs.blocks())
	res.reused(w, reused)
	if t.traffic != nil {
		res.addTraffic(t.traffic)
	}
	if wl.paired {
		res.addOverlap(t)
	}
	row := &res.Rows[len(res.Rows)-1]
	row.rtrs = w.rtrStats().minus(rtr).RTRs
	if wl.steps {
		row.Exchange = t.exchange()
	}
	row.Eager = w.eagerRanks()
	if wl.computes {
		res.addApp(t, w.rtrStats().minus(rtr))
	}
	return nil
}

// elapsed is the time from the first rank's start to the last one's end.
func (t *task) elapsed() drivers.Time {
	var s span
	for _, x := range t.timed {
		if x == (span{}) {
			continue // did not take part
		}
		if s == (span{}) || x.from < s.from {
			s.from = x.from
		}
		s.to = max(s.to, x.to)
	}
	return s.to - s.from
}

// Launch runs body on every rank of a new world and closes the device: like Run, for programs that
// are not in the list of workloads. Messages may be as long as the longest of c.Sizes, with the
// given number of buffers of that length per rank. The device need not have simulated time.
func Launch(ctx context.Context, c Config, buffers int, body func(*host.Rank) error) error {
	_, err := launchOn(ctx, c, buffers, body, 0)
	return err
}

// Measure is Launch with a result of one row that contains the flow control counters, without
// times.
func Measure(ctx context.Context, c Config, buffers int, body func(*host.Rank) error) (res *Result, err error) {
	return launchOn(ctx, c, buffers, body, drivers.CanSimulate)
}

func launchOn(ctx context.Context, c Config, buffers int, body func(*host.Rank) error, needs drivers.Capabilities) (res *Result, err error) {
	c.Workload, c.buffers = "", buffers
	c.Iterations = max(c.Iterations, 1)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	w, obs, err := openObserved(ctx, &c, needs)
	if err != nil {
		return nil, err
	}
	defer func() { w.failed(ctx, err); err = causeOf(ctx, errors.Join(err, w.close(), obs.close())) }()
	if err := w.run(ctx, body); err != nil {
		return nil, err
	}
	if w.Sys == nil { // no simulated time to measure
		return nil, nil
	}
	res = newResult(w)
	res.Rows = []Row{{Iterations: c.Iterations, Flow: w.flowStats()}}
	return res, w.finish(res)
}
