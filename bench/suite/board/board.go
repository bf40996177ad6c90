// Package board tests what needs no control of the clock, so that it runs on a board too.
package board

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/bench/regress"
	"github.com/nicloop/nicloop/bench/suite/messages"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/selftest"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
)

// Tests ask for no cycles, so they run on whatever has the registers: a simulation, a board in
// a slot or at a serial line, and what a guest of nicloop vm finds in its slot. What a device has
// not got is left out, and said.
func Tests() []regress.Test {
	return []regress.Test{
		{
			Name: "board/registers", Tags: []string{regress.Board},
			Doc: "identification, every bit of a register, every register address, unmapped addresses",
			Run: boardCheck("identity", "scratch", "addresses", "refusals"),
		},
		{
			Name: "board/mailbox", Tags: []string{regress.Board},
			Doc: "packets of every length and kind into a mailbox with guard bytes",
			Run: boardCheck("velo", "counters"),
		},
		{
			Name: "board/put-get", Tags: []string{regress.Board},
			Doc: "RMA across pages, with guard bytes",
			Run: boardCheck("dma", "counters"),
		},
		{
			Name: "board/interrupts", Tags: []string{regress.Board},
			Doc: "every interrupt cause of every process is raised and cleared",
			Run: boardCheck("interrupts"),
		},
		{
			Name: "board/links", Tags: []string{regress.Board},
			Doc: "PRBS test of every link with both ends present",
			Run: boardCheck("links"),
		},
		{
			Name: "board/rates", Tags: []string{regress.Board},
			Doc: "latency percentiles and throughput; no error counter moves",
			Run: boardCheck("latency", "bandwidth", "counters"),
		},
		{
			Name: "board/messages", Tags: []string{regress.Board},
			Doc: "every collective over ranks of all nodes, eager and by each rendezvous, verified to the byte",
			Run: testBoardMessages,
		},
	}
}

// boardCheck makes a test of checks that one who brings a board up would run.
func boardCheck(names ...string) func(t *regress.T) error {
	return func(t *regress.T) (err error) {
		sys, err := t.OpenFreeRunning(selftest.MemoryBytes)
		if err != nil {
			return err
		}
		defer context.AfterFunc(t.Ctx, func() { sys.Close() })()
		defer func() {
			if timed, ok := sys.(drivers.Timed); ok {
				t.AddSimulated(drivers.Time(timed.Now()) * drivers.Time(timed.Info().ClockPS))
			}
			err = errors.Join(err, sys.Close())
		}()
		results, err := selftest.Run(t.Ctx, sys, selftest.Config{Only: names, Seed: uint64(t.Seed), Samples: 64, Patience: 20 * time.Second})
		if err != nil {
			return err
		}
		return judge(t, results)
	}
}

// judge: a test is left out if there was nothing that it could look at.
func judge(t *regress.T, results []selftest.Result) error {
	var failed []error
	did, left := 0, ""
	for _, r := range results {
		switch r.Outcome {
		case selftest.Passed:
			t.Logf("node %d: %s: %s", r.Node, r.Check, r.Did)
			if r.Check != "counters" {
				did++
			}
			for _, x := range r.Figures {
				t.Logf("node %d: %s: median %.0f ns, 99 %% %.0f ns; %.0f/s, %.2f MB/s; simulated: %t", r.Node, x.What, x.P50NS, x.P99NS, x.PerS, x.MBPerS, x.Simulated)
			}
		case selftest.Skipped:
			t.Logf("node %d: %s left out: %s", r.Node, r.Check, r.Why)
			left = r.Why
		case selftest.Failed:
			failed = append(failed, fmt.Errorf("node %d: %s: %w", r.Node, r.Check, r.Fault))
		}
	}
	if did == 0 && failed == nil {
		return fmt.Errorf("%w: %s", drivers.ErrNotSupported, left)
	}
	return errors.Join(failed...)
}

// testBoardMessages is the host's whole stack, with ranks in real time where the device has no
// other.
func testBoardMessages(t *regress.T) error {
	sys, err := t.OpenFreeRunning(selftest.MemoryBytes)
	if err != nil {
		return err
	}
	nodes := sys.Info().Nodes
	if err := errors.Join(drivers.Require(sys, drivers.CanPIO|drivers.CanDMA), sys.Close()); err != nil {
		return err
	}
	const ranks, rounds = 4, 4
	for _, by := range []host.Rendezvous{host.RGET, host.RPUT, host.Chunked, host.Spec} {
		c := bench.Default("")
		c.Nodes, c.Procs, c.Rendezvous, c.Chunk, c.Outstanding = nodes, max(1, ranks/nodes), by, 1500, 2
		c.Velo = velo.Config{Flow: velo.Dynamic, Slots: 8, CreditSlots: 2, Piggyback: true}
		c.Sizes = []int{c.Nodes * c.Procs * messages.CollectiveSizes()[len(messages.CollectiveSizes())-1]}
		if err := t.Launch(c, 8, func(r *host.Rank) error { return messages.CollectiveWorld(r, t.Seed, rounds, messages.EachCollective) }); err != nil {
			return fmt.Errorf("%d nodes x %d processes, %s: %w", c.Nodes, c.Procs, by, err)
		}
		t.Logf("%d nodes x %d processes, %s: %d rounds", c.Nodes, c.Procs, by, rounds)
	}
	return nil
}
