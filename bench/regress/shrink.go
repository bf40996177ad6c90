package regress

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/mailbox"
)

// shrink looks for the smallest workload that fails like a test: fewer nodes, ranks, iterations and
// bytes, for as long as Shrink says. It is done once for each signature, and for tests that failed
// in a workload: others are small.
func (r *runner) shrink(ctx context.Context, out *Outcome) {
	like := failureOf(out.Err).Signature()
	if out.failing == nil || len(out.failing.Hosts) > 0 || r.o.Shrink <= 0 || ctx.Err() != nil || !r.firstLike(like) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.Shrink)
	defer cancel()
	c := *out.failing
	c.Hooks = bench.Hooks{Threads: c.Threads, Log: c.Log, LogFile: filepath.Join(out.Dir, "shrink.log")}
	if wl, err := bench.FindWorkload(c.Workload); err == nil {
		if c.Iterations == 0 {
			c.Iterations, c.Warmup = wl.Iterations, max(c.Warmup, wl.Warmup)
		}
		if len(c.Sizes) == 0 {
			c.Sizes = wl.Sizes
		}
	}
	if !failsLike(ctx, c, like) {
		return // it takes what else the test does
	}
	for smaller := true; smaller; {
		smaller = false
		for _, k := range reduced(&c) {
			if failsLike(ctx, k, like) {
				c, smaller = k, true
				break
			}
		}
	}
	out.Shortest = commandLine(&c)
}

// firstLike tells whether no failure with the signature has been shrunk.
func (r *runner) firstLike(signature string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shrunk[signature] {
		return false
	}
	if r.shrunk == nil {
		r.shrunk = map[string]bool{}
	}
	r.shrunk[signature] = true
	return true
}

// failureOf is a failure of which only the error is known.
func failureOf(err error) *Outcome { return &Outcome{Status: statusOf(err), Err: err} }

func failsLike(ctx context.Context, c bench.Config, like string) bool {
	if ctx.Err() != nil {
		return false
	}
	_, err := bench.Run(ctx, c)
	return err != nil && ctx.Err() == nil && failureOf(err).Signature() == like
}

// reduced are configurations with less of one thing, the least first.
func reduced(c *bench.Config) (list []bench.Config) {
	add := func(change func(k *bench.Config)) {
		k := *c
		change(&k)
		if k.Ranks() >= 2 {
			list = append(list, k)
		}
	}
	less := func(now, least int, set func(k *bench.Config, n int)) {
		last := now
		for _, n := range []int{least, now / 2, now - 1} {
			if n >= least && n < now && n != last {
				last = n
				add(func(k *bench.Config) { set(k, n) })
			}
		}
	}
	if len(c.Sizes) > 1 {
		for _, n := range c.Sizes {
			add(func(k *bench.Config) { k.Sizes = []int{n} })
		}
		return list
	}
	less(c.Warmup, 0, func(k *bench.Config, n int) { k.Warmup = n })
	less(c.Iterations, 1, func(k *bench.Config, n int) { k.Iterations = n })
	if !strings.Contains(c.Device, "dims=") {
		less(c.Nodes, 2, func(k *bench.Config, n int) { k.Nodes = n })
	}
	less(c.Procs, 1, func(k *bench.Config, n int) { k.Procs = n })
	less(c.Sizes[0], 0, func(k *bench.Config, n int) { k.Sizes = []int{n} })
	return list
}

// commandLine is the nicloop run that does what a configuration says.
func commandLine(c *bench.Config) string {
	d := bench.Default(c.Workload)
	line := fmt.Sprintf("nicloop run %s --device %s --nodes %d --procs %d --sizes %s --iterations %d --warmup %d --flow %s --slots %d", c.Workload,
		Quoted(c.Device), c.Nodes, c.Procs, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Sizes), " ", ","), "[]"), c.Iterations, c.Warmup, c.Velo.Flow, c.Velo.Slots)
	flag := func(on bool, format string, args ...any) {
		if on {
			line += fmt.Sprintf(" "+format, args...)
		}
	}
	flows := c.Velo.Flow != "none"
	flag(flows && c.Velo.CreditSlots != d.Velo.CreditSlots, "--credit-slots %d", c.Velo.CreditSlots)
	flag(flows && c.Velo.Piggyback != d.Velo.Piggyback, "--piggyback=%v", c.Velo.Piggyback)
	flag(c.Velo.Division != mailbox.GrantExcess, "--division %v", c.Velo.Division)
	flag(c.Local, "--local")
	if len(c.Sizes) > 0 && c.Sizes[len(c.Sizes)-1] > host.EagerMax {
		flag(true, "--rendezvous %s", c.Rendezvous)
		flag(c.Rendezvous == host.Chunked, "--chunk %d --outstanding %d", c.Chunk, c.Outstanding)
	}
	flag(c.Limit > 0, "--limit %v", time.Duration(c.Limit/1000))
	return line + fmt.Sprintf(" --seed %d", c.Seed)
}
