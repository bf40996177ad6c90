package bench

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	_ "github.com/nicloop/nicloop/cosim/model"
	"github.com/nicloop/nicloop/cosim/vtime"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/regs"
	"github.com/nicloop/nicloop/host"
	"github.com/nicloop/nicloop/velo"
	"github.com/stretchr/testify/require"
)

// threaded runs a configuration on so many threads, and gives all that comes of it.
func threaded(t *testing.T, c Config, threads int) (string, error) {
	c.Threads = threads
	opened := c.Opened
	c.Opened = func(sys drivers.Timed) error {
		require.Len(t, sys.(drivers.Partitioned).Partitions(), threads)
		if opened != nil {
			return opened(sys)
		}
		return nil
	}
	last := 0 // shared by all ranks: one is told at a time
	c.Step = func(done, of int) {
		if last >= of { // of the size before
			last = 0
		}
		if done <= last || done > of {
			t.Errorf("progress %d after %d, of %d", done, last, of)
		}
		last = done
	}
	res, err := Run(context.Background(), c)
	js, _ := json.Marshal(res)
	var v *Verdict
	if errors.As(err, &v) {
		js, _ = json.Marshal(v)
	}
	return string(js), err
}

// flapping takes links away again and again, inside the parts and between them.
func flapping(sys drivers.Timed) error {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		node, link, at := rng.IntN(sys.Info().Nodes), uint8(rng.IntN(4)), drivers.Cycle(rng.IntN(40_000))
		sys.PostReg(node, at, regs.WireCtrl(link), regs.WireCtrlDown)
		sys.PostReg(node, at+drivers.Cycle(rng.IntN(2000)), regs.WireCtrl(link), 0)
		sys.PostReg(node, at, regs.LinkPatience(link), 0)
	}
	return nil
}

// TestThreads: the same bytes on one thread and on two, between which and one it goes to and fro.
func TestThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("runs everything several times")
	}
	// What short tests do of it: one of each kind of traffic, link and end.
	shortThreads := []string{"alltoall", "torus", "full mailbox", "rget", "chunked", "slow memory", "links in error", "links that fail", "hang", "limit"}
	on := func(workload string, nodes, procs int, change func(*Config)) Config {
		c := Default(workload)
		c.Device, c.Nodes, c.Procs, c.Iterations = "model:", nodes, procs, 2
		if change != nil {
			change(&c)
		}
		return c
	}
	sizes := func(n ...int) func(*Config) { return func(c *Config) { c.Sizes = n } }
	for name, c := range map[string]Config{
		"alltoall":       on("alltoall", 16, 2, sizes(8, 200, 2048)),
		"alltoall, 64":   on("alltoall", 64, 1, sizes(64)),
		"torus":          on("alltoall", 9, 2, func(c *Config) { c.Device, c.Sizes = "model:?torus=1", []int{8, 3000} }),
		"shallow":        on("random", 16, 1, func(c *Config) { c.Device = "model:?vc_depth=2" }),
		"static":         on("random", 16, 2, func(c *Config) { c.Velo.Flow, c.Velo.Slots = velo.Static, 8 }),
		"none":           on("random", 16, 2, func(c *Config) { c.Velo.Flow, c.Velo.Slots = velo.None, 900 }),
		"full mailbox":   on("hotspot", 16, 1, func(c *Config) { c.Velo.Flow, c.Velo.Slots = velo.None, 1 }),
		"rget":           on("alltoall", 16, 1, sizes(2500, 9000)),
		"rput":           on("random", 16, 1, func(c *Config) { c.Rendezvous, c.Sizes = host.RPUT, []int{20000} }),
		"chunked":        on("hotspot", 16, 1, func(c *Config) { c.Rendezvous, c.Chunk, c.Sizes = host.Chunked, 512, []int{5000} }),
		"local":          on("alltoall", 16, 3, func(c *Config) { c.Local = true }),
		"pingpong":       on("pingpong", 16, 1, sizes(8, 2048, 50000)),
		"multi-pingpong": on("multi-pingpong", 16, 4, nil),
		"slow memory":    on("hotspot", 16, 2, func(c *Config) { c.NVM, c.Hot, c.Sizes = []NVM{{5, 1, 8, NVMDepth}}, 4, []int{4096} }),
		"slow, no warm-up": on("hotspot", 16, 1, func(c *Config) {
			c.NVM, c.Hot, c.Sizes, c.Warmup = []NVM{{0, 1, 4, 256}, {15, 1, 8, 64}}, 2, []int{3000}, 0
		}),
		"links in error": on("alltoall", 16, 2, func(c *Config) {
			c.Device, c.Sizes = "model:?link_errors=1e-2&link_losses=1e-3&link_seed=3", []int{8, 3000}
		}),
		"long links in error": on("random", 16, 2, func(c *Config) { c.Device = "model:?link_losses=2e-2&wire_latency=9" }),
		"torus in error":      on("random", 9, 2, func(c *Config) { c.Device = "model:?torus=1&link_errors=1e-2" }),
		"links that fail":     on("random", 16, 2, func(c *Config) { c.Opened = flapping }),
		"hang":                on("alltoall", 16, 2, func(c *Config) { c.Velo.Flow, c.Velo.Slots = velo.None, 1 }),
		"limit":               on("alltoall", 16, 1, func(c *Config) { c.Limit = 20 * drivers.Microsecond }),
	} {
		if testing.Short() && !slices.Contains(shortThreads, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				c.Procs, c.Iterations = 1, 1
			}
			one, err1 := threaded(t, c, 1)
			defer vtime.ForceSwitches(1)() // does nothing to one thread
			two, err2 := threaded(t, c, 2)
			if name == "hang" || name == "limit" {
				var v *Verdict
				require.ErrorAs(t, err1, &v)
				require.Equal(t, err1.Error(), err2.Error())
			} else {
				require.NoError(t, err1)
				require.NoError(t, err2)
			}
			require.Equal(t, one, two)
		})
	}
}

// TestThreadsAreCancelled: a run ends soon after its context, on any number of threads.
func TestThreadsAreCancelled(t *testing.T) {
	c := Default("alltoall")
	c.Device, c.Nodes, c.Threads, c.Iterations = "model:", 16, 2, 1<<20
	requireCancel(t, c, 100)
}

// TestTracesTakeOneThread: what is looked into or recorded has one order.
func TestTracesTakeOneThread(t *testing.T) {
	c := Default("pingpong")
	c.Device, c.Nodes, c.Iterations, c.Blocks = "model:", 16, 2, true
	with, err := threaded(t, c, 1)
	require.NoError(t, err)
	c.Opened, c.Threads = nil, 2
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	js, _ := json.Marshal(res)
	require.Equal(t, with, string(js))
	require.NotEmpty(t, res.Rows[0].Blocks)
}
