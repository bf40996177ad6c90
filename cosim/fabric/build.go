package fabric

import "fmt"

const (
	maxVCs     = 8  // turn.after
	maxSharers = 64 // lane.held
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
	f := &Fabric{cfg: cfg, vcs: t.VCs(), hop: uint64(cfg.RouterCycles + cfg.LinkCycles), parts: make([]*Part, cfg.allParts())}
	for i := range f.parts {
		f.parts[i] = &Part{Fabric: f, id: uint8(i), run: uint64(cfg.Run)}
	}
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
	for _, p := range f.parts {
		f.addStorage(p)
	}
	return f, nil
}

func (c *Config) setDefaults() {
	for _, d := range []struct {
		v *int
		d int
	}{
		{&c.VCDepth, DefaultVCDepth}, {&c.RouterCycles, DefaultRouterCycles}, {&c.LinkCycles, DefaultLinkCycles}, {&c.InjectCycles, DefaultInjectCycles},
		{&c.CreditCycles, DefaultCreditCycles}, {&c.LocalCreditCycles, DefaultLocalCreditCycles},
		{&c.Run, 1}, {&c.Parts, 1},
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
		{"InjectCycles", c.InjectCycles, 1, maxLatency},
		{"CreditCycles", c.CreditCycles, 1, maxLatency}, {"LocalCreditCycles", c.LocalCreditCycles, 1, maxLatency},
		{"HopMax", c.HopMax, 0, c.mostHops()}, {"Run", c.Run, 1, c.longestRun()}, {"Parts", c.Parts, 1, c.mostParts()},
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

// mostHops: a Chooser has the note for itself.
func (c *Config) mostHops() int {
	if c.Chooser != nil {
		return 0
	}
	return noteMask
}

// mostParts: a Chooser may look at any router, and what leaves for routers outside leaves one part.
func (c *Config) mostParts() int {
	if c.Chooser != nil || c.Outside != nil {
		return 1
	}
	return min(c.Topology.Routers(), int(exactly))
}

// allParts counts that of the routers outside as well.
func (c *Config) allParts() int {
	if c.Outside != nil {
		return c.Parts + 1
	}
	return c.Parts
}

func (f *Fabric) partOf(r int) uint8 {
	if f.cfg.Outside != nil {
		if f.cfg.Outside(r) {
			return outside
		}
		return 0
	}
	return uint8(r * len(f.parts) / len(f.routers))
}

// layOut makes outputs and input VCs. Outputs to NICs stand behind all others, in
// order of the nodes.
func (f *Fabric) layOut(t Topology) error {
	links, pools, ways := 0, 0, 0
	f.routers, f.where = make([]router, t.Routers()), make([]place, t.Nodes())
	for r := range f.routers {
		n := t.Ports(r)
		if n < 1 || n > maxPorts {
			return fmt.Errorf("%w: router %d has %d ports, expected 1 to %d", ErrConfig, r, n, maxPorts)
		}
		f.routers[r] = router{outs: make([]uint32, n), firstPool: pools, part: f.partOf(r)}
		pools, ways = pools+n*f.vcs, ways+n*n*f.vcs
		for port := range n {
			if _, nic := t.Node(r, port); !nic {
				f.routers[r].outs[port] = uint32(links)
				links++
			}
		}
	}
	f.exits = links
	for r := range f.routers {
		for port := range f.routers[r].outs {
			if node, nic := t.Node(r, port); nic {
				f.routers[r].outs[port] = uint32(f.exits + node)
			}
		}
	}
	f.lanes, f.turns = f.newLanes(links+t.Nodes()), make([]turn, links+t.Nodes())
	f.pools, f.ways = make([]pool, pools), make([]*queue, 0, ways)
	for r := range f.routers {
		for v := range f.vcs {
			for port := range f.routers[r].outs {
				*f.pool(r, port, v) = pool{
					router: uint32(r), part: f.routers[r].part, port: uint8(port), vc: uint8(v),
					ways: uint32(len(f.ways)), routes: uint32(r * t.Nodes()),
				}
				f.ways = f.ways[:len(f.ways)+t.Ports(r)]
			}
		}
	}
	return nil
}

// newLanes makes the lanes of n outputs, or wires. A place is promised at most a run before
// the flit that it is for has gone, so the ring of promises has room for both.
func (f *Fabric) newLanes(n int) []lane {
	ring := 32 // see history
	for ring < f.cfg.VCDepth+f.cfg.Run {
		ring *= 2
	}
	lanes, avail := make([]lane, n*f.vcs), make([]uint64, 2*n*f.vcs*ring)
	for i := range lanes {
		lanes[i] = lane{
			next: Forever, want: Forever, known: uint64(f.cfg.VCDepth), avail: avail[2*i*ring:][: ring : 2*ring],
			out: uint32(i / f.vcs), vc: uint8(i % f.vcs), last: 63,
		}
	}
	return lanes
}

func (f *Fabric) lane(r, port, vc int) *lane {
	return &f.lanes[int(f.routers[r].outs[port])*f.vcs+vc]
}

// pool gives an input VC. Those of a router stand by VC, then port, which is the
// order of the RTL's arbiters.
func (f *Fabric) pool(r, port, vc int) *pool {
	return &f.pools[f.routers[r].firstPool+vc*len(f.routers[r].outs)+port]
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
				f.join(f.lane(r, port, v), f.pool(peer, back, v), r, f.cfg.CreditCycles)
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
	w.wire, w.buffer = f.newLanes(1), make([]pool, f.vcs)
	for v := range f.vcs {
		w.wire[v].out, w.wire[v].wire = uint32(node), true
		w.buffer[v] = pool{router: uint32(node), part: f.routers[r].part, vc: uint8(v)}
		f.join(f.lane(r, port, v), &w.buffer[v], r, f.cfg.LocalCreditCycles)
		f.join(&w.wire[v], f.pool(r, port, v), r, f.cfg.LocalCreditCycles)
	}
}

// join has a lane at a router fill a pool's places.
func (f *Fabric) join(l *lane, to *pool, r, delay int) {
	l.to, to.sender, to.delay = to, l, uint64(delay)
	l.part, to.from = to.part, f.routers[r].part
}

// addQueues makes, for every lane of a router, a queue for each input VC that can
// feed it. Only a NIC may get back what it sent.
func (f *Fabric) addQueues(t Topology, r int) error {
	ports := len(f.routers[r].outs)
	for out := range ports {
		for w := range f.vcs {
			l := f.lane(r, out, w)
			if l.to == nil {
				continue
			}
			from, err := f.feeders(t, r, out, w)
			if err != nil {
				return err
			}
			l.queues = make([]queue, len(from))
			for i, p := range from {
				l.queues[i] = queue{lane: l, in: p, bit: 1 << i}
				f.ways[int(p.ways)+out] = &l.queues[i]
			}
		}
	}
	return nil
}

// feeders are the input VCs that can feed a lane.
func (f *Fabric) feeders(t Topology, r, out, w int) (from []*pool, err error) {
	_, nic := t.Node(r, out)
	for v := range f.vcs {
		for in := range f.routers[r].outs {
			p := f.pool(r, in, v)
			if v == 0 && f.cfg.Run > 1 && t.VC(r, in, 0, out) != 0 {
				return nil, fmt.Errorf("%w: runs of %d flits, but packets leave VC 0 at router %d; expected Run to be 1", ErrConfig, f.cfg.Run, r)
			}
			if p.sender != nil && (in != out || nic) && int(t.VC(r, in, uint8(v), out)) == w {
				from = append(from, p)
			}
		}
	}
	if len(from) > maxSharers {
		err = fmt.Errorf("%w: %d input VCs share VC %d of port %d of router %d, expected at most %d", ErrConfig, len(from), w, out, r, maxSharers)
	}
	return from, err
}

func (f *Fabric) fillRoutes(t Topology) {
	f.routes = make([]uint8, t.Routers()*t.Nodes())
	for r := range f.routers {
		for dst := range t.Nodes() {
			f.SetRoute(r, dst, t.Port(r, dst))
		}
	}
}

// addStorage makes room for as many flits and events as can be under way in a part.
func (f *Fabric) addStorage(p *Part) {
	pools := 0
	for i := range f.pools {
		if f.pools[i].part == p.id && f.pools[i].sender != nil {
			pools++
		}
	}
	cells := make([]cell, pools*f.cfg.VCDepth)
	for i := range cells {
		cells[i].next, p.cells = p.cells, &cells[i]
	}
	nodes := len(f.where)
	p.ejected, p.dropped = make([]Ejection, 0, nodes), make([]Ejection, 0, pools)
	p.credited = make([]int32, 0, nodes*f.vcs)
	// A credit may wait for all others of its VC.
	credit := max(f.cfg.CreditCycles, f.cfg.LocalCreditCycles) + f.cfg.VCDepth + 2*f.cfg.Run
	p.calendar = NewCalendar(max(int(f.hop), f.cfg.InjectCycles+f.cfg.RouterCycles, credit), len(f.turns))
	p.drops = newAgenda[drop](max(int(f.hop), f.cfg.InjectCycles+f.cfg.RouterCycles)+f.cfg.Run, pools) // one flit arrives per input and cycle
	if len(f.parts) > 1 {
		for i := range p.boxes {
			p.boxes[i] = make([]outbox, len(f.parts))
		}
	}
}
