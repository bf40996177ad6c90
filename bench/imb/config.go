package imb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nicloop/nicloop/bench"
	"github.com/nicloop/nicloop/drivers"
	"github.com/nicloop/nicloop/drivers/limits"
	"github.com/nicloop/nicloop/drivers/suggest"
	"github.com/nicloop/nicloop/host"
)

// Config is one run. Run describes the world; its workload, sizes and iterations are ignored.
type Config struct {
	Run        bench.Config `json:"world"`
	Benchmarks []string     `json:"benchmarks"` // empty: all
	// MinProcs is the first number of processes; it is doubled up to all processes.
	MinProcs int `json:"npmin"`
	// Procs lists the numbers of processes instead, which may be any.
	Procs      []int `json:"procs,omitempty"`
	Sizes      []int `json:"msglen_bytes"`
	Iterations int   `json:"iter"`
	Warmup     int   `json:"warmup"`
	// Multi runs as many groups at once as fit; PerGroup reports each of them instead of the slowest.
	Multi    bool `json:"multi"`
	PerGroup bool `json:"per_group"`
	// Map assigns ranks to groups: with {P, Q} the order is 0, P, 2P, … (Q-1)P, then 1, P+1, and so
	// on; zero: ranks in order.
	Map [2]int `json:"map"`
	// RootShift is the number of iterations between changes of the root; 0: the root is always rank
	// 0.
	RootShift int `json:"root_shift"`
	// Sync adds an untimed barrier before every iteration.
	Sync bool `json:"sync"`
	// Skew is the longest delay of a rank at the start of an iteration, in time that is not measured;
	// it is drawn from the seed for each rank and iteration. 0: all ranks start when they leave the
	// barrier.
	Skew drivers.Time `json:"skew_ps,omitempty"`
	// Linear disables the optimised algorithms of collectives.
	Linear bool `json:"linear"`
	// Algorithm of the measured collectives; empty: selected by host's table.
	Algorithm string `json:"algorithm,omitempty"`

	Step func(done, of int) `json:"-"`
}

// Default returns the behaviour of the original, with fewer repetitions.
func Default() Config {
	run := bench.Default("")
	run.Nodes, run.Procs = 2, 2
	return Config{Run: run, MinProcs: 2, Sizes: Log(0, 11), Iterations: 10, Warmup: 2, RootShift: 1, Sync: true}
}

// Log returns the sizes of IMB's -msglog: 0, then 2^low to 2^high.
func Log(low, high int) []int {
	list := []int{0}
	for e := low; e <= high; e++ {
		list = append(list, 1<<e)
	}
	return list
}

// Check finds the mistakes of a configuration that need no device.
func (c *Config) Check() error {
	_, err := c.validate()
	return err
}

func (c *Config) validate() ([]*benchmark, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", drivers.ErrConfig, fmt.Sprintf(format, args...))
	}
	ranks := c.Run.Ranks()
	switch {
	case c.MinProcs < 2 || c.MinProcs > ranks:
		return nil, bad("npmin %d: expected 2 to %d, the number of processes", c.MinProcs, ranks)
	case c.Iterations < 1 || c.Warmup < 0 || c.RootShift < 0 || max(c.Iterations, c.Warmup, c.RootShift) > limits.Count:
		return nil, bad("%d iterations, %d for warm-up, root shift %d: expected at least 1, 0 and 0, and at most %d", c.Iterations, c.Warmup, c.RootShift, limits.Count)
	case len(c.Sizes) == 0:
		return nil, bad("no message lengths: expected at least one")
	case c.Map != [2]int{} && c.Map[0]*c.Map[1] != ranks:
		return nil, bad("map %dx%d: expected a product of %d, the number of processes", c.Map[0], c.Map[1], ranks)
	}
	for _, p := range c.Procs {
		if p < 2 || p > ranks {
			return nil, bad("%d processes: expected 2 to %d, the number of processes", p, ranks)
		}
	}
	list, err := find(c.Benchmarks)
	if err != nil || c.Algorithm == "" {
		return list, err
	}
	if c.Linear {
		return nil, bad("algorithm %q with linear collectives: expected one of them", c.Algorithm)
	}
	for _, b := range list {
		if b.prepare != nil {
			return nil, bad("algorithm %q for %s, which is not a collective: remove the algorithm", c.Algorithm, b.name)
		}
		if err := b.kind.Check(c.Algorithm); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// find returns the named benchmarks in the order of the names.
func find(names []string) ([]*benchmark, error) {
	if len(names) == 0 {
		return all, nil
	}
	var list []*benchmark
	for _, name := range names {
		b := byName(name)
		if b == nil {
			return nil, fmt.Errorf("%w: unknown benchmark %q%s; known: %s", drivers.ErrConfig, name, suggest.Nearest(name, Names()), strings.Join(Names(), ", "))
		}
		list = append(list, b)
	}
	return list, nil
}

func byName(name string) *benchmark {
	for _, b := range all {
		if strings.EqualFold(b.name, name) {
			return b
		}
	}
	return nil
}

// NameOf returns the benchmark that measures a collective.
func NameOf(kind host.Collective) string {
	for _, b := range all {
		if b.prepare == nil && b.kind == kind {
			return b.name
		}
	}
	return ""
}

// Names lists the benchmarks.
func Names() []string {
	var names []string
	for _, b := range all {
		names = append(names, b.name)
	}
	return names
}

// procs returns the numbers of processes of a benchmark: npmin, doubled while it fits, and all. A
// single transfer takes two.
func (c *Config) procs(b *benchmark) []int {
	if b.class == single {
		return []int{2}
	}
	if len(c.Procs) > 0 {
		return c.Procs
	}
	var list []int
	all := c.Run.Ranks()
	for p := c.MinProcs; p < all; p *= 2 {
		list = append(list, p)
	}
	return append(list, all)
}

// groups divides the ranks into groups of p.
func (c *Config) groups(p int) [][]int {
	order := make([]int, 0, c.Run.Ranks())
	rows, columns := c.Map[0], c.Map[1]
	if rows == 0 {
		rows, columns = 1, c.Run.Ranks()
	}
	for first := range rows {
		for k := range columns {
			order = append(order, first+k*rows)
		}
	}
	n := 1
	if c.Multi {
		n = len(order) / p
	}
	var list [][]int
	for g := range n {
		list = append(list, order[g*p:(g+1)*p])
	}
	return list
}

// sizes returns the valid lengths for a benchmark.
func (c *Config) sizes(b *benchmark) []int {
	if b.class == barrier {
		return []int{0}
	}
	var list []int
	for _, n := range c.Sizes {
		list = append(list, n-n%b.unit())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// root returns the root of iteration k among p processes.
func (c *Config) root(k, p int) int {
	if c.RootShift == 0 {
		return 0
	}
	return k / c.RootShift % p
}
