package fabric

import (
	"fmt"
	"math/bits"
)

const (
	maxVCs     = 8  // output.ready
	maxSharers = 64 // lane.req
	maxPorts   = 255
	maxNodes   = 1 << 16
	maxVCDepth = 1 << 14
	maxLatency = 1 << 10
	maxRun     = 1 << 6
)

// New builds an empty network in cycle 0.
func New(cfg Config) (*Fabric, error) {
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := cfg.Topology
	f := &Fabric{cfg: cfg, vcs: t.VCs(), hop: uint64(cfg.RouterCycles + cfg.LinkCycles), run: cfg.Run}
	if err := f.layOut(t); err != nil {
		return nil, err
	}
	if err := f.connect(t); err != nil {
		return nil, err
	}
	for r := range f.routers {
		if err := f.addQueues(t, r); err != nil {
			return nil, err
		}
	}
	f.fillRoutes(t)
	f.addStorage(t)
	return f, nil
}

func (c *Config) setDefaults() {
	for _, d := range []struct {
		v *int
		d int
	}{
		{&c.VCDepth, DefaultVCDepth}, {&c.RouterCycles, DefaultRouterCycles}, {&c.LinkCycles, DefaultLinkCycles},
		{&c.CreditCycles, DefaultCreditCycles}, {&c.LocalCreditCycles, DefaultLocalCreditCycles},
		{&c.Run, 1},
	} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
}

func (c *Config) check() error {
	if c.Topology == nil {
		return fmt.Errorf("%w: no topology; give one, for example fabric.Mesh(4, 4)", ErrConfig)
	}
	for _, v := range []struct {
		name     string
		v        int
		low, top int
	}{
		{"nodes", c.Topology.Nodes(), 1, maxNodes}, {"VCs", c.Topology.VCs(), 1, maxVCs}, {"VCDepth", c.VCDepth, 1, maxVCDepth},
		{"RouterCycles", c.RouterCycles, 2, maxLatency}, {"LinkCycles", c.LinkCycles, 1, maxLatency},
		{"CreditCycles", c.CreditCycles, 1, maxLatency}, {"LocalCreditCycles", c.LocalCreditCycles, 1, maxLatency},
		{"Run", c.Run, 1, c.longestRun()},
	} {
		if v.v < v.low || v.v > v.top {
			return fmt.Errorf("%w: %s is %d, expected %d to %d", ErrConfig, v.name, v.v, v.low, v.top)
		}
	}
	return nil
}

// longestRun: a Chooser looks at the network flit by flit.
func (c *Config) longestRun() int {
	if c.Chooser != nil {
		return 1
	}
	return maxRun
}

// layOut makes outputs and input VCs. Outputs to NICs stand behind all others, in
// order of the nodes, both in whole words of Fabric.active.
func (f *Fabric) layOut(t Topology) error {
	const word = 64
	links := uint32(0)
	for r := range t.Routers() {
		n := t.Ports(r)
		if n < 1 || n > maxPorts {
			return fmt.Errorf("%w: router %d has %d ports, expected 1 to %d", ErrConfig, r, n, maxPorts)
		}
		f.routers = append(f.routers, router{firstPool: uint32(len(f.pools)), firstRoute: uint32(r * t.Nodes()), outs: make([]uint32, n)})
		for v := range uint8(f.vcs) {
			for port := range n {
				f.pools = append(f.pools, pool{router: uint32(r), port: uint16(port), vc: v})
			}
		}
		for port := range n {
			if _, nic := t.Node(r, port); !nic {
				f.routers[r].outs[port] = links
				links++
			}
		}
	}
	f.exits = int(links+word-1) / word
	f.active = make([]uint64, f.exits+(t.Nodes()+word-1)/word)
	f.outs, f.waited = make([]output, len(f.active)*word), make([]uint64, len(f.active)*word)
	f.where = make([]place, t.Nodes())
	for r := range f.routers {
		for port := range f.routers[r].outs {
			if node, nic := t.Node(r, port); nic {
				f.routers[r].outs[port] = uint32(f.exits*word + node)
			}
			f.addLanes(f.routers[r].outs[port])
		}
	}
	return nil
}

func (f *Fabric) addLanes(out uint32) {
	lanes := f.newLanes()
	for v := range lanes {
		lanes[v].out = out
	}
	f.outs[out].lanes = lanes
}

func (f *Fabric) newLanes() []lane {
	lanes := make([]lane, f.vcs)
	for v := range lanes {
		lanes[v] = lane{credit: int32(f.cfg.VCDepth), last: 63, vc: uint8(v)}
	}
	return lanes
}

func (f *Fabric) lane(r, port, vc int) *lane { return &f.outs[f.routers[r].outs[port]].lanes[vc] }

// pool gives an input VC. Those of a router stand by VC, then port, which is the
// order of the RTL's arbiters.
func (f *Fabric) pool(r, port, vc int) *pool {
	return &f.pools[int(f.routers[r].firstPool)+vc*len(f.routers[r].outs)+port]
}

// connect joins every lane with the places it fills.
func (f *Fabric) connect(t Topology) error {
	placed := 0
	for r := range f.routers {
		for port := range f.routers[r].outs {
			if node, ok := t.Node(r, port); ok {
				f.connectNIC(node, r, port)
				placed++
				continue
			}
			peer, back, ok := t.Link(r, port)
			if !ok {
				continue
			}
			if r2, p2, ok := t.Link(peer, back); !ok || r2 != r || p2 != port {
				return fmt.Errorf("%w: port %d of router %d leads to port %d of router %d, which does not lead back", ErrConfig, port, r, back, peer)
			}
			for v := range f.vcs {
				f.join(f.lane(r, port, v), f.pool(peer, back, v), f.cfg.CreditCycles)
			}
		}
	}
	if placed != t.Nodes() {
		return fmt.Errorf("%w: %d nodes stand at ports, expected %d", ErrConfig, placed, t.Nodes())
	}
	return nil
}

func (f *Fabric) connectNIC(node, r, port int) {
	w := &f.where[node]
	w.wire, w.buffer = f.newLanes(), make([]pool, f.vcs)
	for v := range f.vcs {
		w.wire[v].out, w.wire[v].wire = uint32(node), true
		w.buffer[v] = pool{router: uint32(node), vc: uint8(v)}
		w.in = append(w.in, f.pool(r, port, v))
		f.join(f.lane(r, port, v), &w.buffer[v], f.cfg.LocalCreditCycles)
		f.join(&w.wire[v], w.in[v], f.cfg.LocalCreditCycles)
	}
}

func (f *Fabric) join(l *lane, p *pool, delay int) {
	l.to, p.sender, p.delay = p, l, uint32(delay)
	p.ring = make([]uint64, f.creditWords())
}

// creditWords is the size of credits.ring: as far ahead as a run, or all places freed
// at once, tell of credits, and as much again for those that nobody has looked at.
func (f *Fabric) creditWords() int {
	f.reach = uint64(max(f.cfg.CreditCycles, f.cfg.LocalCreditCycles) + f.cfg.Run + 1)
	return 1 << bits.Len64((f.reach+uint64(f.cfg.VCDepth))/64)
}

// addQueues makes, for every lane of a router, a queue for each input VC that can
// feed it. Only a NIC may get back what it sent.
func (f *Fabric) addQueues(t Topology, r int) error {
	ports := len(f.routers[r].outs)
	for i := range f.vcs * ports {
		f.pools[int(f.routers[r].firstPool)+i].ways = make([]*queue, ports)
	}
	for out := range ports {
		_, nic := t.Node(r, out)
		for w := range f.vcs {
			l := f.lane(r, out, w)
			if l.to == nil {
				continue
			}
			var from []*pool
			for v := range f.vcs {
				for in := range ports {
					p := f.pool(r, in, v)
					if v == 0 && f.cfg.Run > 1 && t.VC(r, in, 0, out) != 0 {
						return fmt.Errorf("%w: runs of %d flits, but packets leave VC 0 at router %d; expected Run to be 1", ErrConfig, f.cfg.Run, r)
					}
					if p.sender != nil && (in != out || nic) && int(t.VC(r, in, uint8(v), out)) == w {
						from = append(from, p)
					}
				}
			}
			if len(from) > maxSharers {
				return fmt.Errorf("%w: %d input VCs share VC %d of port %d of router %d, expected at most %d", ErrConfig, len(from), w, out, r, maxSharers)
			}
			l.queues = make([]queue, len(from))
			for i, p := range from {
				l.queues[i] = queue{lane: l, in: p, bit: 1 << i}
				p.ways[out] = &l.queues[i]
			}
		}
	}
	return nil
}

func (f *Fabric) fillRoutes(t Topology) {
	f.routes = make([]uint8, t.Routers()*t.Nodes())
	for r := range f.routers {
		for dst := range t.Nodes() {
			f.SetRoute(r, dst, t.Port(r, dst))
		}
	}
}

// addStorage makes room for as many flits and events as can be under way.
func (f *Fabric) addStorage(t Topology) {
	pools := 0
	for i := range f.pools {
		if f.pools[i].sender != nil {
			pools++
		}
	}
	cells := make([]cell, pools*f.cfg.VCDepth)
	for i := range cells {
		cells[i].next, f.free = f.free, &cells[i]
	}
	f.ejected, f.dropped = make([]Ejection, 0, t.Nodes()), make([]Ejection, 0, pools)
	f.credited = make([]int32, 0, t.Nodes()*f.vcs)
	// Per cycle one flit arrives per input, and one credit per lane.
	f.shows = newAgenda[*queue](int(f.hop), pools)
	f.drops = newAgenda[drop](int(f.hop)+f.cfg.Run, pools)
	f.wakes = newAgenda[*lane](int(f.reach)+f.cfg.VCDepth, 2*pools)
}
