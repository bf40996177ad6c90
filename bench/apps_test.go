package bench

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/host"
	"github.com/stretchr/testify/require"
)

func appOn(name string, ranks, n int) Config {
	c := Default(AppPrefix + name)
	c.Device, c.Nodes, c.Sizes, c.Iterations, c.Warmup = "ideal:", ranks, []int{n}, 4, 1
	c.Compute = 20 * drivers.Microsecond
	return c
}

// fitApp has four ranks, a power of two, run a pattern.
func fitApp(c *Config) {
	if IsApp(c.Workload) {
		c.Nodes, c.Procs = 2, 2
	}
}

func runApp(t *testing.T, c Config) Row {
	t.Helper()
	res, err := Run(context.Background(), c)
	require.NoError(t, err)
	row := res.Rows[0]
	wl, err := FindWorkload(c.Workload)
	require.NoError(t, err)
	require.EqualValues(t, wl.volume(&c, row.Bytes)*(c.Iterations+c.Warmup), res.Verified, "%s", c.Workload)
	require.Equal(t, wl.messages(&c)*c.Iterations, row.Messages)
	return row
}

// TestApps: every pattern with as many ranks as it may have, eager and by each rendezvous, every
// byte verified; the same command has the same result.
func TestApps(t *testing.T) {
	for _, a := range apps {
		for _, ranks := range []int{2, 3, 4, 5, 6, 9} {
			for _, n := range []int{64, 8 << 10} {
				c := appOn(a.name, ranks, n)
				if a.check != nil && a.check(&c) != nil {
					continue
				}
				for _, p := range host.Protocols() {
					if c.Rendezvous = p; (n <= host.EagerMax || testing.Short()) && p != host.Spec {
						continue
					}
					row := runApp(t, c)
					again := runApp(t, c)
					x, err := json.Marshal(row)
					require.NoError(t, err)
					y, err := json.Marshal(again)
					require.NoError(t, err)
					require.Equal(t, string(x), string(y), "%s, %d ranks, %s, seed %d", a.name, ranks, p, c.Seed)
					require.NotZero(t, row.App.Compute)
					require.GreaterOrEqual(t, row.Iteration, row.App.Compute)
					if p != host.Spec || n <= host.EagerMax {
						require.Zero(t, row.App.RTRs, "%s, %s", a.name, p)
					}
				}
			}
		}
	}
}

// TestAppsSpeculate is SPEC, Figures 4.17 and 4.18: whose receives may say where messages go.
func TestAppsSpeculate(t *testing.T) {
	usage := func(name string) AppStats {
		c := appOn(name, 4, 32<<10)
		c.Rendezvous, c.AlwaysSpeculate, c.Iterations = host.Spec, true, 10
		c.Compute, c.Jitter = 100*drivers.Microsecond, 20
		return *runApp(t, c).App
	}
	lu := usage("lu")
	require.Zero(t, lu.RTRs, "receives of any source cannot speculate")
	require.Zero(t, lu.Extra)
	for name, used := range map[string]bool{"exchange1": true, "bt": true, "radix": true, "cg": false} {
		s := usage(name)
		require.NotZero(t, s.RTRs, name)
		require.EqualValues(t, (s.RTRs-s.Used)*uint64(controlBytes), s.Extra, name)
		require.Equal(t, used, s.RTRUsage() > 0.8, "%s: %v", name, s)
	}
}

func TestAppsRefuse(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.Nodes = 3 },
		func(c *Config) { c.Compute = -1 },
		func(c *Config) { c.Compute = MaxCompute + 1 },
		func(c *Config) { c.Jitter = 101 },
		func(c *Config) { c.Workload, c.Rendezvous = "alltoall", host.RGET },
	} {
		c := appOn("cg", 4, 64)
		change(&c)
		_, err := Run(context.Background(), c)
		require.ErrorIs(t, err, drivers.ErrConfig)
	}
}

// TestPutBehindGet is why a send that blocks may leave its RTR: a put and a get of one rank with
// the same peer take as long as both together, two gets, of which either rank has one, as long as
// one. So it is for speculation whose sends do not block.
func TestPutBehindGet(t *testing.T) {
	const n = 64 << 10
	iteration := func(p host.Rendezvous, blocks bool) float64 {
		c := Default("")
		c.Device, c.Sizes, c.Rendezvous, c.AlwaysSpeculate = "ideal:", []int{n}, p, true
		var took drivers.Time
		require.NoError(t, launch(t, c, func(r *host.Rank) error {
			out, err := r.Alloc(n)
			if err != nil {
				return err
			}
			in, err := r.Alloc(n)
			if err != nil {
				return err
			}
			peer := 1 - r.ID()
			r.Compute(drivers.Time(r.ID()) * 5 * drivers.Microsecond) // rank 1 finds the RTS of rank 0, and its RTR
			from := r.Now()
			q, err := r.Irecv(peer, tagApp, in)
			if err != nil {
				return err
			}
			if blocks {
				err = r.Send(peer, tagApp, out)
			} else if s, serr := r.Isend(peer, tagApp, out); serr != nil {
				return serr
			} else {
				_, err = r.Wait(s)
			}
			if err != nil {
				return err
			}
			_, err = r.Wait(q)
			if r.ID() == 1 {
				took = r.Now() - from
			}
			return err
		}))
		return float64(took)
	}
	gets := iteration(host.RGET, true)
	require.Greater(t, iteration(host.Spec, false), 1.6*gets)
	require.InEpsilon(t, gets, iteration(host.Spec, true), 0.05)
}
