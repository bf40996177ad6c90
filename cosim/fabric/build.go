package fabric

import (
	"fmt"
	"math/bits"
)

const (
	maxVCs      = 8  // output.ready
	maxSharers  = 64 // lane.req
	maxPorts    = 255
	maxNodes    = 1 << 16
	maxVCDepth  = 1 << 14
	maxLatency  = 1 << 10
	noPortRoute = 255
)

// New builds an empty network in cycle 0.
func New(cfg Config) (*Fabric, error) {
	cfg.setDefaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := cfg.Topology
	f := &Fabric{
		cfg: cfg, vcs: t.VCs(), laneBits: uint(bits.Len(uint(t.VCs() - 1))),
		queues: make([]queue, 1), // the first stands for no route: noQueue
	}
	f.layOut(t)
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
	} {
		if v.v < v.low || v.v > v.top {
			return fmt.Errorf("%w: %s is %d, expected %d to %d", ErrConfig, v.name, v.v, v.low, v.top)
		}
	}
	return nil
}

// layOut numbers outputs, lanes and pools. Pools of a router stand by VC, then
// port, which is the order of the RTL's arbiters.
func (f *Fabric) layOut(t Topology) {
	var outs, pools, ports uint32
	for r := range t.Routers() {
		n := uint32(t.Ports(r))
		f.routers = append(f.routers, router{ports: n, firstOut: outs, firstPool: pools, firstRoute: uint32(r * t.Nodes())})
		for v := range uint8(f.vcs) {
			for in := range n {
				f.pools = append(f.pools, pool{router: uint32(r), in: uint16(in), vc: v, queues: ports, source: noSource})
				ports += n
			}
		}
		outs += n
		pools += n * uint32(f.vcs)
	}
	f.byPort = make([]uint32, ports)
	// A NIC's wire into its router has lanes too, for the credits; they never want to send.
	all := outs + uint32(t.Nodes())
	f.outs = make([]output, all)
	f.active = make([]uint64, (all+63)/64)
	f.firstNIC = outs << f.laneBits
	f.lanes = make([]lane, all<<f.laneBits)
	for i := range f.lanes {
		f.lanes[i] = lane{may: ^uint64(0), to: nowhere, credit: uint32(f.cfg.VCDepth)}
	}
	f.where = make([]place, t.Nodes())
}

func (f *Fabric) lane(r, port, vc int) uint32 {
	return (f.routers[r].firstOut+uint32(port))<<f.laneBits + uint32(vc)
}

func (f *Fabric) pool(r, port, vc int) uint32 {
	return f.routers[r].firstPool + uint32(vc)*f.routers[r].ports + uint32(port)
}

// connect joins every lane with the pool it feeds.
func (f *Fabric) connect(t Topology) error {
	placed := 0
	for r := range f.routers {
		if n := t.Ports(r); n < 1 || n > maxPorts {
			return fmt.Errorf("%w: router %d has %d ports, expected 1 to %d", ErrConfig, r, n, maxPorts)
		}
		for port := range t.Ports(r) {
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
				f.lanes[f.lane(r, port, v)].to = f.pool(peer, back, v)
				f.pools[f.pool(peer, back, v)].source = f.lane(r, port, v)
			}
		}
	}
	if placed != t.Nodes() {
		return fmt.Errorf("%w: %d nodes stand at ports, expected %d", ErrConfig, placed, t.Nodes())
	}
	return nil
}

func (f *Fabric) connectNIC(node, r, port int) {
	inj := f.firstNIC + uint32(node)<<f.laneBits
	f.where[node] = place{pool: f.pool(r, port, 0), step: f.routers[r].ports, inj: inj, out: f.lane(r, port, 0)}
	for v := range f.vcs {
		f.lanes[f.lane(r, port, v)].to = toNIC | uint32(node)<<nicShift | uint32(v)
		f.pools[f.pool(r, port, v)].source = inj + uint32(v)
	}
}

// addQueues makes, for every lane of a router, a queue for each input VC that can
// feed it. Only a NIC may get back what it sent.
func (f *Fabric) addQueues(t Topology, r int) error {
	ports := t.Ports(r)
	for out := range ports {
		for w := range f.vcs {
			l := f.lane(r, out, w)
			f.lanes[l].first = uint32(len(f.queues))
			if f.lanes[l].to == nowhere {
				continue
			}
			for v := range f.vcs {
				for in := range ports {
					p := &f.pools[f.pool(r, in, v)]
					back := in == out && f.lanes[l].to&toNIC == 0
					if p.source == noSource || back || int(t.VC(r, in, uint8(v), out)) != w {
						continue
					}
					f.byPort[p.queues+uint32(out)] = uint32(len(f.queues))
					f.queues = append(f.queues, queue{lane: l, source: p.source})
				}
			}
			if n := uint32(len(f.queues)) - f.lanes[l].first; n > maxSharers {
				return fmt.Errorf("%w: %d input VCs share VC %d of port %d of router %d, expected at most %d", ErrConfig, n, w, out, r, maxSharers)
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

// addStorage makes room for as many flits and credits as can be under way.
func (f *Fabric) addStorage(t Topology) {
	slots := 0
	for _, p := range f.pools {
		if p.source != noSource {
			slots += f.cfg.VCDepth
		}
	}
	f.flits = make([]Flit, slots+1)
	f.next = make([]uint32, slots+1)
	f.free = 1 // slot 0 takes what arrive need not link
	for i := range slots {
		f.next[i] = uint32(i + 1)
	}
	outs := len(f.outs)
	f.leaving = make([]uint64, t.Nodes()+1)
	f.ejected = make([]Ejection, 0, t.Nodes())
	f.dropped = make([]Ejection, 0, outs)
	f.injected = newPipe(f.cfg.RouterCycles-1, t.Nodes())
	f.sent = newPipe(f.cfg.RouterCycles+f.cfg.LinkCycles, outs)
	f.linkDelay, f.localDelay = uint64(f.cfg.CreditCycles), uint64(f.cfg.LocalCreditCycles)
	f.credits = newWheel(max(f.cfg.CreditCycles, f.cfg.LocalCreditCycles)+f.cfg.VCDepth, len(f.lanes))
}
