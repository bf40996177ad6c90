package fabric

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// cut is a network with any number of parts, which exchange as rarely as allowed.
type cut struct {
	*Fabric
	node    []*Part // by node
	window  uint64
	late    uint
	expose  map[uint64][]socket // by cycle
	exposed func()              // called afterwards
	ended   func(*Part)         // called when a part has executed a cycle, or exchanged
}

func newCut(cfg Config) (*cut, error) {
	f, err := New(cfg)
	if err != nil {
		return nil, err
	}
	c := &cut{Fabric: f, node: make([]*Part, len(f.where))}
	c.meet()
	for i := range c.node {
		c.node[i] = f.Part(int(f.where[i].buffer[0].part))
	}
	return c, nil
}

func (c *cut) meet() {
	if c.window = c.Lookahead(); c.window > 1 && len(c.node)%2 == 0 { // for some networks, exchange twice as often, and late
		c.window, c.late = c.window/2, 1
	}
}

func (c *cut) Now() uint64                             { return c.Part(0).Now() }
func (c *cut) CanInject(node int, vc uint8) bool       { return c.node[node].CanInject(node, vc) }
func (c *cut) Inject(node int, vc uint8, flit Flit)    { c.node[node].Inject(node, vc, flit) }
func (c *cut) Credits(node int, vc uint8) int          { return c.node[node].Credits(node, vc) }
func (c *cut) Release(node int, vc uint8)              { c.node[node].Release(node, vc) }
func (c *cut) ReleaseRun(node int, from uint64, n int) { c.node[node].ReleaseRun(node, 0, from, n) }
func (c *cut) Mix()                                    { c.node[len(c.node)-1].Mix() }
func (c *cut) InjectRun(node int, flit Flit, n int) int {
	return c.node[node].InjectRun(node, 0, flit, n)
}
func (c *cut) each(of func(*Part) []Ejection) (all []Ejection) {
	for i := range c.parts {
		all = append(all, of(c.Part(i))...)
	}
	return all
}
func (c *cut) Ejected() []Ejection { return c.each((*Part).Ejected) }
func (c *cut) Dropped() []Ejection { return c.each((*Part).Dropped) }

func (c *cut) Inside() (n int) {
	for i := range c.parts {
		n += c.Part(i).Inside()
		for _, boxes := range c.Part(i).boxes {
			for _, b := range boxes {
				for _, a := range b.arrivals {
					n += int(a.n)
				}
			}
		}
	}
	return n
}

func (c *cut) Busy() bool {
	for i := range c.parts {
		if c.Part(i).Busy() {
			return true
		}
	}
	return c.Inside() > 0
}

func (c *cut) Step() {
	for _, s := range c.expose[c.Now()] {
		if err := c.Expose(s.router, s.port, waiting(16384, 16384)); err != nil {
			panic(err)
		}
		c.meet()
	}
	if c.exposed != nil && c.expose[c.Now()] != nil {
		c.exposed()
	}
	// The parts take turns in being ahead.
	first := int(c.Now() / c.window)
	for i := range c.parts {
		p := c.Part((first + i) % len(c.parts))
		p.Step()
		c.notifyEnded(p)
	}
	if c.Now()%c.window == 0 {
		for i := range c.parts {
			c.Part(i).Exchange(c.late)
			c.notifyEnded(c.Part(i))
		}
	}
}

func (c *cut) notifyEnded(p *Part) {
	if c.ended != nil {
		c.ended(p)
	}
}

// TestParts: division into parts changes no cycle of any flit, credit or counter.
func TestParts(t *testing.T) {
	for i, topo := range []Topology{Mesh(2), Mesh(5), Mesh(4, 4), Mesh(3, 3, 2), Torus(5), Torus(4, 3), routed(t, "dragonfly:1,3,1"), routed(t, "fattree:2,3")} {
		for _, parts := range []int{2, 3, 5} {
			if parts > topo.Routers() {
				continue
			}
			seed := uint64(100*i + parts)
			t.Run(fmt.Sprintf("%v/parts%d/seed%d", topo, parts, seed), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, 6))
				cfg := Config{Topology: topo, VCDepth: []int{1, 3, 16}[rng.IntN(3)], Parts: parts}
				if rng.IntN(2) == 0 {
					cfg.RouterCycles, cfg.LinkCycles, cfg.InjectCycles = 2+rng.IntN(3), 1+rng.IntN(5), 1+rng.IntN(3)
					cfg.CreditCycles, cfg.LocalCreditCycles = 1+rng.IntN(9), 1+rng.IntN(3)
				}
				if x, ok := topo.(*Routed); ok && parts <= x.Parts() {
					cfg.PartOf = x.PartOf(parts)
				}
				last := topo.Nodes() - 1
				broken := [][3]int{{0, last, NoPort}, {last, 0, NoPort}, {topo.Routers() / 2, 0, NoPort}, {topo.Routers() / 2, last, NoPort}}
				compare(t, cfg, rng, short(300, 150), nil)
				compare(t, cfg, rng, short(300, 150), broken)
				if topo.VCs() == nicClasses {
					cfg.Run = 2 + rng.IntN(12)
					compareRuns(t, cfg, rng, short(1500, 500), 0, broken)
					compareRuns(t, cfg, rng, short(1500, 600), short(700, 250), nil)
				}
			})
		}
	}
	_, err := New(Config{Topology: Mesh(2), Parts: 3})
	require.ErrorIs(t, err, ErrConfig)
}
